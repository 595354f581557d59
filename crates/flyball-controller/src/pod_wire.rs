//! What is read of a Pod, and how it becomes facts.
//! Not here: keeping them ([`crate::pod_index`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_api::{Quantity, time::Time};
use flyball_core::pod::{Phase, PodFacts, Readiness, ReadyState};
use flyball_core::request::{Container, InitContainer, PodRequests, Resources};
use flyball_core::time::Instant;
use serde::Deserialize;

use crate::pod_index::{IndexedPod, Labels};
use crate::source::Watched;

#[derive(Deserialize)]
struct WirePod {
    metadata: WireMeta,
    #[serde(default)]
    spec: WireSpec,
    #[serde(default)]
    status: WireStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMeta {
    #[serde(default)]
    namespace: String,
    name: String,
    #[serde(default)]
    labels: Option<Labels>,
    #[serde(default)]
    deletion_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireSpec {
    #[serde(default)]
    containers: Option<Vec<WireContainer>>,
    #[serde(default)]
    init_containers: Option<Vec<WireContainer>>,
    #[serde(default)]
    resources: Option<WireResources>,
    #[serde(default)]
    overhead: Option<Amounts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireContainer {
    name: String,
    #[serde(default)]
    resources: Option<WireResources>,
    #[serde(default)]
    restart_policy: Option<String>,
}

#[derive(Deserialize)]
struct WireResources {
    #[serde(default)]
    requests: Option<Amounts>,
}

type Amounts = BTreeMap<String, Quantity>;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireStatus {
    #[serde(default)]
    phase: String,
    #[serde(default)]
    start_time: Option<Time>,
    #[serde(default)]
    conditions: Option<Vec<WireCondition>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(default)]
    last_transition_time: Option<Time>,
}

impl Watched for IndexedPod {
    fn decode(json: &str) -> Result<Self, serde_json::Error> {
        let WirePod {
            metadata,
            spec,
            status,
        } = serde_json::from_str(json)?;
        let facts = PodFacts {
            name: metadata.name.into(),
            phase: phase(&status.phase),
            terminating: metadata.deletion_timestamp.is_some(),
            ready: status.conditions.as_deref().and_then(readiness),
            start: status.start_time.map(|time| Instant(time.millis())),
            requests: Arc::new(requests(spec)),
        };
        let labels = Arc::new(metadata.labels.unwrap_or_default());
        Ok(Self {
            namespace: metadata.namespace,
            facts,
            labels,
        })
    }
}

fn phase(text: &str) -> Phase {
    match text {
        "Pending" => Phase::Pending,
        "Running" => Phase::Running,
        "Succeeded" => Phase::Succeeded,
        "Failed" => Phase::Failed,
        _ => Phase::Unknown,
    }
}

fn readiness(conditions: &[WireCondition]) -> Option<Readiness> {
    let ready = conditions
        .iter()
        .find(|condition| condition.kind == "Ready")?;
    let state = match ready.status.as_str() {
        "True" => ReadyState::True,
        "False" => ReadyState::False,
        _ => ReadyState::Unknown,
    };
    let since = ready
        .last_transition_time
        .map_or(Instant::GO_ZERO, |time| Instant(time.millis()));
    Some(Readiness { state, since })
}

fn requests(spec: WireSpec) -> PodRequests {
    let init = spec
        .init_containers
        .unwrap_or_default()
        .into_iter()
        .map(|container| {
            let restartable = container.restart_policy.as_deref() == Some("Always");
            InitContainer {
                container: lower(container),
                restartable,
            }
        });
    PodRequests {
        containers: spec
            .containers
            .unwrap_or_default()
            .into_iter()
            .map(lower)
            .collect(),
        init: init.collect(),
        pod_level: spec
            .resources
            .and_then(|resources| resources.requests)
            .map(amounts),
        overhead: spec.overhead.map(amounts).unwrap_or_default(),
    }
}

fn lower(container: WireContainer) -> Container {
    let requests = container.resources.and_then(|resources| resources.requests);
    Container {
        name: container.name.into(),
        requests: requests.map(amounts).unwrap_or_default(),
    }
}

fn amounts(amounts: Amounts) -> Resources {
    amounts
        .into_iter()
        .map(|(name, amount)| (name.into(), amount.milli_value()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = r#"{
        "metadata": {"namespace": "ns", "name": "web-1", "labels": {"app": "web"}, "deletionTimestamp": "2000-01-01T00:00:09Z"},
        "spec": {
            "containers": [{"name": "app", "image": "x", "resources": {"requests": {"cpu": "250m", "memory": "1Ki"}}}],
            "initContainers": [
                {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}},
                {"name": "once", "resources": {}}],
            "resources": {"requests": {"cpu": "2"}},
            "overhead": {"cpu": "10m"}},
        "status": {
            "phase": "Running", "startTime": "2000-01-01T00:00:01Z",
            "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2000-01-01T00:00:02Z"}]}}"#;

    #[test]
    fn every_fact_is_read() {
        let pod = IndexedPod::decode(POD).expect("a pod");
        let zero = 946_684_800_000;
        assert_eq!(pod.facts.phase, Phase::Running);
        assert!(pod.facts.terminating);
        assert_eq!(pod.facts.start, Some(Instant(zero + 1_000)));
        let ready = Readiness {
            state: ReadyState::False,
            since: Instant(zero + 2_000),
        };
        assert_eq!(pod.facts.ready, Some(ready));
        let requests = &pod.facts.requests;
        let app = [("cpu".into(), 250), ("memory".into(), 1_024_000)];
        assert_eq!(requests.containers[0].requests, app);
        assert_eq!(
            requests
                .init
                .iter()
                .map(|init| init.restartable)
                .collect::<Vec<_>>(),
            [true, false]
        );
        assert_eq!(requests.pod_level, Some(vec![("cpu".into(), 2_000)]));
        assert_eq!(requests.overhead, [("cpu".into(), 10)]);
    }

    #[test]
    fn a_pod_without_anything_is_a_pod() {
        let pod = IndexedPod::decode(r#"{"metadata":{"name":"x"}}"#).expect("a pod");
        assert_eq!(pod.facts.phase, Phase::Unknown);
        assert_eq!((pod.facts.ready, pod.facts.start), (None, None));
    }
}
