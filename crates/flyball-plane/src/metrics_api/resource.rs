//! `metrics.k8s.io/v1beta1`: usage of pods and of the one node, as metrics-server answers (pkg/api/pod.go, node.go).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::quantity::{bytes, decimal};
use super::{World, selector, unreadable};
use crate::refusal::{Refusal, Subject};
use crate::request::{Query, ResourcePath};
use crate::time;
use crate::workload::load::curve::Nano;
use crate::workload::load::sample::Sampler;
use crate::workload::load::{Load, loaded_by};
use crate::workload::object::{items, name, namespace, text};
use crate::workload::pod_life::NODE;
use crate::workload::selector::meets;
use crate::workload::view::Kind;

const VERSION: &str = "metrics.k8s.io/v1beta1";

pub(super) fn answer(
    world: World<'_>,
    path: &ResourcePath,
    query: &Query,
) -> Result<Value, Refusal> {
    let rest_is_empty = path.rest.is_empty();
    match (path.resource.as_str(), &path.namespace, &path.name) {
        ("pods", place, None) => pods(world, place.as_deref(), query),
        ("pods", Some(place), Some(pod)) if rest_is_empty => one_pod(world, place, pod),
        ("nodes", None, None) => nodes(world),
        ("nodes", None, Some(node)) if rest_is_empty => one_node(world, node),
        _ => Err(Refusal::no_such_path()),
    }
}

fn pods(world: World<'_>, place: Option<&str>, query: &Query) -> Result<Value, Refusal> {
    let selector = selector(query, "labelSelector")?;
    let mut items = Vec::new();
    for pod in world.view.list(&Kind::POD, place) {
        let labels = pod.pointer("/metadata/labels").and_then(Value::as_object);
        if meets(&selector, labels) {
            items.extend(measure(world, &pod)?.map(|measured| measured.object(&pod, world)));
        }
    }
    Ok(list("PodMetricsList", &items))
}

fn one_pod(world: World<'_>, place: &str, pod: &str) -> Result<Value, Refusal> {
    let missing = |group: &str, name: &str| {
        let resource = "pods";
        Refusal::not_found(Subject {
            group,
            resource,
            name,
        })
    };
    let stored = world.view.get(&Kind::POD, place, pod);
    let stored = stored.ok_or_else(|| missing("", pod))?;
    let unmeasured = || missing("metrics.k8s.io", &format!("{place}/{pod}"));
    let measured = measure(world, &stored)?.ok_or_else(unmeasured)?;
    let mut object = measured.object(&stored, world);
    object["apiVersion"] = json!(VERSION);
    object["kind"] = json!("PodMetrics");
    Ok(object)
}

/// A pod's sample.
struct Measured {
    at_ms: i64,
    window_seconds: i64,
    /// Container name, cpu, memory.
    containers: Vec<(String, Nano, Nano)>,
}

impl Measured {
    fn object(&self, pod: &Value, world: World<'_>) -> Value {
        let containers: Vec<Value> = self
            .containers
            .iter()
            .map(|(name, cpu, memory)| json!({"name": name, "usage": usage(*cpu, *memory)}))
            .collect();
        let mut metadata = json!({
            "name": name(pod),
            "namespace": namespace(pod),
            "creationTimestamp": time::print(world.now_ms),
        });
        if let Some(labels) = pod.pointer("/metadata/labels") {
            metadata["labels"] = labels.clone();
        }
        json!({
            "metadata": metadata,
            "timestamp": time::print(self.at_ms),
            "window": window(self.window_seconds),
            "containers": containers,
        })
    }
}

/// The sample of a pod that runs under a load; `None` when there is none yet, or nothing to measure.
fn measure(world: World<'_>, pod: &Arc<Value>) -> Result<Option<Measured>, Refusal> {
    if text(pod, "/status/phase") != "Running" {
        return Ok(None);
    }
    // Without a load a pod idles; its own settings are then the only ones.
    let workload = loaded_by(world.view, pod).unwrap_or_else(|| pod.clone());
    Load::of(&workload).map_err(|error| unreadable(&error))?;
    let sampler = Sampler::new(world.view, world.ledger, &workload, world.now_ms);
    let Some(since_ms) = sampler.sampled_since(pod) else {
        return Ok(None);
    };
    let names = items(pod, "/spec/containers")
        .iter()
        .map(|container| text(container, "/name").to_owned());
    let cpu = sampler.usage(pod, "cpu", since_ms);
    let memory = sampler.usage(pod, "memory", since_ms);
    let containers = names
        .zip(cpu)
        .zip(memory)
        .map(|((name, cpu), memory)| (name, cpu, memory))
        .collect();
    let window_seconds = sampler.scrape.window_seconds();
    Ok(Some(Measured {
        at_ms: sampler.at_ms,
        window_seconds,
        containers,
    }))
}

fn nodes(world: World<'_>) -> Result<Value, Refusal> {
    Ok(list("NodeMetricsList", &[node(world)?]))
}

fn one_node(world: World<'_>, asked: &str) -> Result<Value, Refusal> {
    if asked != NODE {
        return Err(Refusal::not_found(Subject {
            group: "",
            resource: "nodes",
            name: asked,
        }));
    }
    let mut object = node(world)?;
    object["apiVersion"] = json!(VERSION);
    object["kind"] = json!("NodeMetrics");
    Ok(object)
}

/// The node uses what its pods use; it has nothing else to do.
fn node(world: World<'_>) -> Result<Value, Refusal> {
    let mut sums: BTreeMap<&str, Nano> = BTreeMap::new();
    for pod in world.view.list(&Kind::POD, None) {
        for (_, cpu, memory) in measure(world, &pod)?
            .map(|measured| measured.containers)
            .unwrap_or_default()
        {
            *sums.entry("cpu").or_default() += cpu;
            *sums.entry("memory").or_default() += memory;
        }
    }
    let sum = |resource| sums.get(resource).copied().unwrap_or(0);
    Ok(json!({
        "metadata": {"name": NODE, "creationTimestamp": time::print(world.now_ms)},
        "timestamp": time::print(world.now_ms),
        "window": window(0),
        "usage": usage(sum("cpu"), sum("memory")),
    }))
}

fn usage(cpu: Nano, memory: Nano) -> Value {
    json!({"cpu": decimal(cpu), "memory": bytes(memory)})
}

fn list(kind: &str, items: &[Value]) -> Value {
    json!({"kind": kind, "apiVersion": VERSION, "metadata": {}, "items": items})
}

/// A number of seconds as Go prints a duration.
fn window(seconds: i64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}
