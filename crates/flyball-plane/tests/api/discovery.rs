//! Discovery, OpenAPI, version, health, access reviews.

use serde_json::{Value, json};

use crate::world::{World, config_map, request};

#[tokio::test(start_paused = true)]
async fn plain_discovery_names_groups_resources_and_subresources() {
    let world = World::new().await;
    assert_eq!(world.get("/api").await.ok()["versions"], json!(["v1"]));
    let groups = world.get("/apis").await.ok();
    let names: Vec<&str> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|g| g["name"].as_str().unwrap())
        .collect();
    for group in [
        "apps",
        "coordination.k8s.io",
        "custom.metrics.k8s.io",
        "events.k8s.io",
        "metrics.k8s.io",
    ] {
        assert!(names.contains(&group), "{group} in {names:?}");
    }
    assert_eq!(
        world.get("/apis/apps").await.ok()["preferredVersion"]["groupVersion"],
        "apps/v1"
    );
    let resources = world.get("/apis/apps/v1").await.ok();
    let find = |name: &str| {
        resources["resources"]
            .as_array()
            .unwrap()
            .iter()
            .find(|r| r["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(find("deployments")["shortNames"], json!(["deploy"]));
    assert_eq!(find("deployments/scale")["kind"], "Scale");
    assert_eq!(find("deployments/scale")["group"], "autoscaling");
    assert_eq!(
        find("statefulsets/status")["verbs"],
        json!(["get", "patch", "update"])
    );
}

#[tokio::test(start_paused = true)]
async fn aggregated_discovery_is_one_document() {
    let world = World::new().await;
    let mut asked = request("GET", "/apis", "", "");
    let accept =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    asked
        .headers_mut()
        .insert("accept", accept.parse().unwrap());
    let reply = world.send(asked).await;
    assert_eq!(
        reply.headers["content-type"],
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    );
    let document = reply.ok();
    let apps = document["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|g| g["metadata"]["name"] == "apps")
        .unwrap();
    let resource = &apps["versions"][0]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["resource"] == "deployments")
        .unwrap()
        .clone();
    assert_eq!(
        resource["responseKind"],
        json!({"group": "apps", "version": "v1", "kind": "Deployment"})
    );
    assert_eq!(
        (
            resource["scope"].clone(),
            resource["subresources"][0]["subresource"].clone()
        ),
        ("Namespaced".into(), "scale".into())
    );
}

#[tokio::test(start_paused = true)]
async fn every_group_version_with_kinds_has_an_openapi_document() {
    let world = World::new().await;
    let index = world.get("/openapi/v3").await.ok();
    for (path, entry) in index["paths"].as_object().unwrap() {
        let url = entry["serverRelativeURL"].as_str().unwrap();
        let document = world.get(url).await.ok();
        assert_eq!(document["openapi"], "3.0.0", "{path}");
    }
    assert!(index["paths"].get("apis/apps/v1").is_some());
}

#[tokio::test(start_paused = true)]
async fn version_health_and_access_are_answered() {
    let world = World::new().await;
    assert_eq!(
        world.get("/version").await.ok()["gitVersion"],
        "v1.37.2+flyball"
    );
    for path in ["/healthz", "/livez", "/readyz"] {
        assert_eq!(world.get(path).await.ok(), Value::String("ok".to_owned()));
    }
    let review = json!({"spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}}});
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert_eq!(
        world.post(path, &review).await.ok()["status"]["allowed"],
        true
    );
}

#[tokio::test(start_paused = true)]
async fn requests_are_counted_by_what_they_are_about_and_how_they_end() {
    let world = World::new().await;
    let path = "/api/v1/namespaces/default/configmaps";
    world.get(path).await.ok();
    world.get(path).await.ok();
    for missing in ["a", "b"] {
        world.get(&format!("{path}/{missing}")).await;
    }
    world
        .post(&format!("{path}?dryRun=All"), &config_map("a"))
        .await
        .ok();
    world.get("/api/v1/whatever").await;
    let watch = request("GET", &format!("{path}?watch=true"), "", "");
    let watch = world.start(watch).await;
    let Value::String(text) = world.get("/metrics").await.ok() else {
        unreachable!("metrics are a text");
    };
    let counted: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("apiserver_request_total"))
        .collect();
    assert_eq!(
        counted,
        [
            r#"{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"} 2"#,
            r#"{code="201",component="apiserver",dry_run="All",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1"#,
            r#"{code="404",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="GET",version="v1"} 2"#,
        ]
    );
    let open = r#"apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"} 1"#;
    assert!(text.contains(open), "{text}");
    drop(watch);
}
