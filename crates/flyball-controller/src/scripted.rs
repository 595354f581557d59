//! A scripted API server for tests: answers by method and path, watches fed by hand, every request written down.
//! Not here: any rule of Kubernetes; the script says it all.

use std::collections::BTreeMap;
use std::convert::Infallible;
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
use tower::service_fn;

use crate::api_client::{ApiClient, ClientMetrics, Rate};
use crate::transport::{Body, Transport};

/// One answer: status code and body.
type Answer = (u16, String);

#[derive(Default)]
struct Script {
    answers: BTreeMap<String, Vec<Answer>>,
    watches: BTreeMap<String, mpsc::UnboundedSender<Bytes>>,
    requests: Vec<String>,
    bodies: Vec<Value>,
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
            .insert(request.to_owned(), vec![(code, text)]);
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
            async move { Ok::<_, Infallible>(server.respond(request).await) }
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

    async fn respond(&self, request: Request<Full<Bytes>>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.expect("a body in memory").to_bytes();
        let line = format!("{} {}", parts.method, parts.uri);
        let mut script = self.script();
        script.requests.push(line.clone());
        if !body.is_empty() {
            script
                .bodies
                .push(serde_json::from_slice(&body).expect("a JSON body"));
        }
        if parts
            .uri
            .query()
            .is_some_and(|query| query.contains("watch=true"))
        {
            let (sender, receiver) = mpsc::unbounded();
            script.watches.insert(parts.uri.path().to_owned(), sender);
            let frames = receiver.map(|bytes| Ok(Frame::data(bytes)));
            return Response::new(StreamBody::new(frames).boxed_unsync());
        }
        let plain = format!("{} {}", parts.method, parts.uri.path());
        let key = if script.answers.contains_key(&line) {
            line
        } else {
            plain
        };
        let (code, text) = match script.answers.get_mut(&key) {
            Some(answers) if answers.len() > 1 => answers.pop().unwrap_or_default(),
            Some(answers) => answers.first().cloned().unwrap_or_default(),
            None => (404, "404 page not found".to_owned()),
        };
        let body = Full::new(Bytes::from(text))
            .map_err(Into::into)
            .boxed_unsync();
        Response::builder()
            .status(code)
            .body(body)
            .expect("a response")
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
