//! Which controllers have to look at which objects when one object changes. The one table of who cares about what.
//! Not here: the steps; when they run.

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::Value;

use super::object::{controller_of, is_being_deleted, namespace, owners, uid};
use super::replica_set::{self, REPLICA_SET, Refusal};
use super::replication_controller::REPLICATION_CONTROLLER;
use super::selector::{of_labels, selects};
use super::view::{Change, Kind, ObjectKey, Step, View, Write};
use super::{deployment, garbage, namespace as namespaces, pod_life, stateful_set};

/// A controller. The order is the order in which tasks due at the same instant run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::enum_variant_names,
    reason = "a controller is named after its kind, and one kind is the ReplicationController"
)]
pub(crate) enum Controller {
    /// Brings pods from Pending to Ready, and out of the world.
    PodLife,
    /// Makes and deletes the pods of a ReplicaSet.
    ReplicaSet,
    /// Makes and deletes the pods of a ReplicationController.
    ReplicationController,
    /// Makes and deletes the pods of a StatefulSet.
    StatefulSet,
    /// Makes and sizes the ReplicaSets of a Deployment.
    Deployment,
    /// Deletes what has lost its owners.
    Garbage,
    /// Gives namespaces their account, and empties them.
    Namespace,
}

/// One object for one controller to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Task {
    /// Who.
    pub controller: Controller,
    /// At what.
    pub key: ObjectKey,
}

/// Runs the task's step.
pub(crate) fn step(view: &dyn View, task: &Task, now_ms: UnixMs) -> Step {
    match task.controller {
        Controller::PodLife => pod_life::step(view, &task.key, now_ms),
        Controller::ReplicaSet => replica_set::step(view, &task.key, now_ms, &REPLICA_SET),
        Controller::ReplicationController => {
            replica_set::step(view, &task.key, now_ms, &REPLICATION_CONTROLLER)
        }
        Controller::StatefulSet => stateful_set::step(view, &task.key, now_ms),
        Controller::Deployment => deployment::step(view, &task.key, now_ms),
        Controller::Garbage => garbage::step(view, &task.key),
        Controller::Namespace => namespaces::step(view, &task.key),
    }
}

/// What to write when the store refuses a write of the task's step for another reason than a conflict or an object that is
/// gone: events and conditions. Refusals of these writes are dropped.
pub(crate) fn refused(view: &dyn View, task: &Task, refusal: &Refusal<'_>) -> Vec<Write> {
    match task.controller {
        Controller::ReplicaSet => replica_set::refused(view, &task.key, refusal, &REPLICA_SET),
        Controller::ReplicationController => {
            replica_set::refused(view, &task.key, refusal, &REPLICATION_CONTROLLER)
        }
        Controller::StatefulSet => stateful_set::refused(view, &task.key, refusal),
        Controller::Deployment => deployment::refused(view, &task.key, refusal),
        Controller::PodLife | Controller::Garbage | Controller::Namespace => Vec::new(),
    }
}

/// The tasks a change makes due, each once, in the order of [`Controller`].
pub(crate) fn react(view: &dyn View, change: &Change) -> Vec<Task> {
    let mut tasks = Vec::new();
    for object in [&change.old, &change.new].into_iter().flatten() {
        let key = ObjectKey::of(object);
        if let Some(controller) = controller_for(&key.kind) {
            tasks.push(Task { controller, key });
        }
        wake_controllers(view, object, &mut tasks);
        if is_default_account(object) {
            let key = ObjectKey::new(Kind::NAMESPACE, "", namespace(object));
            let controller = Controller::Namespace;
            tasks.push(Task { controller, key });
        }
    }
    wake_garbage(view, change, &mut tasks);
    wake_namespace(view, change, &mut tasks);
    tasks.sort();
    tasks.dedup();
    tasks
}

/// True for the account every namespace has, which comes again when it goes.
fn is_default_account(object: &Value) -> bool {
    let key = ObjectKey::of(object);
    key.kind == Kind::SERVICE_ACCOUNT && key.name == namespaces::DEFAULT_ACCOUNT
}

fn controller_for(kind: &Kind) -> Option<Controller> {
    let table = [
        (Kind::POD, Controller::PodLife),
        (Kind::REPLICA_SET, Controller::ReplicaSet),
        (
            Kind::REPLICATION_CONTROLLER,
            Controller::ReplicationController,
        ),
        (Kind::STATEFUL_SET, Controller::StatefulSet),
        (Kind::DEPLOYMENT, Controller::Deployment),
        (Kind::NAMESPACE, Controller::Namespace),
    ];
    table
        .into_iter()
        .find(|(known, _)| known == kind)
        .map(|(_, controller)| controller)
}

/// The controllers above an object: its own and, for a pod of a Deployment that recreates, the Deployment, which waits for old pods.
/// An object without a controller wakes those that may adopt it.
fn wake_controllers(view: &dyn View, object: &Arc<Value>, tasks: &mut Vec<Task>) {
    let kind = ObjectKey::of(object).kind;
    if ![Kind::POD, Kind::REPLICA_SET, Kind::CONTROLLER_REVISION].contains(&kind) {
        return;
    }
    let Some(owner) = controller_of(object) else {
        wake_adopters(view, object, tasks);
        return;
    };
    let above = view.get(&owner.key.kind, &owner.key.namespace, &owner.key.name);
    let grand = above
        .and_then(|above| controller_of(&above))
        .filter(|_| kind == Kind::POD);
    for key in [Some(owner.key), grand.map(|grand| grand.key)]
        .into_iter()
        .flatten()
    {
        if let Some(controller) = controller_for(&key.kind) {
            tasks.push(Task { controller, key });
        }
    }
}

fn wake_adopters(view: &dyn View, object: &Arc<Value>, tasks: &mut Vec<Task>) {
    let adopters: &[Kind] = if ObjectKey::of(object).kind == Kind::POD {
        &[
            Kind::REPLICA_SET,
            Kind::REPLICATION_CONTROLLER,
            Kind::STATEFUL_SET,
        ]
    } else {
        &[Kind::DEPLOYMENT]
    };
    for kind in adopters {
        for workload in view.list(kind, Some(namespace(object))) {
            let selector = workload.pointer("/spec/selector");
            let selector = match selector {
                Some(labels) if *kind == Kind::REPLICATION_CONTROLLER => of_labels(Some(labels)),
                other => other.cloned().unwrap_or(Value::Null),
            };
            if selects(&selector, object) {
                let key = ObjectKey::of(&workload);
                tasks.extend(controller_for(&key.kind).map(|controller| Task { controller, key }));
            }
        }
    }
}

/// An object that is new to its owners, one that is being deleted, the dependents of one that is, and the owners that wait.
fn wake_garbage(view: &dyn View, change: &Change, tasks: &mut Vec<Task>) {
    let mut look = |key| {
        tasks.push(Task {
            controller: Controller::Garbage,
            key,
        });
    };
    let dependents_of = |object: &Value| {
        view.dependents(uid(object))
            .into_iter()
            .map(|found| ObjectKey::of(&found))
    };
    match (&change.old, &change.new) {
        (Some(old), None) => {
            dependents_of(old).for_each(&mut look);
            garbage::owner_keys(old).into_iter().for_each(&mut look);
        }
        (old, Some(new)) => {
            let had_owners = old.as_ref().is_some_and(|old| owners(old) == owners(new));
            if !owners(new).is_empty() && !had_owners {
                look(ObjectKey::of(new));
            }
            if let Some(old) = old.as_ref().filter(|_| !had_owners) {
                garbage::owner_keys(old).into_iter().for_each(&mut look);
            }
            if is_being_deleted(new) {
                look(ObjectKey::of(new));
                if garbage::has_finalizer(new, garbage::FOREGROUND) {
                    dependents_of(new).for_each(&mut look);
                }
            }
        }
        (None, None) => {}
    }
}

/// A namespace that is being deleted looks again whenever something in it changes.
fn wake_namespace(view: &dyn View, change: &Change, tasks: &mut Vec<Task>) {
    for object in [&change.old, &change.new].into_iter().flatten() {
        let place = namespace(object);
        if !place.is_empty()
            && view
                .get(&Kind::NAMESPACE, "", place)
                .is_some_and(|found| is_being_deleted(&found))
        {
            let key = ObjectKey::new(Kind::NAMESPACE, "", place);
            tasks.push(Task {
                controller: Controller::Namespace,
                key,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::object::name;
    use super::super::testing::{World, workload};
    use super::*;

    type Side<'a> = Option<&'a Arc<Value>>;

    fn woken(world: &World, old: Side<'_>, new: Side<'_>) -> Vec<String> {
        let change = Change {
            old: old.cloned(),
            new: new.cloned(),
        };
        let tasks = react(world, &change).into_iter();
        tasks
            .map(|task| format!("{:?} {}", task.controller, task.key.kind.kind))
            .collect()
    }

    #[test]
    fn a_change_wakes_those_who_care_about_it() {
        let mut world = World::new();
        world.create(workload("Deployment", "web", 1));
        world.settle();
        let pod = world.all(&Kind::POD).remove(0);
        let set = world.all(&Kind::REPLICA_SET).remove(0);
        let deployment = world.object(&Kind::DEPLOYMENT, "web");
        let mut orphan = Value::clone(&pod);
        orphan["metadata"]["ownerReferences"] = json!([]);
        orphan["metadata"]["name"] = json!("orphan");
        let mut doomed = Value::clone(&deployment);
        doomed["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        doomed["metadata"]["finalizers"] = json!([garbage::FOREGROUND]);
        let (orphan, doomed) = (Arc::new(orphan), Arc::new(doomed));
        let above = [
            "PodLife Pod",
            "ReplicaSet ReplicaSet",
            "Deployment Deployment",
        ];
        let rows: [(&str, Side<'_>, Side<'_>, Vec<&str>); 6] = [
            ("a pod changes", Some(&pod), Some(&pod), above.to_vec()),
            (
                "a pod comes",
                None,
                Some(&pod),
                [&above[..], &["Garbage Pod"]].concat(),
            ),
            (
                "a pod goes",
                Some(&pod),
                None,
                [&above[..], &["Garbage ReplicaSet"]].concat(),
            ),
            (
                "an orphan comes",
                None,
                Some(&orphan),
                vec!["PodLife Pod", "ReplicaSet ReplicaSet"],
            ),
            (
                "a set goes",
                Some(&set),
                None,
                vec![above[1], above[2], "Garbage Pod", "Garbage Deployment"],
            ),
            (
                "a deployment waits for its sets",
                Some(&deployment),
                Some(&doomed),
                vec![above[2], "Garbage Deployment", "Garbage ReplicaSet"],
            ),
        ];
        for (row, old, new, mut expected) in rows {
            let mut told = woken(&world, old, new);
            told.sort();
            expected.sort_unstable();
            assert_eq!(told, expected, "{row}: {}", name(&pod));
        }
    }
}
