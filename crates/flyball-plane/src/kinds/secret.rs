//! core/v1 Secret, and what it shares with ConfigMap. Source: registry/core/secret/strategy.go, core validation `ValidateSecret`.

use base64::Engine as _;
use serde_json::{Map, Value};

use crate::field::FieldError;
use crate::kind::{Kind, Strategy};
use crate::object;

const BYTES_MAX: usize = 1 << 20;
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

#[derive(Debug)]
struct Secret;

pub(super) fn kind() -> Kind {
    Kind::new("", "v1", "Secret", Secret)
}

impl Strategy for Secret {
    fn default(&self, object: &mut Value) {
        let plain = object::fields(object).remove("stringData");
        if let Some(Value::Object(plain)) = plain {
            let data = object::child(object, "data");
            for (key, value) in plain {
                let bytes = value.as_str().unwrap_or_default().as_bytes();
                data.insert(
                    key,
                    base64::engine::general_purpose::STANDARD
                        .encode(bytes)
                        .into(),
                );
            }
        }
        object::default_field(object::fields(object), "type", "Opaque");
    }

    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let empty = Map::new();
        let data = object
            .get("data")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let mut errors: Vec<FieldError> = data
            .keys()
            .flat_map(|key| check_key(&format!("data[{key}]"), key))
            .collect();
        if bytes(data) > BYTES_MAX {
            errors.push(FieldError::too_long("data", BYTES_MAX));
        }
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if object.get("type") != old.get("type") {
            let value = object.get("type").cloned().unwrap_or_default();
            errors.push(FieldError::invalid("type", value, "field is immutable"));
        }
        errors.extend(frozen(object, old, &["data"]));
        errors.extend(self.validate(object));
        errors
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        &["type"]
    }
}

/// The problems of a key of a ConfigMap or Secret.
pub(super) fn check_key(path: &str, key: &str) -> Vec<FieldError> {
    let mut messages = Vec::new();
    if key.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    if key.is_empty()
        || !key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
    {
        messages.push(CONFIG_KEY.to_owned());
    } else if key == "." || key == ".." {
        messages.push(format!("must not be '{key}'"));
    } else if key.starts_with("..") {
        messages.push("must not start with '..'".to_owned());
    }
    messages
        .into_iter()
        .map(|why| FieldError::invalid(path, key, why))
        .collect()
}

/// The size of a map's values as upstream counts it.
pub(super) fn bytes(data: &Map<String, Value>) -> usize {
    data.values().filter_map(Value::as_str).map(str::len).sum()
}

/// The problems of changing `fields` of an object that is immutable.
pub(super) fn frozen(object: &Value, old: &Value, fields: &[&str]) -> Vec<FieldError> {
    let is_set = |object: &Value| object.get("immutable").and_then(Value::as_bool) == Some(true);
    if !is_set(old) {
        return Vec::new();
    }
    let mut errors = Vec::new();
    if !is_set(object) {
        errors.push(FieldError::forbidden(
            "immutable",
            "field is immutable when `immutable` is set",
        ));
    }
    for field in fields
        .iter()
        .filter(|field| object.get(**field) != old.get(**field))
    {
        errors.push(FieldError::forbidden(
            *field,
            "field is immutable when `immutable` is set",
        ));
    }
    errors
}
