//! `external.metrics.k8s.io/v1beta1`: values that belong to no object of the cluster.

use serde_json::{Value, json};

use super::custom::{loads, not_found};
use super::quantity::milli;
use super::{World, selector};
use crate::refusal::Refusal;
use crate::request::{Query, ResourcePath};
use crate::time;
use crate::workload::load::sample::Sampler;
use crate::workload::selector::meets;

pub(super) fn answer(
    world: World<'_>,
    path: &ResourcePath,
    query: &Query,
) -> Result<Value, Refusal> {
    let (Some(place), None) = (&path.namespace, &path.name) else {
        return Err(Refusal::no_such_path());
    };
    let metric = path.resource.as_str();
    let selector = selector(query, "labelSelector")?;
    let mut is_known = false;
    let mut items: Vec<Value> = Vec::new();
    for (workload, load) in loads(world, place)? {
        let sampler = Sampler::new(world.view, world.ledger, &workload, world.now_ms);
        let series = load.external.get(metric);
        is_known |= series.is_some();
        for one in series
            .into_iter()
            .flatten()
            .filter(|one| meets(&selector, Some(&one.labels)))
        {
            items.push(json!({
                "metricName": metric,
                "metricLabels": one.labels,
                "timestamp": time::print(sampler.at_ms),
                "window": sampler.scrape.window_seconds(),
                "value": milli(sampler.value(&load, &one.curve)),
            }));
        }
    }
    if !is_known {
        return Err(not_found(metric, "namespaces"));
    }
    Ok(json!({
        "kind": "ExternalMetricValueList",
        "apiVersion": "external.metrics.k8s.io/v1beta1",
        "metadata": {},
        "items": items,
    }))
}
