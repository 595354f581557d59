//! The scripted cluster over HTTP: which path asks for what, and the answer. Unknown paths are 404.

use std::collections::BTreeMap;

use flyball_api::selector::Selector;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

use super::discovery;
use super::instant;
use super::journal::Journal;
use super::world::{Refusal, State, World};

/// A response without its HTTP dress.
pub(crate) enum Answer {
    Object(Value),
    Watch(UnboundedReceiver<Value>),
    Refused(Refusal),
}

/// A request taken apart.
struct Ask<'a> {
    verb: &'a str,
    path: Vec<&'a str>,
    query: BTreeMap<String, String>,
    body: Value,
}

/// Answers one request.
pub(crate) fn answer(world: &World, parts: &http::request::Parts, body: &[u8]) -> Answer {
    let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let segments: Vec<String> = parts
        .uri
        .path()
        .split('/')
        .filter(|part| !part.is_empty())
        .map(decode)
        .collect();
    let query = parts
        .uri
        .query()
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    let ask = Ask {
        verb: parts.method.as_str(),
        path: segments.iter().map(String::as_str).collect(),
        query: query
            .map(|(key, value)| (decode(key), decode(&value.replace('+', " "))))
            .collect(),
        body: serde_json::from_slice(body).unwrap_or_default(),
    };
    let mut state = world.lock();
    if let Some(found) = discovery::answer(&ask.path) {
        return Answer::Object(found);
    }
    route(&mut state, &ask).unwrap_or_else(Answer::Refused)
}

fn route(state: &mut State, ask: &Ask<'_>) -> Result<Answer, Refusal> {
    match ask.path.as_slice() {
        ["api", "v1", rest @ ..] => core(state, ask, rest),
        ["apis", "autoscaling", "v2", rest @ ..] => autoscaling(state, ask, rest),
        ["apis", group, _, "namespaces", "default", rest @ ..] => match (*group, rest) {
            ("metrics.k8s.io", ["pods"]) => resource_metrics(state, ask),
            ("custom.metrics.k8s.io", rest) => custom_metrics(state, ask, rest),
            ("external.metrics.k8s.io", [metric]) => external_metrics(state, metric),
            (group, [resource, name, "scale"]) => {
                scale(state, ask, (&format!("{resource}.{group}"), name))
            }
            _ => Err(not_found(&ask.path.join("/"))),
        }
        .map(Answer::Object),
        path => Err(not_found(&path.join("/"))),
    }
}

/// Pods, events, and the scales of the core group.
fn core(state: &mut State, ask: &Ask<'_>, path: &[&str]) -> Result<Answer, Refusal> {
    match path {
        ["pods"] | ["namespaces", "default", "pods"] => {
            let version = state.current_version();
            Ok(collection(&mut state.pod_journal, version, ask))
        }
        ["namespaces", "default", resource, name, "scale"] => {
            scale(state, ask, (resource, name)).map(Answer::Object)
        }
        // Events are compared where the controller emits them.
        ["namespaces", "default", "events", ..] => Ok(Answer::Object(ask.body.clone())),
        _ => Err(not_found(&path.join("/"))),
    }
}

fn autoscaling(state: &mut State, ask: &Ask<'_>, path: &[&str]) -> Result<Answer, Refusal> {
    let path = path
        .strip_prefix(&["namespaces", "default"])
        .unwrap_or(path);
    match (ask.verb, path) {
        ("GET", ["horizontalpodautoscalers"]) => {
            let version = state.current_version();
            Ok(collection(&mut state.autoscalers, version, ask))
        }
        ("GET", ["horizontalpodautoscalers", name]) => {
            let found = state.autoscalers.object(name).cloned();
            found.map(Answer::Object).ok_or_else(|| not_found(name))
        }
        ("PUT", ["horizontalpodautoscalers", name, "status"]) => {
            state.write_status(name, &ask.body).map(Answer::Object)
        }
        _ => Err(not_found(&path.join("/"))),
    }
}

fn not_found(what: &str) -> Refusal {
    Refusal {
        code: 404,
        reason: "NotFound",
        message: format!("{what} is not in the scripted cluster"),
    }
}

fn collection(journal: &mut Journal, version: u64, ask: &Ask<'_>) -> Answer {
    let watch = ask
        .query
        .get("watch")
        .is_some_and(|value| value == "1" || value == "true");
    if watch {
        let since = ask
            .query
            .get("resourceVersion")
            .and_then(|text| text.parse().ok());
        return Answer::Watch(journal.watch(since.unwrap_or(0)));
    }
    Answer::Object(json!({
        "apiVersion": "v1",
        "kind": "List",
        "metadata": {"resourceVersion": version.to_string()},
        "items": journal.objects(),
    }))
}

/// `target` is the resource with its group, and the name.
fn scale(state: &mut State, ask: &Ask<'_>, target: (&str, &str)) -> Result<Value, Refusal> {
    match ask.verb {
        "GET" => state.read_scale(target.0, target.1),
        "PUT" => state.write_scale(target.0, target.1, &ask.body),
        _ => Err(not_found(target.1)),
    }
}

fn selector(ask: &Ask<'_>) -> Result<Selector, Refusal> {
    let text = ask.query.get("labelSelector").map_or("", String::as_str);
    Selector::parse(text).map_err(|error| Refusal::internal(&error.to_string()))
}

fn resource_metrics(state: &State, ask: &Ask<'_>) -> Result<Value, Refusal> {
    if let Some(text) = &state.faults.res {
        return Err(Refusal::internal(text));
    }
    let selector = selector(ask)?;
    let selected = state
        .pods
        .iter()
        .filter(|pod| selector.matches(&pod.labels));
    let items: Vec<Value> = selected
        .filter_map(|pod| pod.resource_sample(state.nominal_s()))
        .collect();
    Ok(
        json!({"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetricsList", "metadata": {}, "items": items}),
    )
}

fn custom_metrics(state: &State, ask: &Ask<'_>, path: &[&str]) -> Result<Value, Refusal> {
    let metric = path.last().copied().unwrap_or_default();
    let fault = state
        .faults
        .cus
        .as_ref()
        .or_else(|| state.faults.cusm.get(metric));
    if let Some(text) = fault {
        return Err(Refusal::internal(text));
    }
    let items = match path {
        ["pods", "*", metric] => {
            let selector = selector(ask)?;
            let selected = state
                .pods
                .iter()
                .filter(|pod| selector.matches(&pod.labels));
            selected
                .filter_map(|pod| pod.custom_sample(metric, state.nominal_s()))
                .collect()
        }
        ["metrics", metric] => vec![object_metric(state, metric, "default")?],
        [_, name, metric] => vec![object_metric(state, metric, name)?],
        _ => return Err(not_found(&path.join("/"))),
    };
    let api = "custom.metrics.k8s.io/v1beta2";
    Ok(json!({"apiVersion": api, "kind": "MetricValueList", "metadata": {}, "items": items}))
}

fn object_metric(state: &State, metric: &str, name: &str) -> Result<Value, Refusal> {
    let value = state
        .object
        .get(metric)
        .ok_or_else(|| Refusal::internal(&format!("metric {metric} is not served for {name}")))?;
    Ok(json!({
        "describedObject": {"name": name, "namespace": "default"},
        "metric": {"name": metric},
        "timestamp": instant::text(state.nominal_s()),
        "value": value.milli(),
    }))
}

fn external_metrics(state: &State, metric: &str) -> Result<Value, Refusal> {
    let fault = state
        .faults
        .ext
        .as_ref()
        .or_else(|| state.faults.extm.get(metric));
    if let Some(text) = fault {
        return Err(Refusal::internal(text));
    }
    let values = state.external.get(metric);
    let values =
        values.ok_or_else(|| Refusal::internal(&format!("metric {metric} is not served")))?;
    let timestamp = instant::text(state.nominal_s());
    let items: Vec<Value> = values
        .iter()
        .map(|value| json!({"metricName": metric, "metricLabels": {}, "timestamp": timestamp, "value": value.milli()}))
        .collect();
    let api = "external.metrics.k8s.io/v1beta1";
    Ok(
        json!({"apiVersion": api, "kind": "ExternalMetricValueList", "metadata": {}, "items": items}),
    )
}
