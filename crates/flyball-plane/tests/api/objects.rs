//! Create, read, update, list: codes, texts, revisions.

use serde_json::{Value, json};

use crate::world::{
    CONFIG_MAPS, DEPLOYMENTS, JSON_PATCH, MERGE, Reply, STRATEGIC, World, config_map, deployment,
};

#[tokio::test(start_paused = true)]
async fn a_created_object_gets_what_only_the_server_gives() {
    let world = World::new().await;
    let reply = world.post(DEPLOYMENTS, &deployment("web", 2)).await;
    assert_eq!(reply.code, 201);
    let made = reply.ok();
    assert_eq!(
        made["metadata"]["creationTimestamp"],
        "2026-01-01T00:00:00Z"
    );
    assert_eq!(made["metadata"]["namespace"], "default");
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["metadata"]["uid"].as_str().unwrap().len(), 36);
    assert_eq!(made["spec"]["strategy"]["rollingUpdate"]["maxSurge"], "25%");
    assert_eq!(
        made["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"],
        "IfNotPresent"
    );
    assert_eq!(made["status"], json!({}));
}

fn check(table: &[(Reply, u16, &str, &str)]) {
    for (reply, code, reason, message) in table {
        assert_eq!(reply.refusal(), (*code, *reason, *message));
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_or_taken_is_named_in_upstreams_words() {
    let world = World::new().await;
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let elsewhere = "/api/v1/namespaces/nope/configmaps";
    check(&[
        (
            world.get(&format!("{CONFIG_MAPS}/x")).await,
            404,
            "NotFound",
            "configmaps \"x\" not found",
        ),
        (
            world.get(&format!("{DEPLOYMENTS}/x")).await,
            404,
            "NotFound",
            "deployments.apps \"x\" not found",
        ),
        (
            world.post(CONFIG_MAPS, &config_map("a")).await,
            409,
            "AlreadyExists",
            "configmaps \"a\" already exists",
        ),
        (
            world.post(elsewhere, &config_map("a")).await,
            404,
            "NotFound",
            "namespaces \"nope\" not found",
        ),
        (
            world
                .put(&format!("{CONFIG_MAPS}/b"), &config_map("b"))
                .await,
            404,
            "NotFound",
            "configmaps \"b\" not found",
        ),
    ]);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_belong_is_refused_in_upstreams_words() {
    let world = World::new().await;
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let with =
        |metadata: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    let foreign = with(json!({"name": "b", "namespace": "other"}));
    let versioned = with(json!({"name": "b", "resourceVersion": "7"}));
    let nameless = with(json!({}));
    check(&[
        (
            world.post(CONFIG_MAPS, &foreign).await,
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            world.post(CONFIG_MAPS, &versioned).await,
            500,
            "",
            "resourceVersion should not be set on objects to be created",
        ),
        (
            world.post(CONFIG_MAPS, &nameless).await,
            422,
            "Invalid",
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required",
        ),
        (
            world
                .put(&format!("{CONFIG_MAPS}/a"), &config_map("b"))
                .await,
            400,
            "BadRequest",
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            world.post(CONFIG_MAPS, &deployment("web", 1)).await,
            400,
            "BadRequest",
            "Deployment in version \"v1\" cannot be handled as a ConfigMap: no kind \"Deployment\" is registered for version \"apps/v1\" in scheme \"pkg/runtime/scheme.go:111\"",
        ),
    ]);
}

#[tokio::test(start_paused = true)]
async fn every_problem_of_an_invalid_object_is_a_cause() {
    let world = World::new().await;
    let mut wrong = deployment("web", -1);
    wrong["spec"]["template"]["metadata"]["labels"] = json!({"app": "other"});
    wrong["spec"]["template"]["spec"]["containers"][0]["image"] = "".into();
    let reply = world.post(DEPLOYMENTS, &wrong).await;
    let causes: Vec<_> = reply.value["details"]["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["field"].clone())
        .collect();
    assert_eq!(
        causes,
        [
            "spec.replicas",
            "spec.template.metadata.labels",
            "spec.template.spec.containers[0].image"
        ]
    );
    assert_eq!(
        reply.refusal().2,
        "Deployment.apps \"web\" is invalid: [spec.replicas: Invalid value: -1: must be greater than or equal to 0, \
         spec.template.metadata.labels: Invalid value: {\"app\":\"other\"}: `selector` does not match template `labels`, \
         spec.template.spec.containers[0].image: Required value]"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stale_update_conflicts_and_an_unconditional_one_does_not() {
    let world = World::new().await;
    let path = format!("{CONFIG_MAPS}/a");
    let old = world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let mut new = old.clone();
    new["data"]["a"] = "2".into();
    let second = world.put(&path, &new).await.ok();
    assert_ne!(
        second["metadata"]["resourceVersion"],
        old["metadata"]["resourceVersion"]
    );
    assert_eq!(
        world.put(&path, &new).await.refusal(),
        (
            409,
            "Conflict",
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
        )
    );
    assert_eq!(
        world.put(&path, &config_map("a")).await.ok()["data"]["a"],
        "1"
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_that_changes_nothing_takes_no_revision() {
    let world = World::new().await;
    let made = world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let same = world.put(&format!("{CONFIG_MAPS}/a"), &made).await.ok();
    assert_eq!(same, made);
}

#[tokio::test(start_paused = true)]
async fn the_generation_counts_changes_of_the_spec_only() {
    let world = World::new().await;
    let path = format!("{DEPLOYMENTS}/web");
    world.post(DEPLOYMENTS, &deployment("web", 1)).await.ok();
    let generation = |object: Value| object["metadata"]["generation"].as_i64().unwrap();
    let labels = json!({"metadata": {"labels": {"x": "y"}}});
    assert_eq!(generation(world.patch(&path, MERGE, &labels).await.ok()), 1);
    assert_eq!(
        generation(
            world
                .patch(&path, MERGE, &json!({"spec": {"replicas": 3}}))
                .await
                .ok()
        ),
        2
    );
    let status = json!({"status": {"observedGeneration": 2}, "spec": {"replicas": 9}});
    let object = world
        .patch(&format!("{path}/status"), MERGE, &status)
        .await
        .ok();
    assert_eq!(
        (
            object["spec"]["replicas"].clone(),
            object["status"]["observedGeneration"].clone()
        ),
        (3.into(), 2.into())
    );
    assert_eq!(generation(object), 2);
    let status = world
        .patch(&path, MERGE, &json!({"status": {"observedGeneration": 7}}))
        .await
        .ok();
    assert_eq!(
        status["status"]["observedGeneration"], 2,
        "the main resource keeps the status"
    );
}

#[tokio::test(start_paused = true)]
async fn patches_of_every_type_change_the_object() {
    let world = World::new().await;
    let path = format!("{DEPLOYMENTS}/web");
    world.post(DEPLOYMENTS, &deployment("web", 1)).await.ok();
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}});
    let object = world.patch(&path, STRATEGIC, &image).await.ok();
    let containers = &object["spec"]["template"]["spec"]["containers"];
    assert_eq!(
        (
            containers[0]["image"].clone(),
            containers.as_array().unwrap().len()
        ),
        ("web:2".into(), 1)
    );
    let operations = json!([{"op": "test", "path": "/spec/replicas", "value": 1}, {"op": "replace", "path": "/spec/replicas", "value": 2}]);
    assert_eq!(
        world.patch(&path, JSON_PATCH, &operations).await.ok()["spec"]["replicas"],
        2
    );
    assert_eq!(world.patch(&path, JSON_PATCH, &operations).await.code, 422);
    let reply = world
        .patch(&path, "application/apply-patch+yaml", &json!({}))
        .await;
    assert_eq!(
        (reply.code, reply.refusal().1),
        (415, "UnsupportedMediaType")
    );
    assert!(reply.refusal().2.contains("use client-side apply"));
}

#[tokio::test(start_paused = true)]
async fn a_patch_with_a_revision_is_conditional() {
    let world = World::new().await;
    let path = format!("{CONFIG_MAPS}/a");
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let stale = json!({"metadata": {"resourceVersion": "1"}, "data": {"a": "2"}});
    assert_eq!(
        world.patch(&path, MERGE, &stale).await.refusal().1,
        "Conflict"
    );
}

#[tokio::test(start_paused = true)]
async fn the_selector_of_a_deployment_is_immutable() {
    let world = World::new().await;
    world.post(DEPLOYMENTS, &deployment("web", 1)).await.ok();
    let patch = json!({"spec": {"selector": {"matchLabels": {"app": "b"}}, "template": {"metadata": {"labels": {"app": "b"}}}}});
    let reply = world
        .patch(&format!("{DEPLOYMENTS}/web"), MERGE, &patch)
        .await;
    assert_eq!(
        reply.refusal().2,
        "Deployment.apps \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is immutable"
    );
}

#[tokio::test(start_paused = true)]
async fn a_generated_name_has_a_suffix() {
    let world = World::new().await;
    let object = json!({"metadata": {"generateName": "a-"}});
    let name = world.post(CONFIG_MAPS, &object).await.ok()["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(name.starts_with("a-") && name.len() == 7, "{name}");
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_answers_and_changes_nothing() {
    let world = World::new().await;
    let made = world
        .post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("a"))
        .await;
    assert_eq!(
        (made.code, made.value["metadata"]["name"].clone()),
        (201, "a".into())
    );
    assert_eq!(world.get(&format!("{CONFIG_MAPS}/a")).await.code, 404);
    world.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let patch = json!({"data": {"a": "2"}});
    let patched = world
        .patch(&format!("{CONFIG_MAPS}/a?dryRun=All"), MERGE, &patch)
        .await
        .ok();
    assert_eq!(patched["data"]["a"], "2");
    world
        .delete(&format!("{CONFIG_MAPS}/a?dryRun=All"), &Value::Null)
        .await
        .ok();
    assert_eq!(
        world.get(&format!("{CONFIG_MAPS}/a")).await.ok()["data"]["a"],
        "1"
    );
}

#[tokio::test(start_paused = true)]
async fn lists_select_page_and_carry_the_revision() {
    let world = World::new().await;
    for name in ["a", "b", "c", "d", "e"] {
        let odd = ["a", "c", "e"].contains(&name).to_string();
        let mut object = config_map(name);
        object["metadata"]["labels"] = json!({"odd": odd});
        world.post(CONFIG_MAPS, &object).await.ok();
    }
    let names = |list: &Value| -> Vec<String> {
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|o| o["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let odd = world
        .get(&format!("{CONFIG_MAPS}?labelSelector=odd%3Dtrue"))
        .await
        .ok();
    assert_eq!(names(&odd), ["a", "c", "e"]);
    assert_eq!(odd["kind"], "ConfigMapList");
    assert!(
        odd["items"][0].get("kind").is_none(),
        "items of a list carry no kind"
    );
    let one = world
        .get(&format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Db"))
        .await
        .ok();
    assert_eq!(names(&one), ["b"]);
    let first = world.get("/api/v1/configmaps?limit=2").await.ok();
    assert_eq!(
        (
            names(&first),
            first["metadata"]["remainingItemCount"].clone()
        ),
        (vec!["a".into(), "b".into()], 3.into())
    );
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = world
        .get(&format!("/api/v1/configmaps?limit=9&continue={token}"))
        .await
        .ok();
    assert_eq!(names(&second), ["c", "d", "e"]);
    assert_eq!(
        second["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
    assert!(second["metadata"].get("continue").is_none());
}

#[tokio::test(start_paused = true)]
async fn list_options_are_checked() {
    let world = World::new().await;
    let newest = world.get(CONFIG_MAPS).await.ok()["metadata"]["resourceVersion"].clone();
    let newest = newest.as_str().unwrap();
    let too_large = format!("Timeout: Too large resource version: 999999, current: {newest}");
    let table = [
        (
            "fieldSelector=spec.x%3D1",
            400,
            "\"spec.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
        ),
        (
            "resourceVersionMatch=Exact",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "sendInitialEvents=true",
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        ),
        ("resourceVersion=999999", 504, too_large.as_str()),
    ];
    for (query, code, message) in table {
        let reply = world.get(&format!("{CONFIG_MAPS}?{query}")).await;
        assert_eq!(
            (reply.refusal().0, reply.refusal().2),
            (code, message),
            "{query}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn events_are_one_store_behind_two_groups() {
    let world = World::new().await;
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "message": "hello", "reason": "R", "type": "Normal",
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    });
    world
        .post("/api/v1/namespaces/default/events", &event)
        .await
        .ok();
    let served = world
        .get("/apis/events.k8s.io/v1/namespaces/default/events/e")
        .await
        .ok();
    assert_eq!(
        (
            served["apiVersion"].clone(),
            served["note"].clone(),
            served["regarding"]["name"].clone()
        ),
        ("events.k8s.io/v1".into(), "hello".into(), "p".into())
    );
    let about = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp";
    assert_eq!(
        world.get(about).await.ok()["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_created_by_put_and_then_needs_its_revision() {
    let world = World::new().await;
    let path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/lock";
    let lease = json!({"metadata": {"name": "lock"}, "spec": {"holderIdentity": "me"}});
    assert_eq!(world.put(path, &lease).await.code, 201);
    let reply = world.put(path, &lease).await;
    assert_eq!((reply.code, reply.refusal().1), (422, "Invalid"));
    assert!(
        reply
            .refusal()
            .2
            .contains("must be specified for an update")
    );
}
