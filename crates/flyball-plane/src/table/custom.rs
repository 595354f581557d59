//! The columns of a custom resource, which its definition names by JSONPath.

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use super::path::Path;
use super::{age, builtin, text};

/// One entry of `additionalPrinterColumns`.
#[derive(Debug)]
pub(super) struct CustomColumn {
    definition: Value,
    kind: String,
    /// Absent when the text is no path we can read.
    path: Option<Path>,
}

/// Reads the columns of a definition. Without any, there is one with the age.
pub(super) fn columns(columns: Option<&Value>) -> Vec<CustomColumn> {
    let age = json!([{
        "name": "Age",
        "type": "date",
        "jsonPath": ".metadata.creationTimestamp",
        "description": "",
    }]);
    let named = columns.filter(|all| all.as_array().is_some_and(|all| !all.is_empty()));
    let all = named.unwrap_or(&age).as_array();
    all.into_iter().flatten().map(column).collect()
}

fn column(column: &Value) -> CustomColumn {
    let path = text(column, &["jsonPath"]);
    let description = match text(column, &["description"]) {
        "" => format!("Custom resource definition column (in JSONPath format): {path}"),
        description => description.into(),
    };
    let kind = text(column, &["type"]);
    CustomColumn {
        definition: json!({
            "name": column["name"],
            "type": kind,
            "format": text(column, &["format"]),
            "description": description,
            "priority": column["priority"].as_i64().unwrap_or_default(),
        }),
        kind: kind.into(),
        path: Path::parse(path),
    }
}

pub(super) fn define(columns: &[CustomColumn]) -> Value {
    let name = super::Column::NAME.define(crate::schema::Schema::builtin());
    let others = columns.iter().map(|column| column.definition.clone());
    [name].into_iter().chain(others).collect()
}

/// Name, then one cell a column; null where there is nothing of the column's type.
pub(super) fn cells(columns: &[CustomColumn], object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let cell = |column: &CustomColumn| {
        let found = column.path.as_ref().and_then(|path| path.first(object));
        found.map_or(Value::Null, |value| shown(&column.kind, value, now_ms))
    };
    let others = columns.iter().map(cell);
    [builtin::name(object)].into_iter().chain(others).collect()
}

/// Upstream: apiextensions `cellForJSONValue`.
fn shown(kind: &str, value: &Value, now_ms: UnixMs) -> Value {
    match (kind, value) {
        ("string", Value::String(text)) => text.clone().into(),
        ("string", other) => other.to_string().into(),
        ("integer", Value::Number(number)) => {
            let whole = number
                .as_i64()
                .or_else(|| number.as_f64().map(|one| one as i64));
            whole.map_or(Value::Null, Value::from)
        }
        ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("date", Value::String(text)) if crate::time::parse(text).is_none() => "<invalid>".into(),
        ("date", Value::String(_)) => age::since(value, now_ms).into(),
        _ => Value::Null,
    }
}
