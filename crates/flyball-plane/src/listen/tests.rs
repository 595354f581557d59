//! Clients that are slow or silent, in virtual time and without sockets, and the places for connections.

use std::io::ErrorKind;

use flyball_clock::Clock;
use hyper_util::server::graceful::GracefulShutdown;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::{TlsConnector, client};

use super::*;
use crate::{Config, Plane};

/// A plane and what its listener would serve connections with.
struct World {
    _plane: Plane,
    door: Door,
    connector: TlsConnector,
}

impl World {
    async fn new() -> Self {
        let plane = Plane::open(Config::in_memory(1), Clock::starting_at(0))
            .await
            .unwrap();
        // The client compares them with the host's time.
        let now_ms = Clock::system().now_ms();
        let certs = Certs::make([127, 0, 0, 1].into(), now_ms).unwrap();
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(certs.ca.as_bytes()).unwrap();
        roots.add(authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let door = Door {
            service: plane.service(),
            token: Arc::new(Token::generate().unwrap()),
            tls: TlsAcceptor::from(Arc::new(tls(&certs).unwrap())),
        };
        Self {
            _plane: plane,
            door,
            connector: TlsConnector::from(Arc::new(client)),
        }
    }

    /// A connection that is served until it ends.
    fn connect(&self) -> DuplexStream {
        let (near, far) = duplex(64 << 10);
        let door = self.door.clone();
        tokio::spawn(async move {
            let graceful = GracefulShutdown::new();
            connection(far, door, graceful.watcher()).await
        });
        near
    }

    fn head(&self, method: &str, path: &str, more: &str) -> String {
        let token = self.door.token.text();
        format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{more}\r\n"
        )
    }

    async fn secure<S>(&self, stream: S) -> client::TlsStream<S>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = ServerName::try_from("localhost").unwrap();
        self.connector.connect(name, stream).await.unwrap()
    }
}

/// Reads until the server closes, and says what it had sent and after how many seconds it closed.
async fn until_closed(stream: &mut (impl AsyncRead + Unpin)) -> (String, u64) {
    let start = Instant::now();
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes).await {
        Ok(_) => {}
        // It closes without TLS's farewell.
        Err(error) => assert_eq!(error.kind(), ErrorKind::UnexpectedEof),
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (text, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_begins_is_dropped_after_32_seconds() {
    let world = World::new().await;
    let mut silent = world.connect();
    assert_eq!(until_closed(&mut silent).await, (String::new(), 32));
    let stream = world.connect();
    let mut secured = world.secure(stream).await;
    assert_eq!(until_closed(&mut secured).await, (String::new(), 32));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_byte_by_byte_is_not_waited_for() {
    let world = World::new().await;
    let stream = world.connect();
    let (mut reader, mut writer) = tokio::io::split(world.secure(stream).await);
    let get = world.head("GET", "/api", "");
    let slow = tokio::spawn(async move {
        for byte in get.bytes() {
            tokio::time::sleep(Duration::from_secs(5)).await;
            if writer.write_all(&[byte]).await.is_err() {
                break;
            }
        }
    });
    let (answer, seconds) = until_closed(&mut reader).await;
    assert!(answer.is_empty(), "{answer}");
    assert!(seconds <= 40, "{seconds}");
    slow.abort();
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_byte_by_byte_is_given_up_after_a_minute() {
    let world = World::new().await;
    let stream = world.connect();
    let (mut reader, mut writer) = tokio::io::split(world.secure(stream).await);
    let path = "/api/v1/namespaces/default/configmaps";
    let post = world.head("POST", path, "content-length: 1000\r\n");
    writer.write_all(post.as_bytes()).await.unwrap();
    let slow = tokio::spawn(async move {
        while writer.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let (answer, seconds) = until_closed(&mut reader).await;
    assert!(answer.starts_with("HTTP/1.1 504"), "{answer}");
    assert!(answer.contains("did not complete within the allotted timeout"));
    assert!(seconds >= 60, "{seconds}");
    slow.abort();
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_after_32_seconds_with_http_1_and_after_90_with_http_2() {
    let world = World::new().await;
    let stream = world.connect();
    let mut stream = world.secure(stream).await;
    let get = world.head("GET", "/version", "");
    stream.write_all(get.as_bytes()).await.unwrap();
    let (answer, seconds) = until_closed(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // The next head is waited for no longer than the first one.
    assert_eq!(seconds, 32);

    let stream = world.connect();
    let stream = TokioIo::new(world.secure(stream).await);
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await;
    let (mut sender, connection) = handshake.unwrap();
    let start = Instant::now();
    let connection = tokio::spawn(connection);
    let get = Request::get("https://localhost/version").body(String::new());
    assert_eq!(
        sender.send_request(get.unwrap()).await.unwrap().status(),
        200
    );
    // Ended without HTTP/2's farewell, which is an error to this client.
    let _ = connection.await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 90);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_nothing_happens_to_lasts_as_long_as_it_asked_for() {
    let world = World::new().await;
    let stream = world.connect();
    let mut stream = world.secure(stream).await;
    let watch = world.head(
        "GET",
        "/api/v1/pods?watch=1&timeoutSeconds=1000",
        "connection: close\r\n",
    );
    stream.write_all(watch.as_bytes()).await.unwrap();
    let (answer, seconds) = until_closed(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(seconds, 1000);
}

#[tokio::test]
async fn a_connection_without_a_place_waits_until_another_one_ends() {
    let world = World::new().await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let places = Arc::new(Semaphore::new(2));
    let stopping = CancellationToken::new();
    let serving = tokio::spawn(accept(
        listener,
        world.door.clone(),
        Arc::clone(&places),
        stopping.clone(),
    ));
    let first = TcpStream::connect(address).await.unwrap();
    let second = TcpStream::connect(address).await.unwrap();
    let mut second = world.secure(second).await;
    assert_eq!(places.available_permits(), 0);
    // The kernel takes the third one, and nobody answers it.
    let third = TcpStream::connect(address).await.unwrap();
    let get = world.head("GET", "/version", "connection: close\r\n");
    second.write_all(get.as_bytes()).await.unwrap();
    assert!(until_closed(&mut second).await.0.contains("v1.37"));
    drop(second);
    world.secure(third).await;
    drop(first);
    stopping.cancel();
    serving.await.unwrap().unwrap();
}
