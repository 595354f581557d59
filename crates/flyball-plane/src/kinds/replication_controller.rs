//! core/v1 ReplicationController. Source: registry/core/replicationcontroller/strategy.go, core/v1 defaults.go,
//! core validation `ValidateReplicationControllerSpec`.

use serde_json::{Map, Value, json};

use super::{pod_spec, pod_template, workload};
use crate::field::{self, FieldError};
use crate::kind::{Dependents, Kind, SelectorForm, Strategy};
use crate::metadata;
use crate::object::{self, default_field};

#[derive(Debug)]
struct ReplicationController;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("", "v1", "ReplicationController", ReplicationController)
        .short(&["rc"])
        .in_all()
        .with_status()
        .with_scale(SelectorForm::Map);
    // Older than the garbage collector, whose absence clients of v1 still count on.
    Kind {
        dependents: Dependents::Stay,
        ..kind
    }
}

impl Strategy for ReplicationController {
    fn default(&self, object: &mut Value) {
        let labels = object.pointer("/spec/template/metadata/labels").cloned();
        if let Some(labels) = labels {
            let spec = object::child(object, "spec");
            if spec
                .get("selector")
                .and_then(Value::as_object)
                .is_some_and(Map::is_empty)
            {
                spec.remove("selector");
            }
            default_field(spec, "selector", labels.clone());
            let metadata = object::child(object, "metadata");
            if metadata
                .get("labels")
                .and_then(Value::as_object)
                .is_some_and(Map::is_empty)
            {
                metadata.remove("labels");
            }
            default_field(metadata, "labels", labels);
        }
        default_field(object::child(object, "spec"), "replicas", 1);
        pod_template::default_template(object);
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"replicas": 0}))
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = Vec::from_iter(workload::nonnegative(object, "minReadySeconds"));
        let empty = Value::Null;
        let selector = object.pointer("/spec/selector").and_then(Value::as_object);
        if selector.is_none_or(Map::is_empty) {
            errors.push(field::required("spec.selector", ""));
        }
        let Some(template) = object.pointer("/spec/template") else {
            errors.push(field::required("spec.template", ""));
            errors.extend(workload::nonnegative(object, "replicas"));
            return errors;
        };
        let labels = template.pointer("/metadata/labels").unwrap_or(&empty);
        let fits = |(key, value): (&String, &Value)| labels.get(key) == Some(value);
        if !selector.into_iter().flatten().all(fits) {
            let detail = "`selector` does not match template `labels`";
            errors.push(field::invalid(
                "spec.template.metadata.labels",
                labels.clone(),
                detail,
            ));
        }
        errors.extend(metadata::labels("spec.template.labels", Some(labels)));
        errors.extend(pod_spec::validate(
            "spec.template.spec",
            template.get("spec"),
        ));
        errors.extend(workload::nonnegative(object, "replicas"));
        errors
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        &["status.replicas"]
    }
}
