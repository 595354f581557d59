//! The first sync in which two timelines differ, as a text to read.

use serde_json::Value;

use crate::report::difference;

/// The first difference between the genuine controller's records and ours, if there is one.
pub(crate) fn first_difference(expected: &[Value], actual: &[Value]) -> Option<String> {
    let expected: Vec<Value> = expected.iter().map(comparable).collect();
    let length = expected.len().max(actual.len());
    let index = (0..length).find(|index| expected.get(*index) != actual.get(*index))?;
    let when = expected
        .get(index)
        .or_else(|| actual.get(index))
        .map_or(&Value::Null, |record| &record["t"]);
    let title = format!(
        "sync {index} of {}, {when} ms after the start (- the genuine controller, + this one)\n",
        expected.len()
    );
    Some(title + &difference(&lines(expected.get(index)), &lines(actual.get(index))))
}

/// A record with an empty list of metrics as none: the two are one value to the API.
fn comparable(record: &Value) -> Value {
    let mut record = record.clone();
    if record["cm"] == Value::Array(Vec::new()) {
        record["cm"] = Value::Null;
    }
    record
}

/// A record with one line a key, and one a condition or an event.
fn lines(record: Option<&Value>) -> String {
    let Some(fields) = record.and_then(Value::as_object) else {
        return "(no sync)\n".to_owned();
    };
    let mut lines = Vec::new();
    for (key, value) in fields {
        let name = legend(key);
        match value
            .as_array()
            .filter(|rows| rows.iter().any(Value::is_array))
        {
            Some(rows) => lines.extend(rows.iter().map(|row| format!("{name}: {row}\n"))),
            None => lines.push(format!("{name}: {value}\n")),
        }
    }
    lines.concat()
}

/// What a record's key means.
fn legend(key: &str) -> &str {
    match key {
        "k" => "step",
        "t" => "began at, ms",
        "h" => "autoscaler",
        "b" => "spec.replicas before",
        "a" => "spec.replicas after",
        "puts" => "scale writes",
        "prop" => "proposal",
        "w" => "status writes",
        "cr" => "status.currentReplicas",
        "dr" => "status.desiredReplicas",
        "ls" => "status.lastScaleTime, s",
        "og" => "status.observedGeneration",
        "cm" => "status.currentMetrics",
        "c" => "condition",
        "e" => "event",
        "err" => "error",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_timelines_have_no_difference() {
        let records = [json!({"t": 0}), json!({"t": 1})];
        assert_eq!(first_difference(&records, &records), None);
    }

    #[test]
    fn the_first_differing_sync_is_shown() {
        let expected = [
            json!({"t": 0, "a": 1}),
            json!({"t": 15, "a": 2}),
            json!({"t": 30, "a": 3}),
        ];
        let actual = [
            json!({"t": 0, "a": 1}),
            json!({"t": 15, "a": 4}),
            json!({"t": 30, "a": 5}),
        ];
        let text = first_difference(&expected, &actual).unwrap();
        assert!(text.starts_with("sync 1 of 3, 15 ms"), "{text}");
        assert!(
            text.contains("-spec.replicas after: 2\n+spec.replicas after: 4"),
            "{text}"
        );
    }

    #[test]
    fn a_sync_too_many_is_a_difference() {
        let text = first_difference(&[], &[json!({"t": 15})]).unwrap();
        assert!(text.contains("-(no sync)"), "{text}");
    }
}
