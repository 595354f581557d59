//! What OpenAPI allows and Kubernetes does not, and the rules of lists and maps.

use flyball_api::field::FieldPath;
use serde_json::Value;

use super::{fields, flag, required, text};
use crate::field::{self, FieldError};

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Root,
    /// In the metadata of the root, where nothing has a default.
    Meta,
    Inside,
}

pub(super) fn check(
    schema: &Value,
    path: &FieldPath,
    place: Place,
    problems: &mut Vec<FieldError>,
) {
    node(schema, path, place, problems);
    if schema["additionalProperties"].is_object() {
        check(
            &schema["additionalProperties"],
            &path.child("additionalProperties"),
            inside(place),
            problems,
        );
    }
    let properties = path.child("properties");
    for (name, inner) in fields(&schema["properties"]) {
        let meta = matches!(name.as_str(), "metadata" | "kind" | "apiVersion");
        let below = if place == Place::Root && meta {
            Place::Meta
        } else {
            inside(place)
        };
        let at = properties.key(name);
        if below == Place::Meta && place == Place::Root && inner.get("default").is_some() {
            let detail = format!("must not be set in top-level {name}");
            problems.push(FieldError::forbidden(&at.child("default"), detail));
        }
        check(inner, &at, below, problems);
    }
    if schema["not"].is_object() {
        check(&schema["not"], &path.child("not"), inside(place), problems);
    }
    for name in ["allOf", "oneOf", "anyOf"] {
        for (index, one) in schema[name].as_array().into_iter().flatten().enumerate() {
            check(one, &path.child(name).index(index), inside(place), problems);
        }
    }
    if schema["items"].is_object() {
        check(
            &schema["items"],
            &path.child("items"),
            inside(place),
            problems,
        );
    }
    lists(schema, path, problems);
    rules(schema, path, problems);
}

fn inside(place: Place) -> Place {
    if place == Place::Root {
        Place::Inside
    } else {
        place
    }
}

fn node(schema: &Value, path: &FieldPath, place: Place, problems: &mut Vec<FieldError>) {
    const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
    let kind = text(schema, "type");
    if !kind.is_empty() && !TYPES.contains(&kind) {
        problems.push(FieldError::not_supported(&path.child("type"), kind, &TYPES));
    }
    let mut forbid = |name: &str, detail: &str| {
        problems.push(FieldError::forbidden(&path.child(name), detail));
    };
    for name in [
        "id",
        "additionalItems",
        "patternProperties",
        "definitions",
        "dependencies",
        "$ref",
    ] {
        if schema.get(name).is_some() {
            forbid(name, &format!("{name} is not supported"));
        }
    }
    if kind == "null" {
        forbid(
            "type",
            "type cannot be set to null, use nullable as an alternative",
        );
    }
    if schema["items"].is_array() {
        forbid("items", "items must be a schema object and not an array");
    }
    if place == Place::Meta && flag(schema, "x-kubernetes-embedded-resource") {
        forbid(
            "x-kubernetes-embedded-resource",
            "must not be used inside of resource meta",
        );
    }
    if flag(schema, "uniqueItems") {
        forbid(
            "uniqueItems",
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        );
    }
    let additional = &schema["additionalProperties"];
    if fields(&schema["properties"]).next().is_some()
        && (additional.is_object() || *additional == false)
    {
        forbid(
            "additionalProperties",
            "additionalProperties and properties are mutual exclusive",
        );
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == false {
        let at = path.child("x-kubernetes-preserve-unknown-fields");
        problems.push(field::invalid(
            at.to_string(),
            false,
            "must be true or undefined",
        ));
    }
}

/// A value of the wrong type, or none.
fn wrong_type(path: &FieldPath, found: &str, detail: &str) -> FieldError {
    if found.is_empty() {
        required(path, detail)
    } else {
        FieldError::invalid(path, found, detail)
    }
}

fn lists(schema: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    let kind = text(schema, "type");
    let map_type = text(schema, "x-kubernetes-map-type");
    if !map_type.is_empty() && kind != "object" {
        let detail = "must be object if x-kubernetes-map-type is specified";
        problems.push(wrong_type(&path.child("type"), kind, detail));
    }
    if !["", "atomic", "granular"].contains(&map_type) {
        let at = path.child("x-kubernetes-map-type");
        problems.push(FieldError::not_supported(
            &at,
            map_type,
            &["atomic", "granular"],
        ));
    }
    let list_type = text(schema, "x-kubernetes-list-type");
    let at = path.child("x-kubernetes-list-type");
    let items = &schema["items"];
    if !list_type.is_empty() && kind != "array" {
        let detail = "must be array if x-kubernetes-list-type is specified";
        problems.push(wrong_type(&path.child("type"), kind, detail));
    } else if list_type == "set"
        && text(items, "type") == "object"
        && text(items, "x-kubernetes-map-type") != "atomic"
    {
        let at = path.child("items").child("x-kubernetes-map-type");
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        problems.push(field::invalid(
            at.to_string(),
            items["x-kubernetes-list-type"].clone(),
            detail,
        ));
    }
    if !["", "atomic", "set", "map"].contains(&list_type) {
        problems.push(FieldError::not_supported(
            &at,
            list_type,
            &["atomic", "set", "map"],
        ));
    }
    let keys: Vec<&str> = schema["x-kubernetes-list-map-keys"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !keys.is_empty() && list_type != "map" {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        problems.push(wrong_type(&at, list_type, detail));
    }
    if list_type == "map" {
        map_keys(schema, &keys, path, problems);
    }
    if matches!(list_type, "set" | "map") && flag(items, "nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        problems.push(FieldError::forbidden(
            &path.child("items").child("nullable"),
            detail,
        ));
    }
}

fn map_keys(schema: &Value, keys: &[&str], path: &FieldPath, problems: &mut Vec<FieldError>) {
    let at = path.child("x-kubernetes-list-map-keys");
    if keys.is_empty() {
        problems.push(required(
            &at,
            "must not be empty if x-kubernetes-list-type is map",
        ));
    }
    let items = &schema["items"];
    let items_at = path.child("items");
    if items.is_null() {
        problems.push(required(
            &items_at,
            "must have a schema if x-kubernetes-list-type is map",
        ));
        return;
    }
    if text(items, "type") != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        problems.push(FieldError::invalid(
            &items_at.child("type"),
            text(items, "type"),
            detail,
        ));
        return;
    }
    let tell = |detail: &str| field::invalid(at.to_string(), keys.to_vec(), detail);
    for (index, key) in keys.iter().enumerate() {
        let Some(property) = items["properties"].get(*key) else {
            problems.push(tell("entries must all be names of item properties"));
            continue;
        };
        if matches!(text(property, "type"), "array" | "object") {
            let at = items_at.child("properties").key(key).child("type");
            let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            problems.push(FieldError::invalid(&at, text(items, "type"), detail));
        }
        if keys[..index].contains(key) {
            problems.push(tell("must not contain duplicate entries"));
        }
    }
    for key in keys {
        let Some(property) = items["properties"].get(*key) else {
            continue;
        };
        let at = items_at.child("properties").key(key);
        let needed = items["required"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one == key));
        if !needed && property.get("default").is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            problems.push(required(&at.child("default"), detail));
        }
        if flag(property, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            problems.push(FieldError::forbidden(&at.child("nullable"), detail));
        }
    }
}

fn rules(schema: &Value, path: &FieldPath, problems: &mut Vec<FieldError>) {
    const REASONS: [&str; 4] = [
        "FieldValueDuplicate",
        "FieldValueForbidden",
        "FieldValueInvalid",
        "FieldValueRequired",
    ];
    let all = schema["x-kubernetes-validations"].as_array();
    for (index, rule) in all.into_iter().flatten().enumerate() {
        let at = path.child("x-kubernetes-validations").index(index);
        let (told, message) = (text(rule, "rule").trim(), text(rule, "message"));
        if told.is_empty() {
            problems.push(required(&at.child("rule"), "rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            problems.push(FieldError::invalid(
                &at.child("message"),
                message,
                "must be non-empty if specified",
            ));
        } else if message.trim().contains('\n') {
            problems.push(FieldError::invalid(
                &at.child("message"),
                message,
                "must not contain line breaks",
            ));
        } else if told.contains('\n') && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            problems.push(required(&at.child("message"), detail));
        }
        let reason = text(rule, "reason");
        if !reason.is_empty() && !REASONS.contains(&reason) {
            problems.push(FieldError::not_supported(
                &at.child("reason"),
                reason,
                &REASONS,
            ));
        }
        if problems.is_empty() {
            problems.extend(crate::cel::compile_problems(rule, &at));
        }
    }
}
