//! Filling in defaults. Source: apiextensions apiserver/schema/defaulting/{algorithm,prune}.go.

use serde_json::Value;

use super::schema::{Additional, Schema};

/// Drops nulls where none may stand and no default takes their place, then fills in defaults.
pub(crate) fn fill(value: &mut Value, schema: &Schema) {
    drop_nulls(value, schema);
    defaults(value, schema);
}

fn drop_nulls(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, inner| {
                let known = schema.properties.get(name);
                !inner.is_null() || known.is_none_or(|one| one.nullable || one.default.is_some())
            });
            for (name, inner) in fields.iter_mut() {
                if let Some(known) = schema.field(name) {
                    drop_nulls(inner, known);
                }
            }
        }
        Value::Array(items) => {
            if let Some(known) = &schema.items {
                for inner in items {
                    drop_nulls(inner, known);
                }
            }
        }
        _ => {}
    }
}

fn defaults(value: &mut Value, schema: &Schema) {
    match value {
        Value::Object(fields) => {
            for (name, known) in &schema.properties {
                let Some(default) = &known.default else {
                    continue;
                };
                let is_unset = fields
                    .get(name)
                    .is_none_or(|found| found.is_null() && !known.nullable);
                if is_unset {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, inner) in fields.iter_mut() {
                if let Some(known) = schema.properties.get(name) {
                    defaults(inner, known);
                } else if let Additional::Of(known) = &schema.additional {
                    replace_null(inner, known);
                    defaults(inner, known);
                }
            }
        }
        Value::Array(items) => {
            for (inner, known) in items.iter_mut().zip(schema.items.iter().cycle()) {
                replace_null(inner, known);
                defaults(inner, known);
            }
        }
        _ => {}
    }
}

fn replace_null(value: &mut Value, schema: &Schema) {
    if value.is_null() && !schema.nullable {
        *value = schema.default.clone().unwrap_or_default();
    }
}
