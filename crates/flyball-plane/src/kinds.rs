//! The kinds the plane serves, one file each. Not here: how they are served.

mod api_service;
mod condition;
mod config_map;
mod controller_revision;
mod custom_resource_definition;
mod daemon_set;
mod deployment;
mod event;
mod horizontal_pod_autoscaler;
mod ingress;
mod job;
mod label_selector;
mod lease;
mod namespace;
mod pod;
mod pod_admission;
mod pod_container;
mod pod_disruption_budget;
mod pod_probe;
mod pod_spec;
mod pod_template;
mod port;
mod replica_set;
mod replication_controller;
mod resource_quota;
mod secret;
mod service;
mod service_account;
mod stateful_set;
mod workload;

use crate::kind::{Kind, Kinds};

/// All built-in kinds.
pub(crate) fn builtin() -> Kinds {
    let mut kinds: Vec<Kind> = vec![
        api_service::kind(),
        config_map::kind(),
        controller_revision::kind(),
        daemon_set::kind(),
        custom_resource_definition::kind(),
        deployment::kind(),
        horizontal_pod_autoscaler::kind(),
        ingress::kind(),
        job::kind(),
        lease::kind(),
        namespace::kind(),
        pod::kind(),
        pod_disruption_budget::kind(),
        replica_set::kind(),
        replication_controller::kind(),
        resource_quota::kind(),
        secret::kind(),
        service::kind(),
        service_account::kind(),
        stateful_set::kind(),
    ];
    kinds.extend(event::kinds());
    Kinds::new(kinds)
}
