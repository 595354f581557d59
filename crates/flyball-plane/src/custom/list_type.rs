//! Lists that are sets or maps hold nothing twice. Source: apiextensions apiserver/schema/listtype/validation.go.

use std::collections::BTreeMap;

use flyball_api::field::FieldPath;
use serde_json::{Map, Value};

use super::schema::{Additional, Schema, fields};
use crate::field::{self, FieldError};

/// The problems of an object's lists.
pub(crate) fn check(object: &Value, schema: &Schema) -> Vec<FieldError> {
    let mut problems = Vec::new();
    walk(object, schema, &FieldPath::nil(), &mut problems);
    problems
}

fn walk(value: &Value, schema: &Schema, path: &FieldPath, problems: &mut Vec<FieldError>) {
    if let Value::Array(items) = value {
        match schema.list_type.as_str() {
            "set" => duplicates(items, path, problems),
            "map" => map(items, schema, path, problems),
            _ => {}
        }
        if let Some(known) = &schema.items {
            for (index, item) in items.iter().enumerate() {
                walk(item, known, &path.index(index), problems);
            }
        }
    }
    for (name, inner) in fields(value) {
        if let Some(known) = schema.properties.get(name) {
            walk(inner, known, &path.child(name), problems);
        } else if let Additional::Of(known) = &schema.additional {
            walk(inner, known, &path.key(name), problems);
        }
    }
}

fn map(items: &[Value], schema: &Schema, path: &FieldPath, problems: &mut Vec<FieldError>) {
    for (index, item) in items.iter().enumerate() {
        if !item.is_object() && !item.is_null() {
            let detail = "must be an object for an array of list-type map";
            problems.push(field::invalid(
                path.index(index).to_string(),
                item.clone(),
                detail,
            ));
            return;
        }
    }
    let key = |item: &Value| {
        let pairs = schema.list_keys.iter().filter_map(|key| {
            let found = item.get(key)?;
            Some((key.clone(), found.clone()))
        });
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    let keys: Vec<Value> = items.iter().map(key).collect();
    duplicates(&keys, path, problems);
}

/// Tells the second of several equal ones.
fn duplicates(items: &[Value], path: &FieldPath, problems: &mut Vec<FieldError>) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let times = seen.entry(item.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            problems.push(field::duplicate(
                path.index(index).to_string(),
                item.clone(),
            ));
        }
    }
}
