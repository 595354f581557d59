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

mod status;
mod times;

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use self::status::status;
use self::times::{Stage, Times, milliseconds};
use super::object::{
    annotation, count, int, is_being_deleted, is_ready, name, namespace, put, text, time_at, uid,
};
use super::owner::workloads_of;
use super::view::{Kind, ObjectKey, Propagation, Step, View, Write};

/// The one node there is.
pub(crate) const NODE: &str = "flyball";
/// Its address.
pub(crate) const NODE_ADDRESS: &str = "10.0.0.1";

/// One step of the pod `key`.
pub(crate) fn step(view: &dyn View, key: &ObjectKey, now_ms: UnixMs) -> Step {
    let Some(stored) = view.get(&Kind::POD, &key.namespace, &key.name) else {
        return Step::default();
    };
    if is_being_deleted(&stored) {
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
    use super::super::object::condition;
    use super::super::testing::{START, World};
    use super::*;
    use crate::time;

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
            time::print(START + 1000)
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
