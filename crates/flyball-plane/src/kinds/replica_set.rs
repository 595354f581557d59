//! apps/v1 ReplicaSet. Source: registry/apps/replicaset/strategy.go, apps/v1 defaults.go, apps validation.

use serde_json::{Value, json};

use super::{pod_template, workload};
use crate::field::FieldError;
use crate::kind::{Kind, SelectorForm, Strategy};
use crate::object::{self, default_field};

#[derive(Debug)]
struct ReplicaSet;

pub(super) fn kind() -> Kind {
    Kind::new("apps", "v1", "ReplicaSet", ReplicaSet)
        .short(&["rs"])
        .in_all()
        .with_status()
        .with_scale(SelectorForm::LabelSelector)
}

impl Strategy for ReplicaSet {
    fn default(&self, object: &mut Value) {
        default_field(object::child(object, "spec"), "replicas", 1);
        pod_template::default_template(object);
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"replicas": 0}))
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        workload::validate(object, "deployment")
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = self.validate(object);
        errors.extend(workload::selector_is_immutable(object, old));
        errors
    }
}
