//! The patch types a client may send, as functions on JSON values: [`json`] (RFC 6902), [`merge`] (RFC 7386) and
//! [`strategic`] (merging lists by key). Not here: server-side apply, decoding of the result, and who may patch what.

use thiserror::Error;

mod golang;
pub(crate) mod json;
pub(crate) mod merge;
pub(crate) mod strategic;

pub(crate) use golang::text as printed;

/// Why a patch was refused. The variants are the answers a server gives; the texts are upstream's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum PatchError {
    /// The patch is not a patch of its type: 400 `BadRequest`.
    #[error("{0}")]
    BadRequest(String),
    /// More operations than one JSON patch may have: 413 `RequestEntityTooLarge`.
    #[error("The allowed maximum operations in a JSON patch is {limit}, got {got}")]
    TooLarge {
        /// Operations allowed.
        limit: usize,
        /// Operations sent.
        got: usize,
    },
    /// The patch does not fit the object: 422 without a kind (`NewGenericServerResponse`).
    #[error("{0}")]
    Unprocessable(String),
    /// An error upstream's server does not classify, so that the client sees 500 `InternalError`.
    #[error("{0}")]
    Internal(String),
}

#[cfg(test)]
mod tests;
