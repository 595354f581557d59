//! The service over TLS: HTTP/1.1 and HTTP/2 on one port, with the token asked for. Not here: what is answered (`service`).

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::auth::Token;
use crate::certs::Certs;
use crate::refusal::Refusal;
use crate::respond::{self, Body};
use crate::service::Service;

/// Connections open at once; more wait in the kernel's queue. kubectl needs one, a controller a handful.
pub(crate) const CONNECTIONS_MAX: usize = 512;
/// Requests at once on one HTTP/2 connection. Upstream: `--http2-max-streams-per-connection`, 250 when not set.
const STREAMS_MAX: u32 = 250;
/// A client that does not finish its handshake or its headers in this time is dropped. Upstream: `ReadHeaderTimeout`, 32 s.
const PATIENCE: Duration = Duration::from_secs(32);
/// Open requests get this long to end at shutdown.
const FAREWELL: Duration = Duration::from_secs(5);

/// A listener could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The certificates do not fit TLS.
    #[error("the server's certificate cannot be used")]
    Certificate(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Accepting connections failed.
    #[error("the listener failed")]
    Accept(#[source] io::Error),
}

/// What a connection is served with.
#[derive(Clone)]
struct Door {
    service: Service,
    token: Arc<Token>,
}

/// Serves until `stopping`; then lets open requests end for a moment.
pub(crate) async fn serve(
    listener: TcpListener,
    service: Service,
    certs: &Certs,
    token: Arc<Token>,
    stopping: CancellationToken,
) -> Result<(), ListenError> {
    let acceptor = TlsAcceptor::from(Arc::new(tls(certs)?));
    let door = Door { service, token };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let graceful = GracefulShutdown::new();
    loop {
        let place = Arc::clone(&places)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let stream = tokio::select! {
            biased;
            () = stopping.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // The client went away, or this process has no descriptor left: the next accept tells which.
                Err(error) if is_transient(&error) => continue,
                Err(error) => return Err(ListenError::Accept(error)),
            },
        };
        let (acceptor, door, watcher) = (acceptor.clone(), door.clone(), graceful.watcher());
        tokio::spawn(async move {
            let _place = place;
            if let Err(error) = connection(stream, &acceptor, door, watcher).await {
                tracing::debug!(%error, "connection ended");
            }
        });
    }
    drop(listener);
    // Whoever has not finished by then is cut off; there is nobody left to tell.
    let _ = tokio::time::timeout(FAREWELL, graceful.shutdown()).await;
    Ok(())
}

fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

fn tls(certs: &Certs) -> Result<ServerConfig, ListenError> {
    let certificate =
        CertificateDer::from_pem_slice(certs.server.as_bytes()).map_err(|error| wrong(&error))?;
    let key = PrivateKeyDer::from_pem_slice(certs.server_key.as_bytes())
        .map_err(|error| wrong(&error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ListenError::Certificate(Box::new(error)))?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .map_err(|error| ListenError::Certificate(Box::new(error)))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn wrong(error: &rustls::pki_types::pem::Error) -> ListenError {
    ListenError::Certificate(error.to_string().into())
}

async fn connection(
    stream: TcpStream,
    acceptor: &TlsAcceptor,
    door: Door,
    watcher: hyper_util::server::graceful::Watcher,
) -> Result<(), respond::BoxError> {
    stream.set_nodelay(true)?;
    let stream = tokio::time::timeout(PATIENCE, acceptor.accept(stream)).await??;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX);
    let service = service_fn(move |request: Request<Incoming>| {
        let door = door.clone();
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let serving = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .into_owned();
    watcher.watch(serving).await
}

impl Door {
    async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<respond::BoxError>,
    {
        if self.token.admits(request.uri().path(), request.headers()) {
            self.service.answer(request).await
        } else {
            respond::refused(&Refusal::unauthorized())
        }
    }
}
