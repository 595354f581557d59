//! The store: ordered objects with revisions, optimistic commits, and a history for watchers.
//!
//! Reads and watches come from memory (`state`). On disk a change is written to the log (`log`) and synced by the one
//! writer thread (`writer`) before it is visible to anybody or acknowledged; in memory it is applied at once, so a
//! runtime in virtual time never waits for another thread. Not here: what the objects mean.
//!
//! # When the disk fails
//!
//! A transaction whose write fails may have reached the disk or not; even a file that reads well may lose it with the next
//! loss of power, because a failed sync leaves pages behind that nothing will write. So nobody guesses. The memory holds
//! everything the log has to hold, and none of the change in doubt: the writer fills a new file from it, syncs it, renames it
//! over the log, and tries the change once more. Then:
//!
//! - A fault that passes is noticed by nobody.
//! - When the disk still fails, the sender gets [`CommitError::Doubtful`], later senders [`CommitError::Suspended`]. Each
//!   batch of changes begins with writing the file anew, so the first that finds room ends the trouble, without a restart.
//! - Reads and watches go on meanwhile, from the acknowledged state alone.
//!
//! **Invariant:** what is read or watched is acknowledged and on the disk for good.
//! **Invariant:** a change that was not acknowledged is never seen while the process runs, and is gone for ever once another
//! one is acknowledged. Only a process that ends in between may find it at its next start: the one transaction that was in
//! doubt, whole, with the revisions it had; from then on it is acknowledged.
//! **Invariant:** revisions that anybody has seen are never given again, over restarts as well.
//!
//! A start after a crash writes the file anew before it serves, for the same reason. It needs room for a second copy of the
//! objects and the history, as every writing anew does.

mod disk;
mod folder;
mod key;
mod log;
mod past;
mod state;
mod writer;

use std::path::PathBuf;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::watch;

pub use key::{Key, ResourceName};
pub use past::Past;
pub use state::{Action, Change, Compacted, Entry, Event, Revision, State};

use disk::{Disk, FolderDisk};
use state::Staged;
use writer::{Scribe, Writer};

/// Changes kept for watchers that fall behind or reconnect. Upstream keeps five minutes; at the 20 changes a second of a
/// busy small cluster this is about seven.
pub const HISTORY_MAX: usize = 8192;

/// Where a store keeps its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Nowhere: what is written is gone with the process.
    Memory,
    /// In this folder, which is made when missing.
    Folder(PathBuf),
}

/// The store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder holds something else.
    #[error(
        "{} holds {found:?} but no plane data: choose an empty folder or one that a plane has used",
        folder.display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// A file in it.
        found: String,
    },
    /// The folder was written in another format.
    #[error(
        "{} has storage format {found:?}, this version reads {expected:?}: use the version that wrote it",
        folder.display()
    )]
    Format {
        /// The folder.
        folder: PathBuf,
        /// What its marker says.
        found: String,
        /// What this version writes.
        expected: &'static str,
    },
    /// The folder cannot be read or written.
    #[error("the data folder {} cannot be used", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another process has it open.
    #[error("{} is in use by another process: stop that one first", .0.display())]
    InUse(PathBuf),
    /// The log is damaged or unreadable.
    #[error("the store's log cannot be read")]
    Log(#[source] Box<redb::Error>),
    /// A record of the log is not what this version writes.
    #[error("record {revision} of the store's log cannot be read")]
    Record {
        /// Which record.
        revision: Revision,
        /// Why.
        source: serde_json::Error,
    },
    /// The writer thread could not be started.
    #[error("the store's writer could not be started")]
    Writer(#[source] std::io::Error),
}

impl From<redb::Error> for OpenError {
    fn from(error: redb::Error) -> Self {
        Self::Log(Box::new(error))
    }
}

/// A change was not made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CommitError {
    /// The place is not as the writer has seen it: read again and retry, or tell the user.
    #[error("{key} is at revision {found:?}, not {expected:?}")]
    Conflict {
        /// The place.
        key: Key,
        /// What the writer expected.
        expected: Option<Revision>,
        /// What is there.
        found: Option<Revision>,
    },
    /// The disk failed while the change was written, and failed again when that was to be undone. Nobody sees the change, and
    /// it is gone with the next one that is made; a process that ends before may find it at its next start.
    #[error("the change could not be written to the disk and is not made")]
    Doubtful(#[source] Arc<OpenError>),
    /// The disk has failed before and still does; nothing was tried.
    #[error("the disk takes no changes; nothing was changed")]
    Suspended(#[source] Arc<OpenError>),
    /// The store is shutting down.
    #[error("the store is shutting down")]
    Stopped,
}

/// The state behind its lock. The lock is never held across an await.
#[derive(Debug)]
struct Memory(RwLock<State>);

impl Memory {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.0.read().expect("no holder of the store's lock panics")
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0
            .write()
            .expect("no holder of the store's lock panics")
    }
}

/// The store. Cheap to clone; all clones are the same store.
#[derive(Clone, Debug)]
pub struct Store {
    memory: Arc<Memory>,
    writer: Option<Arc<Writer>>,
}

impl Store {
    /// Opens the store in `storage`, keeping at most `history_max` changes for watchers.
    ///
    /// # Errors
    /// [`OpenError`], one variant per thing to do about it.
    pub fn open(storage: &Storage, history_max: usize) -> Result<Self, OpenError> {
        match storage {
            Storage::Memory => Ok(Self {
                memory: Arc::new(Memory(RwLock::new(State::new(history_max)))),
                writer: None,
            }),
            Storage::Folder(path) => Self::open_on(FolderDisk::open(path)?, history_max),
        }
    }

    fn open_on<D: Disk>(disk: D, history_max: usize) -> Result<Self, OpenError> {
        let scribe = Scribe::open(disk, history_max)?;
        let memory = scribe.memory();
        let writer = Writer::start(scribe).map_err(OpenError::Writer)?;
        Ok(Self {
            memory,
            writer: Some(Arc::new(writer)),
        })
    }

    /// The state as of the last acknowledged change. Writers wait while the guard lives: keep it short.
    pub fn read(&self) -> RwLockReadGuard<'_, State> {
        self.memory.read()
    }

    /// Makes one change and returns it with its revision once it is durable and visible.
    ///
    /// # Errors
    /// [`CommitError`]; then nothing was changed.
    pub async fn commit(&self, change: Change) -> Result<Event, CommitError> {
        match &self.writer {
            Some(writer) => writer.commit(change).await,
            None => self.commit_in_memory(change),
        }
    }

    fn commit_in_memory(&self, change: Change) -> Result<Event, CommitError> {
        let mut state = self.memory.write();
        let event = state.stage(&Staged::default(), change)?;
        state.apply(vec![event.clone()]);
        Ok(event)
    }

    /// A receiver that changes whenever anything does; read what changed with [`State::all_events_after`].
    pub fn subscribe_all(&self) -> watch::Receiver<Revision> {
        self.memory.read().subscribe_all()
    }

    /// A receiver that changes whenever `resource` does; read what changed with [`State::events_after`].
    pub fn subscribe(&self, resource: &ResourceName) -> watch::Receiver<Revision> {
        self.memory.write().subscribe(resource)
    }
}

#[cfg(test)]
mod faults;
#[cfg(test)]
mod tests;
