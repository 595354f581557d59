//! What a StatefulSet does in one step (upstream updateStatefulSet): keep its pods, remove the condemned, then update.
//! In order, each phase waits for the one before it unless pods are managed in parallel.

use std::sync::Arc;

use serde_json::Value;

use super::super::object::{Rounding, count, is_being_deleted, name, scaled, text};
use super::super::replica_set::wanted;
use super::is_parallel;
use super::members::{Members, is_running_and_ready, revision_of};
use super::revisions::Revisions;

/// Whether the next pod may be looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Go on.
    Next,
    /// Wait for this one.
    Wait,
}

/// One step.
pub(super) fn roll(members: &mut Members<'_>, revisions: &Revisions) {
    let is_ordered = !is_parallel(members.set);
    for index in 0..members.replicas.len() {
        if keep(members, index) == Turn::Wait && is_ordered {
            return;
        }
    }
    let unhealthy = first_unavailable(members);
    for pod in members.condemned.clone() {
        if remove(members, &pod, unhealthy.as_deref()) == Turn::Wait && is_ordered {
            return;
        }
    }
    if text(members.set, "/spec/updateStrategy/type") == "OnDelete" {
        return;
    }
    update(members, revisions);
}

/// Upstream processReplica: make a missing pod, replace one that has ended, wait for one that is not available.
fn keep(members: &mut Members<'_>, index: usize) -> Turn {
    let member = &members.replicas[index];
    let pod = member.pod.clone();
    if !member.exists {
        members.create(index);
        return Turn::Wait;
    }
    if matches!(text(&pod, "/status/phase"), "Failed" | "Succeeded") {
        if !is_being_deleted(&pod) {
            members.delete(&pod);
        }
        return Turn::Wait;
    }
    let is_settled =
        !is_being_deleted(&pod) && is_running_and_ready(&pod) && members.is_available(&pod);
    if !is_settled && !is_parallel(members.set) {
        return Turn::Wait;
    }
    members.restore_identity(index);
    Turn::Next
}

/// Upstream processCondemned: one at a time from the top, a healthy one only while all others are healthy.
fn remove(members: &mut Members<'_>, pod: &Arc<Value>, unhealthy: Option<&str>) -> Turn {
    if is_being_deleted(pod) {
        return Turn::Wait;
    }
    let is_healthy = is_running_and_ready(pod) && members.is_available(pod);
    let may_go = is_parallel(members.set) || is_healthy || unhealthy == Some(name(pod));
    if may_go {
        members.delete(pod);
    }
    Turn::Wait
}

/// The first pod that is not available: by ordinal among those wanted, else the lowest of the condemned.
fn first_unavailable(members: &Members<'_>) -> Option<String> {
    let wanted = members.replicas.iter().map(|member| &member.pod);
    let condemned = members.condemned.iter().rev();
    wanted
        .chain(condemned)
        .find(|pod| members.is_unavailable(pod))
        .map(|pod| name(pod).to_owned())
}

/// Upstream updateStatefulSetAfterInvariantEstablished: from the highest ordinal down to the partition, at most
/// `maxUnavailable` (default 1) pods are missing at a time.
fn update(members: &mut Members<'_>, revisions: &Revisions) {
    let set = members.set;
    let strategy = "/spec/updateStrategy/rollingUpdate";
    let partition = usize::try_from(count(set, &format!("{strategy}/partition"))).unwrap_or(0);
    let one = Value::from(1);
    let allowed = set
        .pointer(&format!("{strategy}/maxUnavailable"))
        .unwrap_or(&one);
    let allowed = scaled(Some(allowed), wanted(set), Rounding::Down).max(1);
    let missing = members
        .replicas
        .iter()
        .filter(|member| members.is_unavailable(&member.pod))
        .count() as i64;
    let is_old = |pod: &Value| revision_of(pod) != revisions.update;
    let targets: Vec<Arc<Value>> = members
        .replicas
        .iter()
        .skip(partition)
        .rev()
        .map(|member| member.pod.clone())
        .filter(|pod| is_old(pod) && !is_being_deleted(pod))
        .collect();
    let mut budget = allowed - missing;
    if is_parallel(set) {
        // Old pods that are not available cost nothing more; they go first, whatever the budget.
        for pod in targets
            .iter()
            .filter(|pod| !members.is_available(pod))
            .cloned()
            .collect::<Vec<_>>()
        {
            members.update(&pod);
        }
    }
    let is_counted = |pod: &Arc<Value>| !is_parallel(set) || members.is_available(pod);
    let rest: Vec<Arc<Value>> = targets
        .iter()
        .filter(|pod| is_counted(pod))
        .cloned()
        .collect();
    for pod in rest {
        if budget <= 0 {
            break;
        }
        members.update(&pod);
        budget -= 1;
    }
}
