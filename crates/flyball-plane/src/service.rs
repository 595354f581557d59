//! The plane as one `tower::Service`: a request in, an answer out, with no socket between. Trusted: whoever holds it may do
//! everything; the listener asks for the token (`auth`).

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
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
use crate::telemetry::{self, Labels};
use crate::verbs::{Call, is_watch};

/// Names a request in the logs of both sides.
const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// What may follow an object's name and is counted.
const SUBRESOURCES: [&str; 3] = ["status", "scale", "finalize"];

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
        let began = self.api.telemetry.now();
        let query = Query::parse(request.uri().query().unwrap_or_default());
        let route = Route::of(request.uri().path());
        let labels = self.labels(request.method(), &route, &query);
        let asked = asked_audit_id(request.headers());
        let mut answer = self.bounded(request, route, query).await;
        if let Some(id) = asked {
            answer.headers_mut().insert(AUDIT_ID, id);
        }
        match labels {
            Some(labels) if labels.verb == "WATCH" && answer.status() == StatusCode::OK => {
                self.api.telemetry.watched(labels, began, answer)
            }
            Some(labels) => {
                let code = answer.status().as_u16();
                self.api.telemetry.ended(&labels, began, code);
                answer
            }
            None => answer,
        }
    }

    /// Answers a request if there is room for it.
    async fn bounded<B>(&self, request: Request<B>, route: Route, query: Query) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let (parts, sent) = request.into_parts();
        let long = matches!(&route, Route::Resource(path) if is_watch(&parts.method, path, &query));
        let _permit = if long {
            None
        } else {
            match self.api.requests.try_acquire() {
                Ok(permit) => Some((permit, self.api.telemetry.at_work(&parts.method))),
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

    /// What the request counts as. Paths that nothing is served at are not counted, as upstream.
    fn labels(&self, method: &Method, route: &Route, query: &Query) -> Option<Labels> {
        let elsewhere = |subresource: &str| {
            Some(Labels {
                verb: telemetry::verb(method, ""),
                subresource: subresource.to_owned(),
                ..Labels::default()
            })
        };
        match route {
            Route::Health => elsewhere("/healthz"),
            Route::Version => elsewhere("/version"),
            Route::OpenApi(_) => elsewhere("openapi/v3"),
            Route::Resource(path) => self.object_labels(method, path, query),
            _ => None,
        }
    }

    fn object_labels(&self, method: &Method, path: &ResourcePath, query: &Query) -> Option<Labels> {
        let served = &path.served;
        let now = self.api.registry.served();
        let kind = now.kinds.by_plural(&served.group, &path.resource)?;
        kind.version(&served.version)?;
        let subresource = match path.rest.as_slice() {
            [] => "",
            [one] if SUBRESOURCES.contains(&one.as_str()) => one,
            _ => return None,
        };
        let scope = match (&path.name, &path.namespace) {
            _ if method == Method::POST => "resource",
            (Some(_), _) => "resource",
            (None, Some(_)) => "namespace",
            (None, None) => "cluster",
        };
        Some(Labels {
            verb: if is_watch(method, path, query) {
                "WATCH"
            } else {
                telemetry::verb(method, scope)
            },
            dry_run: telemetry::dry_run(query),
            group: served.group.clone(),
            version: served.version.clone(),
            resource: path.resource.clone(),
            subresource: subresource.to_owned(),
            scope,
            component: "apiserver",
        })
    }

    async fn route(&self, route: Route, head: Head, body: Bytes) -> Response<Body> {
        match route {
            Route::Resource(path) => self.resource(path, head, body).await,
            // Upstream's handler looks at no method.
            Route::Metrics => respond::metrics(self.api.telemetry.text()),
            _ if head.method != Method::GET && head.method != Method::HEAD => method_not_allowed(),
            Route::Health => respond::text(StatusCode::OK, "ok"),
            Route::Version => {
                respond::object(StatusCode::OK, &discovery::version(), Encoding::Json)
            }
            Route::OpenApi(path) => self.openapi(&path),
            Route::OldOpenApi => self.no_other_kinds(),
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
            let served = registry.served();
            let state = registry.store.read();
            let view = Snapshot {
                state: &state,
                kinds: &served.kinds,
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
        let served = self.api.registry.served();
        let documents = served.openapi();
        if path.is_empty() {
            return respond::object(StatusCode::OK, &documents.index(), Encoding::Json);
        }
        match documents.get(path) {
            Some(document) => respond::document(document),
            None => respond::no_page(),
        }
    }

    fn discover(&self, route: &Route, head: &Head) -> Response<Body> {
        let form = match Form::accepted(&head.headers, &[Shape::Discovery]) {
            Ok(form) => form,
            Err(refusal) => return respond::refused(&refusal),
        };
        let served = self.api.registry.served();
        let discovery = served.discovery();
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

    /// The answer for OpenAPI version 2, which kubectl asks for about a kind that is nowhere else. Of all refusals it is a
    /// text with this code that kubectl shows to its user.
    fn no_other_kinds(&self) -> Response<Body> {
        let served = self.api.registry.served();
        let names: BTreeSet<&str> = served.kinds.iter().map(|kind| kind.kind.as_ref()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let text = format!(
            "this server has no OpenAPI version 2, and no other kinds than {}",
            names.join(", ")
        );
        respond::text(StatusCode::NOT_ACCEPTABLE, text)
    }

    /// The answer at a path where nothing is: a Status within a group that is served, a page elsewhere.
    fn nothing_at(&self, group: &str) -> Response<Body> {
        if group.is_empty()
            || self
                .api
                .registry
                .served()
                .discovery()
                .group(group)
                .is_some()
        {
            respond::refused(&Refusal::no_such_path())
        } else {
            respond::no_page()
        }
    }
}

/// The name a client gave its request. Upstream makes one up where there is none; nothing here keeps a log under it.
fn asked_audit_id(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(AUDIT_ID).filter(|id| !id.is_empty()).cloned()
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
