//! The chain of controllers above a pod: its ReplicaSet, then that one's Deployment.

use std::sync::Arc;

use serde_json::Value;

use super::object::{controller_of, uid};
use super::view::View;

/// Longest chain followed, a bound against owners in a circle: pod, ReplicaSet, Deployment and two for custom kinds above.
const DEPTH: usize = 4;

/// The controllers above `object`, the nearest first.
pub(crate) fn workloads_of(view: &dyn View, object: &Arc<Value>) -> Vec<Arc<Value>> {
    let mut chain: Vec<Arc<Value>> = Vec::new();
    let mut current = object.clone();
    while chain.len() < DEPTH {
        let Some(reference) = controller_of(&current) else {
            break;
        };
        let key = &reference.key;
        let found = view.get(&key.kind, &key.namespace, &key.name);
        let Some(owner) = found.filter(|owner| uid(owner) == reference.uid) else {
            break;
        };
        chain.push(owner.clone());
        current = owner;
    }
    chain
}
