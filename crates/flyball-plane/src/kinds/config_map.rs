//! core/v1 ConfigMap. Source: registry/core/configmap/strategy.go, core validation `ValidateConfigMap`.

use serde_json::{Map, Value};

use crate::field::{self, FieldError};
use crate::kind::{Kind, Strategy};

/// All keys and values together. Upstream: `MaxSecretSize`.
const BYTES_MAX: usize = 1 << 20;

#[derive(Debug)]
struct ConfigMap;

pub(super) fn kind() -> Kind {
    Kind::new("", "v1", "ConfigMap", ConfigMap).short(&["cm"])
}

impl Strategy for ConfigMap {
    fn default(&self, object: &mut Value) {
        let is_empty = |value: &Value| value.as_object().is_some_and(Map::is_empty);
        crate::object::fields(object).retain(|field, value| {
            !["data", "binaryData"].contains(&field.as_str()) || !is_empty(value)
        });
    }

    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let empty = Map::new();
        let of = |field: &str| {
            object
                .get(field)
                .and_then(Value::as_object)
                .unwrap_or(&empty)
        };
        let (data, binary) = (of("data"), of("binaryData"));
        for (field, keys) in [("data", data), ("binaryData", binary)] {
            for key in keys.keys() {
                errors.extend(super::secret::check_key(&format!("{field}[{key}]"), key));
            }
        }
        for key in data.keys().filter(|key| binary.contains_key(*key)) {
            errors.push(field::invalid(
                format!("data[{key}]"),
                key.as_str(),
                "duplicate of key present in binaryData",
            ));
        }
        if super::secret::bytes(data) + super::secret::bytes(binary) > BYTES_MAX {
            errors.push(field::too_long("", BYTES_MAX));
        }
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = super::secret::frozen(object, old, &["data", "binaryData"]);
        errors.extend(self.validate(object));
        errors
    }
}
