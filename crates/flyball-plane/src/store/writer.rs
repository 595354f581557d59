//! The one writer of a store on disk: a thread that gathers waiting changes into one durable transaction (group commit),
//! then takes them into memory, wakes the watchers and answers. Not here: what the changes are.

use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

use super::log::Log;
use super::state::{Change, Event, Staged};
use super::{CommitError, Memory};

/// Changes that may wait for the writer; more make their senders wait.
const QUEUE_MAX: usize = 1024;
/// Changes in one transaction. At 1.5 KB an object this is well below a megabyte, and the answer of the first one
/// does not wait for an endless batch.
const BATCH_MAX: usize = 256;

struct Request {
    change: Change,
    answer: oneshot::Sender<Result<Event, CommitError>>,
}

/// The handle to the writer thread. Dropping it lets the thread finish what is queued and end.
#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Request>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(log: Log, memory: Arc<Memory>) -> std::io::Result<Self> {
        let (queue, requests) = mpsc::channel(QUEUE_MAX);
        let thread = std::thread::Builder::new()
            .name("plane-store".to_owned())
            .spawn(move || run(&log, &memory, requests))?;
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

fn run(log: &Log, memory: &Memory, mut requests: mpsc::Receiver<Request>) {
    while let Some(first) = requests.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX
            && let Ok(next) = requests.try_recv()
        {
            batch.push(next);
        }
        write(log, memory, batch);
    }
}

fn write(log: &Log, memory: &Memory, batch: Vec<Request>) {
    let mut staged = Staged::default();
    let mut waiting = Vec::with_capacity(batch.len());
    let durable = {
        let state = memory.read();
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
        if staged.events.is_empty() {
            return;
        }
        log.append(&staged.events, state.leaving(staged.events.len()))
    };
    let failure = durable.err().map(|error| {
        tracing::error!(%error, "the store's log could not be written");
        CommitError::Log(Arc::new(error))
    });
    if failure.is_none() {
        memory.write().apply(staged.events);
    }
    for (answer, event) in waiting {
        // As above: nobody waits for the answer of a cancelled request.
        let _ = answer.send(failure.clone().map_or(Ok(event), Err));
    }
}
