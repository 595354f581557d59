//! batch/v1 Job, as a stored object: nothing runs it. Source: registry/batch/job/strategy.go, batch/v1 defaults.go
//! `SetDefaults_Job`, batch validation `ValidateJobSpec`.

use serde_json::{Map, Value, json};

use super::{pod_spec, pod_template, workload};
use crate::field::{self, FieldError};
use crate::kind::{Dependents, Kind, Strategy};
use crate::metadata;
use crate::object::{self, default_field, fields};

const UID: &str = "batch.kubernetes.io/controller-uid";
/// Labels of a job's pods: the job's name, then its uid, each under an old and a new key.
const NAMES: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
const UIDS: [&str; 2] = ["controller-uid", UID];
/// What an update may not change.
const IMMUTABLE: [&str; 4] = ["completions", "selector", "template", "completionMode"];

#[derive(Debug)]
struct Job;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("batch", "v1", "Job", Job).in_all().with_status();
    // Older than the garbage collector, as the ReplicationController.
    Kind {
        dependents: Dependents::Stay,
        ..kind
    }
}

impl Strategy for Job {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
            default_field(spec, "completions", 1);
        }
        default_field(spec, "parallelism", 1);
        default_field(spec, "backoffLimit", 6);
        default_field(spec, "completionMode", "NonIndexed");
        default_field(spec, "suspend", false);
        default_field(spec, "manualSelector", false);
        default_field(spec, "podReplacementPolicy", "TerminatingOrFailed");
        let policy = object.pointer("/spec/template/spec/restartPolicy").cloned();
        pod_template::default_template(object);
        // A pod restarts always unless it says otherwise, and a job's must say it.
        if let (None, Some(Value::Object(spec))) =
            (policy, object.pointer_mut("/spec/template/spec"))
        {
            spec.remove("restartPolicy");
        }
        copy_labels(object);
    }

    fn prepare_create(&self, object: &mut Value) {
        if object.pointer("/spec/manualSelector") != Some(&Value::Bool(true)) {
            select_own(object);
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let numbers = [
            "parallelism",
            "completions",
            "activeDeadlineSeconds",
            "backoffLimit",
        ];
        let mut errors: Vec<FieldError> = numbers
            .into_iter()
            .filter_map(|field| workload::nonnegative(object, field))
            .collect();
        errors.extend(workload::nonnegative(object, "ttlSecondsAfterFinished"));
        let labels = object.pointer("/spec/template/metadata/labels");
        errors.extend(metadata::labels("spec.template.labels", labels));
        errors.extend(pod_spec::validate(
            "spec.template.spec",
            object.pointer("/spec/template/spec"),
        ));
        let policy = object
            .pointer("/spec/template/spec/restartPolicy")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let path = "spec.template.spec.restartPolicy";
        match policy {
            "OnFailure" | "Never" => {}
            "Always" | "" => {
                let detail = "valid values: \"OnFailure\", \"Never\"";
                errors.push(field::required(path, detail));
            }
            other => errors.push(field::not_supported(path, other, &["OnFailure", "Never"])),
        }
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = self.validate(object);
        if object.pointer("/spec/selector").is_none() {
            errors.push(field::required("spec.selector", ""));
        }
        errors.extend(IMMUTABLE.iter().filter_map(|field| {
            let at = |object: &Value| object.get("spec").and_then(|spec| spec.get(field)).cloned();
            let (new, old) = (at(object), at(old));
            (new != old).then(|| {
                let value = new.unwrap_or_default();
                field::invalid(format!("spec.{field}"), value, "field is immutable")
            })
        }));
        errors
    }

    fn deletion_warning(&self) -> Option<&'static str> {
        Some(
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
        )
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        &["status.successful"]
    }

    fn unselectable(&self, field: &str) -> String {
        format!("field label {field:?} not supported for Job")
    }

    fn field_value(&self, object: &Value, _field: &str) -> String {
        let succeeded = object.pointer("/status/succeeded").and_then(Value::as_i64);
        succeeded.unwrap_or(0).to_string()
    }
}

/// Labels the pods with the job's name and uid, and selects them by the uid. Upstream: `generateSelector`.
fn select_own(object: &mut Value) {
    let (name, uid) = (
        object::name(object).to_owned(),
        object::uid(object).to_owned(),
    );
    let spec = object::child(object, "spec");
    let template = spec.entry("template").or_insert_with(|| json!({}));
    let metadata = object::child(template, "metadata");
    let labels = fields(metadata.entry("labels").or_insert_with(|| json!({})));
    for key in NAMES {
        default_field(labels, key, name.as_str());
    }
    for key in UIDS {
        default_field(labels, key, uid.as_str());
    }
    let selector = fields(spec.entry("selector").or_insert_with(|| json!({})));
    let labels = fields(selector.entry("matchLabels").or_insert_with(|| json!({})));
    default_field(labels, UID, uid);
}

/// A job without labels has its template's.
fn copy_labels(object: &mut Value) {
    let Some(labels) = object.pointer("/spec/template/metadata/labels").cloned() else {
        return;
    };
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
