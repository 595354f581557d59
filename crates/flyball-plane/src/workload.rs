//! Workload controllers as pure steps over JSON objects: a step reads a [`view::View`], is told the time, and returns
//! [`view::Write`]s. A driver feeds changes to an [`agenda::Agenda`], runs [`react::step`] for each task that is due and applies
//! the writes. Not here: the store, clocks, threads, and anything that knows of an autoscaler.

pub mod agenda;
pub mod claim;
pub mod deployment;
pub mod event;
pub mod garbage;
pub mod load;
pub mod namespace;
pub mod object;
pub mod owner;
pub mod pod_life;
pub mod pod_template;
pub mod ranking;
pub mod react;
pub mod replica_set;
pub mod replication_controller;
pub mod selector;
pub mod stateful_set;
pub mod suffix;
pub mod view;

#[cfg(test)]
pub(crate) mod testing;
