//! The autoscaling and metrics APIs of Kubernetes as plain data: types, quantities, selectors, defaults, validation.
//!
//! Everything here is a pure function of its input. Not here: clients, caches, the decision itself, and any clock.

pub mod autoscaling;
pub mod defaults;
pub mod duration;
pub mod field;
pub mod field_selector;
pub mod go_text;
pub mod meta;
pub mod metrics;
pub mod name;
pub mod pod;
pub mod printing;
pub mod quantity;
pub mod scale;
pub mod selector;
pub mod strategy;
pub mod time;
pub mod validation;
mod wire;

pub use quantity::Quantity;
