//! Objects of one kind and the history of their changes, for lists and watches. Nothing is ever
//! forgotten: a scenario has some hundred changes.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The objects of one kind by name, what happened to them, and who listens.
#[derive(Default)]
pub(crate) struct Journal {
    objects: BTreeMap<String, Value>,
    changes: Vec<(u64, Value)>,
    watchers: Vec<UnboundedSender<Value>>,
}

impl Journal {
    pub(crate) fn object(&self, name: &str) -> Option<&Value> {
        self.objects.get(name)
    }

    pub(crate) fn objects(&self) -> Vec<Value> {
        self.objects.values().cloned().collect()
    }

    /// Stores an object under a new version and tells who watches; returns it as stored.
    pub(crate) fn put(&mut self, name: &str, mut object: Value, version: u64) -> Value {
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        let known = self
            .objects
            .insert(name.to_owned(), object.clone())
            .is_some();
        self.tell(version, if known { "MODIFIED" } else { "ADDED" }, &object);
        object
    }

    /// Removes an object; the deletion has a version of its own.
    pub(crate) fn remove(&mut self, name: &str, version: u64) {
        if let Some(mut object) = self.objects.remove(name) {
            object["metadata"]["resourceVersion"] = json!(version.to_string());
            self.tell(version, "DELETED", &object);
        }
    }

    fn tell(&mut self, version: u64, kind: &str, object: &Value) {
        let change = json!({"type": kind, "object": object});
        self.changes.push((version, change.clone()));
        self.watchers
            .retain(|watcher| watcher.send(change.clone()).is_ok());
    }

    /// Every change after `version`, those to come included. Bound: the changes of a scenario.
    pub(crate) fn watch(&mut self, version: u64) -> UnboundedReceiver<Value> {
        let (sender, receiver) = unbounded_channel();
        let missed = self.changes.iter().filter(|(at, _)| *at > version);
        // The receiver is held here, so that nothing sent can be lost.
        let open = missed
            .map(|(_, change)| sender.send(change.clone()))
            .all(|sent| sent.is_ok());
        if open {
            self.watchers.push(sender);
        }
        receiver
    }
}
