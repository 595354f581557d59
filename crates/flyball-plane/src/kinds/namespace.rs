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

    fn zero_status(&self) -> Option<Value> {
        Some(json!({}))
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"phase": "Active"}))
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn prepare_create(&self, object: &mut Value) {
        self.default(object);
        let finalizers = object::child(object, "spec")
            .entry("finalizers")
            .or_insert_with(|| json!([]));
        if let Value::Array(list) = finalizers
            && !list.iter().any(|one| one == "kubernetes")
        {
            list.push("kubernetes".into());
        }
    }

    fn prepare_update(&self, object: &mut Value, old: &Value) {
        // Finalizers of the spec change through `finalize` alone, except that they may go while the namespace does:
        // the controllers inside the plane use the plain update.
        if !object::is_being_deleted(old) {
            object::take_field(object, old, "spec");
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let list = object.pointer("/spec/finalizers").and_then(Value::as_array);
        let names = list.into_iter().flatten().filter_map(Value::as_str);
        names.flat_map(finalizer).collect()
    }

    fn validate_update(&self, _object: &Value, _old: &Value) -> Vec<FieldError> {
        Vec::new()
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

/// The problems of a finalizer of the spec. Source: core validation `ValidateFinalizerName`.
fn finalizer(text: &str) -> Vec<FieldError> {
    const PATH: &str = "spec.finalizers";
    let mut problems: Vec<FieldError> = name::label_key(text)
        .into_iter()
        .map(|why| field::invalid(PATH, text, why))
        .collect();
    if !text.contains('/') && text != "kubernetes" {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        problems.push(field::invalid(PATH, text, detail));
    }
    problems
}
