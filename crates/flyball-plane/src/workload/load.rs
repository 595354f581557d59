//! The load on a workload as one annotation tells it, and what of it each pod bears.
//!
//! The annotation `flyball.dev/load` on a Deployment, StatefulSet, ReplicaSet, ReplicationController or bare Pod holds JSON:
//!
//! ```json
//! {
//!   "epoch": "2026-01-01T00:00:00Z",
//!   "cpu": {"points": [[0, "2400m"], [60, "9600m"], [240, "2400m"]], "shape": "step"},
//!   "memory": "2Gi",
//!   "idle": {"cpu": "5m", "memory": "20Mi"},
//!   "shares": {"app": 3, "sidecar": 1},
//!   "pods": {"http_requests": {"points": [[60, 200], [360, 600]]}},
//!   "objects": {"Ingress.networking.k8s.io/main": {"requests_per_second": "1k"}},
//!   "external": {"queue_messages": [{"labels": {"queue": "orders"}, "value": 30}]}
//! }
//! ```
//!
//! Every value over time is a *curve*: a quantity (a constant), or `points` in seconds since `epoch`, joined by lines (`shape: linear`,
//! the default) or steps, and repeated every `repeatSeconds` if that is given. Without `epoch` time counts from the workload's creation.
//!
//! - `cpu`, `memory` and each metric of `pods` are totals. The pods that are Ready and not being deleted share them equally; any other
//!   running pod uses `idle` (cpu 1m and memory 16Mi unless given, nothing of a metric of `pods`).
//! - A pod's share is split over its containers by `shares`, else by cpu requests, else equally, and capped at each container's cpu limit.
//! - `objects` and `external` are values as they are; a list tells series by labels. Objects are named `Kind.group/name`, a namespace
//!   `Namespace/name`.
//!
//! To set a constant load, replace the one field (`cpu: "6"`) and keep the others: [`with_constant`]. The topmost controller of a pod that has the annotation
//! counts: a ReplicaSet carries a copy of its Deployment's.
//!
//! Not here: how samples are taken (`sample`), how they are served (`metrics_api`).

pub mod curve;
pub mod ledger;
pub mod sample;

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::{Map, Value};

use self::curve::{Curve, Nano, UNIT, amount};
use super::object::{
    annotation, created_ms, is_being_deleted, is_ready, name, namespace, put, text, uid,
};
use super::owner::workloads_of;
use super::view::{Kind, ObjectKey, View};
use crate::time;

/// The annotation that holds a load.
pub const LOAD: &str = "flyball.dev/load";

/// A load, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    epoch_ms: UnixMs,
    /// Totals of `cpu` and `memory`.
    pub resources: BTreeMap<String, Curve>,
    /// What a pod without load uses of them.
    pub idle: BTreeMap<String, Nano>,
    /// Parts of the containers by name; empty for by request.
    pub shares: BTreeMap<String, u32>,
    /// Totals of the metrics of pods.
    pub pods: BTreeMap<String, Vec<Series>>,
    /// Values of the metrics of objects, by `Kind.group/name`.
    pub objects: BTreeMap<String, BTreeMap<String, Vec<Series>>>,
    /// Values of external metrics.
    pub external: BTreeMap<String, Vec<Series>>,
}

/// One series of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// Its labels.
    pub labels: Map<String, Value>,
    /// Its value.
    pub curve: Curve,
}

/// An annotation that cannot be read: which object, which field, why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the annotation flyball.dev/load of {object} cannot be read: {field}: {why}")]
pub struct LoadError {
    /// The object that carries it, as `Deployment.apps default/web`.
    pub object: String,
    /// Path in the JSON, such as `pods.http_requests`.
    pub field: String,
    /// What is wrong.
    pub why: String,
}

type Fault = (String, String);

impl Load {
    /// The load `object` carries; `None` without the annotation.
    pub fn of(object: &Value) -> Result<Option<Self>, LoadError> {
        let Some(text) = annotation(object, LOAD) else {
            return Ok(None);
        };
        Self::parse(text, created_ms(object))
            .map(Some)
            .map_err(|(field, why)| LoadError {
                object: ObjectKey::of(object).to_string(),
                field,
                why,
            })
    }

    fn parse(text: &str, created_ms: UnixMs) -> Result<Self, Fault> {
        let root: Value =
            serde_json::from_str(text).map_err(|error| fault("json", error.to_string()))?;
        let Some(fields) = root.as_object() else {
            return Err(fault("json", "must be an object"));
        };
        let default_idle = BTreeMap::from([
            ("cpu".to_owned(), UNIT / 1000),
            ("memory".to_owned(), 16 * 1024 * 1024 * UNIT),
        ]);
        let mut load = Self {
            epoch_ms: created_ms,
            resources: BTreeMap::new(),
            idle: default_idle,
            shares: BTreeMap::new(),
            pods: BTreeMap::new(),
            objects: BTreeMap::new(),
            external: BTreeMap::new(),
        };
        for (field, value) in fields {
            load.read(field, value)?;
        }
        Ok(load)
    }

    fn read(&mut self, field: &str, value: &Value) -> Result<(), Fault> {
        match field {
            "epoch" => {
                let epoch = value.as_str().and_then(time::parse);
                self.epoch_ms = epoch
                    .ok_or_else(|| fault(field, "must be a time such as 2026-01-01T00:00:00Z"))?;
            }
            "cpu" | "memory" => {
                let curve = Curve::parse(value).map_err(|why| fault(field, why))?;
                self.resources.insert(field.to_owned(), curve);
            }
            "idle" => {
                let told = entries(field, value, &|path, value| {
                    amount(value).map_err(|why| fault(path, why))
                })?;
                self.idle.extend(told);
            }
            "shares" => self.shares = entries(field, value, &share)?,
            "pods" => self.pods = entries(field, value, &series)?,
            "external" => self.external = entries(field, value, &series)?,
            "objects" => {
                self.objects = entries(field, value, &|path, value| entries(path, value, &series))?;
            }
            _ => {
                return Err(fault(
                    field,
                    "is unknown; see epoch, cpu, memory, idle, shares, pods, objects, external",
                ));
            }
        }
        Ok(())
    }

    /// The value of a curve of this load at an instant.
    pub fn value(&self, curve: &Curve, at_ms: UnixMs) -> Nano {
        curve.at(at_ms.saturating_sub(self.epoch_ms))
    }
}

/// The annotation's text with the total of `resource` (`cpu`, `memory`) made constant and everything else kept: what a command
/// that sets the load patches into the workload. The error is a text that names the field.
pub fn with_constant(current: Option<&str>, resource: &str, total: &str) -> Result<String, String> {
    let told = |(field, why): Fault| format!("{field}: {why}");
    let current = current.unwrap_or("{}");
    Load::parse(current, 0).map_err(told)?;
    let mut root: Value = serde_json::from_str(current).map_err(|error| error.to_string())?;
    put(&mut root, &[resource], Value::from(total));
    let text = root.to_string();
    Load::parse(&text, 0).map_err(told)?;
    Ok(text)
}

fn fault(field: &str, why: impl Into<String>) -> Fault {
    (field.to_owned(), why.into())
}

type Read<'a, T> = &'a dyn Fn(&str, &Value) -> Result<T, Fault>;

fn entries<T>(path: &str, value: &Value, read: Read<'_, T>) -> Result<BTreeMap<String, T>, Fault> {
    let fields = value
        .as_object()
        .ok_or_else(|| fault(path, "must be an object"))?;
    fields
        .iter()
        .map(|(key, value)| Ok((key.clone(), read(&format!("{path}.{key}"), value)?)))
        .collect()
}

fn share(path: &str, value: &Value) -> Result<u32, Fault> {
    let share = value.as_u64().and_then(|share| u32::try_from(share).ok());
    share.ok_or_else(|| fault(path, "must be a whole number of at least 0"))
}

fn series(path: &str, value: &Value) -> Result<Vec<Series>, Fault> {
    let Some(list) = value.as_array() else {
        let curve = Curve::parse(value).map_err(|why| fault(path, why))?;
        return Ok(vec![Series {
            labels: Map::new(),
            curve,
        }]);
    };
    let one = |entry: &Value| {
        let labels = entry
            .get("labels")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let curve = Curve::parse(entry.get("value").unwrap_or(&Value::Null))
            .map_err(|why| fault(path, why))?;
        Ok(Series { labels, curve })
    };
    list.iter().map(one).collect()
}

/// The workload whose load a pod bears: the topmost of its controllers, or the pod itself, that carries the annotation.
pub fn loaded_by(view: &dyn View, pod: &Arc<Value>) -> Option<Arc<Value>> {
    let mut chain = workloads_of(view, pod);
    chain.insert(0, pod.clone());
    chain
        .into_iter()
        .rev()
        .find(|object| annotation(object, LOAD).is_some())
}

/// True when the pod takes its share of the load.
pub fn bears_load(pod: &Value) -> bool {
    is_ready(pod) && !is_being_deleted(pod) && text(pod, "/status/phase") == "Running"
}

/// The pods below a workload: its own and those of its ReplicaSets; a bare pod is its own.
pub fn pods_of(view: &dyn View, workload: &Arc<Value>) -> Vec<Arc<Value>> {
    if ObjectKey::of(workload).kind == Kind::POD {
        return vec![workload.clone()];
    }
    let place = namespace(workload);
    let mut pods = view.owned_by(&Kind::POD, place, uid(workload));
    for set in view.owned_by(&Kind::REPLICA_SET, place, uid(workload)) {
        pods.extend(view.owned_by(&Kind::POD, place, uid(&set)));
    }
    pods.sort_by(|left, right| name(left).cmp(name(right)));
    pods
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(load: &str) -> Value {
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {LOAD: load}},
        })
    }

    #[test]
    fn a_load_counts_from_its_epoch_or_from_creation() {
        let at = time::parse("2026-01-01T00:01:30Z").unwrap();
        let rows = [
            (r#"{"cpu": {"points": [[0, 1], [90, 10]]}}"#, 10),
            (
                r#"{"epoch": "2026-01-01T00:01:00Z", "cpu": {"points": [[0, 1], [90, 10]]}}"#,
                4,
            ),
        ];
        for (text, expected) in rows {
            let load = Load::of(&object(text)).unwrap().unwrap();
            assert_eq!(
                load.value(&load.resources["cpu"], at),
                expected * UNIT,
                "{text}"
            );
        }
        assert_eq!(Load::of(&json!({})), Ok(None));
    }

    #[test]
    fn setting_a_constant_keeps_the_rest() {
        let rows = [
            (None, "cpu", "6", Ok(r#"{"cpu":"6"}"#)),
            (
                Some(r#"{"cpu":{"points":[[0,1]]},"memory":"1Gi"}"#),
                "cpu",
                "6",
                Ok(r#"{"cpu":"6","memory":"1Gi"}"#),
            ),
            (None, "disk", "6", Err("disk: is unknown")),
            (None, "cpu", "six", Err("cpu: \"six\": ")),
            (Some("[]"), "cpu", "6", Err("json: must be an object")),
        ];
        for (current, resource, total, expected) in rows {
            match (with_constant(current, resource, total), expected) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected),
                (Err(error), Err(expected)) => assert!(error.starts_with(expected), "{error}"),
                (told, expected) => panic!("{told:?} is not {expected:?}"),
            }
        }
    }

    #[test]
    fn a_load_that_cannot_be_read_names_the_field() {
        let rows = [
            ("[]", "json: must be an object"),
            (
                r#"{"cpus": 1}"#,
                "cpus: is unknown; see epoch, cpu, memory, idle, shares, pods, objects, external",
            ),
            (r#"{"pods": {"hits": [{"value": "x y"}]}}"#, "pods.hits: "),
            (
                r#"{"objects": {"Ingress/a": {"hits": true}}}"#,
                "objects.Ingress/a.hits: true is no quantity",
            ),
            (
                r#"{"shares": {"app": -1}}"#,
                "shares.app: must be a whole number of at least 0",
            ),
            (
                r#"{"epoch": "noon"}"#,
                "epoch: must be a time such as 2026-01-01T00:00:00Z",
            ),
        ];
        for (text, expected) in rows {
            let error = Load::of(&object(text)).unwrap_err().to_string();
            let start = format!(
                "the annotation flyball.dev/load of Deployment.apps default/web cannot be read: {expected}"
            );
            assert!(error.starts_with(&start), "{error}");
        }
    }
}
