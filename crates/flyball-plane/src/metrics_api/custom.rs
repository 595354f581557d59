//! `custom.metrics.k8s.io` v1beta1 and v1beta2: metrics of pods, of objects and of namespaces
//! (upstream custom-metrics-apiserver pkg/registry/custom_metrics, provider/errors.go).

use std::sync::Arc;

use flyball_api::selector::Selector;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::quantity::milli;
use super::{World, selector, unreadable};
use crate::refusal::Refusal;
use crate::request::{Query, ResourcePath};
use crate::time;
use crate::workload::load::curve::{Curve, Nano};
use crate::workload::load::sample::Sampler;
use crate::workload::load::{Load, Series, loaded_by};
use crate::workload::object::{controller_of, name, namespace};
use crate::workload::selector::meets;
use crate::workload::view::Kind;

pub(super) fn answer(
    world: World<'_>,
    path: &ResourcePath,
    query: &Query,
) -> Result<Value, Refusal> {
    let metric_selector = selector(query, "metricLabelSelector")?;
    let place = path.namespace.as_deref().unwrap_or_default();
    let name = path.name.as_deref();
    let ask = |metric| Ask {
        world,
        place,
        metric,
        selector: &metric_selector,
    };
    let values = match (path.resource.as_str(), name, path.rest.as_slice()) {
        ("metrics", Some(metric), []) if !place.is_empty() => ask(metric).namespace()?,
        ("pods", Some("*"), [metric]) if !place.is_empty() => {
            ask(metric).pods(&selector(query, "labelSelector")?)?
        }
        ("pods", Some(pod), [metric]) if !place.is_empty() => ask(metric).pod(pod)?,
        (resource, Some(name), [metric]) => ask(metric).object(resource, name)?,
        _ => return Err(Refusal::no_such_path()),
    };
    let version = path.served.version.as_str();
    let items: Vec<Value> = values
        .into_iter()
        .map(|value| value.item(version, query))
        .collect();
    Ok(json!({
        "kind": "MetricValueList",
        "apiVersion": format!("custom.metrics.k8s.io/{version}"),
        "metadata": {},
        "items": items,
    }))
}

/// What is asked for.
struct Ask<'a> {
    world: World<'a>,
    place: &'a str,
    metric: &'a str,
    selector: &'a Selector,
}

/// One value of a metric.
struct Sampled {
    described: Value,
    metric: String,
    at_ms: i64,
    window_seconds: i64,
    value: Nano,
}

impl Sampled {
    fn item(self, version: &str, query: &Query) -> Value {
        let mut item = json!({
            "describedObject": self.described,
            "timestamp": time::print(self.at_ms),
            "value": milli(self.value),
        });
        let asked = query.get("metricLabelSelector").map(selector_object);
        if version == "v1beta1" {
            item["metricName"] = json!(self.metric);
            item["selector"] = json!(asked);
            item["window"] = json!(self.window_seconds);
        } else {
            item["metric"] = json!({"name": self.metric, "selector": asked});
            item["windowSeconds"] = json!(self.window_seconds);
        }
        item
    }
}

impl Ask<'_> {
    fn pods(&self, pods: &Selector) -> Result<Vec<Sampled>, Refusal> {
        let mut values = Vec::new();
        let mut is_known = false;
        for pod in self.world.view.list(&Kind::POD, Some(self.place)) {
            let labels = pod.pointer("/metadata/labels").and_then(Value::as_object);
            if meets(pods, labels) && self.tells(&pod)? {
                is_known = true;
                values.extend(self.sample(&pod)?);
            }
        }
        if is_known {
            Ok(values)
        } else {
            Err(not_found(self.metric, "pods"))
        }
    }

    fn pod(&self, pod: &str) -> Result<Vec<Sampled>, Refusal> {
        let stored = self.world.view.get(&Kind::POD, self.place, pod);
        let sampled = stored
            .map(|stored| self.sample(&stored))
            .transpose()?
            .flatten();
        sampled
            .map(|sampled| vec![sampled])
            .ok_or_else(|| not_found(self.metric, &format!("pods {pod}")))
    }

    /// True when the pod's workload tells the metric at all.
    fn tells(&self, pod: &Arc<Value>) -> Result<bool, Refusal> {
        let Some(workload) = loaded_by(self.world.view, pod) else {
            return Ok(false);
        };
        let load = Load::of(&workload).map_err(|error| unreadable(&error))?;
        Ok(load.is_some_and(|load| load.pods.contains_key(self.metric)))
    }

    fn sample(&self, pod: &Arc<Value>) -> Result<Option<Sampled>, Refusal> {
        let Some(workload) = loaded_by(self.world.view, pod) else {
            return Ok(None);
        };
        let load = Load::of(&workload).map_err(|error| unreadable(&error))?;
        let Some(series) = load.as_ref().and_then(|load| load.pods.get(self.metric)) else {
            return Ok(None);
        };
        let curves = self.matching(series);
        let sampler = Sampler::new(
            self.world.view,
            self.world.ledger,
            &workload,
            self.world.now_ms,
        );
        let Some(since_ms) = sampler.sampled_since(pod).filter(|_| !curves.is_empty()) else {
            return Ok(None);
        };
        Ok(Some(Sampled {
            described: json!({"kind": "Pod", "namespace": namespace(pod), "name": name(pod), "apiVersion": "v1"}),
            metric: self.metric.to_owned(),
            at_ms: sampler.at_ms,
            window_seconds: sampler.scrape.window_seconds(),
            value: sampler.pod_metric(pod, &curves, since_ms),
        }))
    }

    fn namespace(&self) -> Result<Vec<Sampled>, Refusal> {
        self.described(
            |object| object == format!("Namespace/{}", self.place),
            "namespaces",
            self.place,
        )
    }

    fn object(&self, resource: &str, object: &str) -> Result<Vec<Sampled>, Refusal> {
        let is_it = |told: &str| {
            let parts = told.rsplit_once('/');
            parts.is_some_and(|(kind, told_name)| {
                told_name == object && resource_of(kind) == resource
            })
        };
        self.described(is_it, resource, object)
    }

    /// The value of an object's metric: the sum over the workloads that tell it.
    fn described(
        &self,
        is_it: impl Fn(&str) -> bool,
        resource: &str,
        object: &str,
    ) -> Result<Vec<Sampled>, Refusal> {
        let mut found: Option<Sampled> = None;
        for (workload, load) in loads(self.world, self.place)? {
            let sampler = Sampler::new(
                self.world.view,
                self.world.ledger,
                &workload,
                self.world.now_ms,
            );
            for (told, metrics) in load.objects.iter().filter(|(told, _)| is_it(told)) {
                for curve in metrics
                    .get(self.metric)
                    .map(|series| self.matching(series))
                    .unwrap_or_default()
                {
                    let value = sampler.value(&load, curve);
                    match &mut found {
                        Some(known) => known.value += value,
                        None => {
                            found = Some(Sampled {
                                described: reference(told, self.place),
                                metric: self.metric.to_owned(),
                                at_ms: sampler.at_ms,
                                window_seconds: sampler.scrape.window_seconds(),
                                value,
                            });
                        }
                    }
                }
            }
        }
        found
            .map(|found| vec![found])
            .ok_or_else(|| not_found(self.metric, &format!("{resource} {object}")))
    }

    fn matching<'s>(&self, series: &'s [Series]) -> Vec<&'s Curve> {
        series
            .iter()
            .filter(|one| meets(self.selector, Some(&one.labels)))
            .map(|one| &one.curve)
            .collect()
    }
}

/// The loads in a namespace: of workloads that nothing controls, for the others carry copies.
pub(super) fn loads(world: World<'_>, place: &str) -> Result<Vec<(Arc<Value>, Load)>, Refusal> {
    let kinds = [
        Kind::DEPLOYMENT,
        Kind::STATEFUL_SET,
        Kind::REPLICA_SET,
        Kind::REPLICATION_CONTROLLER,
        Kind::POD,
    ];
    let mut found = Vec::new();
    for workload in kinds
        .iter()
        .flat_map(|kind| world.view.list(kind, Some(place)))
    {
        if controller_of(&workload).is_none()
            && let Some(load) = Load::of(&workload).map_err(|error| unreadable(&error))?
        {
            found.push((workload, load));
        }
    }
    Ok(found)
}

/// `Ingress.networking.k8s.io` as a path says it: `ingresses.networking.k8s.io` (apimachinery meta.UnsafeGuessKindToResource).
fn resource_of(kind: &str) -> String {
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    let kind = kind.to_ascii_lowercase();
    let plural = match kind.as_bytes().last() {
        _ if kind.ends_with("endpoints") => kind,
        Some(b's') => format!("{kind}es"),
        Some(b'y') => format!("{}ies", &kind[..kind.len() - 1]),
        _ => format!("{kind}s"),
    };
    if group.is_empty() {
        plural
    } else {
        format!("{plural}.{group}")
    }
}

/// The object that `Kind.group/name` names, as an ObjectReference.
fn reference(told: &str, place: &str) -> Value {
    let (kind, object) = told.rsplit_once('/').unwrap_or((told, ""));
    let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
    let mut reference = json!({"kind": kind, "name": object});
    if kind != "Namespace" {
        reference["namespace"] = json!(place);
    }
    // The version is not told by the load, nor read by anyone.
    reference["apiVersion"] = json!(if group.is_empty() {
        "v1".to_owned()
    } else {
        format!("{group}/v1")
    });
    reference
}

/// The parsed selector as a LabelSelector object, as the API's `selector` field wants it.
fn selector_object(text: &str) -> Value {
    let parsed = Selector::parse(text).unwrap_or_else(|_| Selector::nothing());
    let mut labels = Map::new();
    for requirement in parsed.requirements() {
        if let [value] = requirement.values() {
            labels.insert(requirement.key().to_owned(), json!(value));
        }
    }
    json!({ "matchLabels": labels })
}

/// Upstream provider.NewMetricNotFoundError and NewMetricNotFoundForError.
pub(super) fn not_found(metric: &str, subject: &str) -> Refusal {
    Refusal {
        code: StatusCode::NOT_FOUND,
        reason: "NotFound",
        message: format!("the server could not find the metric {metric} for {subject}"),
        details: None,
        warnings: Box::default(),
        next_page: None,
    }
}
