//! The endpoint for operators: metrics and probes over plain HTTP.
//! Not here: what is measured.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flyball_clock::Clock;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use prometheus::{Registry, TextEncoder};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// **Bound:** connections served at a time; more wait to be accepted.
const CONNECTIONS: usize = 32;
/// Wait after a failed accept, e.g. when the process is out of file descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// What the endpoint shows.
pub trait Probes: Send + Sync + 'static {
    /// Whether the process works: `/healthz`.
    fn is_healthy(&self) -> bool;
    /// Whether it does its job: `/readyz`.
    fn is_ready(&self) -> bool;
    /// Called before the metrics are read, for those that are computed then.
    fn before_metrics(&self);
}

/// The endpoint.
pub struct Admin {
    /// Metrics to show.
    pub registry: Registry,
    /// Probes to show.
    pub probes: Arc<dyn Probes>,
    /// Paces accepting.
    pub clock: Clock,
}

impl Admin {
    /// Serves `listener` until `stop`; connections in progress are closed.
    pub async fn serve(self, listener: TcpListener, stop: CancellationToken) {
        let (this, tasks) = (Arc::new(self), TaskTracker::new());
        let slots = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                accepted = accept(&listener, &slots) => accepted,
            };
            let Ok((stream, slot)) = accepted else {
                this.clock.sleep(ACCEPT_RETRY).await;
                continue;
            };
            let (this, stop) = (this.clone(), stop.clone());
            tasks.spawn(async move {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {}
                    () = this.converse(stream) => {}
                }
                drop(slot);
            });
        }
        tasks.close();
        tasks.wait().await;
    }

    async fn converse(self: Arc<Self>, stream: TcpStream) {
        let service = service_fn(move |request: Request<Incoming>| {
            let response = self.respond(request.method(), request.uri().path());
            async move { Ok::<_, Infallible>(response) }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        if let Err(error) = connection.await {
            tracing::debug!(%error, "connection to the admin endpoint broke off");
        }
    }

    /// The answer to a request.
    fn respond(&self, method: &Method, path: &str) -> Response<Full<Bytes>> {
        if method != Method::GET && method != Method::HEAD {
            return text(StatusCode::METHOD_NOT_ALLOWED, "only GET is served here");
        }
        match path {
            "/healthz" | "/livez" => probe(self.probes.is_healthy()),
            "/readyz" => probe(self.probes.is_ready()),
            "/metrics" => self.metrics(),
            _ => text(
                StatusCode::NOT_FOUND,
                "served here: /metrics, /healthz, /readyz",
            ),
        }
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        self.probes.before_metrics();
        match TextEncoder::new().encode_to_string(&self.registry.gather()) {
            Ok(metrics) => text(StatusCode::OK, &metrics),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let slot = slots
        .clone()
        .acquire_owned()
        .await
        .map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
}

fn probe(passes: bool) -> Response<Full<Bytes>> {
    if passes {
        text(StatusCode::OK, "ok")
    } else {
        text(StatusCode::SERVICE_UNAVAILABLE, "not yet")
    }
}

fn text(status: StatusCode, body: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body.to_owned()));
    *response.status_mut() = status;
    let plain = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    struct Fixed(bool);

    impl Probes for Fixed {
        fn is_healthy(&self) -> bool {
            true
        }

        fn is_ready(&self) -> bool {
            self.0
        }

        fn before_metrics(&self) {}
    }

    fn admin(ready: bool) -> Admin {
        let registry = Registry::new();
        let gauge = prometheus::IntGauge::new("answer", "Of everything.").expect("a name");
        gauge.set(42);
        registry
            .register(Box::new(gauge))
            .expect("a fresh registry");
        Admin {
            registry,
            probes: Arc::new(Fixed(ready)),
            clock: Clock::starting_at(0),
        }
    }

    async fn answer(admin: &Admin, method: Method, path: &str) -> (u16, String) {
        let response = admin.respond(&method, path);
        let status = response.status().as_u16();
        let body = response
            .into_body()
            .collect()
            .await
            .expect("in memory")
            .to_bytes();
        (status, String::from_utf8(body.to_vec()).expect("text"))
    }

    #[tokio::test]
    async fn each_path_has_its_answer() {
        let admin = admin(false);
        assert_eq!(
            answer(&admin, Method::GET, "/healthz").await,
            (200, "ok".to_owned())
        );
        assert_eq!(answer(&admin, Method::GET, "/readyz").await.0, 503);
        assert_eq!(answer(&admin, Method::GET, "/").await.0, 404);
        assert_eq!(answer(&admin, Method::POST, "/metrics").await.0, 405);
        let (status, metrics) = answer(&admin, Method::GET, "/metrics").await;
        assert_eq!(status, 200);
        assert!(metrics.contains("answer 42"));
    }

    #[tokio::test]
    async fn a_listener_is_served_until_it_is_stopped() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stop = CancellationToken::new();
        let served = tokio::spawn(admin(true).serve(listener, stop.clone()));
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        let request = b"GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("read");
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("ok"));
        stop.cancel();
        served.await.expect("no panic");
    }
}
