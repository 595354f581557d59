//! Answers: objects, tables, refusals, texts, as HTTP responses. Not here: what the answer is (`verbs`).

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, RETRY_AFTER, WARNING,
};
use http::{Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use serde::Serialize;
use serde_json::Value;

use crate::negotiation::Encoding;
use crate::refusal::Refusal;
use crate::schema::openapi::Document;
use crate::telemetry;

/// What a body may fail with; ours never does, a client's may.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
/// The body of an answer: whole, or a stream of watch events.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Warnings of one answer. Upstream cuts them at 4096 characters and never fails for them.
const WARNINGS_MAX: usize = 64;

/// The answer that holds `value`.
pub(crate) fn object(code: StatusCode, value: &Value, encoding: Encoding) -> Response<Body> {
    let (bytes, media_type) = encoded(value, encoding);
    whole(code, bytes, media_type)
}

/// The answer that is JSON already.
pub(crate) fn json_line(code: StatusCode, line: Bytes) -> Response<Body> {
    whole(code, line, "application/json")
}

/// A JSON answer under another media type, as discovery has it.
pub(crate) fn json_as(value: &Value, media_type: &'static str) -> Response<Body> {
    whole(StatusCode::OK, encoded(value, Encoding::Json).0, media_type)
}

/// The answer to a request that is refused before the client's form is known.
pub(crate) fn refused(refusal: &Refusal) -> Response<Body> {
    refused_as(refusal, Encoding::Json)
}

/// The answer to a request that is refused.
pub(crate) fn refused_as(refusal: &Refusal, encoding: Encoding) -> Response<Body> {
    let mut response = object(refusal.code, &refusal.status(), encoding);
    warn(&mut response, &refusal.warnings);
    if let Some(seconds) = refusal.retry_after_seconds() {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// A plain text. Upstream answers so for paths it does not know and for health.
pub(crate) fn text(code: StatusCode, text: impl Into<String>) -> Response<Body> {
    let bytes = text.into().into_bytes();
    let mut response = whole(code, bytes, "text/plain; charset=utf-8");
    response.headers_mut().insert(
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    response
}

/// The text of `/metrics`.
pub(crate) fn metrics(text: String) -> Response<Body> {
    whole(StatusCode::OK, text.into_bytes(), telemetry::MEDIA_TYPE)
}

/// An OpenAPI document. Its address holds its hash, so that a client may keep it.
pub(crate) fn document(document: &Document) -> Response<Body> {
    let mut response = whole(StatusCode::OK, document.body.to_vec(), "application/json");
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", document.hash)) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}

/// Upstream's answer for a path nobody has registered.
pub(crate) fn no_page() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// An answer that goes on: a watch.
pub(crate) fn stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    set_headers(&mut response, "application/json");
    response
}

/// Adds one `Warning` header for each text.
pub(crate) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    for warning in warnings.iter().take(WARNINGS_MAX) {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

/// One line of JSON, as upstream's encoder ends every object.
pub(crate) fn line(value: &impl Serialize) -> Bytes {
    let mut bytes = serde_json::to_vec(value).expect("a JSON value has string keys only");
    bytes.push(b'\n');
    bytes.into()
}

fn encoded(value: &Value, encoding: Encoding) -> (Bytes, &'static str) {
    match encoding {
        Encoding::Json => (line(value), "application/json"),
        Encoding::Yaml => {
            let text = serde_saphyr::to_string(value).unwrap_or_else(|_| value.to_string());
            (text.into(), "application/yaml")
        }
    }
}

fn whole(code: StatusCode, bytes: impl Into<Bytes>, media_type: &'static str) -> Response<Body> {
    let body = Full::new(bytes.into()).map_err(|never| match never {});
    let mut response = Response::new(Body::new(body));
    *response.status_mut() = code;
    set_headers(&mut response, media_type);
    response
}

fn set_headers(response: &mut Response<Body>, media_type: &'static str) {
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
}
