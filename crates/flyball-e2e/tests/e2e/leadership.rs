//! `flyball controller` as one of several: who holds the Lease acts, and a shadow never does.

use std::time::Duration;

use serde_json::Value;

use crate::deadline::until;
use crate::kubectl::Cluster;
use crate::process::{Process, flyball};

/// A lease lasts three seconds here; the rest is room for a busy machine.
const SOON: Duration = Duration::from_mins(1);

impl Cluster {
    /// A controller beside this plane.
    fn controller(&self, name: &str, flags: &[&str]) -> Process {
        let mut command = flyball();
        command
            .args([
                "controller",
                "--admin-address=127.0.0.1:0",
                "-v=2",
                "--kubeconfig",
            ])
            .arg(self.data().join("kubeconfig"))
            .args([
                "--horizontal-pod-autoscaler-sync-period=1s",
                "--horizontal-pod-autoscaler-downscale-stabilization=4s",
                "--leader-elect-lease-duration=3s",
                "--leader-elect-renew-deadline=2s",
                "--leader-elect-retry-period=500ms",
            ])
            .args(flags);
        Process::start(&mut command, &self.path(name))
    }

    /// Waits for a holder of the Lease that is not `before`.
    fn until_leader_other_than(&self, before: &str) -> String {
        until(SOON, || {
            let leases = self.object("leases -n kube-system");
            let holder = leases["items"][0]["spec"]["holderIdentity"]
                .as_str()
                .unwrap_or_default();
            if holder.is_empty() || holder == before {
                Err(format!("{leases:#}"))
            } else {
                Ok(holder.to_owned())
            }
        })
    }
}

#[test]
fn when_the_leader_dies_another_replica_goes_on() {
    let cluster = Cluster::plane();
    cluster.ok("apply -f shop.yaml");
    let first = cluster.controller("first", &[]);
    let leader = cluster.until_leader_other_than("");
    let _second = cluster.controller("second", &[]);
    cluster.until_size("deploy shop", "shop", 5);
    first.kill_9();
    cluster.until_leader_other_than(&leader);
    cluster.load("deploy/shop", "100m");
    cluster.until_size("deploy shop", "shop", 1);
}

#[test]
fn a_leader_that_is_stopped_gives_the_lease_up() {
    let cluster = Cluster::plane();
    let leader = cluster.controller("leader", &[]);
    cluster.until_leader_other_than("");
    leader.signal("TERM");
    assert_eq!(leader.wait().code(), Some(0));
    let holder = &cluster.object("leases -n kube-system")["items"][0]["spec"]["holderIdentity"];
    assert_eq!(holder.as_str().unwrap_or_default(), "");
}

#[test]
fn a_shadow_tells_what_it_would_do_and_writes_nothing() {
    let cluster = Cluster::plane();
    cluster.ok("apply -f shop.yaml");
    let shadow = cluster.controller("shadow", &["--mode=shadow"]);
    until(SOON, || {
        let said = shadow.stderr();
        if said.contains("would: shop 1 -> ") {
            Ok(())
        } else {
            Err(said)
        }
    });
    let deployment = cluster.object("deploy shop");
    assert_eq!(deployment["spec"]["replicas"], 1);
    assert_eq!(
        cluster.object("hpa shop")["status"]["conditions"],
        Value::Null
    );
    for kind in [
        "leases -n kube-system",
        "events --field-selector=involvedObject.kind=HorizontalPodAutoscaler",
    ] {
        assert_eq!(
            cluster.object(kind)["items"],
            Value::Array(Vec::new()),
            "{kind}"
        );
    }
}
