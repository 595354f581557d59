//! DELETE: answers, finalizers, grace, preconditions, dependents, namespaces.

use serde_json::{Value, json};

use crate::world::{CONFIG_MAPS, DEPLOYMENTS, MERGE, PODS, World, config_map, deployment};

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "a", "image": "a:1"}]}})
}

#[tokio::test(start_paused = true)]
async fn a_deleted_object_is_answered_as_a_status_or_as_itself() {
    let world = World::new().await;
    let made = world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let status = world
        .delete(&format!("{CONFIG_MAPS}/a"), &Value::Null)
        .await
        .ok();
    assert_eq!(
        status,
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]},
        })
    );
    assert_eq!(world.get(&format!("{CONFIG_MAPS}/a")).await.code, 404);
    world.post(PODS, &pod("p")).await.ok();
    assert_eq!(
        world.delete(&format!("{PODS}/p"), &Value::Null).await.ok()["kind"],
        "Pod"
    );
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_keeps_the_object_until_it_is_taken_away() {
    let world = World::new().await;
    let path = format!("{CONFIG_MAPS}/a");
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["x.io/hold"]);
    world.post(CONFIG_MAPS, &object).await.ok();
    let marked = world.delete(&path, &Value::Null).await.ok();
    assert_eq!(
        marked["metadata"]["deletionTimestamp"],
        "2026-01-01T00:00:00Z"
    );
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 0);
    let again = world.post(CONFIG_MAPS, &config_map("a")).await;
    assert_eq!(
        again.refusal().2,
        "object is being deleted: configmaps \"a\" already exists"
    );
    let more = world
        .patch(
            &path,
            MERGE,
            &json!({"metadata": {"finalizers": ["x.io/hold", "y.io/hold"]}}),
        )
        .await;
    assert_eq!(more.refusal().1, "Invalid", "no new finalizers");
    world
        .patch(&path, MERGE, &json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    assert_eq!(world.get(&path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn preconditions_must_hold() {
    let world = World::new().await;
    let made = world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let path = format!("{CONFIG_MAPS}/a");
    let reply = world
        .delete(&path, &json!({"preconditions": {"uid": "other"}}))
        .await;
    assert_eq!(reply.refusal().1, "Conflict");
    assert!(
        reply
            .refusal()
            .2
            .contains("the UID in the precondition (other) does not match the UID in record")
    );
    let reply = world
        .delete(&path, &json!({"preconditions": {"resourceVersion": "1"}}))
        .await;
    assert_eq!(reply.refusal().1, "Conflict");
    let uid = &made["metadata"]["uid"];
    world
        .delete(&path, &json!({"preconditions": {"uid": uid}}))
        .await
        .ok();
}

#[tokio::test(start_paused = true)]
async fn a_running_pod_is_given_its_grace_unless_told_otherwise() {
    let world = World::new().await;
    for name in ["slow", "fast"] {
        let mut object = pod(name);
        object["metadata"]["annotations"] = json!({"flyball.dev/termination-seconds": "20"});
        world.post(PODS, &object).await.ok();
    }
    world.pass(5).await;
    let marked = world
        .delete(&format!("{PODS}/slow"), &Value::Null)
        .await
        .ok();
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(
        marked["metadata"]["deletionTimestamp"],
        "2026-01-01T00:00:35Z"
    );
    world.pass(19).await;
    assert_eq!(world.get(&format!("{PODS}/slow")).await.code, 200);
    world.pass(2).await;
    assert_eq!(world.get(&format!("{PODS}/slow")).await.code, 404);
    world
        .delete(&format!("{PODS}/fast"), &json!({"gracePeriodSeconds": 0}))
        .await
        .ok();
    assert_eq!(world.get(&format!("{PODS}/fast")).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn dependents_go_after_before_or_not_at_all() {
    let world = World::new().await;
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    let count = async |path: &str| {
        world.get(path).await.ok()["items"]
            .as_array()
            .unwrap()
            .len()
    };
    for (policy, left) in [("Background", 0), ("Foreground", 0), ("Orphan", 2)] {
        world.post(DEPLOYMENTS, &deployment("web", 2)).await.ok();
        world.pass(5).await;
        assert_eq!((count(sets).await, count(PODS).await), (1, 2));
        let options =
            json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
        world
            .delete(&format!("{DEPLOYMENTS}/web"), &options)
            .await
            .ok();
        world.pass(10).await;
        assert_eq!(
            world.get(&format!("{DEPLOYMENTS}/web")).await.code,
            404,
            "{policy}"
        );
        assert_eq!(count(PODS).await, left, "{policy}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deleted_namespace_takes_its_contents_along() {
    let world = World::new().await;
    let namespace = json!({"metadata": {"name": "team"}});
    let made = world.post("/api/v1/namespaces", &namespace).await.ok();
    assert_eq!(
        made["metadata"]["labels"]["kubernetes.io/metadata.name"],
        "team"
    );
    assert_eq!(
        (
            made["spec"]["finalizers"].clone(),
            made["status"]["phase"].clone()
        ),
        (json!(["kubernetes"]), "Active".into())
    );
    world
        .post(
            "/apis/apps/v1/namespaces/team/deployments",
            &deployment("web", 2),
        )
        .await
        .ok();
    world.pass(5).await;
    let marked = world
        .delete("/api/v1/namespaces/team", &Value::Null)
        .await
        .ok();
    assert_eq!(marked["status"]["phase"], "Terminating");
    let refused = world
        .post("/api/v1/namespaces/team/configmaps", &config_map("a"))
        .await;
    assert_eq!(
        refused.refusal().2,
        "configmaps \"a\" is forbidden: unable to create new content in namespace team because it is being terminated"
    );
    world.pass(60).await;
    assert_eq!(world.get("/api/v1/namespaces/team").await.code, 404);
    assert_eq!(world.get("/api/v1/pods").await.ok()["items"], json!([]));
    let immortal = world
        .delete("/api/v1/namespaces/default", &Value::Null)
        .await;
    assert_eq!(
        immortal.refusal().2,
        "namespaces \"default\" is forbidden: this namespace may not be deleted"
    );
}

#[tokio::test(start_paused = true)]
async fn a_collection_is_deleted_by_selector() {
    let world = World::new().await;
    for name in ["a", "b"] {
        let mut object = config_map(name);
        object["metadata"]["labels"] = json!({"name": name});
        world.post(CONFIG_MAPS, &object).await.ok();
    }
    let list = world
        .delete(
            &format!("{CONFIG_MAPS}?labelSelector=name%3Da"),
            &Value::Null,
        )
        .await
        .ok();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!(world.get(&format!("{CONFIG_MAPS}/a")).await.code, 404);
    assert_eq!(world.get(&format!("{CONFIG_MAPS}/b")).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn a_replication_controller_leaves_its_pods_unless_told_otherwise() {
    let world = World::new().await;
    let path = "/api/v1/namespaces/default/replicationcontrollers";
    let template = json!({"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "c", "image": "c:1"}]}});
    world
        .post(
            path,
            &json!({"metadata": {"name": "rc"}, "spec": {"template": template}}),
        )
        .await
        .ok();
    world.pass(5).await;
    world.delete(&format!("{path}/rc"), &Value::Null).await.ok();
    world.pass(5).await;
    assert_eq!(world.get(&format!("{path}/rc")).await.code, 404);
    assert_eq!(
        world.get(PODS).await.ok()["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_grace_without_end_is_kept_and_can_be_shortened() {
    let world = World::new().await;
    world.post(PODS, &pod("p")).await.ok();
    world.pass(5).await;
    let path = format!("{PODS}/p");
    let options = json!({"gracePeriodSeconds": i64::MAX});
    let marked = world.delete(&path, &options).await.ok();
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], i64::MAX);
    let options = json!({"gracePeriodSeconds": 10});
    let marked = world.delete(&path, &options).await.ok();
    // Its end is at the edge of the calendar, less than it says, so that what is shortened is over.
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 1);
}
