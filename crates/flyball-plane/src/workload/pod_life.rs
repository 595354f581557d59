//! The life of a pod without a machine under it: Pending, scheduled, Running, Ready, and an end, at times that annotations give.
//! It stands where scheduler and kubelet would. Not here: load, which `load` models.
//!
//! | annotation on the pod (its template) or on its workload | meaning | default |
//! |---|---|---|
//! | `flyball.dev/pending-seconds` | from creation until a node is found | 0 |
//! | `flyball.dev/start-seconds` | from then until the containers run | 1 |
//! | `flyball.dev/ready-seconds` | from then until the pod is Ready | 1 |
//! | `flyball.dev/termination-seconds` | from the request to delete until the pod is gone, at most its grace period | 1 |
//! | `flyball.dev/phase` | `Pending`: never scheduled; `Failed` or `Succeeded`: its containers end so when they would have become ready | |
//!
//! Containers that end are restarted under `restartPolicy: Always`, which the pods of workloads have: such a pod then crash-loops
//! (Running, never Ready). A pod that once was Ready stays so whatever its annotations become.
//!
//! Seconds may have a fraction (`0.5`). The pod's own annotation is stronger than its workload's.

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use super::object::{
    annotation, condition, count, created_ms, int, is_deleting, is_ready, items, name, namespace,
    print_time, put, text, time_at, uid,
};
use super::owner::workloads_of;
use super::suffix::content_hash;
use super::view::{Kind, ObjectKey, Propagation, Step, View, Write};

/// The one node there is.
pub const NODE: &str = "flyball";
/// Its address.
pub const NODE_ADDRESS: &str = "10.0.0.1";

/// One step of the pod `key`.
pub fn step(view: &dyn View, key: &ObjectKey, now_ms: UnixMs) -> Step {
    let Some(stored) = view.get(&Kind::POD, &key.namespace, &key.name) else {
        return Step::default();
    };
    if is_deleting(&stored) {
        return terminate(view, &stored, now_ms);
    }
    if matches!(text(&stored, "/status/phase"), "Failed" | "Succeeded") {
        return Step::default();
    }
    if is_ready(&stored) {
        return Step::default();
    }
    let times = Times::of(view, &stored);
    let next_due = times.after(now_ms);
    let Some((stage, since_ms)) = times.reached(now_ms) else {
        return Step {
            writes: Vec::new(),
            next_due,
        };
    };
    if stage >= Stage::Scheduled && text(&stored, "/spec/nodeName").is_empty() {
        let mut bound = Value::clone(&stored);
        put(&mut bound, &["spec", "nodeName"], json!(NODE));
        // The change comes back, and the status follows it.
        return Step {
            writes: vec![Write::Update(bound)],
            next_due,
        };
    }
    let mut pod = Value::clone(&stored);
    put(
        &mut pod,
        &["status"],
        status(&stored, stage, &times, since_ms),
    );
    let writes = if pod == *stored {
        Vec::new()
    } else {
        vec![Write::UpdateStatus(pod)]
    };
    Step { writes, next_due }
}

/// How far a pod has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
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
struct Times {
    stages: Vec<(Stage, UnixMs)>,
    end: End,
}

/// What becomes of a pod whose containers end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// They do not end, or they are restarted again and again.
    CrashLoop,
    /// The pod has failed.
    Failed,
    /// The pod has done its work.
    Succeeded,
}

impl End {
    /// Phase of the pod, and why it is not ready.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::CrashLoop => ("Running", "ContainersNotReady"),
            Self::Failed => ("Failed", "PodFailed"),
            Self::Succeeded => ("Succeeded", "PodCompleted"),
        }
    }
}

impl Times {
    fn of(view: &dyn View, pod: &Arc<Value>) -> Self {
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
    fn reached(&self, now_ms: UnixMs) -> Option<(Stage, UnixMs)> {
        self.stages
            .iter()
            .rev()
            .find(|(_, at)| *at <= now_ms)
            .copied()
    }

    fn after(&self, now_ms: UnixMs) -> Option<UnixMs> {
        self.stages
            .iter()
            .map(|(_, at)| *at)
            .find(|at| *at > now_ms)
    }

    fn at(&self, stage: Stage) -> UnixMs {
        self.stages
            .iter()
            .find(|(known, _)| *known == stage)
            .map_or(0, |(_, at)| *at)
    }
}

/// Seconds, whole or with a fraction, in milliseconds; `None` when they are no finite number of at least 0.
pub fn milliseconds(seconds: &str) -> Option<i64> {
    let seconds: f64 = seconds.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).round() as i64)
}

fn status(pod: &Value, stage: Stage, times: &Times, since_ms: UnixMs) -> Value {
    let (phase, why) = match stage {
        Stage::Scheduled => ("Pending", "ContainersNotReady"),
        Stage::Running | Stage::Ready => ("Running", "ContainersNotReady"),
        Stage::Ended => times.end.words(),
    };
    let is_up = stage == Stage::Ready;
    let scheduled = times.at(Stage::Scheduled);
    let wait_reason = (!is_up).then_some(why);
    let conditions = vec![
        entry(
            pod,
            "PodReadyToStartContainers",
            stage >= Stage::Running,
            times.at(Stage::Running),
            None,
        ),
        entry(pod, "Initialized", true, scheduled, None),
        entry(pod, "Ready", is_up, since_ms, wait_reason),
        entry(pod, "ContainersReady", is_up, since_ms, wait_reason),
        entry(pod, "PodScheduled", true, scheduled, None),
    ];
    let mut status = pod.pointer("/status").cloned().unwrap_or_else(|| json!({}));
    put(&mut status, &["phase"], json!(phase));
    put(&mut status, &["conditions"], json!(conditions));
    put(&mut status, &["startTime"], json!(print_time(scheduled)));
    put(&mut status, &["hostIP"], json!(NODE_ADDRESS));
    put(&mut status, &["hostIPs"], json!([{"ip": NODE_ADDRESS}]));
    put(
        &mut status,
        &["containerStatuses"],
        json!(containers(pod, stage, times)),
    );
    if stage >= Stage::Running {
        let address = address(pod);
        put(&mut status, &["podIP"], json!(address));
        put(&mut status, &["podIPs"], json!([{"ip": address}]));
    }
    status
}

/// A condition of the pod; its transition time moves only with its status.
fn entry(pod: &Value, kind: &str, holds: bool, since_ms: UnixMs, reason: Option<&str>) -> Value {
    let state = if holds { "True" } else { "False" };
    let known = condition(pod, kind).filter(|known| text(known, "/status") == state);
    let since = known.map_or_else(
        || print_time(since_ms),
        |known| text(known, "/lastTransitionTime").to_owned(),
    );
    let mut entry =
        json!({"type": kind, "status": state, "lastProbeTime": null, "lastTransitionTime": since});
    if let Some(reason) = reason {
        put(&mut entry, &["reason"], json!(reason));
    }
    if reason == Some("ContainersNotReady") {
        let names: Vec<&str> = items(pod, "/spec/containers")
            .iter()
            .map(|entry| text(entry, "/name"))
            .collect();
        put(
            &mut entry,
            &["message"],
            json!(format!(
                "containers with unready status: [{}]",
                names.join(" ")
            )),
        );
    }
    entry
}

fn containers(pod: &Value, stage: Stage, times: &Times) -> Vec<Value> {
    let started = print_time(times.at(Stage::Running));
    let finished = print_time(times.at(Stage::Ended));
    let ended = |code: i64, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": finished}});
    let nothing = json!({});
    let (now, before, restarts) = match (stage, times.end) {
        (Stage::Scheduled, _) => (
            json!({"waiting": {"reason": "ContainerCreating"}}),
            nothing,
            0,
        ),
        (Stage::Running | Stage::Ready, _) => {
            (json!({"running": {"startedAt": started}}), nothing, 0)
        }
        (Stage::Ended, End::CrashLoop) => (
            json!({"waiting": {"reason": "CrashLoopBackOff"}}),
            ended(1, "Error"),
            1,
        ),
        (Stage::Ended, End::Failed) => (ended(1, "Error"), nothing, 0),
        (Stage::Ended, End::Succeeded) => (ended(0, "Completed"), nothing, 0),
    };
    let made = items(pod, "/spec/containers").iter().map(|container| {
        json!({
            "name": text(container, "/name"),
            "image": text(container, "/image"),
            "imageID": "",
            "ready": stage == Stage::Ready,
            "started": matches!(stage, Stage::Running | Stage::Ready),
            "restartCount": restarts,
            "state": now,
            "lastState": before,
        })
    });
    made.collect()
}

/// An address of the pod network, from the uid; two pods may share one, for nothing is sent to it.
fn address(pod: &Value) -> String {
    let [high, middle, low, ..] = content_hash(&[uid(pod)]).to_be_bytes();
    format!("10.{}.{middle}.{low}", 64 | (high & 63))
}

/// A pod being deleted goes after its termination time, at the latest when its grace ends.
fn terminate(view: &dyn View, pod: &Arc<Value>, now_ms: UnixMs) -> Step {
    let grace_ms = count(pod, "/metadata/deletionGracePeriodSeconds").saturating_mul(1000);
    if grace_ms == 0 && int(pod, "/metadata/deletionGracePeriodSeconds").is_some() {
        // Asked for already; finalizers hold it.
        return Step::default();
    }
    let last_ms = time_at(pod, "/metadata/deletionTimestamp").unwrap_or(now_ms);
    let owners = workloads_of(view, pod);
    let key = "flyball.dev/termination-seconds";
    let told =
        annotation(pod, key).or_else(|| owners.iter().find_map(|owner| annotation(owner, key)));
    let wait_ms = told.and_then(milliseconds).unwrap_or(1000);
    let gone_ms = last_ms
        .saturating_sub(grace_ms)
        .saturating_add(wait_ms)
        .min(last_ms);
    if gone_ms > now_ms {
        return Step {
            writes: Vec::new(),
            next_due: Some(gone_ms),
        };
    }
    let delete = Write::Delete {
        key: ObjectKey::new(Kind::POD, namespace(pod), name(pod)),
        uid: uid(pod).to_owned(),
        grace_seconds: Some(0),
        propagation: Propagation::Background,
    };
    Step {
        writes: vec![delete],
        next_due: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{START, World};
    use super::*;

    fn pod(annotations: &Value) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "default", "annotations": annotations},
            "spec": {
                "restartPolicy": annotations["restart"].as_str().unwrap_or("Never"),
                "containers": [{"name": "app", "image": "v1"}],
            },
        })
    }

    /// Phase, readiness and node at each second.
    fn story(annotations: &Value, seconds: i64) -> Vec<String> {
        let mut world = World::new();
        world.create(pod(annotations));
        world.run_for(0);
        let mut story = Vec::new();
        for _ in 0..=seconds {
            let pod = world.object(&Kind::POD, "p");
            let ready = if is_ready(&pod) { "+" } else { "" };
            let node = if text(&pod, "/spec/nodeName").is_empty() {
                "?"
            } else {
                ""
            };
            story.push(format!("{}{ready}{node}", text(&pod, "/status/phase")));
            world.run_for(1000);
        }
        story
    }

    #[test]
    fn a_pod_reaches_each_stage_at_its_time() {
        let rows = [
            (json!({}), vec!["Pending", "Running", "Running+"]),
            (
                json!({"flyball.dev/pending-seconds": "1", "flyball.dev/start-seconds": "0"}),
                vec!["Pending?", "Running", "Running+"],
            ),
            (
                json!({"flyball.dev/start-seconds": "0", "flyball.dev/ready-seconds": "2"}),
                vec!["Running", "Running", "Running+"],
            ),
            (
                json!({"flyball.dev/start-seconds": "0", "flyball.dev/ready-seconds": "0"}),
                vec!["Running+", "Running+", "Running+"],
            ),
            (
                json!({"flyball.dev/phase": "Pending"}),
                vec!["Pending?", "Pending?", "Pending?"],
            ),
            (
                json!({"flyball.dev/phase": "Failed", "restart": "Always"}),
                vec!["Pending", "Running", "Running"],
            ),
            (
                json!({"flyball.dev/phase": "Failed"}),
                vec!["Pending", "Running", "Failed"],
            ),
            (
                json!({"flyball.dev/phase": "Succeeded"}),
                vec!["Pending", "Running", "Succeeded"],
            ),
        ];
        for (annotations, expected) in rows {
            assert_eq!(story(&annotations, 2), expected, "{annotations}");
        }
    }

    #[test]
    fn conditions_keep_the_time_of_their_last_transition() {
        let mut world = World::new();
        world.create(pod(&json!({"flyball.dev/ready-seconds": "5"})));
        world.run_for(60_000);
        let pod = world.object(&Kind::POD, "p");
        let since =
            |kind| time_at(condition(&pod, kind).unwrap(), "/lastTransitionTime").unwrap() - START;
        assert_eq!(
            ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(since),
            [0, 0, 6000, 6000]
        );
        assert_eq!(time_at(&pod, "/status/startTime"), Some(START));
        assert_eq!(
            text(&pod, "/status/containerStatuses/0/state/running/startedAt"),
            print_time(START + 1000)
        );
        assert!(text(&pod, "/status/podIP").starts_with("10."));
    }

    #[test]
    fn a_deleted_pod_takes_its_termination_time_but_no_more_than_its_grace() {
        for (seconds, gone_ms) in [("3", 3_000), ("100", 30_000)] {
            let mut world = World::new();
            world.create(pod(&json!({"flyball.dev/termination-seconds": seconds})));
            world.run_for(10_000);
            world.delete(&Kind::POD, "p", Propagation::Background);
            world.run_for(gone_ms - 1);
            assert_eq!(world.all(&Kind::POD).len(), 1, "{seconds}");
            world.run_for(1);
            assert_eq!(world.all(&Kind::POD).len(), 0, "{seconds}");
        }
    }

    #[test]
    fn seconds_that_are_no_number_are_ignored() {
        for (text, expected) in [
            ("0.5", Some(500)),
            ("2", Some(2000)),
            ("-1", None),
            ("inf", None),
            ("x", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
