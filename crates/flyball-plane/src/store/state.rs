//! The store's memory: the objects as they are, the recent history for watchers, the owner index.
//! Everything is read from here. Not here: durability (`log`), the order of concurrent writers (`writer`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;

use super::CommitError;
use super::key::{Key, ResourceName};
use crate::object;

/// The revision of the store: it grows by one with every acknowledged change and never repeats.
pub type Revision = u64;

/// An object with the revision that wrote it; `metadata.resourceVersion` holds the same number.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The object in its stored form.
    pub object: Arc<Value>,
    /// The revision that wrote it.
    pub revision: Revision,
}

/// What a writer wants: one object put in place or removed, if the place is as expected.
#[derive(Clone, Debug)]
pub struct Change {
    /// Where.
    pub key: Key,
    /// The revision the writer has seen there; `None` when it saw nothing.
    pub expected: Option<Revision>,
    /// The new object, or the last state of an object that is removed.
    pub object: Value,
    /// What happens to the place.
    pub action: Action,
}

/// What a change does to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The object is put there.
    Put,
    /// The object is removed; watchers get its last state with the revision of the removal.
    Remove,
}

/// One acknowledged change.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its revision.
    pub revision: Revision,
    /// Where it happened.
    pub key: Key,
    /// What happened.
    pub action: Action,
    /// The new state, or the last one of a removed object; carries `revision` as its resourceVersion.
    pub object: Arc<Value>,
    /// The state before, `None` when the object was created.
    pub previous: Option<Entry>,
}

impl Event {
    /// The change without its past, as the log keeps it.
    pub(super) fn recorded(&self) -> Recorded {
        Recorded {
            key: self.key.clone(),
            action: self.action,
            object: Arc::clone(&self.object),
        }
    }
}

/// What the log keeps of a change, under its revision.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) key: Key,
    pub(super) action: Action,
    pub(super) object: Arc<Value>,
}

/// Everything the log has to hold.
#[derive(Debug)]
pub(super) struct Contents {
    /// Live objects, history, and what the history's changes have superseded.
    pub(super) records: BTreeMap<Revision, Recorded>,
    /// The newest change that has left the history.
    pub(super) compacted: Revision,
}

/// What a watcher of one resource needs to know besides the history.
#[derive(Debug)]
struct Lane {
    /// The newest change of this resource that has left the history.
    trimmed: Revision,
    /// Wakes the watchers; holds the newest revision of this resource.
    newest: watch::Sender<Revision>,
}

/// The whole memory of a store.
#[derive(Debug)]
pub struct State {
    revision: Revision,
    base: Revision,
    history_max: usize,
    objects: BTreeMap<Key, Entry>,
    owners: BTreeSet<(Arc<str>, Key)>,
    uncontrolled: BTreeSet<Key>,
    history: VecDeque<Event>,
    lanes: BTreeMap<ResourceName, Lane>,
    compacted: Revision,
    newest: watch::Sender<Revision>,
}

impl State {
    /// An empty memory that keeps at most `history_max` changes for watchers.
    pub(super) fn new(history_max: usize) -> Self {
        Self {
            revision: 0,
            base: 0,
            history_max,
            objects: BTreeMap::new(),
            owners: BTreeSet::new(),
            uncontrolled: BTreeSet::new(),
            history: VecDeque::new(),
            lanes: BTreeMap::new(),
            compacted: 0,
            newest: watch::Sender::new(0),
        }
    }

    /// The revision of the newest acknowledged change.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The object at `key`.
    pub fn get(&self, key: &Key) -> Option<&Entry> {
        self.objects.get(key)
    }

    /// The objects of `resource`, of one namespace or of all, ordered by (namespace, name), from the key `from` on when given.
    pub fn range<'a>(
        &'a self,
        resource: &ResourceName,
        namespace: Option<&'a str>,
        from: Option<&Key>,
    ) -> impl Iterator<Item = (&'a Key, &'a Entry)> + use<'a> {
        let within = Self::within(resource, namespace);
        self.objects
            .range(Self::first(resource, namespace, from)..)
            .take_while(move |(key, _)| within(key))
    }

    /// The first key a range may hold.
    pub(super) fn first(
        resource: &ResourceName,
        namespace: Option<&str>,
        from: Option<&Key>,
    ) -> Key {
        let first = Key::new(resource, namespace.unwrap_or_default(), "");
        match from {
            Some(from) if *from > first => from.clone(),
            _ => first,
        }
    }

    /// Whether a key belongs to `resource` and the namespace, if there is one.
    pub(super) fn within<'a>(
        resource: &ResourceName,
        namespace: Option<&'a str>,
    ) -> impl Fn(&Key) -> bool + use<'a> {
        let resource = Arc::clone(resource);
        move |key| key.resource == resource && namespace.is_none_or(|one| *key.namespace == *one)
    }

    /// The objects that name `uid` in an owner reference, ordered by key.
    pub fn owned_by(&self, uid: &str) -> impl Iterator<Item = (&Key, &Entry)> {
        let uid: Arc<str> = uid.into();
        let empty: ResourceName = "".into();
        let first = (Arc::clone(&uid), Key::new(&empty, "", ""));
        self.owners
            .range(first..)
            .take_while(move |(owner, _)| *owner == uid)
            .filter_map(|(_, key)| self.objects.get_key_value(key))
    }

    /// The objects of `resource` in `namespace` that name no controller, ordered by name.
    pub fn uncontrolled<'a>(
        &'a self,
        resource: &ResourceName,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a Key, &'a Entry)> + use<'a> {
        let resource = Arc::clone(resource);
        self.uncontrolled
            .range(Key::new(&resource, namespace, "")..)
            .take_while(move |key| key.resource == resource && *key.namespace == *namespace)
            .filter_map(|key| self.objects.get_key_value(key))
    }

    /// The changes of `resource` after `revision`, oldest first, at most `count_max`.
    ///
    /// # Errors
    /// [`Compacted`] when a change of this resource after `revision` has left the history.
    pub fn events_after(
        &self,
        resource: &ResourceName,
        revision: Revision,
        count_max: usize,
    ) -> Result<Vec<Event>, Compacted> {
        let trimmed = self
            .lanes
            .get(resource)
            .map_or(self.base, |lane| lane.trimmed);
        if revision < trimmed {
            return Err(Compacted {
                revision,
                oldest: trimmed,
            });
        }
        let start = self
            .history
            .partition_point(|event| event.revision <= revision);
        Ok(self
            .history
            .range(start..)
            .filter(|event| event.key.resource == *resource)
            .take(count_max)
            .cloned()
            .collect())
    }

    /// All changes after `revision`, oldest first, at most `count_max`.
    ///
    /// # Errors
    /// [`Compacted`] when a change after `revision` has left the history.
    pub fn all_events_after(
        &self,
        revision: Revision,
        count_max: usize,
    ) -> Result<Vec<Event>, Compacted> {
        if revision < self.compacted {
            return Err(Compacted {
                revision,
                oldest: self.compacted,
            });
        }
        let start = self
            .history
            .partition_point(|event| event.revision <= revision);
        Ok(self
            .history
            .range(start..)
            .take(count_max)
            .cloned()
            .collect())
    }

    /// All objects, ordered by key.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Entry)> {
        self.objects.iter()
    }

    /// A receiver that changes whenever anything does.
    pub(super) fn subscribe_all(&self) -> watch::Receiver<Revision> {
        self.newest.subscribe()
    }

    /// A receiver that changes whenever `resource` does.
    pub(super) fn subscribe(&mut self, resource: &ResourceName) -> watch::Receiver<Revision> {
        self.lane(resource).newest.subscribe()
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// True when there is no object.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The newest change that has left the history.
    pub(super) fn compacted(&self) -> Revision {
        self.compacted
    }

    /// Everything the log has to hold for this memory to be read back from it.
    pub(super) fn contents(&self) -> Contents {
        let mut records = BTreeMap::new();
        let put = |key: &Key, entry: &Entry| Recorded {
            key: key.clone(),
            action: Action::Put,
            object: Arc::clone(&entry.object),
        };
        for (key, entry) in &self.objects {
            records.insert(entry.revision, put(key, entry));
        }
        for event in &self.history {
            if let Some(previous) = &event.previous {
                records.insert(previous.revision, put(&event.key, previous));
            }
            records.insert(event.revision, event.recorded());
        }
        Contents {
            records,
            compacted: self.compacted,
        }
    }

    /// The changes that leave the history when `incoming` arrive, oldest first.
    pub(super) fn leaving(&self, incoming: &[Event]) -> Vec<Event> {
        let excess = (self.history.len() + incoming.len()).saturating_sub(self.history_max);
        self.history
            .iter()
            .chain(incoming)
            .take(excess)
            .cloned()
            .collect()
    }

    /// Checks one change against the memory and the changes already staged with it, and gives it its revision.
    pub(super) fn stage(&self, staged: &Staged, change: Change) -> Result<Event, CommitError> {
        let previous = match staged.entries.get(&change.key) {
            Some(entry) => entry.clone(),
            None => self.objects.get(&change.key).cloned(),
        };
        let found = previous.as_ref().map(|entry| entry.revision);
        if found != change.expected {
            return Err(CommitError::Conflict {
                key: change.key,
                expected: change.expected,
                found,
            });
        }
        if change.action == Action::Remove && found.is_none() {
            return Err(CommitError::Conflict {
                key: change.key,
                expected: None,
                found: None,
            });
        }
        let revision = self.revision + staged.events.len() as u64 + 1;
        let mut object = change.object;
        object::set_resource_version(&mut object, revision);
        Ok(Event {
            revision,
            key: change.key,
            action: change.action,
            object: Arc::new(object),
            previous,
        })
    }

    /// Takes durable changes in, in the order of their revisions, and wakes the watchers.
    pub(super) fn apply(&mut self, events: Vec<Event>) {
        let mut touched = BTreeMap::new();
        for event in events {
            touched.insert(Arc::clone(&event.key.resource), event.revision);
            self.place(&event);
            self.remember(event);
        }
        for (resource, revision) in touched {
            self.lane(&resource).newest.send_replace(revision);
        }
        self.newest.send_replace(self.revision);
    }

    /// Restores a record that lies at or before the compacted revision: an object without history.
    pub(super) fn restore(&mut self, event: &Event) {
        self.place(event);
    }

    /// Restores the revision below which there is no history.
    pub(super) fn restore_compacted(&mut self, compacted: Revision) {
        self.base = compacted;
        self.compacted = compacted;
        self.revision = self.revision.max(compacted);
    }

    /// Restores the history above the compacted revision; the objects are in place already.
    pub(super) fn restore_history(&mut self, events: Vec<Event>) {
        for event in events {
            self.remember(event);
        }
    }

    fn place(&mut self, event: &Event) {
        self.revision = event.revision;
        if let Some(previous) = self.objects.remove(&event.key) {
            for uid in object::owner_uids(&previous.object) {
                self.owners.remove(&(uid.into(), event.key.clone()));
            }
        }
        self.uncontrolled.remove(&event.key);
        if event.action == Action::Put {
            if !object::has_controller(&event.object) {
                self.uncontrolled.insert(event.key.clone());
            }
            for uid in object::owner_uids(&event.object) {
                self.owners.insert((uid.into(), event.key.clone()));
            }
            let entry = Entry {
                object: Arc::clone(&event.object),
                revision: event.revision,
            };
            self.objects.insert(event.key.clone(), entry);
        }
    }

    fn remember(&mut self, event: Event) {
        self.history.push_back(event);
        while self.history.len() > self.history_max {
            if let Some(gone) = self.history.pop_front() {
                self.compacted = gone.revision;
                self.lane(&gone.key.resource).trimmed = gone.revision;
            }
        }
    }

    fn lane(&mut self, resource: &ResourceName) -> &mut Lane {
        let base = self.base;
        self.lanes
            .entry(Arc::clone(resource))
            .or_insert_with(|| Lane {
                trimmed: base,
                newest: watch::Sender::new(0),
            })
    }
}

/// The changes of one group commit that are checked but not yet durable.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub(super) events: Vec<Event>,
    entries: BTreeMap<Key, Option<Entry>>,
}

impl Staged {
    pub(super) fn push(&mut self, event: Event) {
        let entry = (event.action == Action::Put).then(|| Entry {
            object: Arc::clone(&event.object),
            revision: event.revision,
        });
        self.entries.insert(event.key.clone(), entry);
        self.events.push(event);
    }
}

/// The history no longer reaches back to the revision a watcher asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too old resource version: {revision} ({oldest})")]
pub struct Compacted {
    /// What was asked for.
    pub revision: Revision,
    /// The oldest revision that can be asked for.
    pub oldest: Revision,
}
