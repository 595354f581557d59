//! apps/v1 ControllerRevision. Source: registry/apps/controllerrevision/strategy.go.

use serde_json::Value;

use crate::field::{self, FieldError};
use crate::kind::{Kind, Strategy};
use crate::object;

#[derive(Debug)]
struct ControllerRevision;

pub(super) fn kind() -> Kind {
    Kind::new("apps", "v1", "ControllerRevision", ControllerRevision)
}

impl Strategy for ControllerRevision {
    fn default(&self, object: &mut Value) {
        object::default_field(object::fields(object), "revision", 0);
    }

    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = Vec::from_iter(negative_revision(object));
        match object.get("data") {
            None | Some(Value::Null) => errors.push(field::required("data", "data is mandatory")),
            Some(Value::Object(_)) => {}
            Some(_) => errors.push(field::required("data", "data must be a valid JSON object")),
        }
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = Vec::from_iter(negative_revision(object));
        if object.get("data") != old.get("data") {
            let value = object.get("data").cloned().unwrap_or_default();
            errors.push(field::invalid("data", value, "field is immutable"));
        }
        errors
    }
}

fn negative_revision(object: &Value) -> Option<FieldError> {
    let revision = object.get("revision").and_then(Value::as_i64).unwrap_or(0);
    let detail = "must be greater than or equal to 0";
    (revision < 0).then(|| field::invalid("revision", revision, detail))
}
