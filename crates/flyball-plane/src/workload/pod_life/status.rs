//! The status of a pod at a stage of its life, as kubelet and scheduler would write it.

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use super::super::object::{condition, items, put, text, uid};
use super::super::suffix::content_hash;
use super::NODE_ADDRESS;
use super::times::{End, Stage, Times};
use crate::time;

/// The status of a pod that has come to `stage`, since `since_ms`; fields it does not know are kept.
pub(super) fn status(pod: &Value, stage: Stage, times: &Times, since_ms: UnixMs) -> Value {
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
    put(&mut status, &["startTime"], json!(time::print(scheduled)));
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
        || time::print(since_ms),
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
    let started = time::print(times.at(Stage::Running));
    let finished = time::print(times.at(Stage::Ended));
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
