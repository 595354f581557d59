//! See the crate's description; contents follow.

pub mod object;
pub mod patch;
pub mod schema;
pub mod store;
pub mod workload;
