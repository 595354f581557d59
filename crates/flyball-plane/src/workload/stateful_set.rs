//! The StatefulSet controller's step (upstream pkg/controller/statefulset): pods with ordinals, made upwards and removed
//! downwards, one at a time unless `podManagementPolicy: Parallel`.
//! Not here: persistent volume claims, which the plane does not serve; the alpha update strategy Recreate.

mod members;
mod revisions;
mod rollout;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::{Map, Value, json};

use self::members::Members;
use self::revisions::Revisions;
use super::claim::{Rule, claim};
use super::event::Reason;
use super::object::{available_at, count, int, is_being_deleted, is_ready, items, name, put, text};
use super::replica_set::{Refusal, put_count, wanted};
use super::view::{EventRecord, Kind, ObjectKey, Severity, Step, View, Write};

/// Component of the StatefulSet's events.
const COMPONENT: &str = "statefulset-controller";

/// One step of the StatefulSet `key`.
pub(crate) fn step(view: &dyn View, key: &ObjectKey, now_ms: UnixMs) -> Step {
    let Some(set) = view.get(&Kind::STATEFUL_SET, &key.namespace, &key.name) else {
        return Step::default();
    };
    let selector = set
        .pointer("/spec/selector")
        .cloned()
        .unwrap_or(Value::Null);
    let is_member = |pod: &Value| {
        members::parent_and_ordinal(pod).is_some_and(|(parent, _)| parent == name(&set))
    };
    let pods = claim(
        view,
        &set,
        &Kind::POD,
        &Rule {
            selector: &selector,
            considers: &|_| true,
            fits: &is_member,
        },
    );
    let history = claim(
        view,
        &set,
        &Kind::CONTROLLER_REVISION,
        &Rule {
            selector: &selector,
            considers: &|_| true,
            fits: &|_| true,
        },
    );
    let claims = [pods.writes, history.writes].concat();
    if !claims.is_empty() {
        return Step {
            writes: claims,
            next_due: None,
        };
    }
    let next_due = next_available(&set, &pods.objects, now_ms);
    let mut writes = Vec::new();
    let revisions = Revisions::of(view, &set, history.objects, &mut writes);
    let mut members = Members::of(&set, &pods.objects, &revisions, now_ms);
    if !is_being_deleted(&set) {
        rollout::roll(&mut members, &revisions);
    }
    let status = status(&set, &pods.objects, &revisions, &members);
    writes.extend(members.into_writes());
    writes.extend(revisions.surplus(&set, &pods.objects));
    if set.pointer("/status") != Some(&status) {
        let mut update = Value::clone(&set);
        put(&mut update, &["status"], status);
        writes.push(Write::UpdateStatus(update));
    }
    Step { writes, next_due }
}

/// The event that tells of a refused pod (upstream recordPodEvent).
pub(crate) fn refused(view: &dyn View, key: &ObjectKey, refusal: &Refusal<'_>) -> Vec<Write> {
    let Some(set) = view.get(&Kind::STATEFUL_SET, &key.namespace, &key.name) else {
        return Vec::new();
    };
    let (reason, verb, pod) = match refusal.write {
        Write::Create(pod) if ObjectKey::of(pod).kind == Kind::POD => {
            ("FailedCreate", "Create", name(pod))
        }
        Write::Delete { key, .. } if key.kind == Kind::POD => {
            ("FailedDelete", "Delete", key.name.as_str())
        }
        _ => return Vec::new(),
    };
    let message = format!(
        "{verb} Pod {pod} in StatefulSet {} failed error: {}",
        name(&set),
        refusal.message
    );
    vec![Write::Event(EventRecord::about(
        &set,
        COMPONENT,
        Severity::Warning,
        Reason(reason, message),
    ))]
}

/// Upstream updateStatus, computeReplicaStatus and completeUpdate.
fn status(set: &Value, pods: &[Arc<Value>], revisions: &Revisions, members: &Members<'_>) -> Value {
    let created = || {
        pods.iter()
            .filter(|pod| members::parent_and_ordinal(pod).is_some())
    };
    let of = |revision: &str| {
        created()
            .filter(|pod| !is_being_deleted(pod) && members::revision_of(pod) == revision)
            .count()
    };
    let replicas = created().count();
    let ready = created()
        .filter(|pod| members::is_running_and_ready(pod))
        .count();
    let available = created()
        .filter(|pod| members::is_running_and_ready(pod) && members.is_available(pod))
        .count();
    let updated = of(&revisions.update);
    let mut current = of(&revisions.current).saturating_sub(members.updating());
    let mut current_revision = &revisions.current;
    let wanted = usize::try_from(wanted(set)).unwrap_or(0);
    if [updated, ready, replicas]
        .iter()
        .all(|number| *number == wanted)
    {
        current = updated;
        current_revision = &revisions.update;
    }
    let mut status = Map::new();
    put_count(
        &mut status,
        "observedGeneration",
        count(set, "/metadata/generation") as usize,
    );
    status.insert("replicas".to_owned(), json!(replicas));
    put_count(&mut status, "readyReplicas", ready);
    put_count(&mut status, "currentReplicas", current);
    put_count(&mut status, "updatedReplicas", updated);
    status.insert("currentRevision".to_owned(), json!(current_revision));
    status.insert("updateRevision".to_owned(), json!(revisions.update));
    status.insert("collisionCount".to_owned(), json!(revisions.collisions));
    status.insert("availableReplicas".to_owned(), json!(available));
    let conditions = items(set, "/status/conditions");
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), json!(conditions));
    }
    Value::Object(status)
}

/// The earliest instant at which a ready pod becomes available.
fn next_available(set: &Value, pods: &[Arc<Value>], now_ms: UnixMs) -> Option<UnixMs> {
    let min_ready = int(set, "/spec/minReadySeconds").unwrap_or(0);
    let ready = pods.iter().filter(|pod| is_ready(pod));
    ready
        .filter_map(|pod| available_at(pod, min_ready))
        .filter(|at| *at > now_ms)
        .min()
}

/// True for `podManagementPolicy: Parallel`.
fn is_parallel(set: &Value) -> bool {
    text(set, "/spec/podManagementPolicy") == "Parallel"
}
