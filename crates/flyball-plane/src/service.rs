//! The plane as one `tower::Service`: a request in, an answer out, with no socket between. Trusted: whoever holds it may do
//! everything; the listener asks for the token (`auth`).

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::api::Api;
use crate::body;
use crate::discovery::{self, AGGREGATED};
use crate::metrics_api::{self, World};
use crate::negotiation::{self, Encoding, Form, Shape};
use crate::refusal::Refusal;
use crate::request::{Query, ResourcePath, Route};
use crate::respond::{self, Body, BoxError};
use crate::snapshot::Snapshot;
use crate::verbs::{Call, is_watch};

/// The service. Cheap to clone; all clones are the same plane.
#[derive(Clone, Debug)]
pub struct Service {
    api: Arc<Api>,
}

impl Service {
    pub(crate) fn new(api: Arc<Api>) -> Self {
        Self { api }
    }

    /// Answers one request.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let (parts, sent) = request.into_parts();
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let route = Route::of(parts.uri.path());
        let long = matches!(&route, Route::Resource(path) if is_watch(&parts.method, path, &query));
        let _permit = if long {
            None
        } else {
            match self.api.requests.try_acquire() {
                Ok(permit) => Some(permit),
                Err(_) => return respond::refused(&Refusal::too_many_requests()),
            }
        };
        let bytes = match body::read(sent).await {
            Ok(bytes) => bytes,
            Err(refusal) => return respond::refused(&refusal),
        };
        let head = Head {
            method: parts.method,
            headers: parts.headers,
            query,
        };
        self.route(route, head, bytes).await
    }

    async fn route(&self, route: Route, head: Head, body: Bytes) -> Response<Body> {
        match route {
            Route::Resource(path) => self.resource(path, head, body).await,
            _ if head.method != Method::GET && head.method != Method::HEAD => method_not_allowed(),
            Route::Health => respond::text(StatusCode::OK, "ok"),
            Route::Version => {
                respond::object(StatusCode::OK, &discovery::version(), Encoding::Json)
            }
            Route::OpenApi(path) => self.openapi(&path),
            other => self.discover(&other, &head),
        }
    }

    async fn resource(&self, path: ResourcePath, head: Head, body: Bytes) -> Response<Body> {
        if path.served.group == "authorization.k8s.io"
            && path.resource == "selfsubjectaccessreviews"
        {
            return review(&head, &body);
        }
        if metrics_api::GROUPS.iter().any(|(group, versions)| {
            path.served.group == *group && versions.contains(&path.served.version.as_str())
        }) {
            return self.metrics(&path, &head);
        }
        let group = path.served.group.clone();
        match Call::resolve(&self.api, path, head.query, head.headers, &head.method) {
            None => self.nothing_at(&group),
            Some(Err(refusal)) => respond::refused(&refusal),
            Some(Ok(call)) => call.answer(&head.method, body).await,
        }
    }

    fn metrics(&self, path: &ResourcePath, head: &Head) -> Response<Body> {
        if head.method != Method::GET {
            return method_not_allowed();
        }
        let registry = &self.api.registry;
        let answer = {
            let state = registry.store.read();
            let view = Snapshot {
                state: &state,
                kinds: &registry.kinds,
            };
            let ledger = self.api.ledger();
            let world = World {
                view: &view,
                ledger: &ledger,
                now_ms: registry.clock.now_ms(),
            };
            metrics_api::answer(world, path, &head.query)
        };
        match answer {
            Ok(value) => respond::object(StatusCode::OK, &value, Encoding::Json),
            Err(refusal) => respond::refused(&refusal),
        }
    }

    fn openapi(&self, path: &str) -> Response<Body> {
        if path.is_empty() {
            return respond::object(StatusCode::OK, &self.api.openapi.index(), Encoding::Json);
        }
        match self.api.openapi.get(path) {
            Some(document) => respond::document(document),
            None => respond::no_page(),
        }
    }

    fn discover(&self, route: &Route, head: &Head) -> Response<Body> {
        let form = match Form::accepted(&head.headers, &[Shape::Discovery]) {
            Ok(form) => form,
            Err(refusal) => return respond::refused(&refusal),
        };
        let discovery = &self.api.discovery;
        let found = match route {
            Route::CoreVersions | Route::Groups if form.shape == Shape::Discovery => {
                let document = discovery.aggregated(*route == Route::CoreVersions);
                return respond::json_as(&document, AGGREGATED);
            }
            Route::CoreVersions => Some(discovery.core_versions()),
            Route::Groups => Some(discovery.groups()),
            Route::Group(group) => discovery.group(group),
            Route::Resources(served) => discovery.resources(&served.group, &served.version),
            _ => None,
        };
        match (found, route) {
            (Some(value), _) => respond::object(StatusCode::OK, &value, form.encoding),
            (None, Route::Resources(served)) => self.nothing_at(&served.group),
            (None, _) => respond::no_page(),
        }
    }

    /// The answer at a path where nothing is: a Status within a group that is served, a page elsewhere.
    fn nothing_at(&self, group: &str) -> Response<Body> {
        if group.is_empty() || self.api.discovery.group(group).is_some() {
            respond::refused(&Refusal::no_such_path())
        } else {
            respond::no_page()
        }
    }
}

/// What a request says besides its path and body.
struct Head {
    method: Method,
    headers: HeaderMap,
    query: Query,
}

fn method_not_allowed() -> Response<Body> {
    respond::refused(&Refusal::method_not_allowed())
}

/// `kubectl auth can-i`: whoever has come this far may do everything.
fn review(head: &Head, body: &Bytes) -> Response<Body> {
    if head.method != Method::POST {
        return method_not_allowed();
    }
    let read = body::json(&negotiation::content_type(&head.headers), body).and_then(|json| {
        serde_json::from_slice::<Value>(&json)
            .map_err(|error| Refusal::bad_request(error.to_string()))
    });
    match read {
        Err(refusal) => respond::refused(&refusal),
        Ok(asked) => {
            let answer = json!({
                "kind": "SelfSubjectAccessReview",
                "apiVersion": "authorization.k8s.io/v1",
                "metadata": {},
                "spec": asked.get("spec").cloned().unwrap_or_default(),
                "status": {"allowed": true},
            });
            respond::object(StatusCode::CREATED, &answer, Encoding::Json)
        }
    }
}

impl<B> tower::Service<Request<B>> for Service
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}
