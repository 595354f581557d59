//! core/v1 Secret, and what it shares with ConfigMap. Source: registry/core/secret/strategy.go, core validation `ValidateSecret`.

use base64::Engine as _;
use flyball_api::name;
use serde_json::{Map, Value};

use crate::field::{self, FieldError};
use crate::kind::{Kind, Strategy};
use crate::object;

const BYTES_MAX: usize = 1 << 20;

#[derive(Debug)]
struct Secret;

pub(super) fn kind() -> Kind {
    Kind::new("", "v1", "Secret", Secret)
}

impl Strategy for Secret {
    fn default(&self, object: &mut Value) {
        // No bytes are written as an empty text.
        let data = object.get_mut("data").and_then(Value::as_object_mut);
        for value in data.into_iter().flat_map(|data| data.values_mut()) {
            if value.is_null() {
                *value = "".into();
            }
        }
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
        let fields = object::fields(object);
        if fields
            .get("data")
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
        {
            fields.remove("data");
        }
        if fields.get("type").is_some_and(|kind| *kind == "") {
            fields.remove("type");
        }
        object::default_field(fields, "type", "Opaque");
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
            errors.push(field::too_long("data", BYTES_MAX));
        }
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if object.get("type") != old.get("type") {
            let value = object.get("type").cloned().unwrap_or_default();
            errors.push(field::invalid("type", value, "field is immutable"));
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
    name::config_key(key)
        .into_iter()
        .map(|why| field::invalid(path, key, why))
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
        errors.push(field::forbidden(
            "immutable",
            "field is immutable when `immutable` is set",
        ));
    }
    for field in fields
        .iter()
        .filter(|field| object.get(**field) != old.get(**field))
    {
        errors.push(field::forbidden(
            *field,
            "field is immutable when `immutable` is set",
        ));
    }
    errors
}
