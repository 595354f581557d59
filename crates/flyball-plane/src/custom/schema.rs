//! A structural schema, compiled from `openAPIV3Schema`. Source: apiextensions apiserver/schema/structural.go, with the value
//! validations of kube-openapi. Not here: whether it is one that may be used (`structural`).

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Number, Value};

/// What may stand under keys that `properties` does not name.
#[derive(Clone, Debug, Default)]
pub(crate) enum Additional {
    /// Nothing is said.
    #[default]
    Unsaid,
    /// Anything.
    Allowed,
    /// Values of a schema.
    Of(Box<Schema>),
}

/// A node of a schema.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the flags of the format"
)]
pub(crate) struct Schema {
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) nullable: bool,
    pub(crate) default: Option<Value>,
    pub(crate) int_or_string: bool,
    pub(crate) preserves: bool,
    pub(crate) embedded: bool,
    pub(crate) list_type: String,
    pub(crate) list_keys: Vec<String>,
    pub(crate) properties: BTreeMap<String, Schema>,
    pub(crate) additional: Additional,
    pub(crate) items: Option<Box<Schema>>,
    pub(crate) required: Vec<String>,
    pub(crate) choices: Option<Vec<Value>>,
    pub(crate) minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) exclusive_maximum: bool,
    pub(crate) multiple_of: Option<Number>,
    pub(crate) length: Range,
    pub(crate) count: Range,
    pub(crate) size: Range,
    pub(crate) pattern: Option<(String, Option<Regex>)>,
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    pub(crate) not: Option<Box<Schema>>,
}

/// Bounds of a length or a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
}

impl Schema {
    /// The compiled form of an `openAPIV3Schema`. What is not understood is left out; a pattern that is no expression of ours
    /// matches everything.
    pub(crate) fn of(value: &Value) -> Self {
        let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let flag = |field: &str| value[field].as_bool().unwrap_or_default();
        let number = |field: &str| value[field].as_number().cloned();
        let range = |min: &str, max: &str| Range {
            min: value[min].as_i64(),
            max: value[max].as_i64(),
        };
        Self {
            kind: text("type"),
            format: text("format"),
            nullable: flag("nullable"),
            default: value.get("default").filter(|one| !one.is_null()).cloned(),
            int_or_string: flag("x-kubernetes-int-or-string"),
            preserves: flag("x-kubernetes-preserve-unknown-fields"),
            embedded: flag("x-kubernetes-embedded-resource"),
            list_type: text("x-kubernetes-list-type"),
            list_keys: texts(&value["x-kubernetes-list-map-keys"]),
            properties: value["properties"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, one)| (name.clone(), Self::of(one)))
                .collect(),
            additional: additional(&value["additionalProperties"]),
            items: value["items"]
                .is_object()
                .then(|| Box::new(Self::of(&value["items"]))),
            required: texts(&value["required"]),
            choices: value["enum"].as_array().cloned(),
            minimum: number("minimum"),
            maximum: number("maximum"),
            exclusive_minimum: flag("exclusiveMinimum"),
            exclusive_maximum: flag("exclusiveMaximum"),
            multiple_of: number("multipleOf"),
            length: range("minLength", "maxLength"),
            count: range("minItems", "maxItems"),
            size: range("minProperties", "maxProperties"),
            pattern: value["pattern"]
                .as_str()
                .map(|text| (text.to_owned(), Regex::new(text).ok())),
            all_of: several(&value["allOf"]),
            any_of: several(&value["anyOf"]),
            one_of: several(&value["oneOf"]),
            not: value["not"]
                .is_object()
                .then(|| Box::new(Self::of(&value["not"]))),
        }
    }

    /// The schema of a field, by name or as any other.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(match &self.additional {
            Additional::Of(schema) => Some(schema),
            Additional::Unsaid | Additional::Allowed => None,
        })
    }
}

fn additional(value: &Value) -> Additional {
    match value {
        Value::Bool(true) => Additional::Allowed,
        Value::Object(_) => Additional::Of(Box::new(Schema::of(value))),
        _ => Additional::Unsaid,
    }
}

fn several(value: &Value) -> Vec<Schema> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .map(Schema::of)
        .collect()
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten();
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The fields of an object, none for anything else.
pub(crate) fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}
