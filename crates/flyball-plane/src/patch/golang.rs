//! Values as Go prints them: `%v` for values and `%s` for their types, which upstream's patch errors contain.

use serde_json::Value;

/// `%v` of a decoded value: `map[name:web ports:[80 443]]`. Upstream quotes a strategic patch so when its result is
/// invalid.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".into(),
        Value::Bool(one) => one.to_string(),
        Value::Number(one) => one.to_string(),
        Value::String(one) => one.clone(),
        Value::Array(items) => format!("[{}]", join(items.iter().map(text))),
        Value::Object(fields) => {
            let pairs = fields
                .iter()
                .map(|(key, one)| format!("{key}:{}", text(one)));
            format!("map[{}]", join(pairs))
        }
    }
}

/// `%s` of a decoded value's `reflect.Type`.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(one) if one.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" ")
}
