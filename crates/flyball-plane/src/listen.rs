//! The service over TLS: HTTP/1.1 and HTTP/2 on one port, for clients that know the token and may be slow, broken or hostile.
//! Not here: what is answered (`service`).

mod origin;
mod pulse;

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
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::auth::Token;
use crate::certs::Certs;
use crate::listen::pulse::Pulse;
use crate::refusal::Refusal;
use crate::respond::{self, Body};
use crate::service::Service;

/// Connections open at once; more wait in the kernel's queue. kubectl needs one, a controller a handful.
pub(crate) const CONNECTIONS_MAX: usize = 512;
/// Requests at once on one HTTP/2 connection. Upstream: `--http2-max-streams-per-connection`, 250 when not set.
const STREAMS_MAX: u32 = 250;
/// A client that does not finish its handshake or its headers in this time is dropped. Upstream: `ReadHeaderTimeout`, 32 s.
const PATIENCE: Duration = Duration::from_secs(32);
/// A request that takes longer, for example because its body comes slowly, is given up; a watch has begun by then.
/// Upstream: `--request-timeout`, 60 s.
const REQUEST_MAX: Duration = Duration::from_mins(1);
/// Bytes of a request's head. Upstream: Go's `DefaultMaxHeaderBytes`, 1 MiB, far above what any client of ours sends.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// How long to wait when no connection can be taken. Upstream: Go's `http.Server`, up to a second.
const SHORTAGE: Duration = Duration::from_millis(100);
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
    tls: TlsAcceptor,
}

/// Takes a place for a connection, when there is one.
async fn place(places: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    Arc::clone(places)
        .acquire_owned()
        .await
        .expect("the semaphore is never closed")
}

/// Serves until `stopping`; then lets open requests end for a moment.
pub(crate) async fn serve(
    listener: TcpListener,
    service: Service,
    certs: &Certs,
    token: Arc<Token>,
    stopping: CancellationToken,
) -> Result<(), ListenError> {
    let tls = TlsAcceptor::from(Arc::new(tls(certs)?));
    let door = Door {
        service,
        token,
        tls,
    };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    accept(listener, door, places, stopping).await
}

/// Serves each connection that gets a place.
async fn accept(
    listener: TcpListener,
    door: Door,
    places: Arc<Semaphore>,
    stopping: CancellationToken,
) -> Result<(), ListenError> {
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = async { (place(&places).await, listener.accept().await) };
        let (place, stream) = tokio::select! {
            biased;
            () = stopping.cancelled() => break,
            (place, accepted) = accepted => match accepted {
                Ok((stream, _)) => (place, stream),
                Err(error) if is_transient(&error) => continue,
                Err(error) if is_shortage(&error) => {
                    tracing::warn!(%error, "a connection cannot be taken; trying again");
                    tokio::time::sleep(SHORTAGE).await;
                    continue;
                }
                Err(error) => return Err(ListenError::Accept(error)),
            },
        };
        let (door, watcher) = (door.clone(), graceful.watcher());
        tokio::spawn(async move {
            let _place = place;
            // Without it, answers only come later.
            let _ = stream.set_nodelay(true);
            if let Err(error) = connection(stream, door, watcher).await {
                tracing::debug!(%error, "connection ended");
            }
        });
    }
    drop(listener);
    // Whoever has not finished by then is cut off; there is nobody left to tell.
    let _ = tokio::time::timeout(FAREWELL, graceful.shutdown()).await;
    Ok(())
}

/// The client went away again.
fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

/// This process or host has no descriptor or buffer left: ENOMEM, ENFILE, EMFILE, ENOBUFS. It passes as connections end.
fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(12 | 23 | 24 | 105))
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

async fn connection<S>(
    stream: S,
    door: Door,
    watcher: hyper_util::server::graceful::Watcher,
) -> Result<(), respond::BoxError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let stream = tokio::time::timeout(PATIENCE, door.tls.accept(stream)).await??;
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .max_buf_size(HEAD_BYTES_MAX)
        .header_read_timeout(PATIENCE);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .max_concurrent_streams(STREAMS_MAX);
    let pulse = Pulse::default();
    let beats = pulse.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (door, open) = (door.clone(), beats.begin());
        async move {
            let answer = door.answer(request).await;
            Ok::<_, Infallible>(answer.map(|body| open.until_sent(body)))
        }
    });
    let serving = builder
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .into_owned();
    tokio::select! {
        biased;
        ended = watcher.watch(serving) => ended,
        () = pulse.stopped() => Ok(()),
    }
}

impl Door {
    async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<respond::BoxError>,
    {
        if let Err(refusal) = origin::check(&request) {
            return respond::refused(&refusal);
        }
        if !self.token.admits(request.uri().path(), request.headers()) {
            return respond::refused(&Refusal::unauthorized());
        }
        tokio::time::timeout(REQUEST_MAX, self.service.answer(request))
            .await
            .unwrap_or_else(|_| respond::refused(&Refusal::timed_out()))
    }
}

#[cfg(test)]
mod tests;
