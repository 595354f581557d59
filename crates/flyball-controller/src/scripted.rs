//! A scripted API server for tests: answers by method and path, watches fed by hand, every request written down.
//! Not here: any rule of Kubernetes; the script says it all.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use flyball_clock::Clock;
use futures::StreamExt;
use futures::channel::mpsc;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use prometheus::Registry;
use serde_json::{Value, json};
use tower::{BoxError, service_fn};

use crate::api_client::{ApiClient, ClientMetrics, Rate};
use crate::transport::{Body, Transport};

/// One answer: status code and body; two codes that HTTP lacks stand for no answer.
type Answer = (u16, String);

const REFUSED: u16 = 0;
const SILENT: u16 = 1;

#[derive(Default)]
struct Script {
    answers: BTreeMap<String, Answer>,
    watches: BTreeMap<String, mpsc::UnboundedSender<Bytes>>,
    requests: Vec<String>,
    bodies: Vec<Value>,
}

enum Reaction {
    Watch(Body),
    Answer(Answer),
}

impl Script {
    /// Writes a request down and finds what the script has for it.
    fn react(&mut self, line: &str, parts: &http::request::Parts) -> Reaction {
        self.requests.push(line.to_owned());
        if parts
            .uri
            .query()
            .is_some_and(|query| query.contains("watch=true"))
        {
            let (sender, receiver) = mpsc::unbounded();
            self.watches.insert(parts.uri.path().to_owned(), sender);
            let frames = receiver.map(|bytes| Ok(Frame::data(bytes)));
            return Reaction::Watch(StreamBody::new(frames).boxed_unsync());
        }
        let plain = format!("{} {}", parts.method, parts.uri.path());
        let answer = self.answers.get(line).or_else(|| self.answers.get(&plain));
        let unknown = || (404, "404 page not found".to_owned());
        Reaction::Answer(answer.cloned().unwrap_or_else(unknown))
    }
}

/// The server. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Scripted {
    script: Arc<Mutex<Script>>,
}

impl Scripted {
    /// `GET /path` answers with 200 and `body` from now on.
    pub(crate) fn serve(&self, request: &str, body: Value) {
        self.answer(request, 200, body);
    }

    /// `request` answers with `code` and `body` from now on.
    pub(crate) fn answer(&self, request: &str, code: u16, body: Value) {
        let text = if let Value::String(text) = body {
            text
        } else {
            body.to_string()
        };
        self.script()
            .answers
            .insert(request.to_owned(), (code, text));
    }

    /// `request` is not answered: the connection breaks off.
    pub(crate) fn refuse(&self, request: &str) {
        self.answer(request, REFUSED, Value::Null);
    }

    /// `request` is never answered.
    pub(crate) fn hang(&self, request: &str) {
        self.answer(request, SILENT, Value::Null);
    }

    /// Sends a frame to the open watch of the collection at `path`.
    pub(crate) fn send(&self, path: &str, kind: &str, object: &Value) {
        let frame = json!({"type": kind, "object": object}).to_string() + "\n";
        let watch = self.script().watches.get(path).cloned();
        watch
            .expect("a watch is open")
            .unbounded_send(frame.into())
            .expect("the watch is read");
    }

    /// Ends the open watch of the collection at `path`.
    pub(crate) fn end_watch(&self, path: &str) {
        self.script().watches.remove(path).expect("a watch is open");
    }

    /// The requests since the last call, as `METHOD /path?query`.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.script().requests)
    }

    /// The bodies sent since the last call.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        std::mem::take(&mut self.script().bodies)
    }

    /// A way to this server.
    pub(crate) fn transport(&self) -> Transport {
        let server = self.clone();
        Transport::in_process(service_fn(move |request| {
            let server = server.clone();
            async move { server.respond(request).await }
        }))
    }

    /// A client of this server.
    pub(crate) fn client(&self, clock: &Clock) -> ApiClient {
        let metrics = ClientMetrics::register(&Registry::new()).expect("a fresh registry");
        let rate = Rate {
            per_second: 20.0,
            burst: 30,
        };
        ApiClient::new(self.transport(), clock.clone(), rate, metrics)
    }

    async fn respond(&self, request: Request<Full<Bytes>>) -> Result<Response<Body>, BoxError> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.expect("a body in memory").to_bytes();
        let line = format!("{} {}", parts.method, parts.uri);
        if !body.is_empty() {
            let body = serde_json::from_slice(&body).expect("a JSON body");
            self.script().bodies.push(body);
        }
        let (code, text) = match self.script().react(&line, &parts) {
            Reaction::Watch(body) => return Ok(Response::new(body)),
            Reaction::Answer(answer) => answer,
        };
        match code {
            REFUSED => Err("connection refused".into()),
            SILENT => std::future::pending().await,
            code => {
                let body = Full::new(Bytes::from(text))
                    .map_err(Into::into)
                    .boxed_unsync();
                Ok(Response::builder()
                    .status(code)
                    .body(body)
                    .expect("a response"))
            }
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script
            .lock()
            .expect("no test panics while it holds the script")
    }
}

/// A failure as the API writes it.
pub(crate) fn failure(code: u16, reason: &str, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": reason, "code": code})
}
