//! apps/v1 Deployment. Source: registry/apps/deployment/strategy.go, apps/v1 defaults.go `SetDefaults_Deployment`,
//! apps validation `ValidateDeploymentSpec`.

use serde_json::{Map, Value, json};

use super::{pod_template, workload};
use crate::field::{self, FieldError};
use crate::kind::{Kind, SelectorForm, Strategy};
use crate::object::{self, default_field, fields};

/// The numbers of the status that are left out when they are zero, in the order they are checked.
const COUNTS: [&str; 6] = [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
];

#[derive(Debug)]
struct Deployment;

pub(super) fn kind() -> Kind {
    Kind::new("apps", "v1", "Deployment", Deployment)
        .short(&["deploy"])
        .in_all()
        .with_status()
        .with_scale(SelectorForm::LabelSelector)
}

impl Strategy for Deployment {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        default_field(spec, "replicas", 1);
        default_field(spec, "revisionHistoryLimit", 10);
        default_field(spec, "progressDeadlineSeconds", 600);
        default_strategy(spec);
        pod_template::default_template(object);
        workload::drop_zeros(object, "spec", &["minReadySeconds", "paused"]);
        workload::drop_zeros(object, "status", &COUNTS);
    }

    fn counts_as_change(&self, object: &Value, old: &Value) -> bool {
        let annotations = |object: &Value| object.pointer("/metadata/annotations").cloned();
        object.get("spec") != old.get("spec") || annotations(object) != annotations(old)
    }

    fn prepare_status(&self, object: &mut Value, old: &Value) {
        match old.pointer("/metadata/labels") {
            Some(labels) => object::set_meta(object, "labels", labels.clone()),
            None => object::remove_meta(object, "labels"),
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = workload::validate(object, "deployment");
        errors.extend(strategy(object));
        errors.extend(workload::nonnegative(object, "revisionHistoryLimit"));
        deadline(object, &mut errors);
        errors
    }

    fn validate_status(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        status(object, old)
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = self.validate(object);
        errors.extend(workload::selector_is_immutable(object, old));
        errors
    }
}

fn default_strategy(spec: &mut Map<String, Value>) {
    let strategy = fields(spec.entry("strategy").or_insert_with(|| json!({})));
    default_field(strategy, "type", "RollingUpdate");
    if strategy.get("type").and_then(Value::as_str) == Some("RollingUpdate") {
        default_field(strategy, "rollingUpdate", json!({}));
        let rolling = fields(strategy.entry("rollingUpdate").or_insert_with(|| json!({})));
        default_field(rolling, "maxUnavailable", "25%");
        default_field(rolling, "maxSurge", "25%");
    }
}

fn strategy(object: &Value) -> Vec<FieldError> {
    const PATH: &str = "spec.strategy";
    let strategy = object
        .pointer("/spec/strategy")
        .cloned()
        .unwrap_or_default();
    let rolling = strategy
        .get("rollingUpdate")
        .filter(|rolling| !rolling.is_null());
    match strategy
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
    {
        "Recreate" if rolling.is_some() => vec![field::forbidden(
            format!("{PATH}.rollingUpdate"),
            "may not be specified when strategy `type` is 'Recreate'",
        )],
        "Recreate" => Vec::new(),
        "RollingUpdate" => rolling.map_or_else(
            || {
                vec![field::required(
                    format!("{PATH}.rollingUpdate"),
                    "this should be defaulted and never be nil",
                )]
            },
            rolling_update,
        ),
        other => vec![field::not_supported(
            PATH,
            // Upstream quotes its Go struct.
            json!({"Type": other, "RollingUpdate": rolling}),
            &["Recreate", "RollingUpdate"],
        )],
    }
}

fn rolling_update(rolling: &Value) -> Vec<FieldError> {
    const PATH: &str = "spec.strategy.rollingUpdate";
    let mut errors = Vec::new();
    let mut excess = Vec::new();
    let mut zeros = 0;
    for field in ["maxUnavailable", "maxSurge"] {
        let value = rolling.get(field).cloned().unwrap_or_default();
        let path = format!("{PATH}.{field}");
        match (value.as_i64(), value.as_str()) {
            (Some(number), _) if number < 0 => {
                errors.push(field::invalid(path, number, "must be greater than or equal to 0"));
            }
            (Some(number), _) => zeros += usize::from(number == 0),
            (None, Some(text)) => match text.strip_suffix('%').and_then(|digits| digits.parse::<u32>().ok()) {
                None => errors.push(field::invalid(
                    path,
                    text,
                    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
                )),
                Some(percent) => {
                    zeros += usize::from(percent == 0);
                    if field == "maxUnavailable" && percent > 100 {
                        excess.push(field::invalid(path, text, "must not be greater than 100%"));
                    }
                }
            },
            (None, None) => errors.push(field::invalid(path, value, "must be an integer or percentage (e.g '5%%')")),
        }
    }
    if zeros == 2 {
        let value = rolling.get("maxUnavailable").cloned().unwrap_or_default();
        errors.push(field::invalid(
            format!("{PATH}.maxUnavailable"),
            value,
            "may not be 0 when `maxSurge` is 0",
        ));
    }
    errors.extend(excess);
    errors
}

fn deadline(object: &Value, errors: &mut Vec<FieldError>) {
    const PATH: &str = "spec.progressDeadlineSeconds";
    let number = |field: &str| {
        object
            .pointer(&format!("/spec/{field}"))
            .and_then(Value::as_i64)
    };
    let Some(seconds) = number("progressDeadlineSeconds") else {
        return;
    };
    errors.extend(workload::nonnegative(object, "progressDeadlineSeconds"));
    if seconds <= number("minReadySeconds").unwrap_or(0) {
        let detail = "must be greater than minReadySeconds";
        errors.push(field::invalid(PATH, seconds, detail));
    }
}

/// The problems of a status. Source: apps validation `ValidateDeploymentStatus` and `ValidateDeploymentStatusUpdate`.
fn status(object: &Value, old: &Value) -> Vec<FieldError> {
    let count = |name: &str| {
        object
            .pointer(&format!("/status/{name}"))
            .and_then(Value::as_i64)
    };
    let path = |name: &str| format!("status.{name}");
    let mut errors = Vec::new();
    for name in COUNTS
        .into_iter()
        .chain(["terminatingReplicas", "collisionCount"])
    {
        if let Some(value) = count(name).filter(|value| *value < 0) {
            let detail = "must be greater than or equal to 0";
            errors.push(field::invalid(path(name), value, detail));
        }
    }
    for (name, most) in [
        ("updatedReplicas", "replicas"),
        ("readyReplicas", "replicas"),
        ("availableReplicas", "replicas"),
        ("availableReplicas", "readyReplicas"),
    ] {
        let value = count(name).unwrap_or(0);
        if value > count(most).unwrap_or(0) {
            let most = if most == "replicas" {
                "status.replicas"
            } else {
                most
            };
            let detail = format!("cannot be greater than {most}");
            errors.push(field::invalid(path(name), value, detail));
        }
    }
    let before = old
        .pointer("/status/collisionCount")
        .and_then(Value::as_i64);
    if let Some(before) = before {
        let now = count("collisionCount");
        let now = now.unwrap_or(0);
        if now < before {
            let detail = "cannot be decremented";
            errors.push(field::invalid(path("collisionCount"), now, detail));
        }
    }
    errors
}
