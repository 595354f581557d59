//! HorizontalPodAutoscalers as stored objects.

use serde_json::{Value, json};

use crate::world::{MERGE, World};

const PATH: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";

fn autoscaler(spec: &Value) -> Value {
    json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"}, "spec": spec})
}

fn target() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"})
}

#[tokio::test(start_paused = true)]
async fn a_bare_autoscaler_is_completed() {
    let world = World::new().await;
    let made = world
        .post(
            PATH,
            &autoscaler(&json!({"scaleTargetRef": target(), "maxReplicas": 5, "behavior": {}})),
        )
        .await
        .ok();
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["spec"]["minReplicas"], 1);
    assert_eq!(
        made["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
        80
    );
    assert_eq!(
        made["spec"]["behavior"]["scaleUp"]["policies"][1]["value"],
        100
    );
    assert_eq!(
        made["status"],
        json!({"currentMetrics": null, "desiredReplicas": 0})
    );
}

#[tokio::test(start_paused = true)]
async fn a_wrong_autoscaler_is_refused_with_every_problem() {
    let world = World::new().await;
    let reply = world.post(PATH, &autoscaler(&json!({"scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}}))).await;
    assert_eq!(
        reply.refusal(),
        (
            422,
            "Invalid",
            "HorizontalPodAutoscaler.autoscaling \"web\" is invalid: [spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`, spec.maxReplicas: Required value]"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn its_generation_counts_changes_that_mean_something() {
    let world = World::new().await;
    let path = format!("{PATH}/web");
    let metric = |quantity: &str| json!([{"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": quantity}}}]);
    world
        .post(
            PATH,
            &autoscaler(
                &json!({"scaleTargetRef": target(), "maxReplicas": 5, "metrics": metric("1")}),
            ),
        )
        .await
        .ok();
    let same = world
        .patch(&path, MERGE, &json!({"spec": {"metrics": metric("1000m")}}))
        .await
        .ok();
    assert_eq!(same["metadata"]["generation"], 1);
    let other = world
        .patch(&path, MERGE, &json!({"spec": {"maxReplicas": 6}}))
        .await
        .ok();
    assert_eq!(other["metadata"]["generation"], 2);
    let status =
        json!({"spec": {"maxReplicas": 9}, "status": {"desiredReplicas": 3, "currentReplicas": 2}});
    let object = world
        .patch(&format!("{path}/status"), MERGE, &status)
        .await
        .ok();
    assert_eq!(
        (
            object["spec"]["maxReplicas"].clone(),
            object["status"]["desiredReplicas"].clone(),
            object["metadata"]["generation"].clone()
        ),
        (6.into(), 3.into(), 2.into())
    );
}

#[tokio::test(start_paused = true)]
async fn annotations_that_stand_for_fields_are_dropped_when_an_autoscaler_is_read() {
    const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
    let world = World::new().await;
    let mut object = autoscaler(&json!({"scaleTargetRef": target(), "maxReplicas": 5}));
    object["metadata"]["annotations"] = json!({BEHAVIOR: "{}", "mine": "kept"});
    let made = world.post(PATH, &object).await.ok();
    assert_eq!(made["metadata"]["annotations"], json!({"mine": "kept"}));
    let patch = json!({"metadata": {"annotations": {BEHAVIOR: "{}"}}});
    let patched = world
        .patch(&format!("{PATH}/web"), MERGE, &patch)
        .await
        .ok();
    assert_eq!(patched, made, "nothing changed, not even the revision");
}
