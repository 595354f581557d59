//! Workload controllers as pure steps over JSON objects: a step reads a [`view::View`], is told the time, and returns
//! [`view::Write`]s. A driver feeds changes to an [`agenda::Agenda`], runs [`react::step`] for each task that is due and applies
//! the writes. Not here: the store, clocks, threads, and anything that knows of an autoscaler.

pub(crate) mod agenda;
pub(crate) mod claim;
pub(crate) mod deployment;
pub(crate) mod event;
pub(crate) mod garbage;
pub mod load;
pub(crate) mod namespace;
pub(crate) mod object;
pub(crate) mod owner;
pub(crate) mod pod_life;
pub(crate) mod pod_template;
pub(crate) mod ranking;
pub(crate) mod react;
pub(crate) mod replica_set;
pub(crate) mod replication_controller;
pub(crate) mod selector;
pub(crate) mod stateful_set;
pub(crate) mod suffix;
pub(crate) mod view;

#[cfg(test)]
pub(crate) mod testing;
