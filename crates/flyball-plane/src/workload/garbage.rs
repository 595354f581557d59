//! The garbage collector's step for one object (upstream pkg/controller/garbagecollector): dependents follow their owners,
//! owners with a finalizer wait for their dependents. Not here: which objects to look at, which `react` says.

use std::sync::Arc;

use serde_json::{Value, json};

use super::object::{is_being_deleted, is_set, items, name, namespace, owners, put, text, uid};
use super::view::{Kind, ObjectKey, Propagation, Step, View, Write};

/// Finalizer of an owner that waits for its dependents to be deleted.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// Finalizer of an owner that waits for its dependents to be released.
pub(crate) const ORPHAN: &str = "orphan";

/// One step for the object `key`.
pub(crate) fn step(view: &dyn View, key: &ObjectKey) -> Step {
    let Some(object) = view.get(&key.kind, &key.namespace, &key.name) else {
        return Step::default();
    };
    let writes = if !is_being_deleted(&object) {
        collect(view, &object)
    } else if has_finalizer(&object, ORPHAN) {
        orphan(view, &object)
    } else if has_finalizer(&object, FOREGROUND) {
        await_dependents(view, &object)
    } else {
        Vec::new()
    };
    Step {
        writes,
        next_due: None,
    }
}

/// True when the object holds that finalizer.
pub(crate) fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    items(object, "/metadata/finalizers")
        .iter()
        .any(|entry| entry.as_str() == Some(finalizer))
}

/// What is left of an owner.
#[derive(PartialEq, Eq)]
enum Owner {
    /// It exists and stays.
    Solid,
    /// It is gone, or another object has its name.
    Dangling,
    /// It waits for its dependents.
    Waiting,
}

fn classify(view: &dyn View, reference: &Value, place: &str) -> Owner {
    let kind = Kind::of(text(reference, "/apiVersion"), text(reference, "/kind"));
    if !view.serves(&kind) {
        return Owner::Solid;
    }
    // A reference has no namespace: the owner is in the dependent's, or cluster-scoped.
    let owner = view
        .get(&kind, place, text(reference, "/name"))
        .or_else(|| view.get(&kind, "", text(reference, "/name")))
        .filter(|owner| uid(owner) == text(reference, "/uid"));
    match owner {
        None => Owner::Dangling,
        Some(owner) if is_waiting(&owner) => Owner::Waiting,
        Some(_) => Owner::Solid,
    }
}

/// Deletes an object whose owners are all gone or waiting for it; with one owner left, only the other references go
/// (upstream attemptToDeleteItem).
fn collect(view: &dyn View, object: &Arc<Value>) -> Vec<Write> {
    let references = owners(object);
    let states: Vec<Owner> = references
        .iter()
        .map(|entry| classify(view, entry, namespace(object)))
        .collect();
    let solid: Vec<&Value> = references
        .iter()
        .zip(&states)
        .filter(|(_, state)| **state == Owner::Solid)
        .map(|(entry, _)| entry)
        .collect();
    if solid.len() == references.len() {
        return Vec::new();
    }
    if !solid.is_empty() {
        return vec![with_owners(object, json!(solid))];
    }
    let dependents = view.dependents(uid(object));
    let mut writes = Vec::new();
    let propagation = if states.contains(&Owner::Waiting) && !dependents.is_empty() {
        // A dependent that waits itself may be an owner further up: in a circle each would wait for the other for ever.
        if dependents.iter().any(|dependent| is_waiting(dependent)) {
            writes.extend(unblocked(object));
        }
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    writes.push(Write::Delete {
        key: ObjectKey::of(object),
        uid: uid(object).to_owned(),
        grace_seconds: None,
        propagation,
    });
    writes
}

/// The object with references that hold none of its owners back; `None` when it holds none back now
/// (upstream unblockOwnerReferencesJSONMergePatch).
fn unblocked(object: &Arc<Value>) -> Option<Write> {
    let mut references = owners(object).to_vec();
    let mut blocking = references
        .iter_mut()
        .filter(|entry| is_set(entry, "/blockOwnerDeletion"))
        .peekable();
    blocking.peek()?;
    blocking.for_each(|entry| entry["blockOwnerDeletion"] = json!(false));
    Some(with_owners(object, json!(references)))
}

/// True for an object that goes once its dependents are gone.
fn is_waiting(object: &Value) -> bool {
    is_being_deleted(object) && has_finalizer(object, FOREGROUND)
}

/// Releases the dependents, then lets the owner go (upstream attemptToOrphanWorker).
fn orphan(view: &dyn View, owner: &Arc<Value>) -> Vec<Write> {
    let mut writes: Vec<Write> = view
        .dependents(uid(owner))
        .iter()
        .map(|dependent| {
            let kept: Vec<&Value> = owners(dependent)
                .iter()
                .filter(|entry| text(entry, "/uid") != uid(owner))
                .collect();
            with_owners(dependent, json!(kept))
        })
        .collect();
    writes.push(without_finalizer(owner, ORPHAN));
    writes
}

/// Lets the owner go once no dependent blocks it; the dependents are asked to go by steps of their own
/// (upstream processDeletingDependentsItem).
fn await_dependents(view: &dyn View, owner: &Arc<Value>) -> Vec<Write> {
    let blocks = |dependent: &Value| {
        owners(dependent)
            .iter()
            .any(|entry| text(entry, "/uid") == uid(owner) && is_set(entry, "/blockOwnerDeletion"))
    };
    if view
        .dependents(uid(owner))
        .iter()
        .any(|dependent| blocks(dependent))
    {
        return Vec::new();
    }
    vec![without_finalizer(owner, FOREGROUND)]
}

fn with_owners(object: &Value, references: Value) -> Write {
    let mut update = object.clone();
    put(&mut update, &["metadata", "ownerReferences"], references);
    Write::Update(update)
}

fn without_finalizer(object: &Value, finalizer: &str) -> Write {
    let kept: Vec<&Value> = items(object, "/metadata/finalizers")
        .iter()
        .filter(|entry| entry.as_str() != Some(finalizer))
        .collect();
    let mut update = object.clone();
    put(&mut update, &["metadata", "finalizers"], json!(kept));
    Write::Update(update)
}

/// The keys of an object's owners, for waking those that wait for it.
pub(crate) fn owner_keys(object: &Value) -> Vec<ObjectKey> {
    owners(object)
        .iter()
        .map(|entry| {
            let kind = Kind::of(text(entry, "/apiVersion"), text(entry, "/kind"));
            ObjectKey::new(kind, namespace(object), text(entry, "/name"))
        })
        .filter(|key| key.name != name(object) || key.kind != ObjectKey::of(object).kind)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::*;

    fn config(name: &str, owners: &Value) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "default", "ownerReferences": owners},
        })
    }

    fn owner(world: &World, name: &str) -> Value {
        let kind = Kind::of("v1", "ConfigMap");
        let id = uid(&world.object(&kind, name)).to_owned();
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": id, "blockOwnerDeletion": true})
    }

    fn names(world: &World) -> Vec<String> {
        world
            .all(&Kind::of("v1", "ConfigMap"))
            .iter()
            .map(|object| name(object).to_owned())
            .collect()
    }

    /// `c` is owned by `a` and by `b`, `d` by `c`.
    fn family() -> World {
        let mut world = World::new();
        world.create(config("a", &json!([])));
        world.create(config("b", &json!([])));
        world.create(config(
            "c",
            &json!([owner(&world, "a"), owner(&world, "b")]),
        ));
        world.create(config("d", &json!([owner(&world, "c")])));
        world.settle();
        world
    }

    #[test]
    fn an_object_lives_as_long_as_one_of_its_owners() {
        let kind = Kind::of("v1", "ConfigMap");
        for propagation in [Propagation::Background, Propagation::Foreground] {
            let mut world = family();
            world.delete(&kind, "a", propagation);
            world.settle();
            assert_eq!(names(&world), ["b", "c", "d"], "{propagation:?}");
            assert_eq!(owners(&world.object(&kind, "c")).len(), 1);
            world.delete(&kind, "b", propagation);
            world.settle();
            assert_eq!(names(&world), Vec::<String>::new(), "{propagation:?}");
        }
    }

    #[test]
    fn owners_in_a_circle_go_in_the_foreground_but_an_owner_of_itself_waits_for_ever() {
        let kind = Kind::of("v1", "ConfigMap");
        for (circle, left) in [
            (&["a"][..], &["a"][..]),
            (&["a", "b"], &[]),
            (&["a", "b", "c"], &[]),
        ] {
            let mut world = World::new();
            let mut above = json!([]);
            for member in circle {
                world.create(config(member, &above));
                above = json!([owner(&world, member)]);
            }
            world.change(&kind, "a", |object| {
                object["metadata"]["ownerReferences"] = above;
            });
            world.settle();
            world.delete(&kind, "a", Propagation::Foreground);
            world.settle();
            assert_eq!(names(&world), left, "{circle:?}");
        }
    }

    #[test]
    fn an_object_whose_owner_never_was_goes_and_one_of_an_unserved_kind_stays() {
        let mut world = World::new();
        let ghost = |version| json!([{"apiVersion": version, "kind": "ConfigMap", "name": "ghost", "uid": "0"}]);
        world.create(config("stray", &ghost("v1")));
        world.create(config("foreign", &ghost("unserved.example/v1")));
        world.settle();
        assert_eq!(names(&world), ["foreign"]);
    }

    #[test]
    fn an_orphaning_owner_releases_its_dependents() {
        let kind = Kind::of("v1", "ConfigMap");
        let mut world = family();
        world.change(&kind, "c", |object| {
            object["metadata"]["finalizers"] = json!([ORPHAN]);
        });
        world.delete(&kind, "c", Propagation::Background);
        world.settle();
        assert_eq!(names(&world), ["a", "b", "d"]);
        assert_eq!(owners(&world.object(&kind, "d")).len(), 0);
    }
}
