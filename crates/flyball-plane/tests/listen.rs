//! The plane over TLS on loopback, as kubectl and controllers reach it.

use std::net::SocketAddr;
use std::path::Path;

use flyball_clock::Clock;
use flyball_plane::store::Storage;
use flyball_plane::{Config, Exposure, Plane, PlaneError};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{Api, ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Error};
use serde_json::json;

async fn open(folder: &Path) -> Plane {
    Plane::open(Config::in_folder(folder.to_owned(), 1), Clock::system())
        .await
        .expect("the folder can be used")
}

async fn serve(plane: &Plane) -> SocketAddr {
    let listener = plane.bind().await.expect("loopback has a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(plane.serve(listener));
    address
}

async fn client(kubeconfig: &str) -> Client {
    let parsed = Kubeconfig::from_yaml(kubeconfig).expect("the kubeconfig is sound");
    let config = kube::Config::from_custom_kubeconfig(parsed, &KubeConfigOptions::default()).await;
    Client::try_from(config.expect("the kubeconfig is complete")).expect("a client can be made")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kubeconfig_opens_the_plane_and_still_does_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("data");
    let plane = open(&folder).await;
    let address = serve(&plane).await;
    let kubeconfig = std::fs::read_to_string(plane.kubeconfig_path().unwrap()).unwrap();
    assert_eq!(kubeconfig, plane.kubeconfig(address));
    let api: Api<ConfigMap> = Api::default_namespaced(client(&kubeconfig).await);
    let made = serde_json::from_value(json!({"metadata": {"name": "kept"}})).unwrap();
    let made = api.create(&PostParams::default(), &made).await.unwrap();
    plane.shutdown().await;
    drop((api, plane));

    let plane = open(&folder).await;
    assert_eq!(serve(&plane).await, address, "the port is the same");
    let api: Api<ConfigMap> = Api::default_namespaced(client(&kubeconfig).await);
    assert_eq!(
        api.get("kept").await.unwrap().metadata.uid,
        made.metadata.uid
    );
    plane.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_but_health_and_version_is_told_without_the_token() {
    let dir = tempfile::tempdir().unwrap();
    let plane = open(&dir.path().join("data")).await;
    let address = serve(&plane).await;
    let mut stranger: serde_json::Value = serde_json::from_str(&plane.kubeconfig(address)).unwrap();
    stranger["users"][0]["user"]["token"] = "guess".into();
    let client = client(&stranger.to_string()).await;
    let refused = Api::<Namespace>::all(client.clone())
        .list(&ListParams::default())
        .await;
    assert!(
        matches!(refused, Err(Error::Api(status)) if status.code == 401 && status.reason == "Unauthorized")
    );
    assert_eq!(
        client.apiserver_version().await.unwrap().git_version,
        "v1.37.2+flyball"
    );
    plane.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_hosts_are_let_in_only_by_name() {
    let address: SocketAddr = ([0, 0, 0, 0], 0).into();
    let mut config = Config {
        listen: address,
        ..Config::in_memory(1)
    };
    let plane = Plane::open(config.clone(), Clock::system()).await.unwrap();
    let refused = plane.bind().await.unwrap_err();
    assert!(matches!(refused, PlaneError::Exposed(ip) if ip == address.ip()));
    config.exposure = Exposure::EverybodyOnTheNetwork;
    let plane = Plane::open(config, Clock::system()).await.unwrap();
    plane.bind().await.expect("it was allowed by name");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_taken_port_and_a_foreign_folder_are_named() {
    let plane = Plane::open(Config::in_memory(1), Clock::system())
        .await
        .unwrap();
    let taken = serve(&plane).await;
    let config = Config {
        listen: taken,
        ..Config::in_memory(1)
    };
    let other = Plane::open(config, Clock::system()).await.unwrap();
    assert!(
        matches!(other.bind().await, Err(PlaneError::Bind { address, .. }) if address == taken)
    );
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("notes.txt"), "mine").unwrap();
    let config = Config {
        storage: Storage::Folder(dir.path().to_owned()),
        ..Config::in_memory(1)
    };
    let refused = Plane::open(config, Clock::system()).await.unwrap_err();
    assert!(
        refused.to_string().contains("choose an empty folder"),
        "{refused}"
    );
}
