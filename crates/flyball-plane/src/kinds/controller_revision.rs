//! apps/v1 ControllerRevision. Source: registry/apps/controllerrevision/strategy.go.

use serde_json::Value;

use crate::field::{self, FieldError};
use crate::kind::{Kind, Strategy};

#[derive(Debug)]
struct ControllerRevision;

pub(super) fn kind() -> Kind {
    Kind::new("apps", "v1", "ControllerRevision", ControllerRevision)
}

impl Strategy for ControllerRevision {
    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if object.get("revision").and_then(Value::as_i64).unwrap_or(0) < 0 {
            let value = object.get("revision").cloned().unwrap_or_default();
            errors.push(field::invalid(
                "revision",
                value,
                "must be greater than or equal to 0",
            ));
        }
        if object.get("data").is_none_or(Value::is_null) {
            errors.push(field::required("data", "data is mandatory"));
        }
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = self.validate(object);
        if object.get("data") != old.get("data") {
            let value = object.get("data").cloned().unwrap_or_default();
            errors.push(field::invalid("data", value, "field is immutable"));
        }
        errors
    }
}
