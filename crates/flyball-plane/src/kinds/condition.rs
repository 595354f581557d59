//! The problems of a list of conditions in a status. Source: apimachinery meta/v1 validation `ValidateConditions`.

use flyball_api::name;
use serde_json::Value;

use crate::field::{self, FieldError};

const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
/// Upstream: `maxReasonLen`, `maxMessageLen`.
const REASON_BYTES_MAX: usize = 1024;
const MESSAGE_BYTES_MAX: usize = 32 * 1024;
const REASON_WORDS: &str = "a condition reason must start with alphabetic character, optionally followed by a string of \
     alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or \
     'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
     '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

/// The problems of the conditions at `path`.
pub(super) fn validate(path: &str, conditions: Option<&Value>) -> Vec<FieldError> {
    let list = conditions.and_then(Value::as_array);
    let list = list.map_or(&[][..], Vec::as_slice);
    let mut errors = Vec::new();
    for (index, condition) in list.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let kind = condition.get("type").and_then(Value::as_str);
        if list[..index]
            .iter()
            .any(|one| one["type"] == condition["type"])
        {
            errors.push(field::duplicate(&path, kind.unwrap_or_default()));
        }
        errors.extend(one(&path, condition));
    }
    errors
}

fn one(path: &str, condition: &Value) -> Vec<FieldError> {
    let text = |field: &str| {
        let value = condition.get(field).and_then(Value::as_str);
        value.unwrap_or_default()
    };
    let at = |field: &str| format!("{path}.{field}");
    let mut errors = Vec::new();
    match text("type") {
        "" => errors.push(field::required(at("type"), "is required")),
        kind => {
            let problems = name::label_key(kind).into_iter();
            errors.extend(problems.map(|why| field::invalid(at("type"), kind, why)));
        }
    }
    match text("status") {
        "" => errors.push(field::required(at("status"), "")),
        status if STATUSES.contains(&status) => {}
        status => errors.push(field::not_supported(at("status"), status, &STATUSES)),
    }
    let generation = condition.get("observedGeneration").and_then(Value::as_i64);
    if let Some(generation) = generation.filter(|number| *number < 0) {
        let detail = "must be greater than or equal to zero";
        errors.push(field::invalid(at("observedGeneration"), generation, detail));
    }
    if text("lastTransitionTime").is_empty() {
        errors.push(field::required(at("lastTransitionTime"), ""));
    }
    match text("reason") {
        "" => errors.push(field::required(at("reason"), "")),
        reason => {
            if !is_reason(reason) {
                errors.push(field::invalid(at("reason"), reason, REASON_WORDS));
            }
            if reason.len() > REASON_BYTES_MAX {
                errors.push(field::too_long(at("reason"), REASON_BYTES_MAX));
            }
        }
    }
    if text("message").len() > MESSAGE_BYTES_MAX {
        errors.push(field::too_long(at("message"), MESSAGE_BYTES_MAX));
    }
    errors
}

fn is_reason(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(word)
        && text.chars().all(|c| word(c) || c == ',' || c == ':')
}
