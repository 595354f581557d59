//! The three metrics APIs, answered from the objects and the load model: `metrics.k8s.io/v1beta1` as metrics-server does,
//! `custom.metrics.k8s.io` and `external.metrics.k8s.io` as an adapter over Prometheus does. Pure functions of what is asked and when.
//! Not here: the load (`workload::load`), HTTP, discovery, methods other than GET.

mod custom;
mod external;
mod quantity;
mod resource;

use flyball_clock::UnixMs;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::request::{Query, ResourcePath};
use crate::workload::load::LoadError;
use crate::workload::load::ledger::Ledger;
use crate::workload::view::View;

/// The groups that are answered, with their versions, the preferred one first.
pub(crate) const GROUPS: [(&str, &[&str]); 3] = [
    ("metrics.k8s.io", &["v1beta1"]),
    ("custom.metrics.k8s.io", &["v1beta2", "v1beta1"]),
    ("external.metrics.k8s.io", &["v1beta1"]),
];

/// What answers are made from.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    /// The objects.
    pub view: &'a dyn View,
    /// Their past.
    pub ledger: &'a Ledger,
    /// When it is asked.
    pub now_ms: UnixMs,
}

/// The answer to a GET on one of [`GROUPS`].
///
/// | path below the version | kind |
/// |---|---|
/// | `namespaces/{ns}/pods`, `pods` (`labelSelector`) | PodMetricsList |
/// | `namespaces/{ns}/pods/{name}` | PodMetrics |
/// | `nodes`, `nodes/{name}` | NodeMetricsList, NodeMetrics |
/// | custom: `namespaces/{ns}/pods/{name or *}/{metric}`, `namespaces/{ns}/{resource}/{name}/{metric}`, `namespaces/{ns}/metrics/{metric}` | MetricValueList |
/// | external: `namespaces/{ns}/{metric}` (`labelSelector`) | ExternalMetricValueList |
pub(crate) fn answer(
    world: World<'_>,
    path: &ResourcePath,
    query: &Query,
) -> Result<Value, Refusal> {
    match path.served.group.as_str() {
        "metrics.k8s.io" => resource::answer(world, path, query),
        "custom.metrics.k8s.io" => custom::answer(world, path, query),
        "external.metrics.k8s.io" => external::answer(world, path, query),
        _ => Err(Refusal::no_such_path()),
    }
}

/// The selector in a query parameter; absent means everything.
fn selector(query: &Query, parameter: &str) -> Result<flyball_api::selector::Selector, Refusal> {
    let text = query.get(parameter).unwrap_or_default();
    flyball_api::selector::Selector::parse(text)
        .map_err(|error| Refusal::bad_request(error.to_string()))
}

/// A load that cannot be read is told to whoever asks for its metrics; nobody else would notice.
fn unreadable(error: &LoadError) -> Refusal {
    Refusal::internal(error)
}

#[cfg(test)]
mod tests;
