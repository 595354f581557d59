//! apps/v1 DaemonSet, as a stored object: nothing runs its pods, there are no nodes. Source: registry/apps/daemonset/strategy.go,
//! apps/v1 defaults.go `SetDefaults_DaemonSet`, apps validation `ValidateDaemonSetSpec`.

use serde_json::{Value, json};

use super::{pod_template, workload};
use crate::field::{self, FieldError};
use crate::kind::{Codec, Kind, Strategy, Version};
use crate::object::{self, default_field, fields};

/// Where the template's generation is served, which older clients read, and where it is stored.
const ANNOTATION: &str = "deprecated.daemonset.template.generation";
const GENERATION: &str = "templateGeneration";

/// Numbers of the status, in the order in which they are checked.
const COUNTS: [&str; 9] = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
];

#[derive(Debug)]
struct DaemonSet;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("apps", "v1", "DaemonSet", DaemonSet)
        .short(&["ds"])
        .in_all()
        .with_status();
    let version = Version {
        name: "v1".into(),
        codec: Some(Codec { decode, encode }),
    };
    Kind {
        versions: vec![version],
        ..kind
    }
}

/// The template's generation is a field of the stored form and an annotation of the served one.
fn decode(mut object: Value) -> Value {
    let annotations = object.pointer_mut("/metadata/annotations");
    let text = annotations.and_then(|annotations| annotations.as_object_mut()?.remove(ANNOTATION));
    let generation = text.and_then(|text| text.as_str()?.parse::<i64>().ok());
    if let Some(generation) = generation {
        object::child(&mut object, "spec").insert(GENERATION.to_owned(), generation.into());
    }
    object
}

fn encode(object: &Value) -> Value {
    let mut served = object.clone();
    let generation = object::child(&mut served, "spec").remove(GENERATION);
    let annotations = object::child(&mut served, "metadata")
        .entry("annotations")
        .or_insert_with(|| json!({}));
    let text = generation.unwrap_or_else(|| 0.into()).to_string();
    fields(annotations).insert(ANNOTATION.to_owned(), text.into());
    served
}

impl Strategy for DaemonSet {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        default_field(spec, "revisionHistoryLimit", 10);
        let update = fields(spec.entry("updateStrategy").or_insert_with(|| json!({})));
        default_field(update, "type", "RollingUpdate");
        if update["type"] == "RollingUpdate" {
            let rolling = update.entry("rollingUpdate").or_insert_with(|| json!({}));
            default_field(fields(rolling), "maxUnavailable", 1);
            default_field(fields(rolling), "maxSurge", 0);
        }
        pod_template::default_template(object);
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({
            "currentNumberScheduled": 0,
            "numberMisscheduled": 0,
            "desiredNumberScheduled": 0,
            "numberReady": 0,
        }))
    }

    fn prepare_create(&self, object: &mut Value) {
        object::child(object, "spec").insert(GENERATION.to_owned(), 1.into());
    }

    fn prepare_update(&self, object: &mut Value, old: &Value) {
        let changed = object.pointer("/spec/template") != old.pointer("/spec/template");
        let before = old
            .pointer("/spec/templateGeneration")
            .and_then(Value::as_i64);
        let generation = before.unwrap_or(0) + i64::from(changed);
        object::child(object, "spec").insert(GENERATION.to_owned(), generation.into());
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = workload::selector(object, "daemonset");
        errors.extend(workload::template(object));
        if object
            .pointer("/spec/template/spec/activeDeadlineSeconds")
            .is_some()
        {
            errors.push(field::forbidden(
                "spec.template.spec.activeDeadlineSeconds",
                "activeDeadlineSeconds in DaemonSet is not Supported",
            ));
        }
        errors.extend(workload::nonnegative(object, "minReadySeconds"));
        errors.extend(update_strategy(object));
        errors.extend(workload::nonnegative(object, "revisionHistoryLimit"));
        errors
    }

    fn validate_status(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        let problem = |name: &&str| {
            let number = object.get("status")?.get(*name)?.as_i64()?;
            let detail = "must be greater than or equal to 0";
            (number < 0).then(|| field::invalid(format!("status.{name}"), number, detail))
        };
        COUNTS.iter().filter_map(problem).collect()
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = Vec::from_iter(workload::selector_is_immutable(object, old));
        errors.extend(self.validate(object));
        errors
    }
}

fn update_strategy(object: &Value) -> Option<FieldError> {
    const PATH: &str = "spec.updateStrategy";
    let strategy = object.pointer("/spec/updateStrategy")?;
    let is_zero = |value: &Value| *value == 0 || *value == "0%";
    match strategy["type"].as_str().unwrap_or_default() {
        "OnDelete" => None,
        "RollingUpdate" => {
            let rolling = &strategy["rollingUpdate"];
            let both = is_zero(&rolling["maxUnavailable"]) && is_zero(&rolling["maxSurge"]);
            let path = format!("{PATH}.rollingUpdate.maxUnavailable");
            both.then(|| field::required(path, "cannot be 0 when maxSurge is 0"))
        }
        other => Some(field::not_supported(
            format!("{PATH}.type"),
            other,
            &["RollingUpdate", "OnDelete"],
        )),
    }
}
