//! The whole controller in virtual time against a scripted cluster with one deployment.

use std::sync::{Mutex, PoisonError};

use flyball_core::message::Reason;
use serde_json::{Value, json};

use super::*;
use crate::api_client::Rate;
use crate::gates::Gates;
use crate::ownership::Ownership;
use crate::report::{Course, SyncReport};
use crate::scripted::{Scripted, failure};

const HPAS: &str = "/apis/autoscaling/v2/horizontalpodautoscalers";
const HPA: &str = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web";
const SCALE: &str = "/apis/apps/v1/namespaces/shop/deployments/web/scale";
const PODS: &str = "/api/v1/pods";
const METRICS: &str = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods";

#[derive(Default)]
struct Reports(Mutex<Vec<SyncReport>>);

impl Observer for Reports {
    fn synced(&self, report: SyncReport) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(report);
    }
}

struct World {
    server: Scripted,
    clock: Clock,
    reports: Arc<Reports>,
    registry: Registry,
    controller: Controller,
}

fn hpa(generation: i64, version: u64) -> Value {
    let metadata = json!({"namespace": "shop", "name": "web", "uid": "u-1", "generation": generation,
        "resourceVersion": version.to_string()});
    let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}});
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    json!({"metadata": metadata, "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 9, "metrics": [cpu]},
        "status": {"currentMetrics": null, "desiredReplicas": 0}})
}

fn pod(name: &str) -> Value {
    let requests = json!({"requests": {"cpu": "100m"}});
    json!({"metadata": {"namespace": "shop", "name": name, "labels": {"app": "web"}, "resourceVersion": "5"},
        "spec": {"containers": [{"name": "app", "resources": requests}]},
        "status": {"phase": "Running", "startTime": "1999-12-31T00:00:00Z",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "1999-12-31T00:00:09Z"}]}})
}

fn usage(millis: u32) -> Value {
    let sample = |name: &str| {
        json!({"metadata": {"name": name}, "timestamp": "2000-01-01T00:00:00Z", "window": "30s",
        "containers": [{"name": "app", "usage": {"cpu": format!("{millis}m")}}]})
    };
    json!({"items": [sample("web-1"), sample("web-2")]})
}

fn scale(replicas: u32) -> Value {
    json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"namespace": "shop", "name": "web", "resourceVersion": "20"},
        "spec": {"replicas": replicas}, "status": {"replicas": replicas, "selector": "app=web"}})
}

impl World {
    /// A cluster with two pods at 100 % of their request, and a controller with one worker that has synced.
    async fn start(config: Config) -> Self {
        let server = Scripted::default();
        let list =
            |items: Vec<Value>| json!({"metadata": {"resourceVersion": "10"}, "items": items});
        server.serve(&format!("GET {HPAS}"), list(vec![hpa(1, 10)]));
        server.serve(
            &format!("GET {PODS}"),
            list(vec![pod("web-1"), pod("web-2")]),
        );
        let group = json!({"versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}});
        server.serve("GET /apis/apps", group);
        let resources = json!({"resources": [{"name": "deployments", "kind": "Deployment"}]});
        server.serve("GET /apis/apps/v1", resources);
        server.serve(&format!("GET {SCALE}"), scale(2));
        server.serve(&format!("PUT {SCALE}"), scale(4));
        server.serve(&format!("PUT {HPA}/status"), hpa(1, 11));
        server.serve(&format!("GET {METRICS}"), usage(100));
        server.serve("POST /api/v1/namespaces/shop/events", json!({}));
        let (clock, registry) = (Clock::starting_at(946_684_800_000), Registry::new());
        let reports = Arc::new(Reports::default());
        let surroundings = Surroundings {
            transport: server.transport(),
            clock: clock.clone(),
            registry: registry.clone(),
            observer: reports.clone(),
        };
        let config = Config {
            workers: 1,
            ..config
        };
        let mut controller = Controller::start(config, surroundings).expect("a fresh registry");
        controller.wait_until_ready().await;
        clock.sleep(Duration::from_millis(1)).await;
        Self {
            server,
            clock,
            reports,
            registry,
            controller,
        }
    }

    /// Lets time pass and returns the syncs that ended meanwhile.
    async fn pass(&self, time: Duration) -> Vec<SyncReport> {
        self.clock.sleep(time).await;
        std::mem::take(
            &mut *self
                .reports
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    async fn one(&self) -> SyncReport {
        let mut reports = self.pass(Duration::ZERO).await;
        assert_eq!(reports.len(), 1, "{reports:?}");
        reports.remove(0)
    }

    /// Sends what the status write would have sent.
    fn show_status_write(&self, report: &SyncReport, version: u64) {
        let mut object = hpa(1, version);
        let status = report.status_written.as_ref().expect("written");
        object["status"] = serde_json::to_value(status).expect("serializable");
        self.server.send(HPAS, "MODIFIED", &object);
    }

    fn metrics(&self) -> String {
        prometheus::TextEncoder::new()
            .encode_to_string(&self.registry.gather())
            .expect("printable")
    }
}

fn reasons(report: &SyncReport) -> Vec<&str> {
    report
        .events
        .iter()
        .map(|event| event.reason.as_str())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_busy_target_is_scaled_and_the_status_tells_why() {
    let world = World::start(Config::default()).await;
    let report = world.one().await;
    assert_eq!(
        (report.replicas_before, report.replicas_after),
        (Some(2), Some(4))
    );
    assert_eq!((report.scale_puts, report.course), (1, Course::Reconciled));
    let name = "cpu resource utilization (percentage of request)".to_owned();
    assert_eq!(report.proposal(), Some((4, name)));
    assert_eq!(
        report.events[0].message,
        "New size: 4; reason: cpu resource utilization (percentage of request) above target"
    );
    assert_eq!(report.errors, [] as [&str; 0]);
    let status = report.status_written.expect("written");
    assert_eq!((status.current_replicas, status.desired_replicas), (2, 4));
    assert_eq!(status.observed_generation, Some(1));
    let conditions: Vec<_> = status
        .conditions
        .iter()
        .map(|c| (c.r#type.as_str(), c.reason.as_str()))
        .collect();
    let expected = [
        ("AbleToScale", "SucceededRescale"),
        ("ScalingActive", "ValidMetricFound"),
        ("ScalingLimited", "DesiredWithinRange"),
        ("ScaledToZero", "NotScaledToZero"),
    ];
    assert_eq!(conditions, expected);
    let bodies = world.server.bodies();
    assert_eq!(bodies[0]["spec"]["replicas"], 4);
    assert_eq!(bodies[0]["metadata"]["resourceVersion"], "20");
    let status = bodies
        .iter()
        .find(|body| body["kind"] == "HorizontalPodAutoscaler")
        .expect("a status");
    assert_eq!(status["apiVersion"], "autoscaling/v2");
    assert_eq!(status["spec"]["maxReplicas"], 9);
    let event = bodies
        .iter()
        .find(|body| body["kind"] == "Event")
        .expect("an event");
    assert_eq!(event["reason"], "SuccessfulRescale");
    let metrics = world.metrics();
    let prefix = "horizontal_pod_autoscaler_controller";
    assert!(metrics.contains(&format!(
        "{prefix}_reconciliations_total{{action=\"scale_up\",error=\"none\"}} 1"
    )));
    assert!(metrics.contains(&format!(
        "{prefix}_desired_replicas{{hpa_name=\"web\",namespace=\"shop\"}} 4"
    )));
}

#[tokio::test(start_paused = true)]
async fn a_sync_costs_one_read_of_the_scale_and_one_of_each_metric() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    world.server.serve(&format!("GET {SCALE}"), scale(4));
    world.server.serve(&format!("GET {METRICS}"), usage(50));
    world.server.requests();
    let reports = world.pass(Duration::from_secs(15)).await;
    assert_eq!(reports.len(), 1);
    let expected = [
        format!("GET {SCALE}"),
        format!("GET {METRICS}?labelSelector=app%3Dweb"),
        format!("PUT {HPA}/status"),
    ];
    assert_eq!(world.server.requests(), expected);
    world.show_status_write(&reports[0], 11);
    let reports = world.pass(Duration::from_secs(15)).await;
    assert!(reports[0].status_written.is_none(), "nothing changed");
}

#[tokio::test(start_paused = true)]
async fn syncs_follow_each_other_by_one_period() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    let reports = world.pass(Duration::from_secs(61)).await;
    let offsets: Vec<_> = reports
        .iter()
        .map(|report| report.started_ms - first.started_ms)
        .collect();
    assert_eq!(offsets, [15_000, 30_000, 45_000, 60_000]);
}

#[tokio::test(start_paused = true)]
async fn a_cache_older_than_the_last_write_costs_a_sync() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    let reports = world.pass(Duration::from_secs(15)).await;
    assert_eq!(reports[0].course, Course::Stale);
    let text = "read version: 10 is not as new as written version: 11 for group resource horizontalpodautoscalers.autoscaling";
    assert_eq!(reports[0].errors, [text]);
    assert!(world.metrics().contains(
        "stale_sync_skips_total{group=\"autoscaling\",resource=\"horizontalpodautoscalers\"} 1"
    ));
    world.show_status_write(&first, 11);
    assert_eq!(
        world.pass(Duration::from_secs(15)).await[0].course,
        Course::Reconciled
    );
}

#[tokio::test(start_paused = true)]
async fn without_its_gate_a_stale_cache_is_used() {
    let gates = Gates::default().with(Gate::StaleCacheCheck, false);
    let world = World::start(Config {
        gates,
        ..Config::default()
    })
    .await;
    world.one().await;
    assert_eq!(
        world.pass(Duration::from_secs(15)).await[0].course,
        Course::Reconciled
    );
}

#[tokio::test(start_paused = true)]
async fn a_conflict_is_tried_again_four_times_ten_milliseconds_apart() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    let conflict = failure(409, "Conflict", "the object has been modified");
    world.server.answer(&format!("PUT {SCALE}"), 409, conflict);
    world.server.requests();
    let report = world.pass(Duration::from_millis(15_050)).await.remove(0);
    assert_eq!(report.scale_puts, 5);
    assert_eq!(report.replicas_after, Some(2));
    let calls: Vec<_> = world
        .server
        .requests()
        .into_iter()
        .filter(|call| call.ends_with("/scale"))
        .collect();
    assert_eq!(calls.len(), 11, "a read, five writes, a read after each");
    let error = "failed to rescale Deployment/shop/web: the object has been modified";
    assert_eq!(report.errors, [error]);
    assert_eq!(reasons(&report), [Reason::FailedRescale.name()]);
    let next = world.pass(Duration::from_millis(15_100)).await;
    assert_eq!(next[0].started_ms - first.started_ms, 30_040);
}

#[tokio::test(start_paused = true)]
async fn another_failure_of_the_write_is_not_tried_again_and_the_read_after_it_is_reported() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    world.server.answer(
        &format!("PUT {SCALE}"),
        403,
        failure(403, "Forbidden", "no"),
    );
    world.pass(Duration::from_secs(14)).await;
    let report = world.pass(Duration::from_secs(2)).await.remove(0);
    assert_eq!(report.scale_puts, 1);
    assert_eq!(report.errors, ["failed to rescale Deployment/shop/web: no"]);
}

#[tokio::test(start_paused = true)]
async fn a_failing_status_write_is_an_event_and_the_error_of_the_sync() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    world.server.answer(
        &format!("PUT {HPA}/status"),
        500,
        failure(500, "InternalError", "etcd is ill"),
    );
    let report = world.pass(Duration::from_secs(15)).await.remove(0);
    assert_eq!(
        reasons(&report),
        ["SuccessfulRescale", "FailedUpdateStatus"]
    );
    assert_eq!(
        report.errors,
        ["failed to update status for web: etcd is ill"]
    );
    assert!(report.status_written.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_failing_metrics_api_holds_the_size_and_the_process_goes_on() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    world
        .server
        .answer(&format!("GET {METRICS}"), 503, json!("down"));
    let report = world.pass(Duration::from_secs(15)).await.remove(0);
    assert_eq!(
        reasons(&report),
        ["FailedGetResourceMetric", "FailedComputeMetricsReplicas"]
    );
    let text = "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from \
                resource metrics API: the server is currently unable to handle the request (get pods.metrics.k8s.io)";
    assert_eq!(report.events[0].message, text);
    world.show_status_write(&report, 11);
    world.server.serve(&format!("GET {METRICS}"), usage(100));
    assert_eq!(world.pass(Duration::from_secs(15)).await[0].scale_puts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_gone_is_reported_in_the_words_of_the_server() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    let gone = failure(404, "NotFound", "deployments.apps \"web\" not found");
    world.server.answer(&format!("GET {SCALE}"), 404, gone);
    let report = world.pass(Duration::from_secs(15)).await.remove(0);
    assert_eq!(
        report.events[0].message,
        "deployments.apps \"web\" not found"
    );
    let error = "failed to query scale subresource for Deployment/shop/web: deployments.apps \"web\" not found";
    assert_eq!(report.errors, [error]);
    assert_eq!(
        (report.replicas_before, report.replicas_after),
        (None, None)
    );
}

#[tokio::test(start_paused = true)]
async fn a_deleted_object_is_found_gone_once_and_starts_afresh_when_it_returns() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    world.server.send(HPAS, "DELETED", &hpa(1, 12));
    let reports = world.pass(Duration::from_mins(1)).await;
    assert_eq!(
        reports
            .iter()
            .map(|report| report.course)
            .collect::<Vec<_>>(),
        [Course::Gone]
    );
    world.server.send(HPAS, "ADDED", &hpa(1, 13));
    let report = world.pass(Duration::from_millis(1)).await.remove(0);
    let outcome = report.outcome.expect("reconciled");
    assert_eq!(
        outcome.history.recommendations().len(),
        2,
        "the seed and the first recommendation"
    );
}

#[tokio::test(start_paused = true)]
async fn a_spec_change_is_followed_by_a_sync_at_once_and_the_waiting_one() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    world.pass(Duration::from_secs(10)).await;
    world.server.send(HPAS, "MODIFIED", &hpa(2, 12));
    let reports = world.pass(Duration::from_secs(6)).await;
    let offsets: Vec<_> = reports
        .iter()
        .map(|report| report.started_ms - first.started_ms)
        .collect();
    assert_eq!(offsets, [10_001, 15_000]);
}

#[tokio::test(start_paused = true)]
async fn two_objects_on_the_same_pods_stop_each_other() {
    let world = World::start(Config::default()).await;
    let first = world.one().await;
    world.show_status_write(&first, 11);
    let mut other = hpa(1, 12);
    other["metadata"]["name"] = "api".into();
    let status = format!("PUT {}/status", HPA.replace("/web", "/api"));
    world.server.serve(&status, hpa(1, 13));
    world.server.send(HPAS, "ADDED", &other);
    let report = world.pass(Duration::from_millis(1)).await.remove(0);
    assert_eq!(report.hpa.name, "api");
    let text =
        "pods by selector app=web are controlled by more than one HPA (e.g. [shop/api shop/web])";
    assert_eq!(
        (reasons(&report), report.events[0].message.as_str()),
        (
            vec!["AmbiguousSelector", "FailedComputeMetricsReplicas"],
            text
        )
    );
}

#[tokio::test(start_paused = true)]
async fn a_shadow_writes_nothing_and_tells_what_it_would_do() {
    let world = World::start(Config {
        mode: Mode::Shadow,
        ..Config::default()
    })
    .await;
    let report = world.one().await;
    assert_eq!((report.replicas_after, report.scale_puts), (Some(2), 0));
    assert_eq!(report.proposal().map(|(replicas, _)| replicas), Some(4));
    assert_eq!(reasons(&report), ["SuccessfulRescale"]);
    assert_eq!(world.server.bodies(), [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_object_of_another_controller_is_left_alone_unless_told_to_take_over() {
    for (ownership, course) in [
        (Ownership::Respect, Course::Foreign),
        (Ownership::TakeOver, Course::Reconciled),
    ] {
        let world = World::start(Config {
            ownership,
            ..Config::default()
        })
        .await;
        let first = world.one().await;
        world.show_status_write(&first, 11);
        let mut object = hpa(2, 12);
        object["metadata"]["managedFields"] = json!([{"manager": "kube-controller-manager", "operation": "Update", "subresource": "status"}]);
        world.server.bodies();
        world.server.send(HPAS, "MODIFIED", &object);
        let report = world.pass(Duration::from_millis(1)).await.remove(0);
        assert_eq!(report.course, course);
        assert_eq!(world.server.bodies().is_empty(), course == Course::Foreign);
    }
}

#[tokio::test(start_paused = true)]
async fn a_recorded_sync_tells_its_steps() {
    let world = World::start(Config {
        detail: crate::config::Detail::Steps,
        ..Config::default()
    })
    .await;
    let record = world.one().await.record.expect("asked for");
    assert_eq!(
        (record.from, record.to, record.error),
        (Some(2), Some(4), None)
    );
    assert!(!record.steps.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_selected_kind_decides_which_objects_are_served() {
    let server = Scripted::default();
    let surroundings = Surroundings {
        transport: server.transport(),
        clock: Clock::starting_at(0),
        registry: Registry::new(),
        observer: Arc::new(Reports::default()),
    };
    let config = Config {
        kind: crate::config::Kind::Twin,
        ..Config::default()
    };
    let clock = surroundings.clock.clone();
    let controller = Controller::start(config, surroundings).expect("a fresh registry");
    clock.sleep(Duration::from_millis(1)).await;
    assert!(!controller.is_ready());
    let first = &server.requests()[0];
    assert_eq!(
        first,
        "GET /apis/autoscaling.flyball.dev/v2/horizontalpodautoscalers?limit=500"
    );
    controller.stop().await;
}

#[tokio::test(start_paused = true)]
async fn stopping_ends_every_loop_and_nothing_is_asked_any_more() {
    let World {
        server,
        clock,
        controller,
        ..
    } = World::start(Config::default()).await;
    controller.stop().await;
    server.requests();
    clock.sleep(Duration::from_hours(1)).await;
    assert_eq!(server.requests(), [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_client_is_held_to_its_rate() {
    let rate = Rate {
        per_second: 1.0,
        burst: 1,
    };
    let world = World::start(Config {
        rate,
        ..Config::default()
    })
    .await;
    let reports = world.pass(Duration::from_secs(9)).await;
    assert_eq!(reports[0].scale_puts, 1, "late, but done");
}
