//! Leadership by a Lease: of several replicas one acts. The election is a value with time passed in; the loop around
//! it reads and writes the Lease.
//! Not here: what the leader does, and who it is (the binary picks the identity).
//!
//! Source: client-go tools/leaderelection, v0.37.2, without its jitter. Clocks of different machines are never
//! compared: a record is as old as the time since this replica first saw it.

use std::time::Duration;

use flyball_api::time::MicroTime;
use flyball_clock::{Clock, UnixMs};
use http::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::api_client::{ApiClient, Call};
use crate::api_error::{ApiError, Asked};
use crate::path;

/// Flags `--leader-elect-*`, with kube-controller-manager's defaults.
#[derive(Clone, Debug)]
pub struct LeaseSettings {
    /// `--leader-elect-resource-namespace`
    pub namespace: String,
    /// `--leader-elect-resource-name`
    pub name: String,
    /// Who this replica is; different from every other's.
    pub identity: String,
    /// `--leader-elect-lease-duration`: how long others wait for a silent leader.
    pub lease_duration: Duration,
    /// `--leader-elect-renew-deadline`: how long a leader goes on without renewing.
    pub renew_deadline: Duration,
    /// `--leader-elect-retry-period`: time between attempts.
    pub retry_period: Duration,
}

impl LeaseSettings {
    /// The defaults for a Lease of this name, held as `identity`.
    pub fn new(namespace: &str, name: &str, identity: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            identity: identity.to_owned(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

/// What one replica knows of the election.
#[derive(Clone, Debug)]
struct Election {
    settings: LeaseSettings,
    /// The Lease as last seen, and since when it has looked like that.
    seen: Option<(Value, UnixMs)>,
}

impl Election {
    /// Notes the Lease as it is.
    fn see(&mut self, lease: Value, now_ms: UnixMs) {
        let same = self
            .seen
            .as_ref()
            .is_some_and(|(seen, _)| seen["spec"] == lease["spec"]);
        let since_ms = self
            .seen
            .as_ref()
            .filter(|_| same)
            .map_or(now_ms, |(_, since_ms)| *since_ms);
        self.seen = Some((lease, since_ms));
    }

    fn leads(&self) -> bool {
        self.holder() == Some(self.settings.identity.as_str())
    }

    fn holder(&self) -> Option<&str> {
        self.seen.as_ref()?.0["spec"]["holderIdentity"]
            .as_str()
            .filter(|holder| !holder.is_empty())
    }

    /// Whether this replica may write the Lease: it is its own, nobody's, or has been silent for too long.
    fn may_write(&self, now_ms: UnixMs) -> bool {
        let silent_for = self.seen.as_ref().map(|(_, since_ms)| now_ms - since_ms);
        let expired = silent_for.is_none_or(|age| age >= millis(self.settings.lease_duration));
        self.leads() || self.holder().is_none() || expired
    }

    /// The Lease with this replica as its holder.
    fn claim(&self, now_ms: UnixMs) -> Value {
        let now = MicroTime::from_millis(now_ms).to_string();
        let mut lease = self
            .seen
            .as_ref()
            .map_or_else(|| self.blank(), |(lease, _)| lease.clone());
        let old = lease["spec"].clone();
        let transitions = old["leaseTransitions"].as_i64().unwrap_or(0);
        let (acquired, transitions) =
            match (self.leads(), self.holder().is_some() || old.is_object()) {
                (true, _) => (old["acquireTime"].clone(), transitions),
                (false, true) => (json!(now), transitions + 1),
                (false, false) => (json!(now), 0),
            };
        lease["spec"] = json!({
            "holderIdentity": self.settings.identity,
            "leaseDurationSeconds": self.settings.lease_duration.as_secs(),
            "acquireTime": acquired,
            "renewTime": now,
            "leaseTransitions": transitions,
        });
        lease
    }

    /// The Lease without a holder, for others to take at once.
    fn release(&self, now_ms: UnixMs) -> Option<Value> {
        let (seen, _) = self.seen.as_ref().filter(|_| self.leads())?;
        let mut lease = seen.clone();
        let now = MicroTime::from_millis(now_ms).to_string();
        lease["spec"]["holderIdentity"] = json!("");
        lease["spec"]["leaseDurationSeconds"] = json!(1);
        lease["spec"]["acquireTime"] = json!(now);
        lease["spec"]["renewTime"] = json!(now);
        Some(lease)
    }

    fn blank(&self) -> Value {
        let LeaseSettings {
            namespace, name, ..
        } = &self.settings;
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "namespace": namespace, "name": name },
        })
    }
}

/// One replica in the election.
#[derive(Debug)]
pub struct Candidate {
    client: ApiClient,
    clock: Clock,
    election: Election,
}

/// Why a leader is one no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was told to stop, and gave the Lease up.
    Stopped,
    /// It could not renew in time. It must not act any more; the process has to end.
    Lost,
}

impl Candidate {
    /// A replica that has not looked yet.
    pub fn new(client: ApiClient, clock: Clock, settings: LeaseSettings) -> Self {
        Self {
            client,
            clock,
            election: Election {
                settings,
                seen: None,
            },
        }
    }

    /// Waits until this replica leads; false if `stop` comes first.
    pub async fn acquire(&mut self, stop: &CancellationToken) -> bool {
        let retry_period = self.election.settings.retry_period;
        while !stop.is_cancelled() {
            match self.attempt().await {
                Ok(true) => {
                    tracing::info!(identity = self.election.settings.identity, "became leader");
                    return true;
                }
                Ok(false) => {}
                Err(error) => tracing::error!(%error, "cannot read or write the lease, will retry"),
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = self.clock.sleep(retry_period) => {}
            }
        }
        false
    }

    /// Renews until `stop`, or until that has failed for the renew deadline.
    pub async fn hold(&mut self, stop: &CancellationToken) -> Ended {
        let (retry_period, deadline_ms) = {
            let settings = &self.election.settings;
            (settings.retry_period, millis(settings.renew_deadline))
        };
        let mut renewed_ms = self.clock.now_ms();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    self.give_up().await;
                    return Ended::Stopped;
                }
                () = self.clock.sleep(retry_period) => {}
            }
            let left_ms = deadline_ms - (self.clock.now_ms() - renewed_ms);
            if left_ms <= 0 {
                return Ended::Lost;
            }
            let (clock, left) = (self.clock.clone(), Duration::from_millis(left_ms as u64));
            let renewed = tokio::select! {
                biased;
                renewed = self.attempt() => renewed,
                () = clock.sleep(left) => return Ended::Lost,
            };
            match renewed {
                Ok(true) => renewed_ms = self.clock.now_ms(),
                Ok(false) => return Ended::Lost,
                Err(error) => tracing::error!(%error, "cannot renew the lease, will retry"),
            }
        }
    }

    /// One look at the Lease, and a write if it may be taken or kept; says whether this replica leads now.
    async fn attempt(&mut self) -> Result<bool, ApiError> {
        let path = self.path();
        match self
            .client
            .object::<Value>(Call::get(&path, self.asked()))
            .await
        {
            Ok(lease) => self.election.see(lease, self.clock.now_ms()),
            Err(error) if error.is_not_found() => self.election.seen = None,
            Err(error) => return Err(error),
        }
        let now_ms = self.clock.now_ms();
        if !self.election.may_write(now_ms) {
            return Ok(false);
        }
        let written = self.write(&self.election.claim(now_ms)).await?;
        self.election.see(written, now_ms);
        Ok(true)
    }

    async fn give_up(&mut self) {
        let Some(lease) = self.election.release(self.clock.now_ms()) else {
            return;
        };
        if let Err(error) = self.write(&lease).await {
            tracing::error!(%error, "cannot release the lease; it runs out by itself");
        }
    }

    async fn write(&self, lease: &Value) -> Result<Value, ApiError> {
        let LeaseSettings { namespace, .. } = &self.election.settings;
        let all = path::collection("coordination.k8s.io", "v1", namespace, "leases");
        let exists = self.election.seen.is_some();
        let (method, path) = if exists {
            (Method::PUT, self.path())
        } else {
            (Method::POST, all)
        };
        let body = Some(("application/json", lease.to_string().into_bytes()));
        self.client
            .object(Call {
                method,
                path: &path,
                asked: self.asked(),
                body,
            })
            .await
    }

    fn path(&self) -> String {
        let LeaseSettings {
            namespace, name, ..
        } = &self.election.settings;
        let all = path::collection("coordination.k8s.io", "v1", namespace, "leases");
        format!("{all}/{}", path::segment(name))
    }

    fn asked(&self) -> Asked<'_> {
        let name = &self.election.settings.name;
        Asked {
            resource: "leases.coordination.k8s.io",
            name,
        }
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
