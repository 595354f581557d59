//! A plane behind its TLS listener, and raw ways to reach it. Not here: what is sent.

use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use flyball_clock::Clock;
use flyball_plane::{Config, Plane};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

pub(crate) struct Server {
    plane: Plane,
    pub(crate) address: SocketAddr,
    connector: TlsConnector,
    pub(crate) token: String,
}

/// An answer over HTTP/1.1, as far as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status code; 0 when the connection was closed without one.
    pub(crate) code: u16,
    pub(crate) text: String,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let code = text.split(' ').nth(1).and_then(|code| code.parse().ok());
        Self {
            code: code.unwrap_or(0),
            text,
        }
    }

    /// The object in the body of an answer with a known length.
    pub(crate) fn object(&self) -> Value {
        let body = self
            .text
            .split_once("\r\n\r\n")
            .map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()))
    }
}

impl Server {
    pub(crate) async fn start() -> Self {
        let plane = Plane::open(Config::in_memory(1), Clock::system()).await;
        let plane = plane.expect("a plane in memory opens");
        let listener = plane.bind().await.expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        tokio::spawn(plane.serve(listener));
        let kubeconfig: Value =
            serde_json::from_str(&plane.kubeconfig(address)).expect("it is JSON");
        let text = |value: &Value| {
            value
                .as_str()
                .expect("the kubeconfig is complete")
                .to_owned()
        };
        let authority = text(&kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"]);
        let authority = base64::engine::general_purpose::STANDARD
            .decode(authority)
            .expect("it is base64");
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(&authority).expect("it is PEM"))
            .expect("it is a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows them")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let server = Self {
            token: text(&kubeconfig["users"][0]["user"]["token"]),
            connector: TlsConnector::from(Arc::new(client)),
            plane,
            address,
        };
        let kept = json!({"metadata": {"name": "kept"}, "data": {"a": "1"}}).to_string();
        assert_eq!(server.ask("POST", CONFIG_MAPS, &kept).await.code, 201);
        server
    }

    pub(crate) async fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("it listens")
    }

    pub(crate) async fn tls(&self) -> TlsStream<TcpStream> {
        let name = ServerName::try_from("localhost").expect("it is a name");
        let connected = self.connector.connect(name, self.tcp().await).await;
        connected.expect("the handshake is sound")
    }

    /// The head of a request that this server would answer.
    pub(crate) fn head(&self, method: &str, path: &str, more: &str) -> String {
        let Self { token, .. } = self;
        format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{more}\r\n"
        )
    }

    /// Sends bytes over TLS and reads until the server closes or has answered with a request to close.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Answer {
        let (mut reader, mut writer) = tokio::io::split(self.tls().await);
        let sent = bytes.to_vec();
        // The server may answer, and close, before it has read everything.
        let sending = tokio::spawn(async move {
            let _ = writer.write_all(&sent).await;
            writer
        });
        let mut answer = Vec::new();
        let _ = reader.read_to_end(&mut answer).await;
        sending.abort();
        Answer::of(&answer)
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        self.send(method, path, "application/json", body.as_bytes())
            .await
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        media_type: &str,
        body: &[u8],
    ) -> Answer {
        let length = body.len();
        let more = format!(
            "connection: close\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n"
        );
        let mut bytes = self.head(method, path, &more).into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes).await
    }

    /// All config maps; the server answers a sound client whatever the others do.
    pub(crate) async fn objects(&self) -> Value {
        let answer = self.ask("GET", CONFIG_MAPS, "").await;
        assert_eq!(answer.code, 200, "{answer:?}");
        answer.object()
    }

    pub(crate) async fn stop(self) {
        self.plane.shutdown().await;
    }
}
