//! JSON merge patch: the rows of RFC 7386's appendix that concern objects, and nulls.

use serde_json::{Value, json};

use crate::patch::merge::apply;

#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rows read better without borrows"
)]
fn check(document: Value, patch: Value, wanted: Value) {
    assert_eq!(
        apply(&document, &patch),
        Ok(wanted),
        "{document} with {patch}"
    );
}

#[test]
fn the_rfcs_examples_hold() {
    check(json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"}));
    check(
        json!({"a": "b"}),
        json!({"b": "c"}),
        json!({"a": "b", "b": "c"}),
    );
    check(json!({"a": "b"}), json!({"a": null}), json!({}));
    check(json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"}));
    check(
        json!({"a": {"b": "c"}}),
        json!({"a": {"b": "d", "c": null}}),
        json!({"a": {"b": "d"}}),
    );
    check(
        json!({"a": [{"b": "c"}]}),
        json!({"a": [1]}),
        json!({"a": [1]}),
    );
    check(
        json!({"e": null}),
        json!({"a": 1}),
        json!({"e": null, "a": 1}),
    );
    check(
        json!({}),
        json!({"a": {"bb": {"ccc": null}}}),
        json!({"a": {"bb": {}}}),
    );
}

#[test]
fn a_patch_that_is_no_object_is_a_bad_request() {
    for (patch, text) in [
        (json!(null), "Invalid JSON Patch"),
        (
            json!([1]),
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ] {
        let got = apply(&json!({}), &patch).map_err(|error| error.to_string());
        assert_eq!(got, Err(text.into()));
    }
}
