//! `docs/reference/trace-schema.md` names every step, field and word of a record.

use std::collections::BTreeSet;
use std::path::PathBuf;

use flyball_core::step::Hold;
use flyball_trace::step::IDS;
use serde_json::Value;

use crate::round_trip::full_record;

fn document() -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(root.join("../../docs/reference/trace-schema.md")).unwrap()
}

/// The first cells of all table rows, without their backticks.
fn rows(document: &str) -> BTreeSet<&str> {
    let cells = document
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    cells.collect()
}

fn keys<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key);
                keys(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn every_step_has_a_row() {
    let document = document();
    let section = document
        .split("## Steps")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let wanted: BTreeSet<&str> = IDS.into_iter().collect();
    assert_eq!(rows(section), wanted);
}

#[test]
fn every_hold_has_a_row() {
    let document = document();
    let section = document
        .split("## Holds")
        .nth(1)
        .unwrap()
        .split("\n## ")
        .next()
        .unwrap();
    let wanted: BTreeSet<&str> = Hold::ALL.into_iter().map(Hold::id).collect();
    assert_eq!(rows(section), wanted);
}

#[test]
fn every_field_is_named() {
    let document = document();
    let record = serde_json::to_value(full_record()).unwrap();
    let mut found = BTreeSet::new();
    keys(&record, &mut found);
    found.retain(|key| !document.contains(&format!("`{key}`")));
    assert!(found.is_empty(), "not in the document: {found:?}");
}
