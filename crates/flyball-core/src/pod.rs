//! What a decision reads of a pod and of its sample. Not the pod itself: labels, owners and containers' other fields stay outside.

use std::sync::Arc;

use crate::policy::Text;
use crate::request::PodRequests;
use crate::time::{Instant, Span};

/// The facts of one pod that the rules read.
#[derive(Clone, Debug, PartialEq)]
pub struct PodFacts {
    /// Name, the key of samples and the order of error texts.
    pub name: Text,
    /// `status.phase`.
    pub phase: Phase,
    /// Whether `metadata.deletionTimestamp` is set.
    pub terminating: bool,
    /// The `Ready` condition, if the status has one.
    pub ready: Option<Readiness>,
    /// `status.startTime`.
    pub start: Option<Instant>,
    /// What the containers ask for. Shared by the pods of one template.
    pub requests: Arc<PodRequests>,
}

/// `status.phase` of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not started yet.
    Pending,
    /// At least one container runs.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, one of them badly.
    Failed,
    /// Unknown, empty or any other text.
    Unknown,
}

/// The `Ready` condition of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// Its status.
    pub state: ReadyState,
    /// Its last transition; [`Instant::GO_ZERO`] when absent.
    pub since: Instant,
}

/// The status of the `Ready` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyState {
    /// `True`.
    True,
    /// `False`.
    False,
    /// `Unknown` or any other text: not `False`, so it does not make a pod unready.
    Unknown,
}

/// One pod's figure of one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// End of the measurement.
    pub timestamp: Instant,
    /// Length of the measurement.
    pub window: Span,
    /// Thousandths of the unit.
    pub value: i64,
}

impl PodFacts {
    /// Whether the pod counts for a Value target: running and ready, terminating or not.
    /// Upstream: replica_calculator.go `getReadyPodsCount`, 1.37.2.
    pub fn is_running_and_ready(&self) -> bool {
        self.phase == Phase::Running && self.ready.is_some_and(|r| r.state == ReadyState::True)
    }
}
