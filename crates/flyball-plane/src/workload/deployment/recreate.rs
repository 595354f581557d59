//! Recreate (upstream recreate.go): every old pod is gone before the first new one comes.

use flyball_clock::UnixMs;
use serde_json::Value;

use super::super::object::{namespace, text, uid};
use super::super::view::{Kind, View};
use super::revision::ensure_new;
use super::sets::Sets;
use super::status::is_complete;

/// One step of a Recreate rollout.
pub(super) fn roll(sets: &mut Sets, deployment: &mut Value, view: &dyn View, now_ms: UnixMs) {
    let mut shrank = false;
    for index in sets.active(sets.old()) {
        shrank |= sets.scale(index, 0);
    }
    if shrank || old_pods_run(sets, view) || !ensure_new(deployment, sets, view, now_ms) {
        return;
    }
    if let Some(new) = sets.new_set() {
        sets.scale(new, sets.bounds().replicas);
    }
    if is_complete(
        deployment,
        deployment.pointer("/status").unwrap_or(&Value::Null),
    ) {
        sets.clean_up();
    }
}

/// True while an old set counts pods or still owns one that has not ended, a terminating one included.
fn old_pods_run(sets: &Sets, view: &dyn View) -> bool {
    let old = sets.old();
    sets.sum(&old, "replicas") > 0
        || old.iter().map(|index| sets.get(*index)).any(|set| {
            let pods = view.owned_by(&Kind::POD, namespace(set), uid(set));
            pods.iter()
                .any(|pod| !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed"))
        })
}
