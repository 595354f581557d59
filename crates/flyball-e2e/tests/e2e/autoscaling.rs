//! The autoscaler through the binary: sizes, conditions and events in upstream's words, and a life across crashes.

use std::time::Duration;

use serde_json::Value;

use crate::deadline::until;
use crate::kubectl::Cluster;
use crate::process::{flyball, run};

/// Syncs are a second apart and windows four; the rest is room for a busy machine.
const SOON: Duration = Duration::from_mins(1);

impl Cluster {
    pub(crate) fn load(&self, workload: &str, cpu: &str) {
        let mut load = flyball();
        load.args(["load", workload, "--cpu", cpu, "--data-dir"])
            .arg(self.data());
        let (code, out, err) = run(&mut load);
        assert_eq!(code, Some(0), "{out}{err}");
    }

    /// Waits until the workload has this many ready pods and its autoscaler says so.
    #[track_caller]
    pub(crate) fn until_size(&self, workload: &str, autoscaler: &str, size: i64) {
        until(SOON, || {
            let found = self.object(workload);
            let hpa = self.object(&format!("hpa {autoscaler}"));
            let ready = found["status"]["readyReplicas"] == size;
            let settled = hpa["status"]["currentReplicas"] == size
                && hpa["status"]["desiredReplicas"] == size;
            let exact = found["spec"]["replicas"] == size;
            if ready && settled && exact {
                Ok(())
            } else {
                Err(format!("{found:#}\n{hpa:#}"))
            }
        });
    }

    /// Waits until the autoscaler has a condition with this status, reason and message.
    #[track_caller]
    fn until_condition(&self, autoscaler: &str, wanted: [&str; 4]) {
        until(SOON, || {
            let hpa = self.object(&format!("hpa {autoscaler}"));
            let conditions = hpa["status"]["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let has = conditions.iter().any(|found| {
                ["type", "status", "reason", "message"]
                    .iter()
                    .zip(wanted)
                    .all(|(field, text)| found[field] == text)
            });
            if has {
                Ok(())
            } else {
                Err(format!("{conditions:#?}"))
            }
        });
    }

    /// Waits until there is an event on the autoscaler with this type, reason and message.
    #[track_caller]
    fn until_event(&self, autoscaler: &str, wanted: [&str; 3]) {
        until(SOON, || {
            let selector = format!(
                "involvedObject.kind=HorizontalPodAutoscaler,involvedObject.name={autoscaler}"
            );
            let events = self.object(&format!("events --field-selector={selector}"));
            let events = events["items"].as_array().cloned().unwrap_or_default();
            let has = events.iter().any(|found| {
                ["type", "reason", "message"]
                    .iter()
                    .zip(wanted)
                    .all(|(field, text)| found[field] == text)
            });
            if has {
                Ok(())
            } else {
                Err(format!("{events:#?}"))
            }
        });
    }
}

#[test]
fn a_deployment_grows_to_its_limit_and_shrinks_after_the_window() {
    let cluster = Cluster::autoscaled();
    cluster.ok("apply -f shop.yaml");
    cluster.until_size("deploy shop", "shop", 5);
    let limited = "the desired replica count is more than the maximum replica count";
    cluster.until_condition(
        "shop",
        ["ScalingLimited", "True", "TooManyReplicas", limited],
    );
    let valid = "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)";
    cluster.until_condition("shop", ["ScalingActive", "True", "ValidMetricFound", valid]);
    let grown =
        "New size: 5; reason: cpu resource utilization (percentage of request) above target";
    cluster.until_event("shop", ["Normal", "SuccessfulRescale", grown]);

    cluster.load("deploy/shop", "100m");
    let held = "recent recommendations were higher than current one, applying the highest recent recommendation";
    cluster.until_condition("shop", ["AbleToScale", "True", "ScaleDownStabilized", held]);
    cluster.until_size("deploy shop", "shop", 1);
    let shrunk = "New size: 1; reason: All metrics below target";
    cluster.until_event("shop", ["Normal", "SuccessfulRescale", shrunk]);
    let ready = "recommended size matches current size";
    cluster.until_condition("shop", ["AbleToScale", "True", "ReadyForNewScale", ready]);
}

#[test]
fn what_was_killed_in_the_middle_goes_on() {
    let mut cluster = Cluster::autoscaled();
    cluster.ok("apply -f shop.yaml");
    cluster
        .process()
        .line_that(|line| line.starts_with("shop 1 -> "));
    cluster.take_process().kill_9();
    cluster.autoscale();
    cluster.until_size("deploy shop", "shop", 5);
    cluster.load("deploy/shop", "100m");
    cluster
        .process()
        .line_that(|line| line.starts_with("shop stays at 5: ") && line.contains(", 1 wanted"));
    cluster.take_process().kill_9();
    cluster.autoscale();
    cluster.until_size("deploy shop", "shop", 1);
}

#[test]
fn a_missing_metric_is_told_and_changes_nothing() {
    let cluster = Cluster::autoscaled();
    cluster.ok("apply -f shop.yaml");
    cluster.ok("delete hpa shop");
    cluster.ok("apply -f queue.yaml");
    let api = "unable to fetch metrics from external metrics API: the server could not find the metric messages for namespaces";
    let fetch = format!("unable to get external metric default/messages/nil: {api}");
    let condition = format!("the HPA was unable to compute the replica count: {fetch}");
    cluster.until_condition(
        "queue",
        [
            "ScalingActive",
            "False",
            "FailedGetExternalMetric",
            &condition,
        ],
    );
    cluster.until_event("queue", ["Warning", "FailedGetExternalMetric", &fetch]);
    let computed = format!(
        "invalid metrics (1 invalid out of 1), first error is: failed to get messages external metric value: failed to get messages external metric: {fetch}"
    );
    cluster.until_event(
        "queue",
        ["Warning", "FailedComputeMetricsReplicas", &computed],
    );
    let got = "the HPA controller was able to get the target's current scale";
    cluster.until_condition("queue", ["AbleToScale", "True", "SucceededGetScale", got]);
    assert!(cluster.ok("get hpa queue").contains("<unknown>/10 (avg)"));
}

#[test]
fn two_autoscalers_on_the_same_pods_leave_them_alone() {
    let cluster = Cluster::autoscaled();
    cluster.ok("apply -f shop.yaml");
    cluster.until_size("deploy shop", "shop", 5);
    // With a lower limit than the size it would cut at once, without a look at the pods, and the two could take turns for ever.
    cluster.ok("autoscale deploy shop --name=twin --min=1 --max=9 --cpu=80%");
    let text = "pods by selector app=shop are controlled by more than one HPA (e.g. [default/shop default/twin])";
    for autoscaler in ["shop", "twin"] {
        cluster.until_condition(
            autoscaler,
            ["ScalingActive", "False", "AmbiguousSelector", text],
        );
        cluster.until_event(autoscaler, ["Warning", "AmbiguousSelector", text]);
        cluster.until_event(
            autoscaler,
            ["Warning", "FailedComputeMetricsReplicas", text],
        );
    }
    cluster.ok("delete hpa twin");
    let valid = "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)";
    cluster.until_condition("shop", ["ScalingActive", "True", "ValidMetricFound", valid]);
}

#[test]
fn a_stateful_set_grows_in_the_middle_of_its_rolling_update() {
    let cluster = Cluster::autoscaled();
    cluster.ok("apply -f database.yaml");
    cluster.until_size("sts db", "db", 2);
    cluster.ok("set image sts/db app=example/db:2");
    cluster.load("sts/db", "3");
    let grown =
        "New size: 4; reason: cpu resource utilization (percentage of request) above target";
    cluster.until_event("db", ["Normal", "SuccessfulRescale", grown]);
    let found = cluster.object("sts db");
    let (old, new) = (
        &found["status"]["currentRevision"],
        &found["status"]["updateRevision"],
    );
    assert_ne!(
        old, new,
        "the update was over before the size changed: {found:#}"
    );
    cluster.until_size("sts db", "db", 4);
    let images = until(SOON, || {
        let pods = cluster.object("pods -l app=db");
        let images: Vec<Value> = pods["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|pod| pod["spec"]["containers"][0]["image"].clone())
            .collect();
        if images == ["example/db:2"; 4] {
            Ok(images)
        } else {
            Err(format!("{images:?}"))
        }
    });
    assert_eq!(images.len(), 4);
    let limited = "the desired replica count is more than the maximum replica count";
    cluster.until_condition("db", ["ScalingLimited", "True", "TooManyReplicas", limited]);
}
