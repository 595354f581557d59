//! The store's disk: a redb file that is a log of changes, revision by revision. It is read once, when the store opens.
//! Not here: where the file lies (`disk`), what is served (`state`).
//!
//! Table `log` maps a revision to a record (key and object; no object for a removal). Table `meta` holds the compacted
//! revision C: records at or below C are the objects that were alive at C, records above it are the history as well.
//! When a change leaves the memory's history, C becomes its revision and the record it superseded is deleted, and its
//! own too if it is a removal. So the file holds at most the live objects, the history, and one predecessor for each
//! entry of the history.
//!
//! The memory holds all of that too, so the whole file can be written anew from it. That is how a file whose last
//! transaction is in doubt, after a failed write or a crash, becomes one that is not: see the module `store`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OpenError;
use super::disk::Disk;
use super::key::Key;
use super::state::{Action, Contents, Event, Recorded, Revision, State};

const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
const COMPACTED: &str = "compacted";

/// The file serves one scan at start and appends afterwards, so the library's cache (1 GiB by default) has little to do.
const CACHE_BYTES: usize = 8 << 20;

#[derive(Serialize, Deserialize)]
struct Record<'a> {
    resource: std::borrow::Cow<'a, str>,
    namespace: std::borrow::Cow<'a, str>,
    name: std::borrow::Cow<'a, str>,
    action: RecordAction,
    object: std::borrow::Cow<'a, Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RecordAction {
    Put,
    Remove,
}

/// The open log.
#[derive(Debug)]
pub(super) struct Log<D> {
    disk: D,
    database: Database,
}

/// Opens the database in `file`, or makes it in an empty one, and says whether it had not been closed properly.
fn database(file: impl StorageBackend) -> Result<(Database, bool), OpenError> {
    let repaired = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&repaired);
    let database = Database::builder()
        .set_cache_size(CACHE_BYTES)
        .set_repair_callback(move |_| told.store(true, Ordering::Relaxed))
        .create_with_backend(file)
        .map_err(|error| OpenError::Log(Box::new(error.into())))?;
    Ok((database, repaired.load(Ordering::Relaxed)))
}

/// Puts a file that holds `contents` and nothing else in the place of the log.
fn replace(disk: &impl Disk, contents: &Contents) -> Result<Database, OpenError> {
    let draft = disk.draft().map_err(redb::Error::Io)?;
    let (database, _) = database(draft)?;
    fill(&database, contents)?;
    disk.replace().map_err(redb::Error::Io)?;
    Ok(database)
}

impl<D: Disk> Log<D> {
    /// Opens the file, or makes it, and reads it into `state`. What is read is on the disk for good when this returns.
    pub(super) fn open(disk: D, state: &mut State) -> Result<Self, OpenError> {
        let Some(file) = disk.current().map_err(redb::Error::Io)? else {
            // Made beside and renamed: a file that was being made when the power went would not be one.
            let database = replace(&disk, &state.contents())?;
            return Ok(Self { disk, database });
        };
        let (database, repaired) = database(file)?;
        let mut log = Self { disk, database };
        let compacted = log.load(state)?;
        // After a crash the file may read as if its last transaction had been synced, when it was not. And a shorter
        // history than the last time leaves records that no later change would remove.
        if repaired || state.compacted() != compacted {
            log.rewrite(&state.contents())?;
        }
        Ok(log)
    }

    /// Replaces the file by one that holds `contents` and nothing else.
    ///
    /// # Errors
    /// Any; then this log still is what it was, and a process that starts now finds the old file or the new one.
    pub(super) fn rewrite(&mut self, contents: &Contents) -> Result<(), OpenError> {
        self.database = replace(&self.disk, contents)?;
        Ok(())
    }

    /// Reads everything and returns the compacted revision of the file.
    fn load(&self, state: &mut State) -> Result<Revision, OpenError> {
        let transaction = self.database.begin_read().map_err(redb::Error::from)?;
        let meta = transaction.open_table(META).map_err(redb::Error::from)?;
        let compacted = meta
            .get(COMPACTED)
            .map_err(redb::Error::from)?
            .map_or(0, |value| value.value());
        let log = transaction.open_table(LOG).map_err(redb::Error::from)?;
        let mut history = Vec::new();
        for row in log.iter().map_err(redb::Error::from)? {
            let (revision, bytes) = row.map_err(redb::Error::from)?;
            let event = decode(revision.value(), bytes.value(), state)?;
            state.restore(&event);
            if event.revision > compacted {
                history.push(event);
            }
        }
        state.restore_compacted(compacted);
        state.restore_history(history);
        Ok(compacted)
    }

    /// Makes `events` durable and forgets what `leaving` the history makes superfluous, in one transaction that is
    /// on the disk when this returns.
    ///
    /// # Errors
    /// Any; then the transaction may be on the disk or not, and this log takes no more.
    pub(super) fn append(&self, events: &[Event], leaving: &[Event]) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        {
            let mut log = transaction.open_table(LOG)?;
            for event in events {
                log.insert(event.revision, encode(&event.recorded()).as_slice())?;
            }
            let mut compacted = None;
            for gone in leaving {
                compacted = Some(gone.revision);
                if let Some(previous) = &gone.previous {
                    log.remove(previous.revision)?;
                }
                if gone.action == Action::Remove {
                    log.remove(gone.revision)?;
                }
            }
            if let Some(compacted) = compacted {
                transaction.open_table(META)?.insert(COMPACTED, compacted)?;
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// How many records the file holds.
    #[cfg(test)]
    pub(super) fn records(&self) -> u64 {
        use redb::ReadableTableMetadata;
        let transaction = self.database.begin_read().expect("the file is readable");
        transaction
            .open_table(LOG)
            .expect("made on open")
            .len()
            .expect("readable")
    }
}

fn fill(database: &Database, contents: &Contents) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    {
        let mut log = transaction.open_table(LOG)?;
        for (revision, recorded) in &contents.records {
            log.insert(revision, encode(recorded).as_slice())?;
        }
        transaction
            .open_table(META)?
            .insert(COMPACTED, contents.compacted)?;
    }
    transaction.commit()?;
    Ok(())
}

fn encode(recorded: &Recorded) -> Vec<u8> {
    use std::borrow::Cow;
    let Recorded {
        key,
        action,
        object,
    } = recorded;
    let record = Record {
        resource: Cow::Borrowed(&*key.resource),
        namespace: Cow::Borrowed(&*key.namespace),
        name: Cow::Borrowed(&*key.name),
        action: match action {
            Action::Put => RecordAction::Put,
            Action::Remove => RecordAction::Remove,
        },
        object: Cow::Borrowed(&**object),
    };
    serde_json::to_vec(&record).expect("a record has string keys only")
}

fn decode(revision: Revision, bytes: &[u8], state: &State) -> Result<Event, OpenError> {
    let record: Record<'_> =
        serde_json::from_slice(bytes).map_err(|source| OpenError::Record { revision, source })?;
    let key = Key {
        resource: record.resource.as_ref().into(),
        namespace: record.namespace.as_ref().into(),
        name: record.name.as_ref().into(),
    };
    let previous = state.get(&key).cloned();
    Ok(Event {
        revision,
        key,
        action: match record.action {
            RecordAction::Put => Action::Put,
            RecordAction::Remove => Action::Remove,
        },
        object: Arc::new(record.object.into_owned()),
        previous,
    })
}
