//! See the crate's description; contents follow.

pub mod entropy;
pub mod field;
pub mod kind;
pub mod kinds;
mod metadata;
pub mod object;
pub mod patch;
pub mod refusal;
pub mod registry;
pub mod request;
pub mod schema;
pub mod store;
mod time;
pub mod workload;
