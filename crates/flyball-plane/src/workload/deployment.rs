//! The Deployment controller's step (upstream pkg/controller/deployment): which ReplicaSets there are and how large each is.
//! Not here: pods, which the ReplicaSets make; `spec.rollbackTo`, which apps/v1 does not have.

mod proportional;
mod recreate;
mod revision;
mod rolling;
mod sets;
mod status;
#[cfg(test)]
mod tests;

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use self::sets::Sets;
use super::claim::{Rule, claim};
use super::event::Reason;
use super::object::{int, is_being_deleted, is_set, name, put, text};
use super::replica_set::Refusal;
use super::view::{EventRecord, Kind, ObjectKey, Severity, Step, View, Write};
use crate::time;

/// Component of the Deployment's events.
const COMPONENT: &str = "deployment-controller";

/// One step of the Deployment `key`.
pub(crate) fn step(view: &dyn View, key: &ObjectKey, now_ms: UnixMs) -> Step {
    let Some(stored) = view.get(&Kind::DEPLOYMENT, &key.namespace, &key.name) else {
        return Step::default();
    };
    let mut deployment = Value::clone(&stored);
    let selector = deployment
        .pointer("/spec/selector")
        .cloned()
        .unwrap_or(Value::Null);
    if selector == json!({}) {
        return refuse_everything(&deployment);
    }
    let claimed = claim(
        view,
        &deployment,
        &Kind::REPLICA_SET,
        &Rule {
            selector: &selector,
            considers: &|_| true,
            fits: &|_| true,
        },
    );
    if !claimed.writes.is_empty() {
        // Adoptions and releases come back as changes; the sizes are decided on what they made.
        return Step {
            writes: claimed.writes,
            next_due: None,
        };
    }
    let mut sets = Sets::of(&deployment, claimed.objects);
    let path = path_of(&mut deployment, &mut sets, now_ms);
    match path {
        Path::Observe => {}
        Path::Scale => {
            proportional::scale(&mut sets);
            if is_set(&deployment, "/spec/paused") {
                sets.clean_up();
            }
        }
        Path::Recreate => recreate::roll(&mut sets, &mut deployment, view, now_ms),
        Path::Roll => rolling::roll(&mut sets, &mut deployment, view, now_ms),
    }
    let mut next_due = None;
    let status = match path {
        Path::Observe | Path::Scale => status::calculate(&deployment, &sets, now_ms),
        Path::Recreate | Path::Roll => {
            let status = status::rollout(&deployment, &sets, now_ms);
            next_due = status::progress_check(&deployment, &status);
            status
        }
    };
    put(&mut deployment, &["status"], status);
    let mut writes = sets.into_writes();
    if deployment != *stored {
        writes.push(Write::UpdateStatus(deployment));
    }
    Step { writes, next_due }
}

/// What a step of a Deployment may do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Path {
    /// Being deleted: the status alone is kept true.
    Observe,
    /// Paused, or `spec.replicas` changed: resize what exists.
    Scale,
    /// Old pods go before new ones come.
    Recreate,
    /// Old and new pods overlap within maxSurge and maxUnavailable.
    Roll,
}

/// Chooses the path, after the revision annotations and the paused condition are brought up to date (upstream syncDeployment).
fn path_of(deployment: &mut Value, sets: &mut Sets, now_ms: UnixMs) -> Path {
    if is_being_deleted(deployment) {
        revision::sync(deployment, sets, now_ms);
        return Path::Observe;
    }
    status::note_pause(deployment, now_ms);
    revision::sync(deployment, sets, now_ms);
    if is_set(deployment, "/spec/paused") || sets.are_resized() {
        Path::Scale
    } else if text(deployment, "/spec/strategy/type") == "Recreate" {
        Path::Recreate
    } else {
        Path::Roll
    }
}

/// A Deployment that selects everything is told so and left alone.
fn refuse_everything(deployment: &Value) -> Step {
    let message =
        "This deployment is selecting all pods. A non-empty selector is required.".to_owned();
    let mut writes = Vec::new();
    let generation = int(deployment, "/metadata/generation").unwrap_or(0);
    if int(deployment, "/status/observedGeneration").unwrap_or(0) < generation {
        let reason = Reason("SelectingAll", message);
        writes.push(Write::Event(EventRecord::about(
            deployment,
            COMPONENT,
            Severity::Warning,
            reason,
        )));
        let mut update = deployment.clone();
        put(
            &mut update,
            &["status", "observedGeneration"],
            json!(generation),
        );
        writes.push(Write::UpdateStatus(update));
    }
    Step {
        writes,
        next_due: None,
    }
}

/// The writes that tell of a ReplicaSet the store refused to create (upstream getNewReplicaSet).
pub(crate) fn refused(view: &dyn View, key: &ObjectKey, refusal: &Refusal<'_>) -> Vec<Write> {
    let Some(stored) = view.get(&Kind::DEPLOYMENT, &key.namespace, &key.name) else {
        return Vec::new();
    };
    let Write::Create(set) = refusal.write else {
        return Vec::new();
    };
    let message = format!(
        "Failed to create new replica set \"{}\": {}",
        name(set),
        refusal.message
    );
    let reason = Reason(status::CREATE_ERROR, message.clone());
    let mut writes = vec![Write::Event(EventRecord::about(
        &stored,
        COMPONENT,
        Severity::Warning,
        reason,
    ))];
    let mut deployment = Value::clone(&stored);
    if status::has_deadline(&deployment) {
        let condition = json!({
            "type": "Progressing",
            "status": "False",
            "reason": status::CREATE_ERROR,
            "message": message,
            "lastUpdateTime": time::print(refusal.now_ms),
            "lastTransitionTime": time::print(refusal.now_ms),
        });
        status::set_condition(&mut deployment, condition);
        if deployment != *stored {
            writes.push(Write::UpdateStatus(deployment));
        }
    }
    writes
}
