//! The columns of a custom resource. Source: apiextensions registry/customresource/tableconvertor. Not here: rows (`table`).

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use super::jsonpath::JsonPath;

/// The columns of one version.
#[derive(Clone, Debug)]
pub(crate) struct Columns(Vec<Column>);

#[derive(Clone, Debug)]
struct Column {
    definition: Value,
    kind: String,
    path: Option<JsonPath>,
}

impl Columns {
    /// Those of a version of a definition; without any, the age.
    pub(crate) fn of(version: &Value) -> Self {
        let declared = version["additionalPrinterColumns"].as_array();
        let Some(declared) = declared.filter(|all| !all.is_empty()) else {
            let age = json!({
                "name": "Age",
                "type": "date",
                "description": crate::table::AGE_DESCRIPTION,
                "jsonPath": ".metadata.creationTimestamp",
            });
            return Self(vec![Column::of(&age)]);
        };
        Self(declared.iter().map(Column::of).collect())
    }

    /// The descriptions of the columns after the name.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = Value> {
        self.0.iter().map(|column| column.definition.clone())
    }

    /// The cells of an object, with its name.
    pub(crate) fn cells(&self, object: &Value, now_ms: UnixMs) -> Vec<Value> {
        let name = Value::from(crate::object::name(object));
        let cells = self.0.iter().map(|column| column.cell(object, now_ms));
        std::iter::once(name).chain(cells).collect()
    }
}

impl Column {
    fn of(declared: &Value) -> Self {
        let text = |field: &str| declared[field].as_str().unwrap_or_default();
        let path = text("jsonPath");
        let description = match text("description") {
            "" => format!("Custom resource definition column (in JSONPath format): {path}"),
            said => said.to_owned(),
        };
        Self {
            definition: json!({
                "name": text("name"),
                "type": text("type"),
                "format": text("format"),
                "description": description,
                "priority": declared["priority"].as_i64().unwrap_or(0),
            }),
            kind: text("type").to_owned(),
            path: JsonPath::parse(path),
        }
    }

    fn cell(&self, object: &Value, now_ms: UnixMs) -> Value {
        let found = self.path.as_ref().map(|path| path.find(object));
        let Some(value) = found.as_deref().and_then(<[&Value]>::first) else {
            return Value::Null;
        };
        match (self.kind.as_str(), value) {
            ("string", Value::String(text)) => text.as_str().into(),
            ("string", Value::Null) => "<nil>".into(),
            ("string", other) => other.to_string().into(),
            ("integer", Value::Number(number)) => number.as_i64().map_or_else(
                #[expect(clippy::cast_possible_truncation, reason = "Go cuts as well")]
                || (number.as_f64().unwrap_or(0.0) as i64).into(),
                Value::from,
            ),
            ("number", Value::Number(_)) | ("boolean", Value::Bool(_)) => (*value).clone(),
            ("date", Value::String(text)) => match crate::time::parse(text) {
                Some(_) => crate::table::age_of(text, now_ms),
                None => "<invalid>".into(),
            },
            _ => Value::Null,
        }
    }
}
