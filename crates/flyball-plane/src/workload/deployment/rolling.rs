//! RollingUpdate (upstream rolling.go): the new ReplicaSet grows within maxSurge, the old ones shrink within maxUnavailable.

use flyball_clock::UnixMs;
use serde_json::Value;

use super::super::view::View;
use super::revision::ensure_new;
use super::sets::Sets;
use super::status::is_complete;

/// One step of a rollout: up if it can, else down if it can, else clean-up when it is done.
pub(super) fn roll(sets: &mut Sets, deployment: &mut Value, view: &dyn View, now_ms: UnixMs) {
    if !ensure_new(deployment, sets, view, now_ms) {
        return;
    }
    let Some(new) = sets.new_set() else {
        return;
    };
    let size = new_size(sets, sets.replicas(new));
    if sets.scale(new, size) || shrink_old(sets, new) {
        return;
    }
    if is_complete(
        deployment,
        deployment.pointer("/status").unwrap_or(&Value::Null),
    ) {
        sets.clean_up();
    }
}

/// The size of the new set, from its size now: down to `spec.replicas` at once, up as far as the surge allows (upstream NewRSNewReplicas).
pub(super) fn new_size(sets: &Sets, now: i64) -> i64 {
    let bounds = sets.bounds();
    if now >= bounds.replicas {
        return bounds.replicas;
    }
    let room = (bounds.max_total() - sets.total()).max(0);
    now + room.min(bounds.replicas - now)
}

/// Upstream reconcileOldReplicaSets. True when an old set shrank.
fn shrink_old(sets: &mut Sets, new: usize) -> bool {
    let old = sets.active(sets.old());
    if old.is_empty() {
        return false;
    }
    let bounds = sets.bounds();
    // The new set's unavailable pods count as if they were missing, so that a bad template cannot take good old pods down.
    let new_unavailable = sets.replicas(new) - sets.available(new);
    let most = sets.total() - bounds.min_available() - new_unavailable;
    if most <= 0 {
        return false;
    }
    let Some(cleaned) = drop_unhealthy(sets, &old, most) else {
        return false;
    };
    let shrunk = shrink_healthy(sets, &old);
    cleaned || shrunk
}

/// Old pods that are not available go first: they protect nobody (upstream cleanupUnhealthyReplicas). `None` while a set still
/// has more available pods than it wants: it is mid-shrink, and upstream waits (its count would be negative, which it refuses).
fn drop_unhealthy(sets: &mut Sets, old: &[usize], most: i64) -> Option<bool> {
    let mut left = most;
    for index in old {
        let unhealthy = sets.replicas(*index) - sets.available(*index);
        if left <= 0 || unhealthy == 0 {
            continue;
        }
        if unhealthy < 0 {
            return None;
        }
        let dropped = unhealthy.min(left);
        sets.scale(*index, sets.replicas(*index) - dropped);
        left -= dropped;
    }
    Some(left < most)
}

/// Upstream scaleDownOldReplicaSetsForRollingUpdate: as many old pods as there are available ones above the minimum.
fn shrink_healthy(sets: &mut Sets, old: &[usize]) -> bool {
    let available = sets.sum(&sets.all(), "availableReplicas");
    let surplus = available - sets.bounds().min_available();
    let mut left = surplus;
    for index in old {
        if left <= 0 {
            break;
        }
        let dropped = sets.replicas(*index).min(left);
        sets.scale(*index, sets.replicas(*index) - dropped);
        left -= dropped;
    }
    left < surplus.max(0)
}
