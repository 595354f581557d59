//! What the rules for a new object may look at besides the object. Not here: the rules.

use serde_json::Value;

use crate::entropy::Entropy;
use crate::store::{Key, ResourceName, State};

/// What the rules for a new object may look at besides the object.
pub(crate) struct Surroundings<'a> {
    /// The objects as they are.
    pub(crate) state: &'a State,
    /// What names things.
    pub(crate) entropy: &'a Entropy,
}

impl<'a> Surroundings<'a> {
    /// An object of a core kind.
    pub(crate) fn object(&self, plural: &str, namespace: &str, name: &str) -> Option<&'a Value> {
        let key = Key::new(&ResourceName::from(plural), namespace, name);
        self.state.get(&key).map(|entry| &*entry.object)
    }

    /// All objects of a core kind.
    pub(crate) fn objects(&self, plural: &str) -> impl Iterator<Item = &'a Value> {
        self.state
            .range(&ResourceName::from(plural), None, None)
            .map(|(_, entry)| &*entry.object)
    }

    /// Five letters or digits.
    pub(crate) fn suffix(&self) -> String {
        self.entropy.suffix()
    }

    /// A number below `end`.
    pub(crate) fn number_below(&self, end: u32) -> u32 {
        self.entropy.number_below(end)
    }
}
