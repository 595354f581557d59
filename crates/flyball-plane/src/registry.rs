//! The generic path: create, read, update and delete of any kind over the store, in upstream's order of steps.
//! Source: apiserver registry/generic/registry/store.go. Not here: HTTP (`verbs`), the kinds' rules (`kinds`).

mod create;
mod delete;
mod update;

use std::sync::Arc;

use flyball_clock::Clock;
use serde_json::Value;

use crate::entropy::Entropy;
use crate::kind::Kind;
use crate::object;
use crate::refusal::Refusal;
use crate::serving::{Served, Serving};
use crate::store::{CommitError, Entry, Key, Revision, Store};

pub(crate) use delete::{DeleteOptions, Deleted, Propagation};
pub(crate) use update::{Part, Updated};

/// How often a change is tried again when another writer was faster. Upstream tries for ever, patches five times; with a
/// queue of 1024 writers, 64 lost races in a row mean that something writes in a loop.
pub(crate) const RACES_MAX: usize = 64;

/// Whether a change is made or only checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is made.
    Commit,
    /// It is checked and answered, `dryRun=All`.
    DryRun,
}

/// The place of one object, as a request names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// Its kind.
    pub kind: &'a Arc<Kind>,
    /// Its namespace, `""` when cluster-scoped.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
}

impl Place<'_> {
    fn key(&self) -> Key {
        Key::new(&self.kind.stored, self.namespace, self.name)
    }
}

/// The objects and the rules for changing them.
#[derive(Debug)]
pub(crate) struct Registry {
    /// Where the objects are.
    pub store: Store,
    /// What they are.
    pub serving: Serving,
    /// The time that stamps them.
    pub clock: Clock,
    /// What names them.
    pub entropy: Entropy,
}

impl Registry {
    /// The object at `place`.
    ///
    /// # Errors
    /// 404.
    pub(crate) fn get(&self, place: Place<'_>) -> Result<Entry, Refusal> {
        self.find(place)
            .ok_or_else(|| Refusal::not_found(place.kind.subject(place.name)))
    }

    fn find(&self, place: Place<'_>) -> Option<Entry> {
        self.store.read().get(&place.key()).cloned()
    }

    /// What is served now: the built-in kinds and those of the definitions in the store.
    pub(crate) fn served(&self) -> Arc<Served> {
        self.serving.now(&self.store)
    }

    fn namespace(&self, name: &str) -> Option<Arc<Value>> {
        let served = self.served();
        let kind = served.kinds.by_plural("", "namespaces")?;
        self.find(Place {
            kind,
            namespace: "",
            name,
        })
        .map(|entry| entry.object)
    }
}

/// The refusal for a change that could not be made for another reason than a lost race.
fn failed(error: &CommitError) -> Refusal {
    match error {
        CommitError::Stopped => Refusal::unavailable("the server is shutting down"),
        CommitError::Doubtful(why) => {
            Refusal::internal(format!("{error}: {}; {ADVICE}", cause(why)))
        }
        CommitError::Suspended(why) => {
            Refusal::unavailable(format!("{error}: {}; {ADVICE}", cause(why)))
        }
        CommitError::Conflict { .. } => Refusal::internal(error),
    }
}

/// What to do when the disk fails.
const ADVICE: &str =
    "reads go on, and changes are taken again once the data folder's disk has room and works";

/// The innermost cause, which names the fault.
fn cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), cause)
}

/// The revision an object carries; `None` when it carries none.
///
/// # Errors
/// 400 when it is not a number, as upstream's versioner.
fn revision_of(object: &Value) -> Result<Option<Revision>, Refusal> {
    match object::meta(object, "resourceVersion") {
        "" | "0" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            Refusal::unknown(format!(
                "strconv.ParseUint: parsing {text:?}: invalid syntax"
            ))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::OpenError;

    #[test]
    fn a_failing_disk_is_named_with_what_becomes_of_the_change_and_what_to_do() {
        let full = || {
            Arc::new(OpenError::from(redb::Error::Io(
                std::io::ErrorKind::StorageFull.into(),
            )))
        };
        let table = [
            (CommitError::Doubtful(full()), 500, "is not made"),
            (CommitError::Suspended(full()), 503, "nothing was changed"),
        ];
        for (error, code, became) in table {
            let refusal = failed(&error);
            assert_eq!(refusal.code.as_u16(), code);
            for part in [
                became,
                "no storage space",
                "once the data folder's disk has room",
            ] {
                assert!(
                    refusal.message.contains(part),
                    "{part:?} in {:?}",
                    refusal.message
                );
            }
        }
    }
}
