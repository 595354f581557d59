//! What the metrics APIs answer at an instant, over workloads that run in virtual time.

use serde_json::{Value, json};

use super::{World as Asked, answer};
use crate::refusal::Refusal;
use crate::request::{Query, Route};
use crate::time;
use crate::workload::load::LOAD;
use crate::workload::load::sample::SCRAPE;
use crate::workload::object::{items, name, text};
use crate::workload::testing::{START, World, workload};
use crate::workload::view::Kind;

const PODS: &str = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods";

/// A Deployment `web` of `replicas` pods under a load, ready at once unless annotations say otherwise; 10 s old.
fn world(replicas: i64, load: &Value, annotations: &Value) -> World {
    let mut object = workload("Deployment", "web", replicas);
    object["metadata"]["annotations"] = json!({
        LOAD: load.to_string(),
        "flyball.dev/start-seconds": "0",
        "flyball.dev/ready-seconds": "0",
    });
    for (key, value) in annotations.as_object().unwrap() {
        object["metadata"]["annotations"][key] = value.clone();
    }
    let mut world = World::new();
    world.create(object);
    world.run_for(10_000);
    world
}

fn get(world: &World, path: &str) -> Result<Value, Refusal> {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let Route::Resource(route) = Route::of(path) else {
        panic!("{path} is no resource");
    };
    let asked = Asked {
        view: world,
        ledger: &world.ledger,
        now_ms: world.now_ms,
    };
    answer(asked, &route, &Query::parse(query))
}

fn message(world: &World, path: &str) -> String {
    let refusal = get(world, path).unwrap_err();
    format!("{} {}", refusal.code.as_u16(), refusal.message)
}

/// Cpu of the first container of every pod that has a sample.
fn cpu(world: &World) -> Vec<String> {
    let list = get(world, PODS).unwrap();
    items(&list, "/items")
        .iter()
        .map(|item| text(item, "/containers/0/usage/cpu").to_owned())
        .collect()
}

fn scale(world: &mut World, to: i64) {
    world.change(&Kind::DEPLOYMENT, "web", |object| {
        object["spec"]["replicas"] = json!(to);
    });
}

#[test]
fn pods_share_the_load_and_print_as_metrics_server_does() {
    let world = world(3, &json!({"cpu": "1", "memory": "3Gi"}), &json!({}));
    let list = get(&world, &format!("{PODS}?labelSelector=app%3Dweb")).unwrap();
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("PodMetricsList"), &json!("metrics.k8s.io/v1beta1"))
    );
    let pods = world.all(&Kind::POD);
    let expected = json!({
        "metadata": {
            "name": name(&pods[0]),
            "namespace": "default",
            "creationTimestamp": "2026-01-01T00:00:10Z",
            "labels": pods[0]["metadata"]["labels"],
        },
        "timestamp": "2026-01-01T00:00:10Z",
        "window": "0s",
        "containers": [{"name": "app", "usage": {"cpu": "333333333n", "memory": "1Gi"}}],
    });
    assert_eq!(list["items"][0], expected);
    assert_eq!(items(&list, "/items").len(), 3);
    let none = get(&world, &format!("{PODS}?labelSelector=app%3Ddb")).unwrap();
    assert_eq!(items(&none, "/items").len(), 0);
    let one = get(&world, &format!("{PODS}/{}", name(&pods[0]))).unwrap();
    assert_eq!(
        (&one["kind"], &one["containers"]),
        (&json!("PodMetrics"), &expected["containers"])
    );
    let nodes = get(&world, "/apis/metrics.k8s.io/v1beta1/nodes").unwrap();
    assert_eq!(
        nodes["items"][0]["usage"],
        json!({"cpu": "999999999n", "memory": "3Gi"})
    );
    assert_eq!(
        message(&world, &format!("{PODS}/ghost")),
        "404 pods \"ghost\" not found"
    );
}

#[test]
fn a_pod_that_is_not_ready_idles_and_the_others_bear_its_part() {
    let mut world = world(
        2,
        &json!({"cpu": "2400m"}),
        &json!({"flyball.dev/ready-seconds": "45"}),
    );
    assert_eq!(cpu(&world), ["1m", "1m"]);
    world.run_for(40_000);
    assert_eq!(cpu(&world), ["1200m", "1200m"]);
    scale(&mut world, 3);
    world.run_for(10_000);
    let mut usage = cpu(&world);
    usage.sort();
    assert_eq!(usage, ["1200m", "1200m", "1m"]);
    world.run_for(40_000);
    assert_eq!(cpu(&world), ["800m", "800m", "800m"]);
}

#[test]
fn a_pod_has_no_sample_before_it_runs_or_before_it_is_ready_if_so_asked() {
    let slow = json!({"flyball.dev/start-seconds": "20", "flyball.dev/ready-seconds": "20"});
    let mut running = world(1, &json!({"cpu": 1}), &slow);
    assert_eq!(cpu(&running).len(), 0);
    let pod = name(&running.all(&Kind::POD)[0]).to_owned();
    let expected = format!("404 pods.metrics.k8s.io \"default/{pod}\" not found");
    assert_eq!(message(&running, &format!("{PODS}/{pod}")), expected);
    running.run_for(10_000);
    assert_eq!(cpu(&running), ["1m"]);
    let mut from_ready = slow;
    from_ready[SCRAPE] = json!(r#"{"from": "Ready"}"#);
    let mut ready = world(1, &json!({"cpu": 1}), &from_ready);
    ready.run_for(29_999);
    assert_eq!(cpu(&ready).len(), 0);
    ready.run_for(1);
    assert_eq!(cpu(&ready), ["1"]);
}

#[test]
fn a_sample_is_as_old_as_its_scrape_and_its_lag_and_averages_its_window() {
    let ramp = json!({"cpu": {"points": [[0, 0], [100, 100]]}});
    let rows = [
        // scrape, seconds since the start, age of the sample, cpu
        (r"{}", 57, 0, "57"),
        (r#"{"intervalSeconds": 15}"#, 57, 12, "45"),
        (r#"{"intervalSeconds": 15, "lagSeconds": 10}"#, 57, 12, "45"),
        (r#"{"intervalSeconds": 15, "lagSeconds": 20}"#, 57, 27, "30"),
        (r#"{"windowSeconds": 30}"#, 57, 0, "42"),
        // The window does not reach back before the pod ran.
        (r#"{"windowSeconds": 600}"#, 50, 0, "25"),
    ];
    for (scrape, seconds, age, expected) in rows {
        let mut world = world(1, &ramp, &json!({SCRAPE: scrape}));
        world.run_for(seconds * 1000 - 10_000);
        let list = get(&world, PODS).unwrap();
        let at = time::parse(text(&list, "/items/0/timestamp")).unwrap();
        assert_eq!((START + seconds * 1000 - at) / 1000, age, "{scrape}");
        assert_eq!(cpu(&world), [expected], "{scrape}");
    }
}

#[test]
fn a_window_remembers_how_many_pods_there_were() {
    let mut world = world(
        4,
        &json!({"cpu": 4}),
        &json!({SCRAPE: r#"{"windowSeconds": 20}"#}),
    );
    world.run_for(50_000);
    scale(&mut world, 1);
    world.run_for(10_000);
    // Ten seconds as one of four, ten alone.
    let last = cpu(&world);
    assert_eq!(last, ["2500m"]);
    world.run_for(10_000);
    assert_eq!(cpu(&world), ["4"]);
}

#[test]
fn use_is_split_by_request_or_by_share_and_capped_at_the_limit() {
    let containers = json!([
        {"name": "app", "image": "v1", "resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "2"}}},
        {"name": "sidecar", "image": "v1", "resources": {"requests": {"cpu": "1"}}},
    ]);
    let rows = [
        (json!({"cpu": 2}), ["1500m", "500m"]),
        (json!({"cpu": 8}), ["2", "2"]),
        (
            json!({"cpu": 1, "shares": {"app": 1, "sidecar": 4}}),
            ["200m", "800m"],
        ),
    ];
    for (load, expected) in rows {
        let mut world = world(1, &load, &json!({}));
        world.change(&Kind::DEPLOYMENT, "web", |object| {
            object["spec"]["template"]["spec"]["containers"] = containers.clone();
        });
        world.run_for(60_000);
        let list = get(&world, PODS).unwrap();
        let used = [0, 1]
            .map(|index| text(&list, &format!("/items/0/containers/{index}/usage/cpu")).to_owned());
        assert_eq!(used, expected, "{load}");
    }
}

#[test]
fn custom_metrics_are_told_of_pods_objects_and_namespaces() {
    let load = json!({
        "pods": {"hits": 30},
        "objects": {
            "Ingress.networking.k8s.io/main": {"hits": [{"labels": {"path": "a"}, "value": 5}, {"labels": {"path": "b"}, "value": 7}]},
            "Namespace/default": {"hits": "1500m"},
        },
    });
    let world = world(2, &load, &json!({}));
    let base = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/default";
    let list = get(
        &world,
        &format!("{base}/pods/%2A/hits?labelSelector=app%3Dweb"),
    )
    .unwrap();
    let pods = world.all(&Kind::POD);
    let expected = json!({
        "describedObject": {"kind": "Pod", "namespace": "default", "name": name(&pods[0]), "apiVersion": "v1"},
        "metric": {"name": "hits", "selector": null},
        "timestamp": "2026-01-01T00:00:10Z",
        "windowSeconds": 0,
        "value": "15",
    });
    assert_eq!(
        (&list["kind"], &list["items"][0]),
        (&json!("MetricValueList"), &expected)
    );
    assert_eq!(items(&list, "/items").len(), 2);
    let value = |path: &str| get(&world, path).unwrap()["items"][0]["value"].clone();
    let ingress = format!("{base}/ingresses.networking.k8s.io/main/hits");
    assert_eq!(value(&ingress), "12");
    assert_eq!(
        value(&format!("{ingress}?metricLabelSelector=path%3Da")),
        "5"
    );
    assert_eq!(value(&format!("{base}/metrics/hits")), "1500m");
    let old = get(&world, &ingress.replace("v1beta2", "v1beta1")).unwrap();
    let item = &old["items"][0];
    assert_eq!(
        (&item["metricName"], &item["window"], &item["metric"]),
        (&json!("hits"), &json!(0), &Value::Null)
    );
    let prefix = "404 the server could not find the metric";
    let rows = [
        ("pods/%2A/misses", "misses for pods"),
        (
            "ingresses.networking.k8s.io/other/hits",
            "hits for ingresses.networking.k8s.io other",
        ),
        ("metrics/misses", "misses for namespaces default"),
        ("pods/ghost/hits", "hits for pods ghost"),
    ];
    for (path, expected) in rows {
        assert_eq!(
            message(&world, &format!("{base}/{path}")),
            format!("{prefix} {expected}")
        );
    }
}

#[test]
fn external_metrics_are_told_by_series() {
    let load = json!({"external": {"queue": [
        {"labels": {"name": "a"}, "value": 3},
        {"labels": {"name": "b"}, "value": {"points": [[0, 0], [20, 20]]}},
    ]}});
    let world = world(1, &load, &json!({}));
    let base = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default";
    let values = |query: &str| {
        let list = get(&world, &format!("{base}/queue{query}")).unwrap();
        items(&list, "/items")
            .iter()
            .map(|item| text(item, "/value").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(values(""), ["3", "10"]);
    assert_eq!(values("?labelSelector=name%3Db"), ["10"]);
    let expected = "404 the server could not find the metric rows for namespaces";
    assert_eq!(message(&world, &format!("{base}/rows")), expected);
}

#[test]
fn a_load_that_cannot_be_read_is_told_to_who_asks() {
    let world = world(1, &json!({"cpus": 1}), &json!({}));
    assert!(message(&world, PODS).contains("the annotation flyball.dev/load of Deployment.apps default/web cannot be read: cpus: is unknown"));
}

#[test]
fn the_spike_of_the_published_panel_is_borne_as_published() {
    let mut load =
        json!({"cpu": {"points": [[0, "2400m"], [60, "9600m"], [240, "2400m"]], "shape": "step"}});
    // The four first pods are ready long before the panel's zero, which is 100 s after the start.
    load["epoch"] = json!("2026-01-01T00:01:40Z");
    let annotations = json!({
        "flyball.dev/ready-seconds": "45",
        "flyball.dev/termination-seconds": "0",
        SCRAPE: r#"{"from": "Ready"}"#,
    });
    let mut world = world(4, &load, &annotations);
    let run_to = |world: &mut World, second: i64| {
        world.run_for(START + (100 + second) * 1000 - world.now_ms);
    };
    let rows: [(i64, Option<i64>, usize, &str); 9] = [
        // second, new size just after it, pods that report, cpu of each
        (45, None, 4, "600m"),
        (60, Some(8), 4, "2400m"),
        (75, Some(12), 4, "2400m"),
        (90, None, 4, "2400m"),
        (105, None, 8, "1200m"),
        (120, None, 12, "800m"),
        (239, None, 12, "800m"),
        (240, Some(4), 12, "200m"),
        (255, None, 4, "600m"),
    ];
    let first: Vec<String> = world
        .all(&Kind::POD)
        .iter()
        .map(|pod| name(pod).to_owned())
        .collect();
    for (second, size, reporting, expected) in rows {
        run_to(&mut world, second);
        assert_eq!(cpu(&world), vec![expected; reporting], "at {second}");
        if let Some(size) = size {
            scale(&mut world, size);
        }
    }
    let last: Vec<String> = world
        .all(&Kind::POD)
        .iter()
        .map(|pod| name(pod).to_owned())
        .collect();
    assert_eq!(first, last, "a scale-down removes the newest pods");
}
