//! A request that is refused: the `Status` object of the answer, in upstream's words.
//! Source: apimachinery api/errors/errors.go, one constructor each. Not here: when to refuse.

use flyball_api::field::{FieldError, aggregate};
use http::StatusCode;
use serde_json::{Map, Value, json};

/// A refusal: HTTP status, machine-readable reason, text, details.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// HTTP status code.
    pub code: StatusCode,
    /// `reason` of the Status, such as `NotFound`; may be empty.
    pub reason: &'static str,
    /// `message` of the Status.
    pub message: String,
    /// `details` of the Status, absent when there are none.
    pub details: Option<Map<String, Value>>,
    /// What the client is warned of besides.
    pub warnings: Box<[String]>,
    /// `metadata.continue` of the Status: where a list can go on that cannot go on as it began.
    pub next_page: Option<Box<str>>,
}

/// What a refusal is about: the resource by group and plural (or kind, for invalid objects) and the object's name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    /// API group, `""` for core.
    pub group: &'a str,
    /// Plural resource name, or the kind.
    pub resource: &'a str,
    /// Object name, may be empty.
    pub name: &'a str,
}

impl Subject<'_> {
    fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.resource.to_owned()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        for (field, text) in [
            ("name", self.name),
            ("group", self.group),
            ("kind", self.resource),
        ] {
            if !text.is_empty() {
                details.insert(field.to_owned(), text.into());
            }
        }
        details
    }
}

impl Refusal {
    fn plain(code: StatusCode, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
            warnings: Box::default(),
            next_page: None,
        }
    }

    fn about(
        code: StatusCode,
        reason: &'static str,
        message: String,
        subject: Subject<'_>,
    ) -> Self {
        Self {
            code,
            reason,
            message,
            details: Some(subject.details()),
            warnings: Box::default(),
            next_page: None,
        }
    }

    /// The refusal, with what was found before it.
    pub(crate) fn warned(mut self, warnings: &[String]) -> Self {
        self.warnings = self.warnings.iter().chain(warnings).cloned().collect();
        self
    }

    fn retry_after(mut self, seconds: u32) -> Self {
        self.details
            .get_or_insert_with(Map::new)
            .insert("retryAfterSeconds".to_owned(), seconds.into());
        self
    }

    /// 404: there is no such object.
    pub(crate) fn not_found(subject: Subject<'_>) -> Self {
        let message = format!("{} {:?} not found", subject.qualified(), subject.name);
        Self::about(StatusCode::NOT_FOUND, "NotFound", message, subject)
    }

    /// 404: there is nothing at this path of a known API.
    pub(crate) fn no_such_path() -> Self {
        let mut refusal = Self::plain(
            StatusCode::NOT_FOUND,
            "NotFound",
            "the server could not find the requested resource",
        );
        refusal.details = Some(Map::new());
        refusal
    }

    /// 405: the path knows the method not.
    pub(crate) fn method_not_allowed() -> Self {
        let mut refusal = Self::plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
        refusal.details = Some(Map::new());
        refusal
    }

    /// 409: the name is taken.
    pub(crate) fn already_exists(subject: Subject<'_>) -> Self {
        let message = format!("{} {:?} already exists", subject.qualified(), subject.name);
        Self::about(StatusCode::CONFLICT, "AlreadyExists", message, subject)
    }

    /// 409: no free name was found for a `generateName`.
    pub(crate) fn no_unique_name(subject: Subject<'_>) -> Self {
        let message = format!(
            "{} {:?} already exists, the server was not able to generate a unique name for the object",
            subject.qualified(),
            subject.name
        );
        Self::about(StatusCode::CONFLICT, "AlreadyExists", message, subject).retry_after(1)
    }

    /// 409: the object is not in the state the request supposes.
    pub(crate) fn conflict(subject: Subject<'_>, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {:?}: {why}",
            subject.qualified(),
            subject.name
        );
        Self::about(StatusCode::CONFLICT, "Conflict", message, subject)
    }

    /// 409: the object has changed since the client read it.
    pub(crate) fn modified(subject: Subject<'_>) -> Self {
        Self::conflict(
            subject,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// 422: the object breaks rules; `subject.resource` is the kind.
    pub(crate) fn invalid(subject: Subject<'_>, errors: &[FieldError]) -> Self {
        let list = aggregate(errors);
        let message = format!(
            "{} {:?} is invalid: {list}",
            subject.qualified(),
            subject.name
        );
        let mut seen: Vec<&FieldError> = Vec::new();
        for error in errors {
            if !seen.contains(&error) {
                seen.push(error);
            }
        }
        let causes: Vec<Value> = seen
            .iter()
            .map(|error| json!({"reason": error.kind.cause(), "message": error.body(), "field": error.field}))
            .collect();
        let mut refusal = Self::about(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Invalid",
            message,
            subject,
        );
        refusal
            .details
            .get_or_insert_with(Map::new)
            .insert("causes".to_owned(), causes.into());
        refusal
    }

    /// 422 without an object: a patch that cannot be applied.
    pub(crate) fn unprocessable_patch() -> Self {
        let mut refusal = Self::plain(
            StatusCode::UNPROCESSABLE_ENTITY,
            "Invalid",
            "the server rejected our request due to an error in our request",
        );
        refusal.details = Some(Map::new());
        refusal
    }

    /// 400: the request itself is wrong.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// 401: no valid token.
    pub(crate) fn unauthorized() -> Self {
        Self::plain(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    /// 421: the request asks a server of another name. Not upstream's, which answers to any.
    pub(crate) fn misdirected(host: &str) -> Self {
        Self::plain(
            StatusCode::MISDIRECTED_REQUEST,
            "",
            format!(
                "{host:?} is not a name of this server: use localhost or its address, as its kubeconfig does"
            ),
        )
    }

    /// 403: a web page of another origin asks. Not upstream's, which leaves this to the token.
    pub(crate) fn cross_origin(origin: &str) -> Self {
        Self::plain(
            StatusCode::FORBIDDEN,
            "Forbidden",
            format!(
                "forbidden: web pages of {origin:?} may not ask this server: send no Origin header, or the server's own"
            ),
        )
    }

    /// 504: the request has taken too long. Upstream: filters/timeout.go.
    pub(crate) fn timed_out() -> Self {
        let mut refusal = Self::plain(
            StatusCode::GATEWAY_TIMEOUT,
            "Timeout",
            "Timeout: request did not complete within the allotted timeout",
        );
        refusal.details = Some(Map::new());
        refusal
    }

    /// 403: nobody may do this.
    pub(crate) fn forbidden(subject: Subject<'_>, why: &str) -> Self {
        let message = format!(
            "{} {:?} is forbidden: {why}",
            subject.qualified(),
            subject.name
        );
        Self::about(StatusCode::FORBIDDEN, "Forbidden", message, subject)
    }

    /// 406: none of the media types the client accepts can be made.
    pub(crate) fn not_acceptable(accepted: &str) -> Self {
        Self::plain(
            StatusCode::NOT_ACCEPTABLE,
            "NotAcceptable",
            format!("only the following media types are accepted: {accepted}"),
        )
    }

    /// 406: the client accepts nothing that is ever made at this path.
    pub(crate) fn no_representation(available: &str) -> Self {
        let mut refusal = Self::plain(
            StatusCode::NOT_ACCEPTABLE,
            "NotAcceptable",
            format!("406: Not Acceptable\n\nAvailable representations: {available}"),
        );
        refusal.details = Some(Map::new());
        refusal
    }

    /// 410: the history no longer reaches back that far.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::GONE, "Expired", message)
    }

    /// 413: the body is too large.
    pub(crate) fn too_large(bytes_max: usize) -> Self {
        Self::plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            format!("Request entity too large: limit is {bytes_max}"),
        )
    }

    /// 413: a patch with too many operations.
    pub(crate) fn too_large_patch(why: &str) -> Self {
        Self::plain(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            format!("Request entity too large: {why}"),
        )
    }

    /// 415: the body's media type is not understood.
    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::plain(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
    }

    /// 415: a patch of a media type that no path takes.
    pub(crate) fn unknown_patch() -> Self {
        let mut refusal = Self::unsupported_media_type("415: Unsupported Media Type");
        refusal.details = Some(Map::new());
        refusal
    }

    /// 429: too many requests at once.
    pub(crate) fn too_many_requests() -> Self {
        Self::plain(
            StatusCode::TOO_MANY_REQUESTS,
            "TooManyRequests",
            "Too many requests, please try again later.",
        )
        .retry_after(1)
    }

    /// 500: something broke on our side.
    pub(crate) fn internal(why: impl std::fmt::Display) -> Self {
        let mut refusal = Self::plain(
            StatusCode::INTERNAL_SERVER_ERROR,
            "InternalError",
            format!("Internal error occurred: {why}"),
        );
        let causes = json!([{"message": why.to_string()}]);
        refusal.details = Some(Map::from_iter([("causes".to_owned(), causes)]));
        refusal
    }

    /// 500 without a reason: an error that upstream passes on as it is.
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::plain(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    /// 503: shutting down, or a backend is missing.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::plain(
            StatusCode::SERVICE_UNAVAILABLE,
            "ServiceUnavailable",
            message,
        )
    }

    /// 504: the client asks for a state that is not there yet.
    pub(crate) fn resource_version_too_large(asked: u64, current: u64) -> Self {
        let mut refusal = Self::plain(
            StatusCode::GATEWAY_TIMEOUT,
            "Timeout",
            format!("Timeout: Too large resource version: {asked}, current: {current}"),
        );
        let causes =
            json!([{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]);
        refusal.details = Some(Map::from_iter([("causes".to_owned(), causes)]));
        refusal.retry_after(1)
    }

    /// The Status object of the answer.
    pub(crate) fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code.as_u16(),
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(token) = &self.next_page {
            status["metadata"]["continue"] = Value::from(&**token);
        }
        if let Some(details) = &self.details {
            status["details"] = Value::Object(details.clone());
        }
        status
    }

    /// Seconds after which a client may try again, for the `Retry-After` header.
    pub(crate) fn retry_after_seconds(&self) -> Option<u64> {
        self.details.as_ref()?.get("retryAfterSeconds")?.as_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEB: Subject<'_> = Subject {
        group: "apps",
        resource: "deployments",
        name: "web",
    };

    #[test]
    fn texts_are_upstreams() {
        let table = [
            (
                Refusal::not_found(WEB),
                404,
                "deployments.apps \"web\" not found",
            ),
            (
                Refusal::already_exists(WEB),
                409,
                "deployments.apps \"web\" already exists",
            ),
            (
                Refusal::modified(WEB),
                409,
                "Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; please apply your changes to the latest version and try again",
            ),
            (
                Refusal::too_large(3_145_728),
                413,
                "Request entity too large: limit is 3145728",
            ),
        ];
        for (refusal, code, message) in table {
            assert_eq!(
                (refusal.code.as_u16(), refusal.message.as_str()),
                (code, message)
            );
        }
    }

    #[test]
    fn an_invalid_object_lists_every_problem_once_in_the_message_and_as_a_cause() {
        let errors = [
            crate::field::required("a", ""),
            crate::field::required("b", "x"),
        ];
        let kind = Subject {
            group: "apps",
            resource: "Deployment",
            name: "web",
        };
        let status = Refusal::invalid(kind, &errors).status();
        assert_eq!(
            status["message"],
            "Deployment.apps \"web\" is invalid: [a: Required value, b: Required value: x]"
        );
        assert_eq!(status["details"]["causes"][1]["field"], "b");
        let one = Refusal::invalid(kind, &errors[..1]).status();
        assert_eq!(
            one["message"],
            "Deployment.apps \"web\" is invalid: a: Required value"
        );
    }
}
