//! The kinds the plane serves, one file each. Not here: how they are served.

mod config_map;
mod controller_revision;
mod daemon_set;
mod deployment;
mod event;
mod horizontal_pod_autoscaler;
mod job;
mod lease;
mod namespace;
mod pod;
mod pod_admission;
mod pod_template;
mod replica_set;
mod replication_controller;
mod secret;
mod service;
mod service_account;
mod stateful_set;
mod workload;

use crate::kind::{Kind, Kinds};

/// All built-in kinds.
pub(crate) fn builtin() -> Kinds {
    let mut kinds: Vec<Kind> = vec![
        config_map::kind(),
        controller_revision::kind(),
        daemon_set::kind(),
        deployment::kind(),
        horizontal_pod_autoscaler::kind(),
        job::kind(),
        lease::kind(),
        namespace::kind(),
        pod::kind(),
        replica_set::kind(),
        replication_controller::kind(),
        secret::kind(),
        service::kind(),
        service_account::kind(),
        stateful_set::kind(),
    ];
    kinds.extend(event::kinds());
    Kinds::new(kinds)
}
