//! Pods and samples as cases write them, turned into what the core reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_core::pod::{Phase, PodFacts, Readiness, ReadyState, Sample};
use flyball_core::policy::Text;
use flyball_core::request::{Container, InitContainer, PodRequests};
use flyball_core::time::Instant;
use serde::Deserialize;

use super::expected::{at, span};

/// A pod of a case. Absent keys are what the suite does not speak about.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PodCase {
    pub(super) name: String,
    phase: Option<String>,
    ready: Option<bool>,
    start_time_offset_seconds: Option<f64>,
    ready_transition_offset_seconds: Option<f64>,
    #[serde(default)]
    deletion_timestamp_set: bool,
    #[serde(default)]
    containers: Vec<ContainerCase>,
    #[serde(default)]
    init_containers: Vec<ContainerCase>,
    pod_level_request_milli: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerCase {
    name: String,
    request_milli: Option<i64>,
    #[serde(default)]
    restartable: bool,
}

/// A sample of a case: of a pod with containers, of a pod with one value, or of no pod.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SampleCase {
    pod: Option<String>,
    timestamp_offset_seconds: Option<f64>,
    #[serde(default)]
    window_seconds: f64,
    pub(super) value_milli: Option<i64>,
    containers: Option<Vec<UsageCase>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageCase {
    name: String,
    usage_milli: Option<i64>,
}

impl PodCase {
    /// The facts of the pod. Requests are all of `resource`; a case speaks of one.
    pub(super) fn facts(&self, resource: &str) -> PodFacts {
        PodFacts {
            name: self.name.as_str().into(),
            phase: match self.phase.as_deref() {
                Some("Pending") => Phase::Pending,
                Some("Running") => Phase::Running,
                Some("Succeeded") => Phase::Succeeded,
                Some("Failed") => Phase::Failed,
                _ => Phase::Unknown,
            },
            terminating: self.deletion_timestamp_set,
            ready: self.ready.map(|ready| Readiness {
                state: if ready {
                    ReadyState::True
                } else {
                    ReadyState::False
                },
                since: self
                    .ready_transition_offset_seconds
                    .map_or(Instant::GO_ZERO, at),
            }),
            start: self.start_time_offset_seconds.map(at),
            requests: Arc::new(self.requests(resource)),
        }
    }

    /// What the containers ask for.
    pub(super) fn requests(&self, resource: &str) -> PodRequests {
        let amount = |milli: i64| (Text::from(resource), milli);
        let container = |case: &ContainerCase| Container {
            name: case.name.as_str().into(),
            requests: case.request_milli.map(amount).into_iter().collect(),
        };
        let init = |case: &ContainerCase| InitContainer {
            container: container(case),
            restartable: case.restartable,
        };
        PodRequests {
            containers: self.containers.iter().map(container).collect(),
            init: self.init_containers.iter().map(init).collect(),
            pod_level: self
                .pod_level_request_milli
                .map(|milli| vec![amount(milli)]),
            overhead: Vec::new(),
        }
    }
}

impl SampleCase {
    /// The sample's value in thousandths: of one container, or of all. None where a part is absent.
    fn value(&self, container: Option<&str>) -> Option<i64> {
        let Some(containers) = &self.containers else {
            return self.value_milli;
        };
        if let Some(name) = container {
            return containers
                .iter()
                .find(|usage| usage.name == name)?
                .usage_milli;
        }
        let parts = containers.iter().map(|usage| usage.usage_milli);
        parts
            .reduce(|sum, part| Some(sum?.wrapping_add(part?)))
            .flatten()
    }
}

/// Samples by pod, for one container or for whole pods. One that lacks a part is no sample.
pub(super) fn samples(cases: &[SampleCase], container: Option<&str>) -> BTreeMap<Text, Sample> {
    let mut samples = BTreeMap::new();
    for case in cases {
        if let (Some(pod), Some(value)) = (&case.pod, case.value(container)) {
            let timestamp = case.timestamp_offset_seconds.map_or(Instant::GO_ZERO, at);
            let window = span(case.window_seconds);
            samples.insert(
                pod.as_str().into(),
                Sample {
                    timestamp,
                    window,
                    value,
                },
            );
        }
    }
    samples
}
