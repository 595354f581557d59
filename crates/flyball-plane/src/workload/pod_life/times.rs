//! When a pod reaches each stage of its life, from its annotations and its workload's.

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::Value;

use super::super::object::{annotation, created_ms, text};
use super::super::owner::workloads_of;
use super::super::view::View;

/// How far a pod has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Bound to the node; containers are being made.
    Scheduled,
    /// Containers run.
    Running,
    /// Takes load.
    Ready,
    /// Its containers have ended, well or not.
    Ended,
}

/// When a pod reaches each stage.
pub(super) struct Times {
    stages: Vec<(Stage, UnixMs)>,
    pub(super) end: End,
}

/// What becomes of a pod whose containers end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// They do not end, or they are restarted again and again.
    CrashLoop,
    /// The pod has failed.
    Failed,
    /// The pod has done its work.
    Succeeded,
}

impl End {
    /// Phase of the pod, and why it is not ready.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::CrashLoop => ("Running", "ContainersNotReady"),
            Self::Failed => ("Failed", "PodFailed"),
            Self::Succeeded => ("Succeeded", "PodCompleted"),
        }
    }
}

impl Times {
    pub(super) fn of(view: &dyn View, pod: &Arc<Value>) -> Self {
        let owners = workloads_of(view, pod);
        let told = |key: &str| {
            annotation(pod, key).or_else(|| owners.iter().find_map(|owner| annotation(owner, key)))
        };
        let wait = |key: &str, default_ms| told(key).and_then(milliseconds).unwrap_or(default_ms);
        let phase = told("flyball.dev/phase").unwrap_or_default();
        let scheduled = created_ms(pod).saturating_add(wait("flyball.dev/pending-seconds", 0));
        let running = scheduled.saturating_add(wait("flyball.dev/start-seconds", 1000));
        let ready = running.saturating_add(wait("flyball.dev/ready-seconds", 1000));
        let restarts = matches!(text(pod, "/spec/restartPolicy"), "" | "Always");
        let end = match phase {
            "Failed" if !restarts => End::Failed,
            "Succeeded" if !restarts => End::Succeeded,
            _ => End::CrashLoop,
        };
        let last = if matches!(phase, "Failed" | "Succeeded") {
            Stage::Ended
        } else {
            Stage::Ready
        };
        let stages = match phase {
            "Pending" => Vec::new(),
            _ => vec![
                (Stage::Scheduled, scheduled),
                (Stage::Running, running),
                (last, ready),
            ],
        };
        Self { stages, end }
    }

    /// The last stage reached and since when.
    pub(super) fn reached(&self, now_ms: UnixMs) -> Option<(Stage, UnixMs)> {
        self.stages
            .iter()
            .rev()
            .find(|(_, at)| *at <= now_ms)
            .copied()
    }

    pub(super) fn after(&self, now_ms: UnixMs) -> Option<UnixMs> {
        self.stages
            .iter()
            .map(|(_, at)| *at)
            .find(|at| *at > now_ms)
    }

    pub(super) fn at(&self, stage: Stage) -> UnixMs {
        self.stages
            .iter()
            .find(|(known, _)| *known == stage)
            .map_or(0, |(_, at)| *at)
    }
}

/// Seconds, whole or with a fraction, in milliseconds; `None` when they are no finite number of at least 0.
pub(super) fn milliseconds(seconds: &str) -> Option<i64> {
    let seconds: f64 = seconds.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).round() as i64)
}
