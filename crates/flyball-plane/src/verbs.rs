//! The verbs on objects over HTTP: what a method means at a path, options from the query, answers in the accepted form.
//! Source: apiserver endpoints/installer.go, handlers/*.go. Not here: the rules (`registry`, `kinds`).

mod delete;
mod frames;
mod list;
mod page;
mod read;
mod scale;
mod watch;
mod write;

pub(crate) use frames::Frames;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response, StatusCode};
use serde_json::Value;

use crate::api::Api;
use crate::body::Strictness;
use crate::field::FieldError;
use crate::kind::{Kind, Version};
use crate::negotiation::{Encoding, Form, Shape, Streams};
use crate::refusal::Refusal;
use crate::registry::{Mode, Part, Place};
use crate::request::{Query, ResourcePath};
use crate::respond::{self, Body};
use crate::table::Headers;

/// A request for objects, resolved: which kind, which version, which place.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) api: Arc<Api>,
    pub(crate) kind: Arc<Kind>,
    pub(crate) version: Version,
    pub(crate) path: ResourcePath,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    pub(crate) form: Form,
}

/// What follows an object's name in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sub {
    None,
    Status,
    Scale,
    /// Of a namespace: an update that may take the finalizers of the spec away.
    Finalize,
}

/// What an answer holds.
enum Content {
    /// An object in its stored form.
    Object(Arc<Value>),
    /// Objects in their stored form, and the metadata of their list.
    List(Value, Vec<Arc<Value>>),
    /// Something that is answered as it is: a Scale, a Status of success.
    Plain(Value),
}

/// An answer that is not a stream.
struct Answer {
    code: StatusCode,
    content: Content,
    warnings: Vec<String>,
}

impl Answer {
    fn ok(content: Content) -> Self {
        Self {
            code: StatusCode::OK,
            content,
            warnings: Vec::new(),
        }
    }
}

/// Whether the request only begins with this answer. A single object is watched at its deprecated path alone; at its own,
/// `watch=true` means nothing.
pub(crate) fn is_watch(method: &Method, path: &ResourcePath, query: &Query) -> bool {
    method == Method::GET
        && path.rest.is_empty()
        && (path.watched || (path.name.is_none() && query.flag("watch")))
}

impl Call {
    /// Resolves a path; `None` when nothing is served there.
    pub(crate) fn resolve(
        api: &Arc<Api>,
        path: ResourcePath,
        query: Query,
        headers: HeaderMap,
        method: &Method,
    ) -> Option<Result<Self, Refusal>> {
        let served = api.registry.served();
        let kind = served.kinds.by_plural(&path.served.group, &path.resource)?;
        let version = kind.version(&path.served.version)?.clone();
        if path.namespace.is_some() != kind.is_namespaced()
            && (path.namespace.is_some() || path.name.is_some())
        {
            return None;
        }
        let streams = match (method, &path.name) {
            (&Method::GET, None) => Streams::Possible,
            _ => Streams::Never,
        };
        let form = Form::check_routable(&headers, streams)
            .and_then(|()| Form::accepted(&headers, &[Shape::Table, Shape::Metadata]));
        Some(form.map(|form| Self {
            api: Arc::clone(api),
            kind: Arc::clone(kind),
            version,
            path,
            query,
            headers,
            form,
        }))
    }

    /// Answers the request.
    pub(crate) async fn answer(self, method: &Method, body: Bytes) -> Response<Body> {
        let Some(sub) = self.sub() else {
            return respond::refused(&Refusal::no_such_path());
        };
        if is_watch(method, &self.path, &self.query) {
            return self
                .watch()
                .unwrap_or_else(|refusal| respond::refused(&refusal));
        }
        match self.run(method, sub, &body).await {
            Some(Ok(answer)) => self.render(&answer),
            Some(Err(refusal)) => respond::refused_as(&refusal, self.form.encoding),
            None => respond::refused(&Refusal::method_not_allowed()),
        }
    }

    async fn run(
        &self,
        method: &Method,
        sub: Sub,
        body: &Bytes,
    ) -> Option<Result<Answer, Refusal>> {
        if self.path.watched {
            return None;
        }
        let named = self.path.name.is_some();
        let one_namespace = !self.kind.is_namespaced() || self.path.namespace.is_some();
        Some(match (method.as_str(), named, sub) {
            ("GET", true, Sub::None | Sub::Status) => self.get(),
            ("GET", true, Sub::Scale) => self.get_scale(),
            ("GET", false, Sub::None) => self.list(),
            ("POST", false, Sub::None) if one_namespace => self.create(body).await,
            ("PUT", true, Sub::None) => self.put(Part::Main, body).await,
            ("PUT", true, Sub::Status) => self.put(Part::Status, body).await,
            ("PUT", true, Sub::Finalize) => self.finalize(body).await,
            ("PUT", true, Sub::Scale) => self.put_scale(body).await,
            ("PATCH", true, Sub::None) => self.patch(Part::Main, body).await,
            ("PATCH", true, Sub::Status) => self.patch(Part::Status, body).await,
            ("PATCH", true, Sub::Scale) => self.patch_scale(body).await,
            ("DELETE", true, Sub::None) => self.delete(body).await,
            ("DELETE", false, Sub::None) if one_namespace => self.delete_collection(body).await,
            _ => return None,
        })
    }

    fn sub(&self) -> Option<Sub> {
        match self
            .path
            .rest
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => Some(Sub::None),
            ["status"] if self.kind.has_status => Some(Sub::Status),
            ["scale"] if self.kind.scale.is_some() => Some(Sub::Scale),
            ["finalize"] if *self.kind.stored == *"namespaces" => Some(Sub::Finalize),
            _ => None,
        }
    }

    fn place(&self) -> Place<'_> {
        Place {
            kind: &self.kind,
            namespace: self.path.namespace.as_deref().unwrap_or_default(),
            name: self.path.name.as_deref().unwrap_or_default(),
        }
    }

    /// What `dryRun` and `fieldValidation` ask of a write.
    ///
    /// # Errors
    /// 422 that tells of both.
    fn write_options(&self, options_kind: &str) -> Result<(Mode, Strictness), Refusal> {
        match (self.mode(), Strictness::of(&self.query)) {
            (Ok(mode), Ok(strictness)) => Ok((mode, strictness)),
            (mode, strictness) => {
                let problems = mode.err().into_iter().chain(strictness.err());
                let errors: Vec<_> = problems.collect();
                Err(crate::body::invalid_options(options_kind, &errors))
            }
        }
    }

    fn mode(&self) -> Result<Mode, FieldError> {
        let asked = self.query.all("dryRun");
        if asked.iter().any(|word| *word != "All") {
            return Err(crate::field::not_supported("dryRun", asked, &["All"]));
        }
        Ok(if asked.is_empty() {
            Mode::Commit
        } else {
            Mode::DryRun
        })
    }

    fn served(&self, object: &Value) -> Value {
        self.kind.encode(&self.version, object)
    }

    fn render(&self, answer: &Answer) -> Response<Body> {
        let mut response = match (&answer.content, self.form.shape, self.form.encoding) {
            (Content::List(metadata, objects), Shape::Object, Encoding::Json) => {
                respond::json_line(answer.code, self.list_line(metadata, objects))
            }
            (content, _, encoding) => match self.shaped(content, Headers::Shown) {
                Ok(value) => respond::object(answer.code, &value, encoding),
                Err(refusal) => return respond::refused(&refusal),
            },
        };
        respond::warn(&mut response, &answer.warnings);
        response
    }
}
