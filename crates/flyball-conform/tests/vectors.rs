//! The project's vectors, as they are and in disguise.

use std::fs;
use std::path::Path;

use flyball_conform::report::Tally;
use flyball_conform::vectors::run;
use serde_json::{Map, Value};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors");

fn tally(folder: &Path) -> (Tally, String) {
    let mut report = Vec::new();
    let tally = run(folder, &mut report).expect("the folder is read");
    (tally, String::from_utf8(report).expect("a report is text"))
}

#[test]
fn every_vector_passes() {
    let (tally, report) = tally(Path::new(FOLDER));
    assert_eq!(tally.failed, 0, "{report}");
    assert!(tally.passed > 440, "{report}");
}

#[test]
fn renamed_and_shuffled_copies_give_the_same_result() {
    let copies = tempfile::tempdir().unwrap();
    for entry in Path::new(FOLDER).read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "json") {
            let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            disguise(&mut file);
            fs::write(
                copies.path().join(path.file_name().unwrap()),
                file.to_string(),
            )
            .unwrap();
        }
    }
    assert_eq!(tally(copies.path()).0, tally(Path::new(FOLDER)).0);
}

/// Turns every list of cases round and gives each case a name without meaning.
fn disguise(file: &mut Value) {
    for list in file.as_object_mut().into_iter().flat_map(Map::values_mut) {
        let Some(cases) = list
            .as_array_mut()
            .filter(|cases| cases.iter().all(Value::is_object))
        else {
            continue;
        };
        cases.reverse();
        for (number, case) in cases.iter_mut().enumerate() {
            case["name"] = Value::from(format!("case_{number}"));
        }
    }
}

#[test]
fn a_wrong_expectation_fails_and_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let file = r#"{"suite": "quantity", "cases": [
        {"input": "1", "string": "1", "milliValue": 1001, "value": 1, "format": "DecimalSI"}]}"#;
    fs::write(folder.path().join("wrong.json"), file).unwrap();
    let (tally, report) = tally(folder.path());
    assert_eq!(
        tally,
        Tally {
            passed: 0,
            failed: 1
        }
    );
    assert!(
        report.contains("-  \"milliValue\": 1001,\n+  \"milliValue\": 1000,"),
        "{report}"
    );
}

#[test]
fn an_unknown_suite_is_named_and_counts_neither_way() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("new.json"),
        r#"{"suite": "weather", "cases": [{}]}"#,
    )
    .unwrap();
    let (tally, report) = tally(folder.path());
    assert_eq!(tally, Tally::default());
    assert_eq!(report, "weather: skipped, not a suite that is supported\n");
}
