//! See the crate's description; contents follow.

pub mod object;
pub mod store;
pub mod workload;
