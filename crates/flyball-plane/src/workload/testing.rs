//! A store in memory and a driver in virtual time, for the tests of this crate's workload steps. It does what the real store
//! promises in `view`, and no more: no defaults, no validation, no watch.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use super::agenda::Agenda;
use super::event;
use super::load::ledger::Ledger;
use super::object::{
    controller_of, count, is_being_deleted, items, name, namespace, owners, put, text, uid,
};
use super::react;
use super::view::{Change, Kind, ObjectKey, Propagation, View, Write};
use crate::time;

/// 2026-01-01T00:00:00Z.
pub(crate) const START: UnixMs = 1_767_225_600_000;

/// More steps than any test needs; more is two controllers in a fight.
const STEPS: usize = 100_000;

#[derive(Default)]
pub(crate) struct World {
    objects: BTreeMap<ObjectKey, Arc<Value>>,
    agenda: Agenda,
    pub(crate) ledger: Ledger,
    pub(crate) now_ms: UnixMs,
    revision: u64,
    /// Creations and deletions of pods and sizes of sets, in order: `+web-0`, `-web-0`.
    pub(crate) log: Vec<String>,
    /// Looked at after every write.
    pub(crate) invariant: Option<fn(&World)>,
    /// Creations of this kind are refused with this message.
    pub(crate) refused: Option<(Kind, &'static str)>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            now_ms: START,
            ..Self::default()
        }
    }

    /// Creates an object as a user would.
    pub(crate) fn create(&mut self, object: Value) {
        self.apply(&Write::Create(object))
            .expect("the object can be created");
    }

    /// Changes an object as a user would.
    pub(crate) fn change(&mut self, kind: &Kind, object: &str, change: impl FnOnce(&mut Value)) {
        let mut value = Value::clone(&self.object(kind, object));
        change(&mut value);
        self.apply(&Write::Update(value))
            .expect("the object can be changed");
    }

    /// Writes an object's status as another component would.
    pub(crate) fn set_status(&mut self, object: &Value) {
        self.apply(&Write::UpdateStatus(object.clone()))
            .expect("the status can be changed");
    }

    /// Deletes an object as a user would.
    pub(crate) fn delete(&mut self, kind: &Kind, object: &str, propagation: Propagation) {
        let key = ObjectKey::of(&self.object(kind, object));
        let uid = uid(&self.objects[&key]).to_owned();
        self.apply(&Write::Delete {
            key,
            uid,
            grace_seconds: None,
            propagation,
        })
        .expect("it is there");
    }

    /// The object in the namespace `default` (or the cluster).
    pub(crate) fn object(&self, kind: &Kind, object: &str) -> Arc<Value> {
        let place = if *kind == Kind::NAMESPACE {
            ""
        } else {
            "default"
        };
        self.get(kind, place, object).expect("the object exists")
    }

    pub(crate) fn all(&self, kind: &Kind) -> Vec<Arc<Value>> {
        self.list(kind, None)
    }

    /// The reasons and messages of the events, in order of creation.
    pub(crate) fn events(&self) -> Vec<String> {
        let mut events = self.all(&Kind::EVENT);
        events.sort_by_key(|event| text(event, "/metadata/uid").parse::<u64>().unwrap());
        events
            .iter()
            .map(|event| format!("{} {}", text(event, "/reason"), text(event, "/message")))
            .collect()
    }

    /// Runs everything due within `ms` from now, and leaves the clock there.
    pub(crate) fn run_for(&mut self, ms: i64) {
        let end = self.now_ms + ms;
        let mut steps = 0;
        while let Some(at) = self.agenda.next_due().filter(|at| *at <= end) {
            self.now_ms = self.now_ms.max(at);
            self.run_due();
            steps += 1;
            assert!(
                steps < STEPS,
                "the controllers do not settle; last: {:?}",
                self.log.iter().rev().take(20)
            );
        }
        self.now_ms = end;
    }

    /// Runs for ten minutes, in which any of the tests' rollouts ends.
    pub(crate) fn settle(&mut self) {
        self.run_for(600_000);
    }

    fn run_due(&mut self) {
        let Some(task) = self.agenda.pop(self.now_ms) else {
            return;
        };
        let step = react::step(self, &task, self.now_ms);
        if let Some(at) = step.next_due {
            self.agenda.add(task.clone(), at.max(self.now_ms + 1));
        }
        for write in &step.writes {
            match self.apply(write) {
                Ok(()) => {}
                Err(Failure::Conflict) => {
                    self.agenda.add(task, self.now_ms);
                    return;
                }
                Err(Failure::Refused(message)) => {
                    let refusal = super::replica_set::Refusal {
                        write,
                        message: &message,
                        now_ms: self.now_ms,
                    };
                    for write in react::refused(self, &task, &refusal) {
                        self.apply(&write).ok();
                    }
                    self.agenda.add(task, self.now_ms + 1000);
                    return;
                }
            }
        }
    }

    fn apply(&mut self, write: &Write) -> Result<(), Failure> {
        match write {
            Write::Create(object) => self.insert(object.clone())?,
            Write::Update(object) => self.replace(object, Part::Spec)?,
            Write::UpdateStatus(object) => self.replace(object, Part::Status)?,
            Write::Delete {
                key,
                uid,
                grace_seconds,
                propagation,
            } => {
                self.remove(key, uid, *grace_seconds, *propagation);
            }
            Write::Event(event) => {
                let stored = event::stored(self, event, self.now_ms);
                self.apply(&stored)?;
            }
        }
        if let Some(invariant) = self.invariant {
            invariant(self);
        }
        Ok(())
    }

    fn insert(&mut self, mut object: Value) -> Result<(), Failure> {
        let key = ObjectKey::of(&object);
        if let Some((_, message)) = self.refused.as_ref().filter(|(kind, _)| *kind == key.kind) {
            return Err(Failure::Refused((*message).to_owned()));
        }
        if self.objects.contains_key(&key) {
            return Err(Failure::Refused(format!("{key} already exists")));
        }
        self.revision += 1;
        put(
            &mut object,
            &["metadata", "uid"],
            json!(self.revision.to_string()),
        );
        put(
            &mut object,
            &["metadata", "resourceVersion"],
            json!(self.revision.to_string()),
        );
        put(
            &mut object,
            &["metadata", "creationTimestamp"],
            json!(time::print(self.now_ms)),
        );
        put(&mut object, &["metadata", "generation"], json!(1));
        if key.kind == Kind::POD {
            put(&mut object, &["status", "phase"], json!("Pending"));
            self.log.push(format!("+{}", key.name));
        }
        if key.kind == Kind::REPLICA_SET {
            self.log
                .push(format!("{} 0>{}", key.name, object["spec"]["replicas"]));
        }
        self.publish(key, Some(object));
        Ok(())
    }

    fn replace(&mut self, object: &Value, part: Part) -> Result<(), Failure> {
        let key = ObjectKey::of(object);
        let Some(stored) = self.objects.get(&key).cloned() else {
            return Ok(());
        };
        if stored["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"] {
            return Err(Failure::Conflict);
        }
        let mut next = object.clone();
        match part {
            Part::Spec => put(&mut next, &["status"], stored["status"].clone()),
            Part::Status => put(&mut next, &["spec"], stored["spec"].clone()),
        }
        if next["spec"] != stored["spec"] {
            put(
                &mut next,
                &["metadata", "generation"],
                json!(count(&stored, "/metadata/generation") + 1),
            );
            if next["spec"]["replicas"] != stored["spec"]["replicas"]
                && key.kind == Kind::REPLICA_SET
            {
                let sizes = (&stored["spec"]["replicas"], &next["spec"]["replicas"]);
                self.log
                    .push(format!("{} {}>{}", key.name, sizes.0, sizes.1));
            }
        }
        self.revision += 1;
        put(
            &mut next,
            &["metadata", "resourceVersion"],
            json!(self.revision.to_string()),
        );
        let is_free = items(&next, "/metadata/finalizers").is_empty()
            && items(&next, "/spec/finalizers").is_empty();
        let is_gone = is_being_deleted(&next)
            && is_free
            && count(&next, "/metadata/deletionGracePeriodSeconds") == 0;
        self.publish(key, (!is_gone).then_some(next));
        Ok(())
    }

    fn remove(&mut self, key: &ObjectKey, id: &str, grace: Option<i64>, propagation: Propagation) {
        let Some(stored) = self
            .objects
            .get(key)
            .filter(|stored| uid(stored) == id)
            .cloned()
        else {
            return;
        };
        let is_bound = !text(&stored, "/spec/nodeName").is_empty();
        let own = if key.kind == Kind::POD && is_bound {
            30
        } else {
            0
        };
        let grace = grace.unwrap_or(own);
        let mut next = Value::clone(&stored);
        if propagation == Propagation::Foreground {
            put(
                &mut next,
                &["metadata", "finalizers"],
                json!(["foregroundDeletion"]),
            );
        }
        if key.kind == Kind::POD && (grace == 0 || !is_being_deleted(&stored)) {
            self.log.push(format!(
                "{}{}",
                if grace == 0 { "-" } else { "~" },
                key.name
            ));
        }
        let waits = grace > 0
            || !items(&next, "/metadata/finalizers").is_empty()
            || !items(&next, "/spec/finalizers").is_empty();
        if !waits {
            self.publish(key.clone(), None);
            return;
        }
        if is_being_deleted(&stored) && grace > 0 {
            return;
        }
        put(
            &mut next,
            &["metadata", "deletionTimestamp"],
            json!(time::print(self.now_ms + grace * 1000)),
        );
        put(
            &mut next,
            &["metadata", "deletionGracePeriodSeconds"],
            json!(grace),
        );
        self.revision += 1;
        put(
            &mut next,
            &["metadata", "resourceVersion"],
            json!(self.revision.to_string()),
        );
        self.publish(key.clone(), Some(next));
    }

    fn publish(&mut self, key: ObjectKey, new: Option<Value>) {
        let new = new.map(Arc::new);
        let old = match &new {
            Some(object) => self.objects.insert(key, object.clone()),
            None => self.objects.remove(&key),
        };
        let mut agenda = std::mem::take(&mut self.agenda);
        let mut ledger = std::mem::take(&mut self.ledger);
        let change = Change { old, new };
        agenda.observe(self, &change, self.now_ms);
        ledger.observe(self, &change, self.now_ms);
        self.ledger = ledger;
        self.agenda = agenda;
    }

    fn select(&self, test: impl Fn(&ObjectKey, &Value) -> bool) -> Vec<Arc<Value>> {
        self.objects
            .iter()
            .filter(|(key, object)| test(key, object))
            .map(|(_, object)| object.clone())
            .collect()
    }
}

#[derive(Clone, Copy)]
enum Part {
    Spec,
    Status,
}

#[derive(Debug)]
enum Failure {
    Conflict,
    Refused(String),
}

fn is_owned_by(object: &Value, owner: &str) -> bool {
    owners(object)
        .iter()
        .any(|entry| text(entry, "/uid") == owner)
}

impl View for World {
    fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.objects
            .get(&ObjectKey::new(kind.clone(), namespace, name))
            .cloned()
    }

    fn list(&self, kind: &Kind, place: Option<&str>) -> Vec<Arc<Value>> {
        self.select(|key, _| key.kind == *kind && place.is_none_or(|place| key.namespace == place))
    }

    fn owned_by(&self, kind: &Kind, place: &str, owner: &str) -> Vec<Arc<Value>> {
        self.select(|key, object| {
            key.kind == *kind && key.namespace == place && is_owned_by(object, owner)
        })
    }

    fn uncontrolled(&self, kind: &Kind, place: &str) -> Vec<Arc<Value>> {
        self.select(|key, object| {
            key.kind == *kind && key.namespace == place && controller_of(object).is_none()
        })
    }

    fn dependents(&self, owner: &str) -> Vec<Arc<Value>> {
        self.select(|_, object| is_owned_by(object, owner))
    }

    fn contents(&self, place: &str) -> Vec<Arc<Value>> {
        self.select(|_, object| namespace(object) == place)
    }

    fn serves(&self, kind: &Kind) -> bool {
        kind.group != "unserved.example"
    }
}

/// A workload with `replicas` pods of image `v1`, labelled `app: <name>`.
pub(crate) fn workload(kind: &str, workload: &str, replicas: i64) -> Value {
    let labels = json!({"app": workload});
    let selector = match kind {
        "ReplicationController" => labels.clone(),
        _ => json!({"matchLabels": labels}),
    };
    let version = if kind == "ReplicationController" {
        "v1"
    } else {
        "apps/v1"
    };
    json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": workload, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": selector,
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{
                    "name": "app",
                    "image": "v1",
                    "resources": {"requests": {"cpu": "1"}},
                }]},
            },
        },
    })
}

/// Sets the image of a workload, which starts a rollout.
pub(crate) fn set_image(world: &mut World, kind: &Kind, workload: &str, image: &str) {
    world.change(kind, workload, |object| {
        object["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
    });
}

/// The names of pods, with the image in brackets.
pub(crate) fn images(world: &World) -> Vec<String> {
    let pods = world.all(&Kind::POD);
    pods.iter()
        .map(|pod| format!("{}[{}]", name(pod), text(pod, "/spec/containers/0/image")))
        .collect()
}
