//! The scale subresource.

use serde_json::{Value, json};

use crate::world::{DEPLOYMENTS, MERGE, World, deployment};

const SCALE: &str = "/apis/apps/v1/namespaces/default/deployments/web/scale";

#[tokio::test(start_paused = true)]
async fn a_scale_is_read_and_written_by_put_and_patch() {
    let world = World::new().await;
    let made = world.post(DEPLOYMENTS, &deployment("web", 2)).await.ok();
    world.pass(5).await;
    let scale = world.get(SCALE).await.ok();
    assert_eq!(
        (scale["kind"].clone(), scale["apiVersion"].clone()),
        ("Scale".into(), "autoscaling/v1".into())
    );
    assert_eq!(scale["metadata"]["uid"], made["metadata"]["uid"]);
    assert_eq!(
        (scale["spec"].clone(), scale["status"].clone()),
        (
            json!({"replicas": 2}),
            json!({"replicas": 2, "selector": "app=web"})
        )
    );
    let mut wanted = scale.clone();
    wanted["spec"]["replicas"] = 3.into();
    assert_eq!(world.put(SCALE, &wanted).await.ok()["spec"]["replicas"], 3);
    let object = world.get(&format!("{DEPLOYMENTS}/web")).await.ok();
    assert_eq!(
        (
            object["spec"]["replicas"].clone(),
            object["metadata"]["generation"].clone()
        ),
        (3.into(), 2.into())
    );
    assert_eq!(
        world.put(SCALE, &wanted).await.refusal().1,
        "Conflict",
        "the scale carries the object's revision"
    );
    let zero = world
        .patch(SCALE, MERGE, &json!({"spec": {"replicas": 0}}))
        .await
        .ok();
    assert_eq!(zero["spec"], json!({}), "zero is left out");
}

#[tokio::test(start_paused = true)]
async fn a_negative_scale_is_refused() {
    let world = World::new().await;
    world.post(DEPLOYMENTS, &deployment("web", 2)).await.ok();
    let reply = world
        .patch(SCALE, MERGE, &json!({"spec": {"replicas": -1}}))
        .await;
    assert_eq!(
        reply.refusal().2,
        "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    );
    let missing = world
        .delete(&format!("{DEPLOYMENTS}/web"), &Value::Null)
        .await;
    assert_eq!(missing.code, 200);
    assert_eq!(
        world.get(SCALE).await.refusal().2,
        "deployments.apps \"web\" not found"
    );
}

#[tokio::test(start_paused = true)]
async fn a_replication_controllers_selector_is_a_map() {
    let world = World::new().await;
    let path = "/api/v1/namespaces/default/replicationcontrollers";
    let template = json!({"metadata": {"labels": {"b": "2", "a": "1"}}, "spec": {"containers": [{"name": "c", "image": "c:1"}]}});
    world
        .post(
            path,
            &json!({"metadata": {"name": "rc"}, "spec": {"template": template}}),
        )
        .await
        .ok();
    let scale = world.get(&format!("{path}/rc/scale")).await.ok();
    assert_eq!(
        (
            scale["spec"]["replicas"].clone(),
            scale["status"]["selector"].clone()
        ),
        (1.into(), "a=1,b=2".into())
    );
}
