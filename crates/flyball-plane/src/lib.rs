//! See the crate's description; contents follow.

pub mod workload;
