//! The store's state as the workload steps and the metrics APIs look at it. Not here: how long the store's lock is held.

use std::sync::Arc;

use serde_json::Value;

use crate::kind::Kinds;
use crate::store::{Key, ResourceName, State};
use crate::workload::view::{self, View};

/// The objects as the steps see them, for as long as the store's lock is held.
pub(crate) struct Snapshot<'a> {
    pub(crate) state: &'a State,
    pub(crate) kinds: &'a Kinds,
}

impl Snapshot<'_> {
    fn resource(&self, kind: &view::Kind) -> Option<&ResourceName> {
        self.kinds
            .by_kind(&kind.group, &kind.kind)
            .map(|kind| &kind.stored)
    }
}

impl View for Snapshot<'_> {
    fn get(&self, kind: &view::Kind, namespace: &str, name: &str) -> Option<Arc<Value>> {
        let key = Key::new(self.resource(kind)?, namespace, name);
        self.state.get(&key).map(|entry| Arc::clone(&entry.object))
    }

    fn list(&self, kind: &view::Kind, namespace: Option<&str>) -> Vec<Arc<Value>> {
        let Some(resource) = self.resource(kind) else {
            return Vec::new();
        };
        self.state
            .range(resource, namespace, None)
            .map(|(_, entry)| Arc::clone(&entry.object))
            .collect()
    }

    fn owned_by(&self, kind: &view::Kind, namespace: &str, owner_uid: &str) -> Vec<Arc<Value>> {
        let Some(resource) = self.resource(kind) else {
            return Vec::new();
        };
        self.state
            .owned_by(owner_uid)
            .filter(|(key, _)| key.resource == *resource && *key.namespace == *namespace)
            .map(|(_, entry)| Arc::clone(&entry.object))
            .collect()
    }

    fn uncontrolled(&self, kind: &view::Kind, namespace: &str) -> Vec<Arc<Value>> {
        let Some(resource) = self.resource(kind) else {
            return Vec::new();
        };
        self.state
            .uncontrolled(resource, namespace)
            .map(|(_, entry)| Arc::clone(&entry.object))
            .collect()
    }

    fn dependents(&self, owner_uid: &str) -> Vec<Arc<Value>> {
        self.state
            .owned_by(owner_uid)
            .map(|(_, entry)| Arc::clone(&entry.object))
            .collect()
    }

    fn contents(&self, namespace: &str) -> Vec<Arc<Value>> {
        let namespaced = self.kinds.iter().filter(|kind| kind.is_namespaced());
        let mut resources: Vec<&ResourceName> = namespaced.map(|kind| &kind.stored).collect();
        resources.sort();
        resources.dedup();
        resources
            .into_iter()
            .flat_map(|resource| self.state.range(resource, Some(namespace), None))
            .map(|(_, entry)| Arc::clone(&entry.object))
            .collect()
    }

    fn serves(&self, kind: &view::Kind) -> bool {
        self.resource(kind).is_some()
    }
}
