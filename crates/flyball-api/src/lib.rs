//! The autoscaling and metrics APIs of Kubernetes as plain data: types, quantities, selectors, defaults, validation.
//!
//! Everything here is a pure function of its input. Not here: clients, caches, the decision itself, and any clock.

pub mod quantity;

pub use quantity::Quantity;
