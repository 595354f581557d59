//! The status of a Deployment: counters, and the conditions Available, Progressing and ReplicaFailure
//! (upstream sync.go calculateStatus, progress.go).

use flyball_clock::UnixMs;
use serde_json::{Map, Value, json};

use super::super::object::{condition, count, int, is_set, items, name, put, text, time_at};
use super::super::replica_set::{put_count, wanted};
use super::sets::{Bounds, Sets};
use crate::time;

/// Reason of a Deployment that could not create its ReplicaSet.
pub(super) const CREATE_ERROR: &str = "ReplicaSetCreateError";
const AVAILABLE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";
const PAUSED: &str = "DeploymentPaused";
const PROGRESSING: &str = "Progressing";
const FAILURE: &str = "ReplicaFailure";

/// A reason and its message.
type Why<'a> = (&'a str, String);

/// True when lack of progress is reported at all (upstream HasProgressDeadline).
pub(super) fn has_deadline(deployment: &Value) -> bool {
    int(deployment, "/spec/progressDeadlineSeconds")
        .is_some_and(|seconds| seconds != i64::from(i32::MAX))
}

/// The Progressing condition.
pub(super) fn progressing(deployment: &Value) -> Option<&Value> {
    condition(deployment, PROGRESSING)
}

/// Sets a condition on `status.conditions` of the Deployment; one with the same status and reason stays as it is
/// (upstream SetDeploymentCondition).
pub(super) fn set_condition(deployment: &mut Value, entry: Value) {
    let mut conditions = items(deployment, "/status/conditions").to_vec();
    upsert(&mut conditions, entry);
    put(deployment, &["status", "conditions"], json!(conditions));
}

/// Sets the Progressing condition.
pub(super) fn set_progress(deployment: &mut Value, status: &str, why: Why<'_>, now: &str) {
    set_condition(deployment, new_condition(PROGRESSING, status, why, now));
}

/// Notes a pause or its end, so that a rollout is not late for having been paused (upstream checkPausedConditions).
pub(super) fn note_pause(deployment: &mut Value, now_ms: UnixMs) {
    let reason = progressing(deployment)
        .map(|entry| text(entry, "/reason").to_owned())
        .unwrap_or_default();
    if !has_deadline(deployment) || reason == TIMED_OUT {
        return;
    }
    let why = match (is_set(deployment, "/spec/paused"), reason == PAUSED) {
        (true, false) => (PAUSED, "Deployment is paused".to_owned()),
        (false, true) => ("DeploymentResumed", "Deployment is resumed".to_owned()),
        _ => return,
    };
    set_progress(deployment, "Unknown", why, &time::print(now_ms));
}

/// The status without an estimate of progress (upstream calculateStatus).
pub(super) fn calculate(deployment: &Value, sets: &Sets, now_ms: UnixMs) -> Value {
    let all = sets.all();
    let new: Vec<usize> = sets.new_set().into_iter().collect();
    let available = sets.sum(&all, "availableReplicas");
    let mut status = Map::new();
    let mut counter = |field: &str, number: i64| {
        put_count(&mut status, field, usize::try_from(number).unwrap_or(0));
    };
    counter(
        "observedGeneration",
        count(deployment, "/metadata/generation"),
    );
    counter("replicas", sets.sum(&all, "replicas"));
    counter("updatedReplicas", sets.sum(&new, "replicas"));
    counter("readyReplicas", sets.sum(&all, "readyReplicas"));
    counter("availableReplicas", available);
    counter("unavailableReplicas", sets.total() - available);
    if let Some(terminating) = terminating(sets) {
        status.insert("terminatingReplicas".to_owned(), json!(terminating));
    }
    if let Some(collisions) = deployment.pointer("/status/collisionCount") {
        status.insert("collisionCount".to_owned(), collisions.clone());
    }
    let mut conditions = items(deployment, "/status/conditions").to_vec();
    let minimum = Bounds::of(deployment).min_available();
    let (state, why) = if available >= minimum {
        (
            "True",
            (
                "MinimumReplicasAvailable",
                "Deployment has minimum availability.".to_owned(),
            ),
        )
    } else {
        (
            "False",
            (
                "MinimumReplicasUnavailable",
                "Deployment does not have minimum availability.".to_owned(),
            ),
        )
    };
    upsert(
        &mut conditions,
        new_condition("Available", state, why, &time::print(now_ms)),
    );
    status.insert("conditions".to_owned(), json!(conditions));
    Value::Object(status)
}

/// The status of a Deployment that rolls out or has done so (upstream syncRolloutStatus).
pub(super) fn rollout(deployment: &Value, sets: &Sets, now_ms: UnixMs) -> Value {
    let mut status = calculate(deployment, sets, now_ms);
    let mut conditions = items(&status, "/conditions").to_vec();
    let known = progressing(deployment);
    let is_done = count(&status, "/replicas") == count(&status, "/updatedReplicas")
        && known.is_some_and(|entry| text(entry, "/reason") == AVAILABLE);
    if !has_deadline(deployment) {
        remove(&mut conditions, PROGRESSING);
    } else if !is_done {
        estimate(
            deployment,
            sets,
            &status,
            &mut Estimate {
                conditions: &mut conditions,
                now_ms,
            },
        );
    }
    match failure(sets) {
        Some(entry) => upsert(&mut conditions, entry),
        None => remove(&mut conditions, FAILURE),
    }
    put(&mut status, &["conditions"], json!(conditions));
    status
}

/// Where an estimate goes, and when it is made.
struct Estimate<'a> {
    conditions: &'a mut Vec<Value>,
    now_ms: UnixMs,
}

fn estimate(deployment: &Value, sets: &Sets, status: &Value, to: &mut Estimate<'_>) {
    let subject = sets.new_set().map_or_else(
        || format!("Deployment \"{}\"", name(deployment)),
        |new| format!("ReplicaSet \"{}\"", name(sets.get(new))),
    );
    let now = time::print(to.now_ms);
    let known = progressing(deployment);
    if is_complete(deployment, status) {
        let why = (AVAILABLE, format!("{subject} has successfully progressed."));
        upsert(to.conditions, new_condition(PROGRESSING, "True", why, &now));
    } else if has_progressed(deployment, status) {
        let why = ("ReplicaSetUpdated", format!("{subject} is progressing."));
        let mut entry = new_condition(PROGRESSING, "True", why, &now);
        // Progress renews lastUpdateTime even when status and reason stay; the deadline counts from it.
        if let Some(known) = known.filter(|known| text(known, "/status") == "True") {
            put(
                &mut entry,
                &["lastTransitionTime"],
                known["lastTransitionTime"].clone(),
            );
        }
        remove(to.conditions, PROGRESSING);
        upsert(to.conditions, entry);
    } else if has_timed_out(deployment, to.now_ms) {
        let why = (TIMED_OUT, format!("{subject} has timed out progressing."));
        upsert(
            to.conditions,
            new_condition(PROGRESSING, "False", why, &now),
        );
    }
}

/// When a rollout without further changes has to be looked at again, to notice that it is late (upstream requeueStuckDeployment).
pub(super) fn progress_check(deployment: &Value, status: &Value) -> Option<UnixMs> {
    if !has_deadline(deployment) || is_complete(deployment, status) {
        return None;
    }
    let entry = items(status, "/conditions")
        .iter()
        .find(|entry| text(entry, "/type") == PROGRESSING)?;
    let is_open = !matches!(text(entry, "/reason"), TIMED_OUT | AVAILABLE);
    is_open.then(|| deadline(deployment, entry).saturating_add(1000))
}

/// All pods are of the new template, available, and nothing else runs (upstream DeploymentComplete).
pub(super) fn is_complete(deployment: &Value, status: &Value) -> bool {
    let wanted = wanted(deployment);
    ["updatedReplicas", "replicas", "availableReplicas"]
        .iter()
        .all(|field| count(status, &format!("/{field}")) == wanted)
        && count(status, "/observedGeneration") >= count(deployment, "/metadata/generation")
}

fn has_progressed(deployment: &Value, status: &Value) -> bool {
    let before = |field: &str| count(deployment, &format!("/status/{field}"));
    let after = |field: &str| count(status, &format!("/{field}"));
    after("updatedReplicas") > before("updatedReplicas")
        || after("replicas") - after("updatedReplicas")
            < before("replicas") - before("updatedReplicas")
        || after("readyReplicas") > before("readyReplicas")
        || after("availableReplicas") > before("availableReplicas")
}

fn has_timed_out(deployment: &Value, now_ms: UnixMs) -> bool {
    progressing(deployment).is_some_and(|entry| match text(entry, "/reason") {
        AVAILABLE => false,
        TIMED_OUT => true,
        _ => deadline(deployment, entry) < now_ms,
    })
}

fn deadline(deployment: &Value, entry: &Value) -> UnixMs {
    let since = time_at(entry, "/lastUpdateTime").unwrap_or(0);
    since.saturating_add(count(deployment, "/spec/progressDeadlineSeconds").saturating_mul(1000))
}

/// Terminating pods over all sets, unless a set that was observed does not tell (upstream GetTerminatingReplicaCountForReplicaSets).
fn terminating(sets: &Sets) -> Option<i64> {
    let told = |index: usize| {
        let set = sets.get(index);
        let is_new = count(set, "/status/observedGeneration") == 0;
        int(set, "/status/terminatingReplicas").or_else(|| is_new.then_some(0))
    };
    sets.all().into_iter().map(told).sum()
}

/// The failure of a ReplicaSet, the new one's first (upstream getReplicaFailures).
fn failure(sets: &Sets) -> Option<Value> {
    let mut new_first = sets.new_set().into_iter().chain(sets.all());
    let entry = new_first.find_map(|index| condition(sets.get(index), FAILURE))?;
    let mut entry = entry.clone();
    let at = entry["lastTransitionTime"].clone();
    put(&mut entry, &["lastUpdateTime"], at);
    Some(entry)
}

fn new_condition(kind: &str, status: &str, (reason, message): Why<'_>, now: &str) -> Value {
    json!({
        "type": kind,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    })
}

fn upsert(conditions: &mut Vec<Value>, mut entry: Value) {
    let known = conditions
        .iter()
        .find(|known| known["type"] == entry["type"]);
    if let Some(known) = known.filter(|known| known["status"] == entry["status"]) {
        if known["reason"] == entry["reason"] {
            return;
        }
        let since = known["lastTransitionTime"].clone();
        put(&mut entry, &["lastTransitionTime"], since);
    }
    conditions.retain(|known| known["type"] != entry["type"]);
    conditions.push(entry);
}

fn remove(conditions: &mut Vec<Value>, kind: &str) {
    conditions.retain(|entry| text(entry, "/type") != kind);
}
