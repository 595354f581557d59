//! The namespace controller's step: a namespace has a default account; one that is being deleted is emptied, then let go
//! (upstream pkg/controller/namespace). Not here: refusing new objects in it, which the store does.

use serde_json::{Value, json};

use super::object::{is_being_deleted, items, name, put, uid};
use super::view::{Kind, ObjectKey, Propagation, Step, View, Write};

/// The finalizer in `spec.finalizers` that keeps a namespace until it is empty.
const KUBERNETES: &str = "kubernetes";

/// The account every namespace has.
pub(crate) const DEFAULT_ACCOUNT: &str = "default";

/// One step of the namespace `key`.
pub(crate) fn step(view: &dyn View, key: &ObjectKey) -> Step {
    let Some(stored) = view.get(&Kind::NAMESPACE, "", &key.name) else {
        return Step::default();
    };
    if !is_being_deleted(&stored) {
        return Step {
            writes: account(view, name(&stored)).into_iter().collect(),
            next_due: None,
        };
    }
    let contents = view.contents(name(&stored));
    let mut writes: Vec<Write> = contents
        .iter()
        .filter(|object| !is_being_deleted(object))
        .map(|object| Write::Delete {
            key: ObjectKey::of(object),
            uid: uid(object).to_owned(),
            grace_seconds: None,
            propagation: Propagation::Background,
        })
        .collect();
    if contents.is_empty() && !items(&stored, "/spec/finalizers").is_empty() {
        let kept: Vec<&Value> = items(&stored, "/spec/finalizers")
            .iter()
            .filter(|entry| entry.as_str() != Some(KUBERNETES))
            .collect();
        let mut update = Value::clone(&stored);
        put(&mut update, &["spec", "finalizers"], json!(kept));
        writes.push(Write::Update(update));
    }
    Step {
        writes,
        next_due: None,
    }
}

/// The account pods run as that name none, when it is not there (upstream pkg/controller/serviceaccount).
fn account(view: &dyn View, namespace: &str) -> Option<Write> {
    let there = view.get(&Kind::SERVICE_ACCOUNT, namespace, DEFAULT_ACCOUNT);
    there
        .is_none()
        .then(|| Write::Create(default_account(namespace)))
}

/// The account of that name in `namespace`.
pub(crate) fn default_account(namespace: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": DEFAULT_ACCOUNT, "namespace": namespace},
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, workload};
    use super::*;

    #[test]
    fn a_deleted_namespace_is_emptied_and_goes() {
        let mut world = World::new();
        world.create(json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "default"},
            "spec": {"finalizers": [KUBERNETES]},
        }));
        world.create(workload("ReplicaSet", "web", 2));
        world.settle();
        world.refused = Some((Kind::POD, "the namespace is being terminated"));
        world.delete(&Kind::NAMESPACE, "default", Propagation::Background);
        assert_eq!(
            world.all(&Kind::NAMESPACE).len(),
            1,
            "it waits for what is in it"
        );
        world.settle();
        for kind in [Kind::NAMESPACE, Kind::REPLICA_SET, Kind::POD, Kind::EVENT] {
            assert_eq!(world.all(&kind).len(), 0, "{kind}");
        }
    }
}
