//! Leadership of `flyball controller`: of several replicas one acts. The flags, and who this replica is.
//! Not here: the election itself (`flyball_controller::lease`).

use std::time::Duration;

use clap::ArgAction;
use flyball_clock::Clock;
use flyball_controller::api_client::{ApiClient, ClientMetrics, Rate};
use flyball_controller::lease::{Candidate, LeaseSettings};
use flyball_controller::transport::Transport;
use prometheus::Registry;
use thiserror::Error;

use crate::go_flag;

/// The Lease could not be renewed in time, so another replica may lead by now.
#[derive(Debug, Error)]
#[error(
    "leadership is lost: the lease {namespace}/{name} could not be renewed in time; this process has to be started again"
)]
pub(crate) struct LeadershipLost {
    namespace: String,
    name: String,
}

/// Flags of the election, with kube-controller-manager's names and times.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LeaderArgs {
    /// Act only while holding a Lease, so that several replicas can run
    #[arg(
        long = "leader-elect",
        value_name = "BOOL",
        default_value_t = true,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set
    )]
    elect: bool,

    /// Namespace of the Lease
    #[arg(
        long = "leader-elect-resource-namespace",
        value_name = "NAME",
        default_value = "kube-system"
    )]
    namespace: String,

    /// Name of the Lease
    #[arg(
        long = "leader-elect-resource-name",
        value_name = "NAME",
        default_value = "flyball-controller"
    )]
    lease: String,

    /// How long others wait for a silent leader
    #[arg(long = "leader-elect-lease-duration", value_name = "DURATION", default_value = "15s", value_parser = go_flag::positive_duration)]
    lease_duration: Duration,

    /// How long a leader goes on without renewing
    #[arg(long = "leader-elect-renew-deadline", value_name = "DURATION", default_value = "10s", value_parser = go_flag::positive_duration)]
    renew_deadline: Duration,

    /// Time between attempts
    #[arg(long = "leader-elect-retry-period", value_name = "DURATION", default_value = "2s", value_parser = go_flag::positive_duration)]
    retry_period: Duration,
}

impl LeaderArgs {
    /// This replica in the election; nothing where there is none.
    pub(crate) fn candidate(
        &self,
        transport: Transport,
        clock: Clock,
    ) -> anyhow::Result<Option<Candidate>> {
        if !self.elect {
            return Ok(None);
        }
        let settings = LeaseSettings {
            namespace: self.namespace.clone(),
            name: self.lease.clone(),
            identity: identity(),
            lease_duration: self.lease_duration,
            renew_deadline: self.renew_deadline,
            retry_period: self.retry_period,
        };
        // A renewal must not wait behind other requests, nor be counted among the controller's.
        let rate = Rate {
            per_second: -1.0,
            burst: 1,
        };
        let metrics = ClientMetrics::register(&Registry::new())?;
        let client = ApiClient::new(transport, clock.clone(), rate, metrics);
        Ok(Some(Candidate::new(client, clock, settings)))
    }

    /// The error of a leader that is one no more.
    pub(crate) fn lost(&self) -> LeadershipLost {
        LeadershipLost {
            namespace: self.namespace.clone(),
            name: self.lease.clone(),
        }
    }
}

/// Host and process: different from every other replica's.
fn identity() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    let host = if host.is_empty() { "flyball" } else { host };
    format!("{host}_{}", std::process::id())
}
