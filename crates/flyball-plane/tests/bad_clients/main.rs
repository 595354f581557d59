//! Clients that send what no client should, over the real listener: each gets a Status or a closed connection, no object
//! changes, and others are served. Slow ones are tested in virtual time in `listen`, parsers in `tests/untrusted`.

mod server;

use std::fmt::Write as _;

use serde_json::json;
use server::{CONFIG_MAPS, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Bytes that look random and are the same in every run.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(&mut next).take(count).collect()
}

/// A map nine levels deep, each level nine times the one below: a billion nodes.
fn alias_bomb() -> String {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for level in 1..10 {
        let below = vec![format!("*a{}", level - 1); 9].join(",");
        let _ = writeln!(text, "a{level}: &a{level} [{below}]");
    }
    text
}

/// A body that is to be refused with one of some codes.
struct Broken {
    media_type: &'static str,
    body: Vec<u8>,
    codes: &'static [u16],
}

fn broken(media_type: &'static str, body: impl Into<Vec<u8>>, codes: &'static [u16]) -> Broken {
    let body = body.into();
    Broken {
        media_type,
        body,
        codes,
    }
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

fn deep(open: &str, close: &str) -> String {
    open.repeat(100_000) + &close.repeat(100_000)
}

fn large() -> String {
    json!({"metadata": {"name": "kept"}, "data": {"a": "x".repeat(10 << 20)}}).to_string()
}

fn posts() -> Vec<Broken> {
    vec![
        broken(JSON, noise(4096), &[400]),
        broken(YAML, noise(4096), &[400]),
        broken("application/vnd.kubernetes.protobuf", noise(4096), &[400]),
        broken("text/plain", "a", &[415]),
        broken(JSON, "", &[400]),
        broken(JSON, "null", &[400, 422]),
        broken(JSON, r#"{"metadata":[]}"#, &[400]),
        broken(JSON, r#"{"data":{"a":1}}"#, &[400]),
        broken(JSON, deep("[", "]"), &[400]),
        broken(JSON, deep(r#"{"a":"#, "}"), &[400]),
        broken(YAML, deep("[", "]"), &[400]),
        broken(YAML, alias_bomb(), &[400]),
        broken(JSON, large(), &[413]),
    ]
}

fn patches() -> Vec<Broken> {
    let json_patch = "application/json-patch+json";
    let strategic = "application/strategic-merge-patch+json";
    let operations = vec![r#"{"op":"remove","path":"/data/a"}"#; 10_001].join(",");
    vec![
        broken("application/merge-patch+json", "[", &[400]),
        broken(strategic, r#"{"data":{"$patch":"melt"}}"#, &[400, 500]),
        broken(json_patch, r#"[{"op":"move","path":"/x"}]"#, &[400, 422]),
        broken(json_patch, format!("[{operations}]"), &[413]),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_are_broken_deep_or_large_are_refused_and_change_nothing() {
    let server = Server::start().await;
    let before = server.objects().await;
    let kept = format!("{CONFIG_MAPS}/kept");
    let of = |method, path, all: Vec<Broken>| all.into_iter().map(move |one| (method, path, one));
    let puts = vec![broken(JSON, large(), &[413])];
    let requests = of("POST", CONFIG_MAPS, posts())
        .chain(of("PUT", kept.as_str(), puts))
        .chain(of("PATCH", kept.as_str(), patches()));
    for (method, path, broken) in requests {
        let Broken {
            media_type, body, ..
        } = &broken;
        let answer = server.send(method, path, media_type, body).await;
        let start = String::from_utf8_lossy(&body[..body.len().min(40)]);
        let what = format!("{method} {media_type} {start}");
        assert!(broken.codes.contains(&answer.code), "{what}: {answer:?}");
        assert_eq!(answer.object()["kind"], "Status", "{what}");
        assert_eq!(server.objects().await, before, "{what}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_tls_close_the_connection() {
    let server = Server::start().await;
    let mut plain = server.tcp().await;
    plain
        .write_all(b"GET /api HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let mut told = Vec::new();
    // TLS's alert, or nothing.
    let _ = plain.read_to_end(&mut told).await;
    assert!(told.len() < 16, "{told:?}");
    let mut random = server.tcp().await;
    let _ = random.write_all(&noise(1 << 16)).await;
    let _ = random.read_to_end(&mut told).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_request_are_answered_with_an_error_or_a_closed_connection() {
    let server = Server::start().await;
    let before = server.objects().await;
    let many_headers = "x: y\r\n".repeat(10_000);
    let long_header = format!("x: {}\r\n", "y".repeat(1 << 20));
    let endless = format!(
        "{}5\r\nhello\r\n",
        server.head("POST", CONFIG_MAPS, "transfer-encoding: chunked\r\n")
    );
    let endless = endless + &format!("1000\r\n{}\r\n", " ".repeat(0x1000)).repeat(1000);
    let table: [(Vec<u8>, &[u16]); 9] = [
        (noise(4096), &[0, 400]),
        (
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                .iter()
                .copied()
                .chain(noise(4096))
                .collect(),
            &[0],
        ),
        (b"GET / HTTP/9.9\r\n\r\n".to_vec(), &[0, 400, 505]),
        (
            server.head("GET", "/api", &many_headers).into_bytes(),
            &[0, 431],
        ),
        (
            server.head("GET", "/api", &long_header).into_bytes(),
            &[0, 431],
        ),
        (
            server
                .head("GET", &format!("/{}", "a".repeat(70_000)), "")
                .into_bytes(),
            &[0, 414, 431],
        ),
        (
            server
                .head("POST", CONFIG_MAPS, "content-length: -1\r\n")
                .into_bytes(),
            &[0, 400],
        ),
        (
            server
                .head(
                    "POST",
                    CONFIG_MAPS,
                    "content-length: 1\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n0\r\n",
                )
                .into_bytes(),
            &[0, 400],
        ),
        (endless.into_bytes(), &[0, 413]),
    ];
    for (bytes, codes) in table {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        let answer = server.raw(&bytes).await;
        let is_http = answer.text.starts_with("HTTP/1.1");
        let code = if is_http { answer.code } else { 0 };
        assert!(codes.contains(&code), "{start:?}: {answer:?}");
        assert_eq!(server.objects().await, before, "{start:?}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_are_told_what_is_wrong_with_them_and_nothing_else() {
    let server = Server::start().await;
    let auth = format!("authorization: Bearer {}\r\n", server.token);
    let local = "host: localhost\r\n";
    let table = [
        (local.to_owned(), 401, "Unauthorized"),
        (
            format!("{local}authorization: Bearer x\r\n"),
            401,
            "Unauthorized",
        ),
        (
            format!("host: rebound.example\r\n{auth}"),
            421,
            "use localhost or its address",
        ),
        (
            format!("{local}origin: https://page.example\r\n{auth}"),
            403,
            "web pages of",
        ),
        (
            format!("{local}origin: null\r\n{auth}"),
            403,
            "web pages of",
        ),
    ];
    for (headers, code, says) in table {
        for path in [CONFIG_MAPS, "/api", "/nothing"] {
            let request = format!("GET {path} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n");
            let answer = server.raw(request.as_bytes()).await;
            assert_eq!(answer.code, code, "{headers}: {answer:?}");
            assert_eq!(answer.object()["kind"], "Status");
            assert!(answer.text.contains(says), "{answer:?}");
        }
    }
    // What is told without a token is told to pages neither.
    let page = format!("GET /version HTTP/1.1\r\nconnection: close\r\n{local}origin: null\r\n\r\n");
    assert_eq!(server.raw(page.as_bytes()).await.code, 403);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_closes_its_half_is_let_go() {
    let server = Server::start().await;
    let mut stream = server.tls().await;
    let watch = server.head("GET", "/api/v1/pods?watch=1", "");
    stream.write_all(watch.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    // A watch would go on for half an hour.
    let _ = stream.read_to_end(&mut Vec::new()).await;
    server.stop().await;
}

/// A frame of HTTP/2: length, type, flags, stream, payload.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_resets_each_stream_it_opens_is_cut_off() {
    const STREAMS: u32 = 20_000;
    const SETTINGS: u8 = 4;
    const HEADERS: u8 = 1;
    const RESET: u8 = 3;
    let server = Server::start().await;
    let before = server.objects().await;
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(frame(SETTINGS, 0, 0, &[]));
    // GET, https and / by their numbers in HPACK's table, and the authority by its name's.
    let head = [&[0x82, 0x87, 0x84, 0x41, 9][..], b"localhost"].concat();
    for stream in 0..STREAMS {
        // With the ends of stream and headers; the reset says CANCEL.
        bytes.extend(frame(HEADERS, 5, 2 * stream + 1, &head));
        bytes.extend(frame(RESET, 0, 2 * stream + 1, &[0, 0, 0, 8]));
    }
    let answer = server.raw(&bytes).await;
    // GOAWAY with ENHANCE_YOUR_CALM, its reason in words.
    assert!(answer.text.contains("too_many_resets"), "{answer:?}");
    assert_eq!(server.objects().await, before);
    server.stop().await;
}

/// Bytes of this process in memory.
fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// What a client that gives up leaves behind: half requests, unread answers, watches, refused bodies.
async fn leave(server: &Server) {
    let mut stream = server.tls().await;
    let half = server.head("POST", CONFIG_MAPS, "content-length: 2000000\r\n");
    let _ = stream.write_all(half.as_bytes()).await;
    let _ = stream.write_all(&vec![b' '; 1_000_000]).await;
    let mut stream = server.tls().await;
    let watch = server.head("GET", "/api/v1/configmaps?watch=1", "");
    let _ = stream.write_all(watch.as_bytes()).await;
    let mut stream = server.tls().await;
    let unread = server
        .head("GET", "/openapi/v3/apis/apps/v1", "")
        .repeat(20);
    let _ = stream.write_all(unread.as_bytes()).await;
    server
        .send("POST", CONFIG_MAPS, "application/yaml", &noise(4096))
        .await;
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_go_away_leave_no_memory_behind() {
    let server = Server::start().await;
    for _ in 0..50 {
        leave(&server).await;
    }
    let warm = resident_bytes();
    for _ in 0..200 {
        leave(&server).await;
    }
    let grown = resident_bytes().saturating_sub(warm);
    // Each client has had more than a megabyte held for it, 200 of them three times this; what the allocator keeps varies.
    assert!(grown < 64 << 20, "{grown} bytes more after 200 clients");
    server.stop().await;
}
