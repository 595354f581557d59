//! The problems of a LabelSelector inside an object. Source: apimachinery meta/v1 validation `ValidateLabelSelector`.
//! Not here: what a selector selects.

use flyball_api::name;
use serde_json::Value;

use crate::field::{self, FieldError};
use crate::metadata;

/// The problems of the selector at `path`.
pub(super) fn validate(path: &str, selector: &Value) -> Vec<FieldError> {
    let labels = format!("{path}.matchLabels");
    let mut errors = metadata::labels(&labels, selector.get("matchLabels"));
    let list = selector.get("matchExpressions").and_then(Value::as_array);
    for (index, one) in list.into_iter().flatten().enumerate() {
        errors.extend(requirement(
            &format!("{path}.matchExpressions[{index}]"),
            one,
        ));
    }
    errors
}

fn requirement(path: &str, one: &Value) -> Vec<FieldError> {
    let text = |field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default();
    let values = one.get("values").and_then(Value::as_array);
    let values = values.map_or(&[][..], Vec::as_slice);
    let mut errors = Vec::new();
    match text("operator") {
        "In" | "NotIn" if values.is_empty() => errors.push(field::required(
            format!("{path}.values"),
            "must be specified when `operator` is 'In' or 'NotIn'",
        )),
        "Exists" | "DoesNotExist" if !values.is_empty() => errors.push(field::forbidden(
            format!("{path}.values"),
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        )),
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        other => errors.push(field::invalid(
            format!("{path}.operator"),
            other,
            "not a valid selector operator",
        )),
    }
    let key = text("key");
    let problems = name::label_key(key).into_iter();
    errors.extend(problems.map(|why| field::invalid(format!("{path}.key"), key, why)));
    for (index, value) in values.iter().filter_map(Value::as_str).enumerate() {
        let problems = name::label_value(value).into_iter();
        let at = format!("{path}.values[{index}]");
        errors.extend(problems.map(|why| field::invalid(&at, value, why)));
    }
    errors
}
