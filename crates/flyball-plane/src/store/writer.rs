//! The one writer of a store on disk: a thread that gathers waiting changes into one durable transaction (group commit),
//! then takes them into memory, wakes the watchers and answers. Not here: what the changes are.

use std::sync::{Arc, RwLock};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use super::disk::Disk;
use super::log::Log;
use super::state::{Change, Event, Staged, State};
use super::{CommitError, Memory, OpenError};

/// Changes that may wait for the writer; more make their senders wait.
const QUEUE_MAX: usize = 1024;
/// Changes in one transaction. At 1.5 KB an object this is well below a megabyte, and the answer of the first one
/// does not wait for an endless batch.
const BATCH_MAX: usize = 256;

pub(super) struct Request {
    pub(super) change: Change,
    pub(super) answer: oneshot::Sender<Result<Event, CommitError>>,
}

/// The handle to the writer thread. Dropping it lets the thread finish what is queued and end.
#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Request>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start<D: Disk>(mut scribe: Scribe<D>) -> std::io::Result<Self> {
        let (queue, requests) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("plane-store".to_owned())
            .spawn(move || run(&mut scribe, requests))?;
        Ok(Self {
            queue,
            thread: Some(thread),
        })
    }

    /// Waits until `change` is durable and visible, or refused.
    pub(super) async fn commit(&self, change: Change) -> Result<Event, CommitError> {
        let (answer, answered) = oneshot::channel();
        self.queue
            .send(Request { change, answer })
            .await
            .map_err(|_| CommitError::Stopped)?;
        answered.await.map_err(|_| CommitError::Stopped)?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let (closed, _) = mpsc::channel(1);
        self.queue = closed;
        if let Some(thread) = self.thread.take() {
            // The thread only ends early by a panic, which has already been reported by its hook.
            let _ = thread.join();
        }
    }
}

fn run<D: Disk>(scribe: &mut Scribe<D>, mut requests: mpsc::Receiver<Request>) {
    while let Some(first) = requests.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX
            && let Ok(next) = requests.try_recv()
        {
            batch.push(next);
        }
        scribe.write(batch);
    }
}

/// Whether the log can be appended to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    /// What it holds is what the memory holds.
    Sound,
    /// A write has failed since: it may hold one transaction more than the memory, and has to be written anew first.
    InDoubt,
}

/// What the writer thread does with each batch.
#[derive(Debug)]
pub(super) struct Scribe<D> {
    log: Log<D>,
    memory: Arc<Memory>,
    health: Health,
}

impl<D: Disk> Scribe<D> {
    /// Opens the log on `disk` and reads it.
    pub(super) fn open(disk: D, history_max: usize) -> Result<Self, OpenError> {
        let mut state = State::new(history_max);
        let log = Log::open(disk, &mut state)?;
        Ok(Self {
            log,
            memory: Arc::new(Memory(RwLock::new(state))),
            health: Health::Sound,
        })
    }

    /// What the scribe publishes to.
    pub(super) fn memory(&self) -> Arc<Memory> {
        Arc::clone(&self.memory)
    }

    /// Checks, stores, publishes and answers `batch`, as one transaction.
    pub(super) fn write(&mut self, batch: Vec<Request>) {
        let mut staged = Staged::default();
        let mut waiting = Vec::with_capacity(batch.len());
        let leaving = {
            let state = self.memory.read();
            for request in batch {
                match state.stage(&staged, request.change) {
                    Ok(event) => {
                        staged.push(event.clone());
                        waiting.push((request.answer, event));
                    }
                    // A sender that no longer waits has been cancelled; its change was refused all the same.
                    Err(error) => drop(request.answer.send(Err(error))),
                }
            }
            state.leaving(&staged.events)
        };
        if staged.events.is_empty() {
            return;
        }
        // The lock is not held while the disk is waited for: this thread alone changes the memory, so it stays as staged.
        let failure = self.store(&staged.events, &leaving).err();
        if failure.is_none() {
            self.memory.write().apply(staged.events);
        }
        for (answer, event) in waiting {
            // As above: nobody waits for the answer of a cancelled request.
            let _ = answer.send(failure.clone().map_or(Ok(event), Err));
        }
    }

    /// Appends to the log; when it is or gets in doubt, writes it anew and tries once more.
    fn store(&mut self, events: &[Event], leaving: &[Event]) -> Result<(), CommitError> {
        let before = self.health;
        if before == Health::Sound {
            match self.log.append(events, leaving) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    tracing::warn!(%error, "the store's log could not be written; writing it anew");
                    self.health = Health::InDoubt;
                }
            }
        }
        let contents = self.memory.read().contents();
        if let Err(error) = self.log.rewrite(&contents) {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "the store takes no changes until its log can be written anew"
            );
            let error = Arc::new(error);
            return Err(match before {
                Health::Sound => CommitError::Doubtful(error),
                Health::InDoubt => CommitError::Suspended(error),
            });
        }
        match self.log.append(events, leaving) {
            Ok(()) => {
                self.health = Health::Sound;
                Ok(())
            }
            Err(error) => Err(CommitError::Doubtful(Arc::new(error.into()))),
        }
    }
}
