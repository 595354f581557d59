//! One run of four writers and four watchers over a failing disk, on one thread and from one seed, beside a model of what has
//! been acknowledged. Every step compares the two. Not here: which faults happen when.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::oneshot;

use super::disk::{Fault, FaultyDisk};
use super::random::Random;
use crate::store::state::{Action, Change, Event, Revision, State};
use crate::store::writer::{Request, Scribe};
use crate::store::{CommitError, Key, ResourceName};

/// Small, so that compaction is at work in every run.
pub(super) const HISTORY_MAX: usize = 8;
const WRITERS: usize = 4;
const WATCHERS: usize = 4;
const RESOURCES: [&str; 2] = ["pods", "services"];
/// Opening is tried again after a fault; one fault is armed at a time, and a full disk gets room.
const OPENS_MAX: usize = 4;

/// A change as the model keeps it; the number stands for the object's content.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    revision: Revision,
    key: Key,
    action: Action,
    content: u64,
    previous: Option<Revision>,
}

/// How a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing of it could be tried: every writer had lost a race.
    Empty,
    Acknowledged,
    Doubtful,
    Suspended,
}

/// What has been acknowledged, and what may have been stored besides.
#[derive(Debug, Default)]
struct Model {
    acknowledged: Vec<Told>,
    live: BTreeMap<Key, (Revision, u64)>,
    in_doubt: Vec<Told>,
}

impl Model {
    fn revision(&self) -> Revision {
        self.acknowledged.last().map_or(0, |told| told.revision)
    }

    fn acknowledge(&mut self, changes: Vec<Told>) {
        for told in changes {
            match told.action {
                Action::Put => self
                    .live
                    .insert(told.key.clone(), (told.revision, told.content)),
                Action::Remove => self.live.remove(&told.key),
            };
            self.acknowledged.push(told);
        }
        self.in_doubt.clear();
    }

    /// The changes of a batch that do not lose a race, with the revisions they are to get.
    fn stage(&self, batch: &[(Change, u64)]) -> Vec<Option<Told>> {
        let mut live = self.live.clone();
        let mut revision = self.revision();
        let mut stage = |(change, content): &(Change, u64)| {
            let found = live.get(&change.key).map(|(revision, _)| *revision);
            if found != change.expected {
                return None;
            }
            revision += 1;
            match change.action {
                Action::Put => live.insert(change.key.clone(), (revision, *content)),
                Action::Remove => live.remove(&change.key),
            };
            Some(Told {
                revision,
                key: change.key.clone(),
                action: change.action,
                content: *content,
                previous: found,
            })
        };
        batch.iter().map(&mut stage).collect()
    }
}

/// Who reads changes of one resource, or of all, from where it was.
#[derive(Clone, Debug)]
struct Watcher {
    resource: Option<ResourceName>,
    cursor: Revision,
}

/// The run.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) disk: FaultyDisk,
    scribe: Option<Scribe<FaultyDisk>>,
    model: Model,
    watchers: Vec<Watcher>,
    random: Random,
    contents: u64,
}

impl Trial {
    /// An empty disk, not opened yet.
    pub(super) fn new(seed: u64) -> Self {
        let watcher = |index: usize| Watcher {
            resource: RESOURCES.get(index).map(|name| Arc::from(*name)),
            cursor: 0,
        };
        Self {
            disk: FaultyDisk::default(),
            scribe: None,
            model: Model::default(),
            watchers: (0..WATCHERS).map(watcher).collect(),
            random: Random(seed),
            contents: 0,
        }
    }

    /// Ends the process, however, and starts it again; what it finds is what was acknowledged, or that and the one
    /// transaction that was in doubt.
    pub(super) fn restart(&mut self, end: Fault) {
        // A clean end still writes while it closes.
        self.scribe = None;
        self.disk.restart(end);
        for _ in 0..OPENS_MAX {
            let opened = Scribe::open(self.disk.clone(), HISTORY_MAX);
            let fault = self.disk.fired();
            let was_full = self.disk.make_room();
            match opened {
                Ok(scribe) if !fault.is_some_and(Fault::ends_the_process) => {
                    self.scribe = Some(scribe);
                    break;
                }
                Ok(_) => {}
                Err(error) => assert!(
                    fault.is_some() || was_full,
                    "opening failed without a fault: {error:?}"
                ),
            }
            if let Some(end) = fault.filter(|fault| fault.ends_the_process()) {
                self.disk.restart(end);
            }
        }
        let found = self.state(State::revision);
        if found != self.model.revision() {
            let in_doubt = std::mem::take(&mut self.model.in_doubt);
            self.model.acknowledge(in_doubt);
        }
        self.model.in_doubt.clear();
        self.compare();
    }

    /// One batch of the four writers, then some of the watchers read.
    pub(super) fn step(&mut self) -> Outcome {
        let writers = 1 + self.random.below(WRITERS as u64);
        let batch: Vec<(Change, u64)> = (0..writers).map(|_| self.change()).collect();
        let expected = self.model.stage(&batch);
        let changes = batch.into_iter().map(|(change, _)| change).collect();
        let answers = self.submit(changes);
        let outcome = self.settle(&expected, answers);
        self.compare();
        for index in 0..WATCHERS {
            if self.random.below(3) > 0 {
                self.watch(index);
            }
        }
        outcome
    }

    /// Every watcher reads to the end.
    pub(super) fn catch_up(&mut self) {
        for index in 0..WATCHERS {
            while self.watchers[index].cursor < self.model.revision() {
                self.watch(index);
            }
        }
    }

    fn change(&mut self) -> (Change, u64) {
        self.contents += 1;
        let resource: ResourceName = self.random.of(&RESOURCES).into();
        let name = self.random.of(&["a", "b", "c", "d", "e"]);
        let key = Key::new(&resource, "default", name);
        let expected = self.model.live.get(&key).map(|(revision, _)| *revision);
        let is_removal = expected.is_some() && self.random.below(4) == 0;
        // Some larger than a page of the file, most smaller.
        let filler = "x".repeat(self.random.below(6000) as usize);
        let object =
            json!({"metadata": {"name": name}, "content": self.contents, "filler": filler});
        let action = if is_removal {
            Action::Remove
        } else {
            Action::Put
        };
        let change = Change {
            key,
            expected,
            object,
            action,
        };
        (change, self.contents)
    }

    fn submit(&mut self, changes: Vec<Change>) -> Vec<Result<Event, CommitError>> {
        let (requests, mut answers): (Vec<_>, Vec<_>) = changes
            .into_iter()
            .map(|change| {
                let (answer, answered) = oneshot::channel();
                (Request { change, answer }, answered)
            })
            .unzip();
        self.scribe.as_mut().expect("it is open").write(requests);
        answers
            .iter_mut()
            .map(|answer| answer.try_recv().expect("every sender is answered"))
            .collect()
    }

    /// Compares the answers with what the model expects, and takes the batch into the model.
    fn settle(
        &mut self,
        expected: &[Option<Told>],
        answers: Vec<Result<Event, CommitError>>,
    ) -> Outcome {
        let mut outcome = Outcome::Empty;
        for (expected, answer) in expected.iter().zip(answers) {
            let this = match (expected, &answer) {
                (None, Err(CommitError::Conflict { .. })) => continue,
                (Some(told), Ok(event)) => {
                    assert_eq!(told, &observed(event));
                    Outcome::Acknowledged
                }
                (Some(_), Err(CommitError::Doubtful(_))) => Outcome::Doubtful,
                (Some(_), Err(CommitError::Suspended(_))) => Outcome::Suspended,
                _ => panic!("expected {expected:?}, answered {answer:?}"),
            };
            assert!(
                outcome == Outcome::Empty || outcome == this,
                "a batch is one transaction"
            );
            outcome = this;
        }
        let staged: Vec<Told> = expected.iter().flatten().cloned().collect();
        match outcome {
            Outcome::Acknowledged => self.model.acknowledge(staged),
            Outcome::Doubtful => self.model.in_doubt = staged,
            Outcome::Suspended | Outcome::Empty => {}
        }
        outcome
    }

    fn state<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        let memory = self
            .scribe
            .as_ref()
            .expect("it was opened in time")
            .memory();
        let state = memory.read();
        look(&state)
    }

    /// What is read is what was acknowledged, no more and no less.
    fn compare(&self) {
        let found: BTreeMap<Key, (Revision, u64)> = self.state(|state| {
            state
                .iter()
                .map(|(key, entry)| {
                    let content = entry.object["content"].as_u64().unwrap_or_default();
                    (key.clone(), (entry.revision, content))
                })
                .collect()
        });
        assert_eq!(found, self.model.live);
        assert_eq!(self.state(State::revision), self.model.revision());
    }

    /// One watcher reads a few changes: the next acknowledged ones, or that they are too old.
    fn watch(&mut self, index: usize) {
        let count = 1 + self.random.below(5) as usize;
        let Watcher { resource, cursor } = self.watchers[index].clone();
        let read = self.state(|state| match &resource {
            Some(resource) => state.events_after(resource, cursor, count),
            None => state.all_events_after(cursor, count),
        });
        let after = self
            .model
            .acknowledged
            .iter()
            .filter(|told| told.revision > cursor);
        let Ok(events) = read else {
            assert!(
                after.count() > HISTORY_MAX,
                "{index} was told 410 at {cursor}"
            );
            self.watchers[index].cursor = self.model.revision();
            return;
        };
        let expected: Vec<Told> = after
            .filter(|told| {
                resource
                    .as_ref()
                    .is_none_or(|one| told.key.resource == *one)
            })
            .take(count)
            .cloned()
            .collect();
        assert_eq!(events.iter().map(observed).collect::<Vec<_>>(), expected);
        let is_all = events.len() < count;
        let last = events.last().map_or(cursor, |event| event.revision);
        self.watchers[index].cursor = if is_all { self.model.revision() } else { last };
    }
}

fn observed(event: &Event) -> Told {
    Told {
        revision: event.revision,
        key: event.key.clone(),
        action: event.action,
        content: event.object["content"].as_u64().unwrap_or_default(),
        previous: event.previous.as_ref().map(|entry| entry.revision),
    }
}
