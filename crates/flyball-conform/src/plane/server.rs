//! The two servers, spoken to in one way: HTTP/1.1 over TLS with a bearer token. Not here: what is asked.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use flyball_clock::Clock;
use flyball_plane::{Config, Controllers, Plane};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A watch that says nothing for so long has said all it will.
const SILENCE: Duration = Duration::from_secs(10);

/// Where a server is and how to be let in.
#[derive(Clone, Debug)]
pub struct Server {
    address: SocketAddr,
    token: String,
    tls: Arc<ClientConfig>,
}

/// The parts of a state file of `cargo xtask realplane up` that are read here.
#[derive(Debug, Deserialize)]
struct State {
    url: String,
    token: String,
}

/// One request, complete.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// Headers; `Authorization` is added unless it is here, and left out when it is here and empty.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// One answer, complete.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; of a watch, what came until it was cut.
    pub body: Bytes,
}

/// An open connection to a server, for one request after the other.
#[derive(Debug)]
pub struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    host: String,
    token: String,
}

impl Server {
    /// The genuine server a state file tells of.
    ///
    /// # Errors
    /// A file that cannot be read or is not one.
    pub fn genuine(state: &Path) -> Result<Self> {
        let what = || state.display().to_string();
        let text = std::fs::read_to_string(state).with_context(what)?;
        let state: State = serde_json::from_str(&text).with_context(what)?;
        let address = state
            .url
            .strip_prefix("https://")
            .context("the url of a state file begins with https://")?
            .parse()
            .with_context(|| format!("{} is not an address", state.url))?;
        Ok(Self::new(address, state.token))
    }

    /// A plane in this process, in memory, on a port of loopback, on which nothing acts by itself.
    ///
    /// # Errors
    /// Those of the plane.
    pub async fn plane(seed: u64) -> Result<(Plane, Self)> {
        let config = Config {
            controllers: Controllers::Off,
            ..Config::in_memory(seed)
        };
        let plane = Plane::open(config, Clock::system()).await?;
        let listener = plane.bind().await?;
        let address = listener.local_addr()?;
        tokio::spawn(plane.serve(listener));
        let kubeconfig: Value = serde_json::from_str(&plane.kubeconfig(address))?;
        let token = kubeconfig
            .pointer("/users/0/user/token")
            .and_then(Value::as_str)
            .context("a plane's kubeconfig holds its token")?;
        let server = Self::new(address, token.to_owned());
        Ok((plane, server))
    }

    fn new(address: SocketAddr, token: String) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring speaks the default versions")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Ours))
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self {
            address,
            token,
            tls: Arc::new(tls),
        }
    }

    /// Waits until the server says that it is ready, which is after everything it makes for itself at its start.
    ///
    /// # Errors
    /// It is not ready after a minute.
    pub async fn ready(&self) -> Result<()> {
        const TRIES: usize = 240;
        const PAUSE: Duration = Duration::from_millis(250);
        let question = Outgoing {
            method: Method::GET,
            target: "/readyz".to_owned(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        };
        for _ in 0..TRIES {
            if let Ok(mut connection) = self.connect().await
                && let Ok(answer) = connection.ask(&question).await
                && answer.status == StatusCode::OK
            {
                return Ok(());
            }
            Clock::system().sleep(PAUSE).await;
        }
        anyhow::bail!("{} is not ready", self.address)
    }

    /// A new connection.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn connect(&self) -> Result<Connection> {
        ensure!(
            self.address.ip().is_loopback(),
            "{} is not this host",
            self.address
        );
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::IpAddress(self.address.ip().into());
        let connector = TlsConnector::from(Arc::clone(&self.tls));
        let stream = connector.connect(name, stream).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // Its end is seen by the next request on it.
        tokio::spawn(connection);
        Ok(Connection {
            sender,
            host: self.address.to_string(),
            token: self.token.clone(),
        })
    }
}

impl Connection {
    /// True when another request can be sent.
    pub async fn is_open(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    /// Sends a request and reads the answer to its end.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn ask(&mut self, outgoing: &Outgoing) -> Result<Incoming> {
        let host = self.host.clone();
        self.exchange(outgoing, usize::MAX).await.context(host)
    }

    /// Sends a watch and reads until `events` lines, its end, or silence. The connection is of no use afterwards.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn follow(mut self, outgoing: &Outgoing, events: usize) -> Result<Incoming> {
        self.exchange(outgoing, events).await
    }

    async fn exchange(&mut self, outgoing: &Outgoing, lines_max: usize) -> Result<Incoming> {
        let mut request = Request::builder()
            .method(outgoing.method.clone())
            .uri(&outgoing.target)
            .body(Full::new(outgoing.body.clone()))?;
        *request.headers_mut() = outgoing.headers.clone();
        let headers = request.headers_mut();
        headers.insert(http::header::HOST, self.host.parse()?);
        match headers.get(http::header::AUTHORIZATION) {
            None => {
                headers.insert(
                    http::header::AUTHORIZATION,
                    format!("Bearer {}", self.token).parse()?,
                );
            }
            Some(given) if given.is_empty() => {
                headers.remove(http::header::AUTHORIZATION);
            }
            Some(_) => {}
        }
        self.sender.ready().await?;
        let (head, mut body) = self.sender.send_request(request).await?.into_parts();
        let mut bytes = Vec::new();
        while lines(&bytes) < lines_max {
            let next = tokio::time::timeout(SILENCE, body.frame()).await;
            let Ok(Some(frame)) = next else { break };
            if let Ok(data) = frame?.into_data() {
                bytes.extend_from_slice(&data);
            }
        }
        Ok(Incoming {
            status: head.status,
            headers: head.headers,
            body: bytes.into(),
        })
    }
}

fn lines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}

/// Takes any certificate: both servers were started for this run on loopback, and make their own.
#[derive(Debug)]
struct Ours;

impl ServerCertVerifier for Ours {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
