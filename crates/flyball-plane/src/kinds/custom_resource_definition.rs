//! apiextensions.k8s.io/v1 CustomResourceDefinition. Source: apiextensions registry/customresourcedefinition/strategy.go,
//! apis/apiextensions/{v1/defaults.go,validation}. Not here: what definitions make (`custom`, `definitions`).

use flyball_api::field::FieldPath;
use flyball_api::name;
use flyball_clock::UnixMs;
use serde_json::{Map, Value, json};

use crate::custom::structural;
use crate::definitions::{FINALIZER, set_condition};
use crate::field::{self, FieldError};
use crate::kind::{DeletionStart, Kind, MetadataRules, PutRule, Scope, Strategy};
use crate::{object, time};

mod parts;

#[derive(Debug)]
struct CustomResourceDefinition;

pub(super) fn kind() -> Kind {
    let kind = Kind::new(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        CustomResourceDefinition,
    );
    let mut kind = kind.short(&["crd", "crds"]).with_status();
    kind.categories.push("api-extensions".into());
    Kind {
        scope: Scope::Cluster,
        put: PutRule::Conditional,
        ..kind
    }
}

impl Strategy for CustomResourceDefinition {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        if let Some(Value::Array(versions)) = spec.get_mut("versions") {
            for version in versions {
                let columns = version
                    .get_mut("additionalPrinterColumns")
                    .and_then(Value::as_array_mut);
                for column in columns.into_iter().flatten() {
                    if column["priority"] == 0 {
                        object::fields(column).remove("priority");
                    }
                }
            }
        }
        let conversion = spec.entry("conversion").or_insert_with(|| json!({}));
        object::default_field(object::fields(conversion), "strategy", "None");
        if spec.get("preserveUnknownFields") == Some(&json!(false)) {
            spec.remove("preserveUnknownFields");
        }
        if let Some(Value::Object(names)) = spec.get_mut("names") {
            name_defaults(names);
        }
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({
            "conditions": null,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": null,
        }))
    }

    fn prepare_create(&self, object: &mut Value) {
        remember_storage(object);
    }

    fn prepare_update(&self, object: &mut Value, _old: &Value) {
        remember_storage(object);
    }

    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::General
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut problems = Vec::new();
        let spec = &object["spec"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let wanted = format!(
            "{}.{}",
            text(&spec["names"]["plural"]),
            text(&spec["group"])
        );
        if object::name(object) != wanted {
            let detail = "must be spec.names.plural+\".\"+spec.group";
            problems.push(field::invalid(
                "metadata.name",
                object::name(object),
                detail,
            ));
        }
        problems.extend(rules(object));
        problems
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut problems = rules(object);
        let mut fixed = vec!["group", "names/plural"];
        if crate::custom::compile::is_true(old, "Established") {
            fixed.splice(..0, ["scope", "names/kind"]);
        }
        for one in fixed {
            let pointer = format!("/spec/{one}");
            let (new, old) = (object.pointer(&pointer), old.pointer(&pointer));
            if new != old {
                let path = format!("spec.{}", one.replace('/', "."));
                problems.push(field::invalid(
                    path,
                    new.cloned().unwrap_or_default(),
                    "field is immutable",
                ));
            }
        }
        problems
    }

    fn validate_status(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        let path = FieldPath::new("status").child("acceptedNames");
        parts::names(&object["status"]["acceptedNames"], &path)
    }

    fn begin_deletion(&self, object: &mut Value, now_ms: UnixMs) -> DeletionStart {
        object::set_meta(object, "deletionTimestamp", time::print(now_ms));
        let mut finalizers = object::finalizers(object);
        if !finalizers.iter().any(|one| one == FINALIZER) {
            finalizers.push(FINALIZER.to_owned());
        }
        object::set_finalizers(object, finalizers);
        let said = [
            "InstanceDeletionPending",
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        ];
        set_condition(object, ("Terminating", "True", said), now_ms);
        DeletionStart::Marked
    }
}

/// Upstream: `SetDefaults_CustomResourceDefinitionSpec`.
fn name_defaults(names: &mut Map<String, Value>) {
    let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned) else {
        return;
    };
    if kind.is_empty() {
        return;
    }
    for (field, value) in [
        ("singular", kind.to_lowercase()),
        ("listKind", format!("{kind}List")),
    ] {
        if names
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty()
        {
            names.insert(field.to_owned(), value.into());
        }
    }
}

/// Versions that have ever been the storage version are remembered.
fn remember_storage(object: &mut Value) {
    let versions = object["spec"]["versions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let stored = object::child(object, "status")
        .entry("storedVersions")
        .or_insert_with(|| json!([]));
    if !stored.is_array() {
        *stored = json!([]);
    }
    if let Value::Array(stored) = stored {
        for version in versions.iter().filter(|one| one["storage"] == true) {
            if !stored.contains(&version["name"]) {
                stored.push(version["name"].clone());
            }
        }
    }
}

/// The rules for new and changed definitions, in upstream's order.
fn rules(object: &Value) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let spec = &object["spec"];
    parts::group_and_scope(spec, &mut problems);
    parts::versions(spec, &mut problems);
    let names = FieldPath::new("spec").child("names");
    for field in ["plural", "singular", "kind", "listKind"] {
        if spec["names"][field].as_str().unwrap_or_default().is_empty() {
            problems.push(FieldError::required(&names.child(field), ""));
        }
    }
    problems.extend(parts::names(&spec["names"], &names));
    parts::shared(spec, &mut problems);
    parts::conversion(spec, &mut problems);
    parts::stored(object, &mut problems);
    if spec["preserveUnknownFields"] == true {
        problems.push(field::invalid(
            "spec.preserveUnknownFields",
            true,
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
        ));
    }
    problems
}
