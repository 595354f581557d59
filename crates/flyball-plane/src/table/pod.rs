//! Pods: readiness, the reason that stands for their state, restarts.

use flyball_api::duration;
use flyball_clock::UnixMs;
use serde_json::{Value, json};

use super::builtin::name;
use super::column::Column;
use super::{age, at, list, number, text};
use crate::schema::Gvk;
use crate::time;

const POD: Gvk<'static> = Gvk::new("", "v1", "Pod");

pub(super) static COLUMNS: [Column; 9] = [
    Column::NAME,
    Column::text("Ready").meaning("The aggregate readiness state of this pod for accepting traffic."),
    Column::text("Status").meaning("The aggregate status of the containers in this pod."),
    Column::text("Restarts").meaning(
        "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
    ),
    Column::AGE,
    Column::text("IP").field(POD, &["status", "podIP"]).wide(),
    Column::text("Node").field(POD, &["spec", "nodeName"]).wide(),
    Column::text("Nominated Node").field(POD, &["status", "nominatedNodeName"]).wide(),
    Column::text("Readiness Gates").field(POD, &["spec", "readinessGates"]).wide(),
];

pub(super) fn cells(pod: &Value, now_ms: UnixMs) -> Vec<Value> {
    let summary = Summary::of(pod);
    let ip = list(pod, &["status", "podIPs"]).first();
    let or_none = |text: &str| if text.is_empty() { "<none>" } else { text }.into();
    vec![
        name(pod),
        format!("{}/{}", summary.ready, summary.containers).into(),
        summary.reason.clone().into(),
        summary.restarts.text(now_ms).into(),
        age::of(pod, now_ms),
        or_none(ip.map_or("", |ip| text(ip, &["ip"]))),
        or_none(text(pod, &["spec", "nodeName"])),
        or_none(text(pod, &["status", "nominatedNodeName"])),
        gates(pod).into(),
    ]
}

/// The row condition of a pod that has ended; by it kubectl leaves a row out of a watch.
pub(super) fn completed(pod: &Value) -> Option<Value> {
    if pod["kind"] != "Pod" {
        return None;
    }
    let (reason, message) = match text(pod, &["status", "phase"]) {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!({"type": "Completed", "status": "True", "reason": reason, "message": message}))
}

/// What the first columns say; upstream's `printPod` in three steps.
struct Summary {
    ready: usize,
    containers: usize,
    reason: String,
    restarts: Restarts,
}

#[derive(Clone, Copy, Default)]
struct Restarts {
    count: i64,
    last_ms: Option<UnixMs>,
}

impl Restarts {
    fn add(&mut self, status: &Value) {
        self.count += number(status, &["restartCount"]);
        let ended = text(status, &["lastState", "terminated", "finishedAt"]);
        self.last_ms = self.last_ms.max(time::parse(ended));
    }

    fn text(self, now_ms: UnixMs) -> String {
        match self.last_ms {
            Some(last) if self.count != 0 => {
                let ago = duration::human(now_ms.saturating_sub(last));
                format!("{} ({ago} ago)", self.count)
            }
            _ => self.count.to_string(),
        }
    }
}

impl Summary {
    fn of(pod: &Value) -> Self {
        let sidecars = list(pod, &["spec", "initContainers"]).iter();
        let mut summary = Self {
            ready: 0,
            containers: list(pod, &["spec", "containers"]).len()
                + sidecars.filter(|one| is_sidecar(one)).count(),
            reason: phase_reason(pod).into(),
            restarts: Restarts::default(),
        };
        let initialized = summary.read_init(pod);
        let sidecar_restarts = sidecar_restarts(pod);
        if initialized || has_condition(pod, "Initialized") {
            summary.restarts = sidecar_restarts;
            summary.read_containers(pod);
        }
        if pod["metadata"]["deletionTimestamp"].is_string() {
            if text(pod, &["status", "reason"]) == "NodeLost" {
                summary.reason = "Unknown".into();
            } else if !matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed") {
                summary.reason = "Terminating".into();
            }
        }
        summary
    }

    /// Reads the init containers up to the first that is not done. True when all are.
    fn read_init(&mut self, pod: &Value) -> bool {
        let total = list(pod, &["spec", "initContainers"]).len();
        let statuses = list(pod, &["status", "initContainerStatuses"]);
        for (index, status) in statuses.iter().enumerate() {
            self.restarts.add(status);
            let state = &status["state"];
            let ended = &state["terminated"];
            let waiting = text(state, &["waiting", "reason"]);
            if ended.is_object() && number(ended, &["exitCode"]) == 0 {
                continue;
            }
            if status["started"] == true && is_sidecar_status(pod, status) {
                self.ready += usize::from(status["ready"] == true);
                continue;
            }
            self.reason = if ended.is_object() {
                format!("Init:{}", end_reason(ended))
            } else if !waiting.is_empty() && waiting != "PodInitializing" {
                format!("Init:{waiting}")
            } else {
                format!("Init:{index}/{total}")
            };
            return false;
        }
        true
    }

    fn read_containers(&mut self, pod: &Value) {
        let mut is_running = false;
        let mut error = None;
        for status in list(pod, &["status", "containerStatuses"]).iter().rev() {
            self.restarts.add(status);
            let state = &status["state"];
            let ended = &state["terminated"];
            let waiting = text(state, &["waiting", "reason"]);
            if !waiting.is_empty() {
                self.reason = waiting.into();
            } else if ended.is_object() {
                self.reason = end_reason(ended);
                if number(ended, &["exitCode"]) != 0 {
                    error = Some(self.reason.clone());
                }
            } else if status["ready"] == true && state["running"].is_object() {
                is_running = true;
                self.ready += 1;
            }
        }
        // A pod in which something still runs is not completed.
        if self.reason == "Completed" {
            if is_running && has_condition(pod, "Ready") {
                self.reason = "Running".into();
            } else if let Some(error) = error {
                self.reason = error;
            } else if is_running {
                self.reason = "NotReady".into();
            }
        }
    }
}

fn phase_reason(pod: &Value) -> &str {
    let gated = |one: &Value| one["type"] == "PodScheduled" && one["reason"] == "SchedulingGated";
    if list(pod, &["status", "conditions"]).iter().any(gated) {
        return "SchedulingGated";
    }
    match text(pod, &["status", "reason"]) {
        "" => text(pod, &["status", "phase"]),
        reason => reason,
    }
}

fn end_reason(ended: &Value) -> String {
    match (text(ended, &["reason"]), number(ended, &["signal"])) {
        ("", 0) => format!("ExitCode:{}", number(ended, &["exitCode"])),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.into(),
    }
}

/// Restarts of the init containers that keep running beside the others, up to the first that is not done.
fn sidecar_restarts(pod: &Value) -> Restarts {
    let mut restarts = Restarts::default();
    for status in list(pod, &["status", "initContainerStatuses"]) {
        let sidecar = is_sidecar_status(pod, status);
        if sidecar {
            restarts.add(status);
        }
        let ended = at(status, &["state", "terminated"]);
        let is_done = ended.is_object() && number(ended, &["exitCode"]) == 0;
        let is_up = sidecar && status["started"] == true;
        if !is_done && !is_up {
            break;
        }
    }
    restarts
}

fn is_sidecar_status(pod: &Value, status: &Value) -> bool {
    let mut containers = list(pod, &["spec", "initContainers"]).iter();
    containers.any(|one| one["name"] == status["name"] && is_sidecar(one))
}

fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

/// Whether the first condition of that type is true.
fn has_condition(pod: &Value, kind: &str) -> bool {
    let mut conditions = list(pod, &["status", "conditions"]).iter();
    let condition = conditions.find(|one| one["type"] == kind);
    condition.is_some_and(|one| one["status"] == "True")
}

fn gates(pod: &Value) -> String {
    let gates = list(pod, &["spec", "readinessGates"]);
    if gates.is_empty() {
        return "<none>".into();
    }
    let is_true = |gate: &&Value| has_condition(pod, text(gate, &["conditionType"]));
    format!("{}/{}", gates.iter().filter(is_true).count(), gates.len())
}
