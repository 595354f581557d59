//! The objects of one resource as they were at an earlier revision: the present with the history undone.
//! Not here: how far the history reaches back (`state`).

use std::collections::BTreeMap;

use super::key::{Key, ResourceName};
use super::state::{Compacted, Entry, Revision, State};

/// What has changed since a revision, with the state before. At most as many places as the history has changes.
#[derive(Clone, Debug, Default)]
pub struct Past(BTreeMap<Key, Option<Entry>>);

impl Past {
    /// What has changed in `resource` since `revision`.
    ///
    /// # Errors
    /// [`Compacted`] when the history does not reach back that far.
    pub fn of(
        state: &State,
        resource: &ResourceName,
        revision: Revision,
    ) -> Result<Self, Compacted> {
        let changes = state.events_after(resource, revision, usize::MAX)?;
        // The oldest change of a place is inserted last: what was before it is what was there.
        Ok(Self(
            changes
                .into_iter()
                .rev()
                .map(|event| (event.key, event.previous))
                .collect(),
        ))
    }

    /// [`State::range`] as it was then.
    pub fn range<'a>(
        &'a self,
        state: &'a State,
        resource: &ResourceName,
        namespace: Option<&'a str>,
        from: Option<&Key>,
    ) -> impl Iterator<Item = (&'a Key, &'a Entry)> + use<'a> {
        let within = State::within(resource, namespace);
        let mut undone = self
            .0
            .range(State::first(resource, namespace, from)..)
            .take_while(move |(key, _)| within(key))
            .filter_map(|(key, entry)| Some((key, entry.as_ref()?)))
            .peekable();
        let mut kept = state
            .range(resource, namespace, from)
            .filter(|(key, _)| !self.0.contains_key(*key))
            .peekable();
        std::iter::from_fn(move || match (kept.peek(), undone.peek()) {
            (Some((present, _)), Some((past, _))) if past < present => undone.next(),
            (None, Some(_)) => undone.next(),
            _ => kept.next(),
        })
    }
}
