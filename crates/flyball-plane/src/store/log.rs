//! The store's disk: a redb file that is a log of changes, revision by revision. It is read once, when the store opens.
//! Not here: the folder around it (`folder`), what is served (`state`).
//!
//! Table `log` maps a revision to a record (key and object; no object for a removal). Table `meta` holds the compacted
//! revision C: records at or below C are the objects that were alive at C, records above it are the history as well.
//! When a change leaves the memory's history, C becomes its revision and the record it superseded is deleted, and its
//! own too if it is a removal. So the file holds at most the live objects, the history, and one predecessor for each
//! entry of the history.

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OpenError;
use super::key::Key;
use super::state::{Action, Event, Revision, State};

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
pub(super) struct Log {
    database: Database,
}

impl Log {
    /// Opens the file, or makes it, and reads it into `state`.
    pub(super) fn open(path: &Path, state: &mut State) -> Result<Self, OpenError> {
        let database = Database::builder()
            .set_cache_size(CACHE_BYTES)
            .create(path)
            .map_err(|error| match error {
                redb::DatabaseError::DatabaseAlreadyOpen => OpenError::InUse(path.to_owned()),
                other => OpenError::Log(Box::new(other.into())),
            })?;
        let log = Self { database };
        log.make_tables()?;
        log.load(state)?;
        Ok(log)
    }

    fn make_tables(&self) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        transaction.open_table(LOG)?;
        transaction.open_table(META)?;
        transaction.commit()?;
        Ok(())
    }

    fn load(&self, state: &mut State) -> Result<(), OpenError> {
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
        Ok(())
    }

    /// Makes `events` durable and forgets what `leaving` the history makes superfluous, in one transaction that is
    /// on the disk when this returns.
    pub(super) fn append<'a>(
        &self,
        events: &[Event],
        leaving: impl Iterator<Item = &'a Event>,
    ) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        {
            let mut log = transaction.open_table(LOG)?;
            for event in events {
                log.insert(event.revision, encode(event).as_slice())?;
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

fn encode(event: &Event) -> Vec<u8> {
    use std::borrow::Cow;
    let record = Record {
        resource: Cow::Borrowed(&*event.key.resource),
        namespace: Cow::Borrowed(&*event.key.namespace),
        name: Cow::Borrowed(&*event.key.name),
        action: match event.action {
            Action::Put => RecordAction::Put,
            Action::Remove => RecordAction::Remove,
        },
        object: Cow::Borrowed(&*event.object),
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
        object: std::sync::Arc::new(record.object.into_owned()),
        previous,
    })
}
