//! Workload controllers as pure steps over JSON objects: a step reads a [`view::View`], is told the time, and returns
//! [`view::Write`]s. Not here: the store, clocks, threads, and anything that knows of an autoscaler.

pub mod view;
