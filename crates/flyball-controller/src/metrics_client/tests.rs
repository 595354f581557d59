//! Paths, versions and error texts of the three APIs against a scripted server.

use super::*;
use crate::scripted::{Scripted, failure};
use flyball_clock::Clock;
use serde_json::json;

const QUERY: Query<'_> = Query {
    namespace: "shop",
    name: "rps",
    pods: "app=web",
    metric: "verb in (GET,PUT)",
};
const CUSTOM_PODS: &str = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/%2A/rps";

fn cluster() -> (Scripted, MetricsClient) {
    let server = Scripted::default();
    let client = server.client(&Clock::starting_at(0));
    let mapper = RestMapper::new(client.clone());
    (server, MetricsClient::new(client, mapper))
}

fn custom_group(server: &Scripted, preferred: &str, versions: &[&str]) {
    let versions: Vec<_> = versions
        .iter()
        .map(|version| json!({"version": version}))
        .collect();
    let group = json!({"versions": versions, "preferredVersion": {"version": preferred}});
    server.serve("GET /apis/custom.metrics.k8s.io", group);
}

#[tokio::test(start_paused = true)]
async fn resource_metrics_are_asked_for_by_selector_in_one_fixed_version() {
    let (server, client) = cluster();
    let query = Query {
        name: "cpu",
        metric: "",
        ..QUERY
    };
    let path = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods";
    server.serve(&format!("GET {path}"), json!({"items": []}));
    let error = client
        .resource(query, None)
        .await
        .expect_err("empty")
        .to_string();
    assert_eq!(error, "no metrics returned from resource metrics API");
    assert_eq!(
        server.requests(),
        [format!("GET {path}?labelSelector=app%3Dweb")]
    );

    server.answer(
        &format!("GET {path}"),
        503,
        json!("error trying to reach service"),
    );
    let error = client
        .resource(query, None)
        .await
        .expect_err("down")
        .to_string();
    let text = "unable to fetch metrics from resource metrics API: \
                the server is currently unable to handle the request (get pods.metrics.k8s.io)";
    assert_eq!(error, text);
}

#[tokio::test(start_paused = true)]
async fn pods_metrics_carry_both_selectors_and_the_served_version() {
    let (server, client) = cluster();
    custom_group(&server, "v1", &["v1", "v1beta2", "v1beta1"]);
    let item = json!({"describedObject": {"name": "web-1"}, "timestamp": "2000-01-01T00:00:00Z", "value": "7"});
    server.serve(&format!("GET {CUSTOM_PODS}"), json!({"items": [item]}));
    for _ in 0..2 {
        let samples = client.pods(QUERY).await.expect("served");
        assert_eq!(
            samples
                .values()
                .map(|sample| sample.value)
                .collect::<Vec<_>>(),
            [7_000]
        );
    }
    let list = format!(
        "GET {CUSTOM_PODS}?labelSelector=app%3Dweb&metricLabelSelector=verb%20in%20%28GET%2CPUT%29"
    );
    let discovery = "GET /apis/custom.metrics.k8s.io".to_owned();
    assert_eq!(
        server.requests(),
        [discovery.clone(), list.clone(), list.clone()]
    );
    client.invalidate();
    client.pods(QUERY).await.expect("served");
    assert_eq!(server.requests(), [discovery, list]);
}

#[tokio::test(start_paused = true)]
async fn an_object_is_asked_for_by_its_resource_and_a_namespace_by_itself() {
    let (server, client) = cluster();
    custom_group(&server, "v1beta1", &["v1beta1"]);
    server.serve(
        "GET /apis/networking.k8s.io",
        json!({"versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}}),
    );
    let ingresses = json!({"resources": [{"name": "ingresses", "kind": "Ingress"}]});
    server.serve("GET /apis/networking.k8s.io/v1", ingresses);
    let prefix = "GET /apis/custom.metrics.k8s.io/v1beta1/namespaces/shop";
    let one = json!({"items": [{"describedObject": {"name": "x"}, "value": "1500m"}]});
    server.serve(
        &format!("{prefix}/ingresses.networking.k8s.io/front/rps"),
        one.clone(),
    );
    server.serve(&format!("{prefix}/metrics/rps"), one);
    let query = Query {
        pods: "",
        metric: "",
        ..QUERY
    };
    let front = Described {
        group: "networking.k8s.io",
        kind: "Ingress",
        name: "front",
    };
    assert_eq!(client.object(query, front).await.expect("served"), 1_500);
    let namespace = Described {
        group: "",
        kind: "Namespace",
        name: "ignored",
    };
    assert_eq!(
        client.object(query, namespace).await.expect("served"),
        1_500
    );
    let rocket = Described {
        group: "space",
        kind: "Rocket",
        name: "r",
    };
    let error = client
        .object(query, rocket)
        .await
        .expect_err("unknown")
        .to_string();
    let text = "unable to fetch metrics from custom metrics API: unable to map kind Rocket.space to resource: \
                no matches for kind \"Rocket\" in group \"space\"";
    assert_eq!(error, text);
}

#[tokio::test(start_paused = true)]
async fn external_metrics_are_summed_by_nobody_here() {
    let (server, client) = cluster();
    let path = "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/rps";
    server.serve(
        &format!("GET {path}"),
        json!({"items": [{"value": "1"}, {"value": "20m"}]}),
    );
    assert_eq!(client.external(QUERY).await.expect("served"), [1_000, 20]);
    assert_eq!(
        server.requests(),
        [format!(
            "GET {path}?labelSelector=verb%20in%20%28GET%2CPUT%29"
        )]
    );
    let error = failure(500, "InternalError", "queue is down");
    server.answer(&format!("GET {path}"), 500, error);
    let error = client.external(QUERY).await.expect_err("down").to_string();
    assert_eq!(
        error,
        "unable to fetch metrics from external metrics API: queue is down"
    );
}

#[tokio::test(start_paused = true)]
async fn a_custom_api_that_is_absent_or_too_new_is_named() {
    let (server, client) = cluster();
    let error = client.pods(QUERY).await.expect_err("absent").to_string();
    let text = "unable to fetch metrics from custom metrics API: \
                no custom metrics API (custom.metrics.k8s.io) registered";
    assert_eq!(error, text);
    custom_group(&server, "v9", &["v9"]);
    let error = client.pods(QUERY).await.expect_err("too new").to_string();
    let text =
        "unable to fetch metrics from custom metrics API: no known available metric versions found";
    assert_eq!(error, text);
}
