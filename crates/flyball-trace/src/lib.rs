//! See the crate's description; contents follow.
