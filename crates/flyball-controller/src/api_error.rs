//! Failures of API calls, in the words client-go finds for them.
//! Not here: calls.
//!
//! Source: apimachinery/pkg/api/errors (NewGenericServerResponse), client-go/rest (Request, Result.Error), v0.37.2.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde::Deserialize;
use thiserror::Error;
use tower::BoxError;

/// Why an API call gave no object.
#[derive(Debug, Error)]
pub enum ApiError {
    /// The server answered with a failure; the text is its message.
    #[error("{message}")]
    Status {
        /// HTTP status code.
        code: u16,
        /// Machine-readable reason such as `NotFound`; empty if unknown.
        reason: String,
        /// The message meant for people.
        message: String,
    },
    /// There was no answer.
    #[error("{} {path:?}: {cause}", verb(.method))]
    NoAnswer {
        /// Of the request.
        method: Method,
        /// Path and query of the request.
        path: String,
        /// What the transport reported.
        cause: BoxError,
    },
    /// The answer is not what was asked for.
    #[error("cannot read the answer to {} {path:?}: {cause}", verb(.method))]
    Unreadable {
        /// Of the request.
        method: Method,
        /// Path and query of the request.
        path: String,
        /// What is wrong with it.
        cause: serde_json::Error,
    },
}

impl ApiError {
    /// Whether the object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.has(404, "NotFound")
    }

    /// Whether the object changed since it was read.
    pub fn is_conflict(&self) -> bool {
        self.has(409, "Conflict")
    }

    /// Whether the resourceVersion asked for is too old.
    pub fn is_expired(&self) -> bool {
        self.has(410, "Expired") || self.has(410, "Gone")
    }

    /// Whether trying the same call again may help: the server was not reached or its answer was cut.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::NoAnswer { .. })
    }

    /// The status code, if the server answered.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Status { code, .. } => Some(*code),
            Self::NoAnswer { .. } | Self::Unreadable { .. } => None,
        }
    }

    /// Upstream's ReasonForError: the reason decides; the code only where the reason is unknown.
    fn has(&self, wanted_code: u16, wanted_reason: &str) -> bool {
        match self {
            Self::Status { code, reason, .. } if reason.is_empty() => *code == wanted_code,
            Self::Status { reason, .. } => reason == wanted_reason,
            Self::NoAnswer { .. } | Self::Unreadable { .. } => false,
        }
    }
}

/// What was asked for, as the generic messages name it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Plural resource with its group, e.g. `pods.metrics.k8s.io`; empty where client-go knows none.
    pub resource: &'a str,
    /// Object name, or empty.
    pub name: &'a str,
}

/// The part of a Status object that matters here; also the object of an ERROR frame of a watch.
#[derive(Deserialize)]
pub(crate) struct WireStatus {
    #[serde(default)]
    status: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    code: u16,
}

impl From<WireStatus> for ApiError {
    fn from(status: WireStatus) -> Self {
        Self::Status {
            code: status.code,
            reason: status.reason,
            message: status.message,
        }
    }
}

/// Turns a response that is not a success into an error: the Status object in the body, else a generic text.
pub(crate) fn failure(
    code: StatusCode,
    method: &Method,
    asked: Asked<'_>,
    body: &Bytes,
) -> ApiError {
    match serde_json::from_slice::<WireStatus>(body) {
        Ok(status) if status.status == "Failure" => ApiError::Status {
            code: if status.code == 0 {
                code.as_u16()
            } else {
                status.code
            },
            reason: status.reason,
            message: status.message,
        },
        _ => generic(code, method, asked, body),
    }
}

/// Upstream: apimachinery/pkg/api/errors/errors.go NewGenericServerResponse.
fn generic(code: StatusCode, method: &Method, asked: Asked<'_>, body: &Bytes) -> ApiError {
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    let text = if text.is_empty() { "unknown" } else { text };
    let (reason, message) = match code.as_u16() {
        400 => ("BadRequest", "the server rejected our request for an unknown reason".to_owned()),
        401 => {
            ("Unauthorized", "the server has asked for the client to provide credentials".to_owned())
        }
        403 => ("Forbidden", text.to_owned()),
        404 => ("NotFound", "the server could not find the requested resource".to_owned()),
        405 => (
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource".to_owned(),
        ),
        406 => (
            "NotAcceptable",
            "the server was unable to respond with a content type that the client supports".to_owned(),
        ),
        409 if *method == Method::POST => {
            ("AlreadyExists", "the server reported a conflict".to_owned())
        }
        409 => ("Conflict", "the server reported a conflict".to_owned()),
        415 => ("UnsupportedMediaType", text.to_owned()),
        422 => {
            ("Invalid", "the server rejected our request due to an error in our request".to_owned())
        }
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later".to_owned(),
        ),
        503 => (
            "ServiceUnavailable",
            "the server is currently unable to handle the request".to_owned(),
        ),
        504 => (
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be processing the request"
                .to_owned(),
        ),
        500.. => (
            "InternalError",
            format!("an error on the server ({text:?}) has prevented the request from succeeding"),
        ),
        other => (
            "",
            format!("the server responded with the status code {other} but did not return more information"),
        ),
    };
    let message = format!("{message}{}", suffix(method, asked));
    ApiError::Status {
        code: code.as_u16(),
        reason: reason.to_owned(),
        message,
    }
}

fn suffix(method: &Method, asked: Asked<'_>) -> String {
    let verb = method.as_str().to_lowercase();
    match (asked.resource, asked.name) {
        ("", _) => String::new(),
        (resource, "") => format!(" ({verb} {resource})"),
        (resource, name) => format!(" ({verb} {resource} {name})"),
    }
}

/// The method as Go's HTTP client prints it, e.g. `Get`.
fn verb(method: &Method) -> String {
    let (first, rest) = method.as_str().split_at(1);
    format!("{first}{}", rest.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: u16, body: &str, expected: &str) {
        let code = StatusCode::from_u16(code).expect("a status code");
        let asked = Asked {
            resource: "pods.metrics.k8s.io",
            name: "",
        };
        let error = failure(code, &Method::GET, asked, &Bytes::from(body.to_owned()));
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_status_object_speaks_for_itself() {
        let body = r#"{"kind":"Status","status":"Failure","message":"deployments.apps \"web\" not found","reason":"NotFound","code":404}"#;
        check(404, body, "deployments.apps \"web\" not found");
    }

    #[test]
    fn an_answer_without_a_status_gets_the_generic_words() {
        check(
            404,
            "404 page not found",
            "the server could not find the requested resource (get pods.metrics.k8s.io)",
        );
        check(
            503,
            "service unavailable",
            "the server is currently unable to handle the request (get pods.metrics.k8s.io)",
        );
        check(
            500,
            "oops",
            "an error on the server (\"oops\") has prevented the request from succeeding (get pods.metrics.k8s.io)",
        );
        check(403, "no", "no (get pods.metrics.k8s.io)");
        check(
            418,
            "",
            "the server responded with the status code 418 but did not return more information (get pods.metrics.k8s.io)",
        );
    }

    #[test]
    fn a_failure_without_an_answer_names_the_request() {
        let error = ApiError::NoAnswer {
            method: Method::GET,
            path: "/api".to_owned(),
            cause: "connection refused".into(),
        };
        assert_eq!(error.to_string(), "Get \"/api\": connection refused");
    }

    #[test]
    fn the_reason_decides_before_the_code() {
        let error = |code, reason: &str| ApiError::Status {
            code,
            reason: reason.to_owned(),
            message: String::new(),
        };
        assert!(error(409, "Conflict").is_conflict());
        assert!(error(409, "").is_conflict());
        assert!(!error(409, "AlreadyExists").is_conflict());
        assert!(error(410, "Expired").is_expired());
        assert!(error(404, "NotFound").is_not_found());
    }
}
