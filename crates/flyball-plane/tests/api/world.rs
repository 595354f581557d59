//! A plane in memory and short ways to talk to it.

use bytes::Bytes;
use flyball_clock::Clock;
use flyball_plane::respond::Body;
use flyball_plane::{Config, Plane};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

/// 2026-01-01T00:00:00Z.
pub(crate) const START_MS: i64 = 1_767_225_600_000;

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";

pub(crate) struct World {
    pub(crate) plane: Plane,
    pub(crate) clock: Clock,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) code: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) value: Value,
}

impl Reply {
    /// The object of an answer of success.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.code < 300, "{} {}", self.code, self.value);
        self.value
    }

    /// The code, reason and message of a refusal.
    #[track_caller]
    pub(crate) fn refusal(&self) -> (u16, &str, &str) {
        assert_eq!(self.value["kind"], "Status", "{} {}", self.code, self.value);
        assert_eq!(self.value["code"], self.code);
        (
            self.code,
            self.value["reason"].as_str().unwrap_or_default(),
            self.value["message"].as_str().unwrap_or_default(),
        )
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        let clock = Clock::starting_at(START_MS);
        let plane = Plane::open(Config::in_memory(1), clock.clone())
            .await
            .expect("a plane in memory opens");
        Self { plane, clock }
    }

    pub(crate) async fn start(&self, request: Request<Full<Bytes>>) -> Response<Body> {
        self.plane.service().answer(request).await
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Reply {
        let (parts, body) = self.start(request).await.into_parts();
        let bytes = body.collect().await.expect("the answer ends").to_bytes();
        let value = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        Reply {
            code: parts.status.as_u16(),
            headers: parts.headers,
            value,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.send(request("GET", path, "", "")).await
    }

    pub(crate) async fn post(&self, path: &str, object: &Value) -> Reply {
        self.send(request(
            "POST",
            path,
            "application/json",
            &object.to_string(),
        ))
        .await
    }

    pub(crate) async fn put(&self, path: &str, object: &Value) -> Reply {
        self.send(request(
            "PUT",
            path,
            "application/json",
            &object.to_string(),
        ))
        .await
    }

    pub(crate) async fn patch(&self, path: &str, media_type: &str, change: &Value) -> Reply {
        self.send(request("PATCH", path, media_type, &change.to_string()))
            .await
    }

    pub(crate) async fn delete(&self, path: &str, options: &Value) -> Reply {
        let body = if options.is_null() {
            String::new()
        } else {
            options.to_string()
        };
        self.send(request("DELETE", path, "application/json", &body))
            .await
    }

    /// Lets seconds of virtual time pass.
    pub(crate) async fn pass(&self, seconds: u64) {
        self.clock
            .sleep(std::time::Duration::from_secs(seconds))
            .await;
    }
}

pub(crate) fn request(
    method: &str,
    path: &str,
    media_type: &str,
    body: &str,
) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(path);
    if !media_type.is_empty() {
        request = request.header("content-type", media_type);
    }
    request
        .body(Full::new(Bytes::from(body.to_owned())))
        .expect("method, path and type are sound")
}

pub(crate) const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub(crate) const PODS: &str = "/api/v1/namespaces/default/pods";

pub(crate) fn deployment(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            },
        },
    })
}

pub(crate) fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}
