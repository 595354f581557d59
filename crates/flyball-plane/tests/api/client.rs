//! kube-rs, unchanged, over the service: no socket, no TLS, virtual time.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::Client;
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use serde_json::json;

use crate::world::{World, config_map, deployment};

fn client(world: &World) -> Client {
    Client::new(world.plane.service(), "default")
}

#[tokio::test(start_paused = true)]
async fn the_typed_client_creates_patches_scales_lists_and_deletes() {
    let world = World::new().await;
    let api: Api<Deployment> = Api::default_namespaced(client(&world));
    let made = serde_json::from_value(deployment("web", 2)).unwrap();
    api.create(&PostParams::default(), &made).await.unwrap();
    let patch = Patch::Merge(json!({"spec": {"replicas": 3}}));
    api.patch_scale("web", &PatchParams::default(), &patch)
        .await
        .unwrap();
    world.pass(10).await;
    let found = api.get("web").await.unwrap();
    assert_eq!(found.status.unwrap().ready_replicas, Some(3));
    let pods: Api<Pod> = Api::default_namespaced(client(&world));
    assert_eq!(
        pods.list(&ListParams::default().labels("app=web"))
            .await
            .unwrap()
            .items
            .len(),
        3
    );
    api.delete("web", &DeleteParams::background())
        .await
        .unwrap();
    world.pass(10).await;
    assert!(api.get_opt("web").await.unwrap().is_none());
    assert!(
        pods.list(&ListParams::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn the_typed_client_watches() {
    use futures::StreamExt as _;
    let world = World::new().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client(&world));
    let mut events = api
        .watch(&WatchParams::default(), "0")
        .await
        .unwrap()
        .boxed();
    let made = serde_json::from_value(config_map("a")).unwrap();
    api.create(&PostParams::default(), &made).await.unwrap();
    let bookmark = events.next().await.unwrap().unwrap();
    assert!(matches!(bookmark, WatchEvent::Bookmark(_)), "{bookmark:?}");
    let event = events.next().await.unwrap().unwrap();
    assert!(
        matches!(event, WatchEvent::Added(object) if object.metadata.name.as_deref() == Some("a"))
    );
}

#[tokio::test(start_paused = true)]
async fn refusals_arrive_as_the_clients_errors() {
    let world = World::new().await;
    let api: Api<ConfigMap> = Api::default_namespaced(client(&world));
    let error = api.get("x").await.unwrap_err();
    assert!(
        matches!(error, kube::Error::Api(status) if status.code == 404 && status.reason == "NotFound")
    );
}
