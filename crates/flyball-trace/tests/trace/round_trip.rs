//! What is written can be read, also by a program that is older than the writer.

use flyball_trace::step::IDS;
use flyball_trace::{DecisionRecord, ReadError, SCHEMA, Step, convert};

use crate::sample::{every_step, measured, two_metrics};

/// A real decision that carries one step of every kind.
pub(crate) fn full_record() -> DecisionRecord {
    let policy = two_metrics();
    let mut record = measured(4, &[960; 4]).record();
    record.steps = every_step()
        .iter()
        .map(|s| convert::step(&policy, s))
        .collect();
    record.hold = Some("rate-limit".to_owned());
    record.error = Some("failed to rescale".to_owned());
    record
}

#[test]
fn a_record_with_every_step_survives_its_line() {
    let record = full_record();
    let line = record.to_json_line();
    assert!(!line.contains('\n'));
    assert_eq!(DecisionRecord::from_json_line(&line).unwrap(), record);
}

#[test]
fn each_step_is_tagged_with_the_id_of_the_core() {
    let policy = two_metrics();
    let tags: Vec<String> = every_step()
        .iter()
        .map(|s| {
            let step = serde_json::to_value(convert::step(&policy, s)).unwrap();
            let tag = step["step"].as_str().unwrap().to_owned();
            assert_eq!(tag, s.id());
            tag
        })
        .collect();
    assert_eq!(tags, IDS);
}

#[test]
fn fields_and_steps_of_a_later_program_are_passed_over() {
    let record = measured(4, &[960; 4]).record();
    let mut value = serde_json::to_value(&record).unwrap();
    value["later"] = serde_json::json!({"a": 1});
    value["autoscaler"]["uid"] = "x".into();
    value["steps"][0]["later"] = true.into();
    let later = serde_json::json!({"step": "forecast", "horizon_ms": 60000});
    value["steps"].as_array_mut().unwrap().push(later);
    let read = DecisionRecord::from_json_line(&value.to_string()).unwrap();
    let mut wanted = record;
    wanted.steps.push(Step::Unknown);
    assert_eq!(read, wanted);
}

#[test]
fn another_version_and_another_shape_are_told_apart() {
    let line = measured(4, &[960; 4]).record().to_json_line();
    let later = line.replace(&format!("\"schema\":{SCHEMA}"), "\"schema\":2");
    let read = DecisionRecord::from_json_line(&later);
    assert!(matches!(read, Err(ReadError::Schema { found: 2 })));
    for line in ["", "{}", "[1]", "{\"schema\":1}"] {
        let read = DecisionRecord::from_json_line(line);
        assert!(matches!(read, Err(ReadError::Shape(_))), "{line}");
    }
}
