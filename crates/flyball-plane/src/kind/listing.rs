//! The table of kinds. Not here: which kinds there are (`kinds`), nor when that changes (`serving`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Kind, Text};

/// Every kind that is served, by group and plural.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    kinds: BTreeMap<(Text, Text), Arc<Kind>>,
}

impl Kinds {
    /// The table of `kinds`.
    pub(crate) fn new(kinds: Vec<Kind>) -> Self {
        let kinds = kinds
            .into_iter()
            .map(|kind| ((kind.group.clone(), kind.plural.clone()), Arc::new(kind)))
            .collect();
        Self { kinds }
    }

    /// The kind whose objects stand under `group` and `plural`.
    pub(crate) fn by_plural(&self, group: &str, plural: &str) -> Option<&Arc<Kind>> {
        self.kinds.get(&(
            Text::Owned(group.to_owned()),
            Text::Owned(plural.to_owned()),
        ))
    }

    /// The kind named `kind` in `group`.
    pub(crate) fn by_kind(&self, group: &str, kind: &str) -> Option<&Arc<Kind>> {
        self.kinds
            .values()
            .find(|one| one.group == group && one.kind == kind)
    }

    /// Adds a kind unless its place is taken.
    pub(crate) fn add(&mut self, kind: Arc<Kind>) {
        let place = (kind.group.clone(), kind.plural.clone());
        self.kinds.entry(place).or_insert(kind);
    }

    /// All kinds, ordered by group and plural.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.kinds.values()
    }
}
