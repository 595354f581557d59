//! The driver of the workload controllers: it feeds them what has changed, runs the steps that are due, and applies their
//! writes, until the plane stops. It waits only for changes and for the clock, so it runs in virtual time as well.
//! Not here: the steps (`workload`), and any knowledge of what they do.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_clock::UnixMs;
use http::StatusCode;
use serde_json::Value;

use crate::api::Api;
use crate::refusal::Refusal;
use crate::registry::{DeleteOptions, Mode, Part, Place, Propagation, Registry};
use crate::snapshot::Snapshot;
use crate::store::{Event, Revision};
use crate::workload::agenda::Agenda;
use crate::workload::event;
use crate::workload::react::{self, Task};
use crate::workload::replica_set;
use crate::workload::view::{self, Change, ObjectKey, View, Write};

/// Changes read from the history at once.
const READ_MAX: usize = 256;
/// The first wait after a write that was refused; it doubles with every further refusal of the same task.
const BACKOFF_FIRST_MS: UnixMs = 100;
/// The longest such wait.
const BACKOFF_MAX_MS: UnixMs = 60_000;
/// Events of objects are forgotten after an hour. Upstream: `--event-ttl`.
const EVENT_LIFE_MS: UnixMs = 3_600_000;
/// How often old events are looked for.
const EVENT_SWEEP_MS: UnixMs = 60_000;

/// The driver's memory. Bound: the agenda's, and one count for each task whose writes are being refused.
struct Driver {
    api: Arc<Api>,
    agenda: Agenda,
    cursor: Revision,
    refusals: BTreeMap<Task, u32>,
    next_sweep_ms: UnixMs,
}

/// Why a step's writes stopped.
enum Stopped {
    /// Somebody else was faster: look again at once.
    Overtaken,
    /// The store refused.
    Refused(Box<(Write, Refusal)>),
}

/// Runs the controllers until the plane stops.
pub(crate) async fn run(api: Arc<Api>) {
    let stopping = api.stopping.clone();
    let mut changed = api.registry.store.subscribe_all();
    let mut driver = Driver {
        agenda: Agenda::default(),
        cursor: 0,
        refusals: BTreeMap::new(),
        next_sweep_ms: api.registry.clock.now_ms().saturating_add(EVENT_SWEEP_MS),
        api,
    };
    driver.begin();
    loop {
        changed.mark_unchanged();
        driver.observe();
        if driver.work_once().await {
            // A step may make another one due for ever; others run in between.
            tokio::task::yield_now().await;
            if stopping.is_cancelled() {
                return;
            }
            continue;
        }
        let wake_ms = driver
            .agenda
            .next_due()
            .unwrap_or(UnixMs::MAX)
            .min(driver.next_sweep_ms);
        let clock = driver.api.registry.clock.clone();
        tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            more = changed.changed() => if more.is_err() { return },
            () = clock.sleep_until(wake_ms) => driver.sweep().await,
        }
    }
}

impl Driver {
    fn registry(&self) -> &Registry {
        &self.api.registry
    }

    fn now_ms(&self) -> UnixMs {
        self.registry().clock.now_ms()
    }

    /// Takes every object as new.
    fn begin(&mut self) {
        let (api, now_ms) = (Arc::clone(&self.api), self.now_ms());
        let served = api.registry.served();
        let state = api.registry.store.read();
        let view = Snapshot {
            state: &state,
            kinds: &served.kinds,
        };
        for (_, entry) in state.iter() {
            let change = Change {
                old: None,
                new: Some(Arc::clone(&entry.object)),
            };
            self.agenda.observe(&view, &change, now_ms);
            api.ledger().observe(&view, &change, now_ms);
        }
        self.cursor = state.revision();
    }

    /// Takes note of what has happened since.
    fn observe(&mut self) {
        let (api, now_ms) = (Arc::clone(&self.api), self.now_ms());
        loop {
            let served = api.registry.served();
            let state = api.registry.store.read();
            let Ok(events) = state.all_events_after(self.cursor, READ_MAX) else {
                // The history has moved past: everything may have changed.
                drop(state);
                return self.begin();
            };
            let view = Snapshot {
                state: &state,
                kinds: &served.kinds,
            };
            for event in &events {
                self.cursor = event.revision;
                let change = change(event);
                self.agenda.observe(&view, &change, now_ms);
                api.ledger().observe(&view, &change, now_ms);
            }
            if events.len() < READ_MAX {
                return;
            }
        }
    }

    /// Runs the first task that is due; false when none is.
    async fn work_once(&mut self) -> bool {
        let now_ms = self.now_ms();
        let Some(task) = self.agenda.pop(now_ms) else {
            return false;
        };
        let step = self.with_view(|view| react::step(view, &task, now_ms));
        if let Some(at_ms) = step.next_due {
            self.agenda.add(task.clone(), at_ms);
        }
        match self.apply(step.writes, now_ms).await {
            Ok(()) => {
                self.refusals.remove(&task);
            }
            Err(Stopped::Overtaken) => self.agenda.add(task, now_ms),
            Err(Stopped::Refused(refused)) => self.back_off(task, &refused.0, &refused.1).await,
        }
        true
    }

    fn with_view<T>(&self, look: impl FnOnce(&dyn View) -> T) -> T {
        let served = self.registry().served();
        let state = self.registry().store.read();
        look(&Snapshot {
            state: &state,
            kinds: &served.kinds,
        })
    }

    async fn back_off(&mut self, task: Task, write: &Write, refusal: &Refusal) {
        let now_ms = self.now_ms();
        tracing::debug!(task = ?task, message = %refusal.message, "a controller's write was refused");
        let told = replica_set::Refusal {
            write,
            message: &refusal.message,
            now_ms,
        };
        let writes = self.with_view(|view| react::refused(view, &task, &told));
        // What is said about a refusal may be refused as well; then it is not said.
        let _ = self.apply(writes, now_ms).await;
        let count = self.refusals.entry(task.clone()).or_insert(0);
        let wait_ms = BACKOFF_FIRST_MS
            .checked_shl(*count)
            .unwrap_or(BACKOFF_MAX_MS)
            .clamp(1, BACKOFF_MAX_MS);
        *count = count.saturating_add(1).min(16);
        self.agenda.add(task, now_ms.saturating_add(wait_ms));
    }

    async fn apply(&self, writes: Vec<Write>, now_ms: UnixMs) -> Result<(), Stopped> {
        for write in writes {
            let write = match write {
                Write::Event(record) => {
                    // An event is told or lost; it holds nothing up.
                    let write = self.with_view(|view| event::stored(view, &record, now_ms));
                    let _ = self.write(&write).await;
                    continue;
                }
                other => other,
            };
            match self.write(&write).await {
                Ok(()) => {}
                Err(refusal) if is_overtaken(&write, &refusal) => return Err(Stopped::Overtaken),
                Err(refusal) => return Err(Stopped::Refused(Box::new((write, refusal)))),
            }
        }
        Ok(())
    }

    async fn write(&self, write: &Write) -> Result<(), Refusal> {
        match write {
            Write::Create(object) => self.create(object).await,
            Write::Update(object) => self.update(object, Part::Main).await,
            Write::UpdateStatus(object) => self.update(object, Part::Status).await,
            Write::Delete {
                key,
                uid,
                grace_seconds,
                propagation,
            } => {
                let options = DeleteOptions {
                    grace_seconds: *grace_seconds,
                    propagation: Some(match propagation {
                        view::Propagation::Background => Propagation::Background,
                        view::Propagation::Foreground => Propagation::Foreground,
                    }),
                    uid: Some(uid.clone()),
                    resource_version: None,
                };
                self.delete(key, &options).await
            }
            // The caller has turned events into creations and updates.
            Write::Event(_) => Ok(()),
        }
    }

    async fn create(&self, object: &Value) -> Result<(), Refusal> {
        let key = ObjectKey::of(object);
        let kind = self.kind(&key)?;
        let mut object = object.clone();
        kind.strategy.default(&mut object);
        self.registry()
            .create(&kind, &key.namespace, object, Mode::Commit)
            .await
            .map(|_| ())
    }

    async fn update(&self, object: &Value, part: Part) -> Result<(), Refusal> {
        let key = ObjectKey::of(object);
        let kind = self.kind(&key)?;
        let place = Place {
            kind: &kind,
            namespace: &key.namespace,
            name: &key.name,
        };
        let make = |_: Option<&Value>| Ok(object.clone());
        self.registry()
            .update(place, part, Mode::Commit, make)
            .await
            .map(|_| ())
    }

    /// An object that is gone or another is as good as deleted.
    async fn delete(&self, key: &ObjectKey, options: &DeleteOptions) -> Result<(), Refusal> {
        let kind = self.kind(key)?;
        let place = Place {
            kind: &kind,
            namespace: &key.namespace,
            name: &key.name,
        };
        match self.registry().delete(place, options, Mode::Commit).await {
            Err(refusal)
                if refusal.reason == "Conflict" || refusal.code == StatusCode::NOT_FOUND =>
            {
                Ok(())
            }
            answer => answer.map(|_| ()),
        }
    }

    fn kind(&self, key: &ObjectKey) -> Result<Arc<crate::kind::Kind>, Refusal> {
        let served = self.registry().served();
        let found = served
            .kinds
            .by_kind(&key.kind.group, &key.kind.kind)
            .cloned();
        found.ok_or_else(|| Refusal::internal(format!("{} is not served", key.kind)))
    }

    /// Forgets old events, once a minute.
    async fn sweep(&mut self) {
        let now_ms = self.now_ms();
        if now_ms < self.next_sweep_ms {
            return;
        }
        self.next_sweep_ms = now_ms.saturating_add(EVENT_SWEEP_MS);
        let old = self.with_view(|view| {
            let mut events = view.list(&view::Kind::EVENT, None);
            events.retain(|event| last_seen_ms(event) < now_ms.saturating_sub(EVENT_LIFE_MS));
            events
        });
        for event in old {
            let options = DeleteOptions {
                uid: Some(crate::object::uid(&event).to_owned()),
                ..DeleteOptions::default()
            };
            if let Err(refusal) = self.delete(&ObjectKey::of(&event), &options).await {
                tracing::debug!(message = %refusal.message, "an old event could not be deleted");
            }
        }
    }
}

/// True when the object is another or gone since the step looked, so that looking again helps. A creation that is answered
/// 404 has lost its namespace, and would find it lost again.
fn is_overtaken(write: &Write, refusal: &Refusal) -> bool {
    refusal.reason == "Conflict"
        || (refusal.code == StatusCode::NOT_FOUND && !matches!(write, Write::Create(_)))
}

/// The newest time an event carries; its creation when it carries none.
fn last_seen_ms(event: &Value) -> UnixMs {
    let fields = [
        "/lastTimestamp",
        "/series/lastObservedTime",
        "/eventTime",
        "/metadata/creationTimestamp",
    ];
    let times = fields
        .into_iter()
        .filter_map(|field| event.pointer(field)?.as_str());
    times.filter_map(crate::time::parse).max().unwrap_or(0)
}

fn change(event: &Event) -> Change {
    let old = event
        .previous
        .as_ref()
        .map(|previous| Arc::clone(&previous.object));
    let new = (event.action == crate::store::Action::Put).then(|| Arc::clone(&event.object));
    Change { old, new }
}
