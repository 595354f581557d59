//! The controllers over the store, in virtual time.

use serde_json::{Value, json};

use crate::world::{DEPLOYMENTS, MERGE, PODS, World, deployment};

async fn ready(world: &World, name: &str) -> i64 {
    world.get(&format!("{DEPLOYMENTS}/{name}")).await.ok()["status"]["readyReplicas"]
        .as_i64()
        .unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn a_deployment_becomes_ready_follows_its_scale_and_rolls() {
    let world = World::new().await;
    world.post(DEPLOYMENTS, &deployment("web", 3)).await.ok();
    world.pass(5).await;
    assert_eq!(ready(&world, "web").await, 3);
    let path = format!("{DEPLOYMENTS}/web");
    world
        .patch(
            &format!("{path}/scale"),
            MERGE,
            &json!({"spec": {"replicas": 5}}),
        )
        .await
        .ok();
    world.pass(5).await;
    assert_eq!(ready(&world, "web").await, 5);
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}});
    world.patch(&path, MERGE, &image).await.ok();
    world.pass(60).await;
    let pods = world.get(PODS).await.ok();
    let images: Vec<&Value> = pods["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["spec"]["containers"][0]["image"])
        .collect();
    assert_eq!(images, ["web:2"; 5]);
    assert_eq!(ready(&world, "web").await, 5);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_replaced() {
    let world = World::new().await;
    world.post(DEPLOYMENTS, &deployment("web", 1)).await.ok();
    world.pass(5).await;
    let pods = world.get(PODS).await.ok();
    let name = pods["items"][0]["metadata"]["name"].as_str().unwrap();
    world
        .delete(&format!("{PODS}/{name}"), &Value::Null)
        .await
        .ok();
    world.pass(10).await;
    let pods = world.get(PODS).await.ok();
    assert_eq!(pods["items"].as_array().unwrap().len(), 1);
    assert_ne!(pods["items"][0]["metadata"]["name"], name);
}

#[tokio::test(start_paused = true)]
async fn an_idle_plane_takes_no_revisions_and_old_events_go() {
    let world = World::new().await;
    world.post(DEPLOYMENTS, &deployment("web", 2)).await.ok();
    world.pass(60).await;
    let list = world.get("/api/v1/events").await.ok();
    assert!(!list["items"].as_array().unwrap().is_empty());
    world.pass(1800).await;
    let later = world.get("/api/v1/events").await.ok();
    assert_eq!(
        later["metadata"]["resourceVersion"],
        list["metadata"]["resourceVersion"]
    );
    world.pass(3600).await;
    assert_eq!(world.get("/api/v1/events").await.ok()["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_load_is_seen_through_the_metrics_api() {
    let world = World::new().await;
    let mut object = deployment("web", 2);
    object["metadata"]["annotations"] =
        json!({"flyball.dev/load": "{\"cpu\": \"600m\", \"memory\": \"64Mi\"}"});
    object["spec"]["template"]["spec"]["containers"][0]["resources"] =
        json!({"requests": {"cpu": "500m"}});
    world.post(DEPLOYMENTS, &object).await.ok();
    world.pass(180).await;
    let metrics = world
        .get("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods")
        .await
        .ok();
    let usage: Vec<&Value> = metrics["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["containers"][0]["usage"]["cpu"])
        .collect();
    assert_eq!(usage.len(), 2, "{metrics}");
    for cpu in usage {
        let quantity: flyball_api::Quantity = cpu.as_str().unwrap().parse().unwrap();
        assert_eq!(quantity.milli_value(), 300);
    }
}
