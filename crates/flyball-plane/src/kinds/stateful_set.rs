//! apps/v1 StatefulSet. Source: registry/apps/statefulset/strategy.go, apps/v1 defaults.go, apps validation
//! `ValidateStatefulSetUpdate`.

use flyball_api::name;
use serde_json::{Value, json};

use super::{pod_template, workload};
use crate::field::{self, FieldError};
use crate::kind::{Kind, SelectorForm, Strategy};
use crate::object::{self, default_field, fields};

/// What may change in the spec of an existing StatefulSet.
const MUTABLE: [&str; 7] = [
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

/// What is refused by itself when it changes.
const IMMUTABLE: [&str; 2] = ["selector", "serviceName"];

#[derive(Debug)]
struct StatefulSet;

pub(super) fn kind() -> Kind {
    Kind::new("apps", "v1", "StatefulSet", StatefulSet)
        .short(&["sts"])
        .in_all()
        .with_status()
        .with_scale(SelectorForm::LabelSelector)
}

impl Strategy for StatefulSet {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        default_field(spec, "podManagementPolicy", "OrderedReady");
        default_field(spec, "serviceName", "");
        default_field(spec, "replicas", 1);
        default_field(spec, "revisionHistoryLimit", 10);
        let update = fields(spec.entry("updateStrategy").or_insert_with(|| json!({})));
        if update.get("type").is_none() {
            update.insert("type".to_owned(), "RollingUpdate".into());
            default_field(update, "rollingUpdate", json!({}));
        }
        if let Some(rolling) = update.get_mut("rollingUpdate") {
            default_field(fields(rolling), "partition", 0);
            default_field(fields(rolling), "maxUnavailable", 1);
        }
        let policy = spec
            .entry("persistentVolumeClaimRetentionPolicy")
            .or_insert_with(|| json!({}));
        default_field(fields(policy), "whenDeleted", "Retain");
        default_field(fields(policy), "whenScaled", "Retain");
        pod_template::default_template(object);
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"replicas": 0, "availableReplicas": 0}))
    }

    fn name_rule(&self) -> fn(&str) -> Vec<String> {
        name::dns_label
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let service = object.pointer("/spec/serviceName").and_then(Value::as_str);
        let problems = service
            .filter(|name| !name.is_empty())
            .map(|text| (text, name::dns_label(text)));
        let mut errors: Vec<FieldError> = problems
            .into_iter()
            .flat_map(|(text, problems)| {
                problems
                    .into_iter()
                    .map(move |why| field::invalid("spec.serviceName", text, why))
            })
            .collect();
        errors.extend(workload::validate(object, "statefulset"));
        let policy = object
            .pointer("/spec/podManagementPolicy")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !["OrderedReady", "Parallel"].contains(&policy) {
            let detail = "must be 'OrderedReady' or 'Parallel'";
            errors.push(field::invalid("spec.podManagementPolicy", policy, detail));
        }
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let rest = |object: &Value| {
            let mut spec = object.get("spec").cloned().unwrap_or_default();
            fields(&mut spec).retain(|field, _| {
                !MUTABLE.contains(&field.as_str()) && !IMMUTABLE.contains(&field.as_str())
            });
            spec
        };
        let mut errors = self.validate(object);
        for field in IMMUTABLE {
            let at = |object: &Value| object.get("spec").and_then(|spec| spec.get(field)).cloned();
            if at(object) != at(old) {
                let value = at(object).unwrap_or_default();
                let path = format!("spec.{field}");
                errors.push(field::invalid(path, value, "field is immutable"));
            }
        }
        if rest(object) != rest(old) {
            errors.push(field::forbidden(
                "spec",
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            ));
        }
        errors
    }
}
