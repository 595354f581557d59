//! Whether a schema may be used: it is structural, and its defaults obey it. Source: apiextensions apiserver/schema/validation.go,
//! apis/apiextensions/validation/validation.go `ValidateCustomResourceDefinitionOpenAPISchema`. Not here: values.

use flyball_api::field::FieldPath;
use regex::Regex;
use serde_json::{Value, json};

use super::schema::{Schema, fields};
use super::{default, prune, validate};
use crate::field::{self, FieldError};

mod standard;

/// The problems of an `openAPIV3Schema` that stands at `path`.
pub(crate) fn check(schema: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    node(schema, Level::Root, path, &mut problems);
    problems.sort_by_key(ToString::to_string);
    if problems.is_empty() {
        defaults(schema, path, &mut problems);
    }
    standard::check(schema, path, standard::Place::Root, &mut problems);
    problems
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn flag(value: &Value, field: &str) -> bool {
    value[field].as_bool().unwrap_or_default()
}

fn required(path: &FieldPath, detail: &str) -> FieldError {
    FieldError::required(path, detail)
}

fn node(schema: &Value, level: Level, path: &FieldPath, problems: &mut Vec<FieldError>) {
    below(schema, level, path, problems);
    extensions(schema, path, problems);
    values(schema, path, Exception::of(schema), problems);
    kind_of(schema, level, path, problems);
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let properties = path.child("properties");
    if embedded && schema.get("additionalProperties").is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        problems.push(FieldError::forbidden(
            &path.child("additionalProperties"),
            detail,
        ));
    }
    let preserves = flag(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && !preserves && fields(&schema["properties"]).next().is_none() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        problems.push(required(&properties, detail));
    }
    if level == Level::Root || embedded {
        head(&schema["properties"], level, &properties, problems);
    }
    complete(schema, schema, path, problems);
}

/// The nodes below one.
fn below(schema: &Value, level: Level, path: &FieldPath, problems: &mut Vec<FieldError>) {
    let items = path.child("items");
    if text(schema, "type") == "array" && schema.get("items").is_none() {
        problems.push(required(&items, "must be specified"));
    }
    if schema["items"].is_object() {
        node(&schema["items"], Level::Item, &items, problems);
    }
    let properties = path.child("properties");
    for (name, inner) in fields(&schema["properties"]) {
        node(inner, Level::Field, &properties.key(name), problems);
    }
    let additional = path.child("additionalProperties");
    if schema.get("additionalProperties").is_some() && level == Level::Root {
        let detail = "must not be used at the root";
        problems.push(FieldError::forbidden(&additional, detail));
    }
    if schema["additionalProperties"].is_object() {
        let inner = &schema["additionalProperties"];
        node(inner, Level::Field, &additional, problems);
    }
}

/// Extensions that exclude each other.
fn extensions(schema: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    if !flag(schema, "x-kubernetes-int-or-string") {
        return;
    }
    for name in [
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
    ] {
        if flag(schema, name) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            problems.push(field::invalid(path.child(name).to_string(), true, detail));
        }
    }
}

/// The type of a node.
fn kind_of(schema: &Value, level: Level, path: &FieldPath, problems: &mut Vec<FieldError>) {
    let (kind, at) = (text(schema, "type"), path.child("type"));
    let free = flag(schema, "x-kubernetes-int-or-string")
        || flag(schema, "x-kubernetes-preserve-unknown-fields");
    if flag(schema, "x-kubernetes-embedded-resource") && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        problems.push(if kind.is_empty() {
            required(&at, detail)
        } else {
            FieldError::invalid(&at, kind, detail)
        });
    } else if kind.is_empty() && !free {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        problems.push(required(&at, detail));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        problems.push(FieldError::invalid(&at, kind, "must be object at the root"));
    }
}

/// `kind`, `apiVersion` and `metadata` of a resource.
fn head(properties: &Value, level: Level, path: &FieldPath, problems: &mut Vec<FieldError>) {
    for name in ["kind", "apiVersion"] {
        if properties
            .get(name)
            .is_some_and(|one| text(one, "type") != "string")
        {
            let found = text(&properties[name], "type");
            problems.push(FieldError::invalid(
                &path.key(name).child("type"),
                found,
                "must be string",
            ));
        }
    }
    let Some(metadata) = properties.get("metadata") else {
        return;
    };
    let path = path.key("metadata");
    if text(metadata, "type") != "object" {
        let found = text(metadata, "type");
        problems.push(FieldError::invalid(
            &path.child("type"),
            found,
            "must be object",
        ));
    }
    let only_names =
        fields(&metadata["properties"]).all(|(name, _)| name == "name" || name == "generateName");
    let only_known = fields(metadata)
        .all(|(name, _)| matches!(name.as_str(), "type" | "properties" | "default"));
    if level == Level::Root && !(only_names && only_known) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        problems.push(FieldError::forbidden(&path, detail));
    }
}

/// Where the types of an int-or-string may stand although nested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exception {
    AnyOf,
    FirstAllOf,
    Nowhere,
}

impl Exception {
    fn of(schema: &Value) -> Self {
        let both = json!([{"type": "integer"}, {"type": "string"}]);
        if schema["anyOf"] == both {
            Self::AnyOf
        } else if schema["allOf"][0]["anyOf"] == both {
            Self::FirstAllOf
        } else {
            Self::Nowhere
        }
    }
}

/// The parts of a schema that check values.
fn values(schema: &Value, path: &FieldPath, exception: Exception, problems: &mut Vec<FieldError>) {
    for name in ["anyOf", "allOf", "oneOf"] {
        if name == "anyOf" && exception == Exception::AnyOf {
            continue;
        }
        for (index, one) in schema[name].as_array().into_iter().flatten().enumerate() {
            let inner = if name == "allOf" && index == 0 && exception == Exception::FirstAllOf {
                Exception::AnyOf
            } else {
                Exception::Nowhere
            };
            nested(one, &path.child(name).index(index), inner, problems);
        }
    }
    if schema["not"].is_object() {
        nested(
            &schema["not"],
            &path.child("not"),
            Exception::Nowhere,
            problems,
        );
    }
    let pattern = text(schema, "pattern");
    if let Err(error) = Regex::new(pattern) {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        problems.push(FieldError::invalid(&path.child("pattern"), pattern, detail));
    }
}

/// A schema below `allOf`, `anyOf`, `oneOf` or `not`, which may check values alone.
fn nested(schema: &Value, path: &FieldPath, exception: Exception, problems: &mut Vec<FieldError>) {
    values(schema, path, exception, problems);
    if schema["items"].is_object() {
        nested(
            &schema["items"],
            &path.child("items"),
            Exception::Nowhere,
            problems,
        );
    }
    let properties = path.child("properties");
    for (name, inner) in fields(&schema["properties"]) {
        nested(inner, &properties.key(name), Exception::Nowhere, problems);
    }
    for (name, detail) in [
        ("type", "must be empty to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        ("default", "must be undefined to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("nullable", "must be false to be structural"),
        (
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-embedded-resource",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-int-or-string",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-list-map-keys",
            "must be empty to be structural",
        ),
        (
            "x-kubernetes-list-type",
            "must be undefined to be structural",
        ),
        (
            "x-kubernetes-map-type",
            "must be undefined to be structural",
        ),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        let value = &schema[name];
        let is_set = !value.is_null() && *value != json!(false) && *value != json!("");
        if is_set {
            problems.push(FieldError::forbidden(&path.child(name), detail));
        }
    }
    if schema["properties"].get("metadata").is_some() {
        let detail = "must not be specified in a nested context";
        problems.push(FieldError::forbidden(&properties.key("metadata"), detail));
    }
}

/// What is checked below a junctor must be declared outside. Upstream: complete.go.
fn complete(outer: &Value, values: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    let mut inner = Vec::new();
    for name in ["allOf", "anyOf", "oneOf"] {
        let all = values[name].as_array().into_iter().flatten().enumerate();
        inner.extend(all.map(|(index, one)| (one, path.child(name).index(index))));
    }
    if values["not"].is_object() {
        inner.push((&values["not"], path.child("not")));
    }
    for (one, at) in inner {
        declared(outer, one, &at, path, problems);
    }
}

fn declared(
    outer: &Value,
    one: &Value,
    at: &FieldPath,
    outside: &FieldPath,
    problems: &mut Vec<FieldError>,
) {
    for (name, inner) in fields(&one["properties"]) {
        let at = at.child("properties").key(name);
        let outside = outside.child("properties").key(name);
        if let Some(known) = outer["properties"].get(name) {
            declared(known, inner, &at, &outside, problems);
        } else {
            let detail = format!("because it is defined in {at}");
            problems.push(required(&outside, &detail));
        }
    }
    if one["items"].is_object() {
        if outer["items"].is_object() {
            declared(
                &outer["items"],
                &one["items"],
                &at.child("items"),
                &outside.child("items"),
                problems,
            );
        } else {
            let detail = format!("because it is defined in {}", at.child("items"));
            problems.push(required(&outside.child("items"), &detail));
        }
    }
    complete(outer, one, at, problems);
}

/// Defaults hold nothing unknown and obey the schema. Upstream: defaulting/validation.go.
fn defaults(schema: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    if let Some(value) = schema.get("default").filter(|one| !one.is_null()) {
        let at = path.child("default");
        let compiled = Schema::of(schema);
        let mut pruned = value.clone();
        if prune::prune_part(&mut pruned, &compiled) {
            let detail = "must not have unknown fields";
            problems.push(field::invalid(at.to_string(), value.clone(), detail));
        } else {
            default::fill(&mut pruned, &compiled);
            problems.extend(validate::check_at(&pruned, &compiled, &at.to_string()));
        }
    }
    let properties = path.child("properties");
    for (name, inner) in fields(&schema["properties"]) {
        defaults(inner, &properties.key(name), problems);
    }
    for name in ["items", "additionalProperties"] {
        if schema[name].is_object() {
            defaults(&schema[name], &path.child(name), problems);
        }
    }
}
