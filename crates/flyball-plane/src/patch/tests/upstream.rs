//! Patches as the genuine libraries applied them, see `fixtures/apimachinery`.

use serde_json::Value;

use super::strategic::deployment;
use crate::patch::{json, merge, strategic};

const PATCHES: &str = include_str!("../../../../../fixtures/apimachinery/patches.jsonl");

#[test]
fn patches_end_as_they_do_upstream() {
    for line in PATCHES.lines() {
        let call: Value = serde_json::from_str(line).expect("a line is JSON");
        let (document, patch) = (&call["document"], &call["patch"]);
        let got = match call["type"].as_str() {
            Some("strategic") => strategic::apply(document, patch, deployment()),
            Some("merge") => merge::apply(document, patch),
            Some("json") => json::apply(document, patch),
            other => panic!("no such patch type: {other:?}"),
        };
        let wanted = match call["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(call["result"].clone()),
        };
        assert_eq!(got.map_err(|error| error.to_string()), wanted, "{line}");
    }
}
