//! Deleting objects: finalizers, grace, preconditions. Source: apiserver registry/generic/registry/store.go `Delete`,
//! registry/rest/delete.go, core/namespace/storage. Not here: deleting dependents, which is a controller's work.

use std::sync::Arc;

use serde_json::Value;

use super::{Mode, Place, RACES_MAX, Registry, failed};
use crate::kind::{DeletionStart, Dependents, Kind};
use crate::object;
use crate::refusal::Refusal;
use crate::store::{Action, Change, CommitError};
use crate::time;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";
/// Namespaces the cluster cannot be without. Upstream: admission plugin namespace/lifecycle.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// The options of a deletion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    /// Seconds of grace; negative ones count as 1.
    pub grace_seconds: Option<i64>,
    /// What happens to dependents; `None` keeps the object's finalizers as they are.
    pub propagation: Option<Propagation>,
    /// Only if the object has this uid.
    pub uid: Option<String>,
    /// Only if the object has this resourceVersion.
    pub resource_version: Option<String>,
}

/// The outcome of a deletion.
#[derive(Clone, Debug)]
pub(crate) struct Deleted {
    /// The object's last state, or its state while it waits for finalizers or the end of its grace.
    pub object: Arc<Value>,
    /// True when it is gone.
    pub removed: bool,
}

impl Deleted {
    const fn new(object: Arc<Value>, removed: bool) -> Self {
        Self { object, removed }
    }
}

/// What the deletion does to the object as it is now.
enum Verdict {
    /// It goes, in this last state.
    Remove(Value),
    /// It is marked.
    Mark(Value),
    /// It is marked already.
    Pending,
}

impl Registry {
    /// Deletes the object at `place`, or marks it as being deleted.
    ///
    /// # Errors
    /// 404, 403 for a namespace that must stay, 409 when a precondition does not hold.
    pub(crate) async fn delete(
        &self,
        place: Place<'_>,
        options: &DeleteOptions,
        mode: Mode,
    ) -> Result<Deleted, Refusal> {
        if *place.kind.stored == *"namespaces" && IMMORTAL.contains(&place.name) {
            return Err(Refusal::forbidden(
                place.kind.subject(place.name),
                "this namespace may not be deleted",
            ));
        }
        // The object as this deletion has stored it before it removes it.
        let mut shown: Option<Arc<Value>> = None;
        for _ in 0..RACES_MAX {
            let current = match (self.find(place), &shown) {
                (Some(entry), None) => entry,
                (Some(entry), Some(last)) if object::uid(&entry.object) == object::uid(last) => {
                    entry
                }
                (None, None) => return Err(Refusal::not_found(place.kind.subject(place.name))),
                (_, Some(last)) => return Ok(Deleted::new(Arc::clone(last), true)),
            };
            if shown.is_none() {
                check_preconditions(place, options, &current.object)?;
            }
            let (object, removed) = match self.verdict(place, options, &current.object) {
                Verdict::Pending => return Ok(Deleted::new(current.object, false)),
                Verdict::Remove(object) => (object, true),
                Verdict::Mark(object) => (object, false),
            };
            let changed = object != *current.object;
            if mode == Mode::DryRun || (!removed && !changed) {
                return Ok(Deleted::new(Arc::new(object), removed));
            }
            // Upstream stores what a deletion makes of an object before it removes the object: watchers see both.
            let action = if changed { Action::Put } else { Action::Remove };
            let change = Change {
                key: place.key(),
                expected: Some(current.revision),
                object,
                action,
            };
            match self.store.commit(change).await {
                Ok(event) if removed && changed => shown = Some(event.object),
                Ok(event) => return Ok(Deleted::new(event.object, removed)),
                Err(CommitError::Conflict { .. }) => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        Err(Refusal::modified(place.kind.subject(place.name)))
    }

    fn verdict(&self, place: Place<'_>, options: &DeleteOptions, current: &Value) -> Verdict {
        let now_ms = self.clock.now_ms();
        let mut object = current.clone();
        if !object::is_being_deleted(current)
            && place.kind.strategy.begin_deletion(&mut object, now_ms) == DeletionStart::Marked
        {
            return Verdict::Mark(object);
        }
        let asked = options
            .grace_seconds
            .map(|seconds| if seconds < 0 { 1 } else { seconds });
        let grace = match running_grace(current) {
            Some(running) if asked.is_none_or(|asked| asked >= running) => return Verdict::Pending,
            Some(running) => Some(shorten_grace(
                &mut object,
                running,
                asked.unwrap_or(0),
                now_ms,
            )),
            // A namespace waits for its content, whatever is asked again.
            None if is_going_namespace(place, current) => return Verdict::Pending,
            None if object::is_being_deleted(current) => None,
            None => place
                .kind
                .strategy
                .grace_seconds(current, asked)
                .inspect(|&seconds| {
                    let grace_ms = seconds.saturating_mul(1000);
                    mark(&mut object, now_ms.saturating_add(grace_ms), seconds);
                }),
        };
        set_collector_finalizers(
            &mut object,
            options
                .propagation
                .filter(|_| place.kind.dependents != Dependents::Unknown)
                .or_else(|| default_propagation(place.kind, current)),
        );
        let waits = !object::finalizers(&object).is_empty() || has_spec_finalizers(&object);
        match grace {
            Some(seconds) if seconds > 0 => Verdict::Mark(object),
            _ if !waits => Verdict::Remove(object),
            Some(_) => Verdict::Mark(object),
            None => {
                mark_at_once(&mut object, now_ms);
                Verdict::Mark(object)
            }
        }
    }
}

fn is_going_namespace(place: Place<'_>, current: &Value) -> bool {
    *place.kind.stored == *"namespaces"
        && object::is_being_deleted(current)
        && has_spec_finalizers(current)
}

/// The grace that is still running, `None` when no deletion with grace is under way.
fn running_grace(object: &Value) -> Option<i64> {
    let seconds = object
        .pointer("/metadata/deletionGracePeriodSeconds")?
        .as_i64()?;
    (object::is_being_deleted(object) && seconds > 0).then_some(seconds)
}

fn mark(object: &mut Value, at_ms: i64, grace_seconds: i64) {
    let generation = object::generation(object);
    if generation > 0 && !object::is_being_deleted(object) {
        object::set_meta(object, "generation", generation + 1);
    }
    object::set_meta(object, "deletionTimestamp", time::print(at_ms));
    object::set_meta(object, "deletionGracePeriodSeconds", grace_seconds);
}

/// Marks an object without grace; a namespace shows it in its phase.
fn mark_at_once(object: &mut Value, now_ms: i64) {
    let past =
        time::parse(object::meta(object, "deletionTimestamp")).is_some_and(|at| at <= now_ms);
    if past {
        object::set_meta(object, "deletionGracePeriodSeconds", 0);
    } else {
        mark(object, now_ms, 0);
    }
    if object.get("kind").and_then(Value::as_str) == Some("Namespace") {
        object::child(object, "status").insert("phase".to_owned(), "Terminating".into());
        object::remove_meta(object, "deletionGracePeriodSeconds");
    }
}

/// Moves the end of a running grace to where it would be had `asked` been the grace from the start, but not into the past.
fn shorten_grace(object: &mut Value, running: i64, asked: i64, now_ms: i64) -> i64 {
    let end_ms = time::parse(object::meta(object, "deletionTimestamp")).unwrap_or(now_ms);
    let shortened_ms = (running - asked).saturating_mul(1000);
    let moved_ms = end_ms.saturating_sub(shortened_ms);
    let seconds = if moved_ms < now_ms && asked != 0 {
        1
    } else {
        asked
    };
    mark(object, moved_ms.max(now_ms), seconds);
    seconds
}

fn has_spec_finalizers(object: &Value) -> bool {
    let list = object.pointer("/spec/finalizers").and_then(Value::as_array);
    list.is_some_and(|list| !list.is_empty())
}

/// Upstream: store.go `shouldOrphanDependents`: a finalizer that is there already says more than the kind.
fn default_propagation(kind: &Kind, current: &Value) -> Option<Propagation> {
    let said = object::finalizers(current)
        .iter()
        .any(|one| one == ORPHAN || one == FOREGROUND);
    (kind.dependents == Dependents::Stay && !said).then_some(Propagation::Orphan)
}

fn set_collector_finalizers(object: &mut Value, propagation: Option<Propagation>) {
    let Some(propagation) = propagation else {
        return;
    };
    let mut finalizers = object::finalizers(object);
    finalizers.retain(|one| one != ORPHAN && one != FOREGROUND);
    match propagation {
        Propagation::Background => {}
        Propagation::Foreground => finalizers.push(FOREGROUND.to_owned()),
        Propagation::Orphan => finalizers.push(ORPHAN.to_owned()),
    }
    object::set_finalizers(object, finalizers);
}

fn check_preconditions(
    place: Place<'_>,
    options: &DeleteOptions,
    current: &Value,
) -> Result<(), Refusal> {
    let name = place.name;
    let (uid, revision) = (
        object::uid(current),
        object::meta(current, "resourceVersion"),
    );
    if *place.kind.stored == *"namespaces" {
        return check_namespace_preconditions(place, options, uid, revision);
    }
    // Upstream names the kind here, not the resource.
    let subject = place.kind.kind_subject(name);
    if let Some(asked) = options.uid.as_deref().filter(|asked| *asked != uid) {
        return Err(Refusal::conflict(
            subject,
            &format!(
                "the UID in the precondition ({asked}) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
            ),
        ));
    }
    if let Some(asked) = options
        .resource_version
        .as_deref()
        .filter(|asked| *asked != revision)
    {
        return Err(Refusal::conflict(
            subject,
            &format!(
                "the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record ({revision}). The object might have been modified"
            ),
        ));
    }
    Ok(())
}

/// Namespaces have a deletion of their own, and other words for the same. Source: registry/core/namespace/storage.
fn check_namespace_preconditions(
    place: Place<'_>,
    options: &DeleteOptions,
    uid: &str,
    revision: &str,
) -> Result<(), Refusal> {
    let checks = [
        ("UID", options.uid.as_deref(), uid),
        (
            "ResourceVersion",
            options.resource_version.as_deref(),
            revision,
        ),
    ];
    for (what, asked, found) in checks {
        if let Some(asked) = asked.filter(|asked| *asked != found) {
            let why = format!(
                "Precondition failed: {what} in precondition: {asked}, {what} in object meta: {found}"
            );
            return Err(Refusal::conflict(place.kind.subject(place.name), &why));
        }
    }
    Ok(())
}
