//! core/v1 Namespace. Source: registry/core/namespace/strategy.go, core/v1 defaults.go `SetDefaults_Namespace`.

use flyball_api::name;
use serde_json::{Value, json};

use crate::field::{self, FieldError};
use crate::kind::{DeleteAnswer, Kind, Scope, Strategy};
use crate::object;

#[derive(Debug)]
struct Namespace;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("", "v1", "Namespace", Namespace)
        .short(&["ns"])
        .with_status();
    Kind {
        scope: Scope::Cluster,
        delete: DeleteAnswer::Object,
        ..kind
    }
}

impl Strategy for Namespace {
    fn default(&self, object: &mut Value) {
        let name = object::name(object).to_owned();
        if !name.is_empty() {
            let labels = object::child(object, "metadata")
                .entry("labels")
                .or_insert_with(|| json!({}));
            object::fields(labels).insert("kubernetes.io/metadata.name".to_owned(), name.into());
        }
        object::child(object, "spec");
        object::default_field(object::child(object, "status"), "phase", "Active");
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"phase": "Active"}))
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn prepare_create(&self, object: &mut Value) {
        self.default(object);
        object::child(object, "spec").insert("finalizers".to_owned(), json!(["kubernetes"]));
    }

    fn prepare_update(&self, object: &mut Value, old: &Value) {
        // Finalizers of the spec change through `finalize` alone, except that they may go while the namespace does:
        // the controllers inside the plane use the plain update.
        if !object::is_being_deleted(old) {
            object::take_field(object, old, "spec");
        }
    }

    fn validate_status(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        let phase = object
            .pointer("/status/phase")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let expected = if object::is_being_deleted(object) {
            "Terminating"
        } else {
            "Active"
        };
        if phase == expected {
            return Vec::new();
        }
        let detail = if expected == "Active" {
            "may only be 'Active' if `deletionTimestamp` is empty"
        } else {
            "may only be 'Terminating' if `deletionTimestamp` is not empty"
        };
        vec![field::invalid("status.Phase", phase, detail)]
    }

    fn name_rule(&self) -> fn(&str) -> Vec<String> {
        name::dns_label
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        &["status.phase"]
    }
}
