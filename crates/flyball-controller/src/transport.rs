//! The way to an API server: one cloneable service from request to response, whatever is behind it.
//! Not here: what is asked ([`crate::api_client`]), rate limits, retries.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use kube::config::{KubeConfigOptions, Kubeconfig};
use thiserror::Error;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt, service_fn};

/// A response body, streamed.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// How long a connection may be silent: a little more than the longest watch ([`crate::source`] asks for 290 s), so
/// that a dead connection is noticed and a quiet one is not cut.
const READ_TIMEOUT: Duration = Duration::from_mins(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection to one API server. Cheap to clone.
#[derive(Clone)]
pub struct Transport {
    service: BoxCloneSyncService<Request<Full<Bytes>>, Response<Body>, BoxError>,
}

/// Why there is no connection to an API server.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The kubeconfig cannot be read or names no usable cluster.
    #[error("cannot use kubeconfig {path:?}; name another one with --kubeconfig")]
    Kubeconfig {
        /// The file, as named; empty for the default places.
        path: String,
        /// What is wrong with it.
        #[source]
        source: kube::config::KubeconfigError,
    },
    /// Neither a kubeconfig nor a service account is there.
    #[error("no cluster found; name a kubeconfig with --kubeconfig or run inside a cluster")]
    NoCluster(#[source] kube::config::InferConfigError),
    /// The configuration cannot be turned into a client, e.g. because of its certificates.
    #[error("cannot make a client for {server}")]
    Client {
        /// The server's URL.
        server: String,
        /// What is wrong.
        #[source]
        source: kube::Error,
    },
}

impl Transport {
    /// A transport into a service of the same process.
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let service = service.map_err(Into::into).map_response(boxed);
        Self {
            service: BoxCloneSyncService::new(service),
        }
    }

    /// A transport through a client of kube, which brings address, TLS and credentials.
    pub fn from_client(client: kube::Client) -> Self {
        let service = service_fn(move |request: Request<Full<Bytes>>| {
            let client = client.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap_or_default().to_bytes();
                client.send(Request::from_parts(parts, body.into())).await
            }
        });
        Self::in_process(service)
    }

    /// A transport to the cluster of a kubeconfig, or without one to that of the environment (the default
    /// kubeconfig, else the service account of the pod).
    pub async fn connect(kubeconfig: Option<&Path>) -> Result<Self, ConnectError> {
        let mut config = match kubeconfig {
            None => kube::Config::infer()
                .await
                .map_err(ConnectError::NoCluster)?,
            Some(path) => {
                read_kubeconfig(path)
                    .await
                    .map_err(|source| ConnectError::Kubeconfig {
                        path: path.display().to_string(),
                        source,
                    })?
            }
        };
        config.read_timeout = Some(READ_TIMEOUT);
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        let server = config.cluster_url.to_string();
        let client = kube::Client::try_from(config)
            .map_err(|source| ConnectError::Client { server, source })?;
        Ok(Self::from_client(client))
    }

    /// Sends one request.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Body>, BoxError> {
        self.service.clone().oneshot(request).await
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").finish_non_exhaustive()
    }
}

async fn read_kubeconfig(path: &Path) -> Result<kube::Config, kube::config::KubeconfigError> {
    let kubeconfig = Kubeconfig::read_from(path)?;
    kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await
}

fn boxed<B>(response: Response<B>) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    response.map(|body| body.map_err(Into::into).boxed_unsync())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Answers one connection with `answer` and returns what was asked.
    async fn serve_once(listener: TcpListener, answer: &str) -> String {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let mut asked = vec![0; 4096];
        let read = stream.read(&mut asked).await.expect("a request");
        stream.write_all(answer.as_bytes()).await.expect("sent");
        String::from_utf8_lossy(&asked[..read]).into_owned()
    }

    #[tokio::test]
    async fn a_kube_client_carries_requests_to_the_server_of_its_configuration() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = format!(
            "http://{}/prefix",
            listener.local_addr().expect("an address")
        );
        let config = kube::Config::new(server.parse().expect("a URL"));
        let client = kube::Client::try_from(config).expect("no TLS is needed");
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
        let asked = tokio::spawn(serve_once(listener, answer));
        let request = Request::get("/api/v1/pods?limit=500").body(Full::default());
        let response = Transport::from_client(client)
            .send(request.expect("a request"))
            .await;
        let body = response
            .expect("an answer")
            .into_body()
            .collect()
            .await
            .expect("a body");
        assert_eq!(body.to_bytes(), "ok");
        let asked = asked.await.expect("no panic");
        assert!(
            asked.starts_with("GET /prefix/api/v1/pods?limit=500 HTTP/1.1"),
            "{asked}"
        );
    }

    #[tokio::test]
    async fn a_kubeconfig_that_is_not_there_is_named() {
        let path = Path::new("/nonexistent/kubeconfig");
        let error = Transport::connect(Some(path)).await.expect_err("no file");
        let text =
            "cannot use kubeconfig \"/nonexistent/kubeconfig\"; name another one with --kubeconfig";
        assert_eq!(error.to_string(), text);
    }
}
