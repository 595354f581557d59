//! A pod of the API as the facts a decision reads.

use std::sync::Arc;

use flyball_api::pod::{Pod, PodContainer, PodStatus, ResourceList};
use flyball_core::pod::{Phase, PodFacts, Readiness, ReadyState};
use flyball_core::policy::Text;
use flyball_core::request::{Container, InitContainer, PodRequests, Resources};
use flyball_core::time::Instant;

/// The facts of one pod. `requests` comes from [`requests`], so that a caller can share it among pods of one template.
pub fn lower(pod: &Pod, requests: Arc<PodRequests>) -> PodFacts {
    PodFacts {
        name: pod.metadata.name.as_str().into(),
        phase: phase(&pod.status.phase),
        terminating: pod.metadata.deletion_timestamp.is_some(),
        ready: readiness(&pod.status),
        start: pod.status.start_time.map(|t| Instant(t.millis())),
        requests,
    }
}

/// What the containers of a pod ask for, in thousandths.
pub fn requests(pod: &Pod) -> PodRequests {
    let container = |c: &PodContainer| Container {
        name: c.name.as_str().into(),
        requests: milli(&c.resources.requests),
    };
    PodRequests {
        containers: pod.spec.containers.iter().map(container).collect(),
        init: pod
            .spec
            .init_containers
            .iter()
            .map(|c| InitContainer {
                container: container(c),
                restartable: c.restart_policy.as_deref() == Some("Always"),
            })
            .collect(),
        pod_level: pod.spec.resources.as_ref().map(|r| milli(&r.requests)),
        overhead: milli(&pod.spec.overhead),
    }
}

fn milli(list: &ResourceList) -> Resources {
    list.iter()
        .map(|(name, q)| (Text::from(name.as_str()), q.milli_value()))
        .collect()
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

/// The first `Ready` condition. Upstream: pkg/api/v1/pod `GetPodCondition`, 1.37.2.
fn readiness(status: &PodStatus) -> Option<Readiness> {
    let ready = status.conditions.iter().find(|c| c.kind == "Ready")?;
    let state = match ready.status.as_str() {
        "True" => ReadyState::True,
        "False" => ReadyState::False,
        _ => ReadyState::Unknown,
    };
    let since = ready
        .last_transition_time
        .map_or(Instant::GO_ZERO, |t| Instant(t.millis()));
    Some(Readiness { state, since })
}
