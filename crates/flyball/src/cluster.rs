//! The binary's own few requests to an API server: read an object, make one, patch one.

use std::path::Path;

use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;
use thiserror::Error;

/// Why a request came to nothing, and what to do.
#[derive(Debug, Error)]
pub(crate) enum ClusterError {
    /// The kubeconfig is missing or cannot be used.
    #[error(
        "{path} cannot be used as a kubeconfig: start `flyball up` first, or name another one with --kubeconfig"
    )]
    Kubeconfig {
        /// The file.
        path: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server does not answer, or not as one.
    #[error("the API server does not answer: is `flyball up` or `flyball plane` running?")]
    NoAnswer(#[source] Box<kube::Error>),
    /// There is one of that name already.
    #[error("it exists already")]
    Exists,
    /// Somebody else was faster; the server's words.
    #[error("{0}")]
    Conflict(String),
    /// The server said no; its words.
    #[error("{0}")]
    Refused(String),
    /// The load of an object cannot be changed.
    #[error("the load of {object} cannot be changed: {why}")]
    Load {
        /// Kind and name.
        object: String,
        /// What is in the way.
        why: String,
    },
}

/// A client for the cluster of a kubeconfig.
pub(crate) async fn connect(path: &Path) -> Result<kube::Client, ClusterError> {
    let unusable = |source| ClusterError::Kubeconfig {
        path: path.display().to_string(),
        source,
    };
    let read = Kubeconfig::read_from(path).map_err(|error| unusable(error.into()))?;
    let config = kube::Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
        .await
        .map_err(|error| unusable(error.into()))?;
    kube::Client::try_from(config).map_err(|error| unusable(error.into()))
}

/// Reads the object at `path`.
pub(crate) async fn read(client: &kube::Client, path: &str) -> Result<Value, ClusterError> {
    send(client, http::Request::get(path), Vec::new()).await
}

/// Makes an object in the collection at `path`.
pub(crate) async fn create(
    client: &kube::Client,
    path: &str,
    object: &Value,
) -> Result<Value, ClusterError> {
    let request = http::Request::post(path).header("content-type", "application/json");
    send(client, request, object.to_string().into_bytes()).await
}

/// Merges `change` into the object at `path`.
pub(crate) async fn merge(
    client: &kube::Client,
    path: &str,
    change: &Value,
) -> Result<Value, ClusterError> {
    let request = http::Request::patch(path).header("content-type", "application/merge-patch+json");
    send(client, request, change.to_string().into_bytes()).await
}

async fn send(
    client: &kube::Client,
    request: http::request::Builder,
    body: Vec<u8>,
) -> Result<Value, ClusterError> {
    let request = request
        .body(body)
        .expect("paths and headers of this program are valid");
    client.request(request).await.map_err(|error| match error {
        kube::Error::Api(status) if status.reason == "AlreadyExists" => ClusterError::Exists,
        kube::Error::Api(status) if status.reason == "Conflict" => {
            ClusterError::Conflict(status.message.clone())
        }
        kube::Error::Api(status) => ClusterError::Refused(status.message.clone()),
        other => ClusterError::NoAnswer(Box::new(other)),
    })
}
