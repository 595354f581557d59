//! Reading an object of a known type: what it becomes, which fields it does not have, which came twice, and the first
//! value of a wrong type, in the words of upstream's decoder (`sigs.k8s.io/json`). Not here: validation and defaults.

use flyball_api::go_text::quote;
use serde::de::DeserializeSeed as _;
use serde_json::Value;
use thiserror::Error;

use super::{Gvk, Schema};

mod scalar;
mod state;
pub(crate) mod syntax;
mod visit;

pub(crate) use scalar::json_kind;
use state::State;
use visit::{Place, Seed};

/// An object as a server keeps it, and what a strict server would have refused it for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decoded {
    /// The object: unknown fields dropped, times and quantities in canonical form, null fields left out.
    pub object: Value,
    /// `unknown field "spec.x"` and `duplicate field "spec.y"`, in document order, at most 100. Each is the text of a
    /// warning; [`strict_error`] joins them.
    pub strict: Vec<String>,
}

/// Why bytes or a value are no object of the type. Upstream answers a body with 400 and [`unreadable`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum DecodeError {
    /// Not JSON.
    #[error("{0}")]
    Syntax(String),
    /// JSON, but a value has the wrong type or cannot be read.
    #[error("{0}")]
    Mismatch(String),
}

/// Where the value comes from, which decides upstream's words for a wrong type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A JSON document: a body, or the result of a JSON or merge patch.
    Document,
    /// The result of a strategic merge (`DefaultUnstructuredConverter`).
    Merged,
}

impl DecodeError {
    /// Upstream's words where our reader has its own; a document that is JSON for Go was refused for another reason.
    fn told(self, document: &[u8]) -> Self {
        match self {
            Self::Syntax(own) => Self::Syntax(syntax::problem(document).unwrap_or(own)),
            other @ Self::Mismatch(_) => other,
        }
    }
}

impl Schema {
    /// Decodes a document of a kind. A kind that is not built in is kept whole, and only duplicates are found.
    pub(crate) fn decode(&self, gvk: Gvk<'_>, document: &[u8]) -> Result<Decoded, DecodeError> {
        let mut state = State::new(Origin::Document);
        let mut reader = serde_json::Deserializer::from_slice(document);
        let read = self
            .seed(gvk, &mut state)
            .deserialize(&mut reader)
            .and_then(|value| reader.end().map(|()| value));
        state.finish(read).map_err(|error| error.told(document))
    }

    /// Decodes a value that is already JSON, where duplicates can no longer be seen.
    pub(crate) fn decode_value(
        &self,
        gvk: Gvk<'_>,
        value: &Value,
        origin: Origin,
    ) -> Result<Decoded, DecodeError> {
        let mut state = State::new(origin);
        let read = self.seed(gvk, &mut state).deserialize(value);
        state.finish(read)
    }

    fn seed<'s, 'p>(&'s self, gvk: Gvk<'_>, state: &'p mut State<'s>) -> Seed<'s, 'p> {
        let place = self.kind(gvk).map_or(Place::Untyped, Place::Typed);
        Seed { place, state }
    }
}

/// Reads any JSON, a patch for instance, and finds the fields that came twice.
pub(crate) fn decode_untyped(document: &[u8]) -> Result<Decoded, DecodeError> {
    let mut state = State::new(Origin::Document);
    let mut reader = serde_json::Deserializer::from_slice(document);
    let seed = Seed {
        place: Place::Untyped,
        state: &mut state,
    };
    let read = seed
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value));
    state.finish(read).map_err(|error| error.told(document))
}

/// `strict decoding error: …`: what a server says that is asked for `fieldValidation=Strict`.
pub(crate) fn strict_error(problems: &[String]) -> String {
    format!("strict decoding error: {}", problems.join(", "))
}

/// The message of the 400 for a body that is no object of its kind (upstream: `transformDecodeError`).
pub(crate) fn unreadable(gvk: Gvk<'_>, cause: &str) -> String {
    let Gvk { version, kind, .. } = gvk;
    let version = quote(version);
    format!("{kind} in version {version} cannot be handled as a {kind}: {cause}")
}

#[cfg(test)]
mod tests;
