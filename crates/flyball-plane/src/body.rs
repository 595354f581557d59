//! Reading what a client sends: bounded bytes, JSON, YAML or protobuf, decoded into an object of the expected type.
//! Source: apiserver endpoints/handlers/{create,update,rest}.go. Not here: rules about the object.

use bytes::Bytes;
use flyball_api::go_text::quote;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;

use crate::field::FieldError;
use crate::kind::{Kind, Version};
use crate::object;
use crate::protobuf;
use crate::refusal::Refusal;
use crate::request::Query;
use crate::respond::BoxError;
use crate::schema::decode::{
    DecodeError, Decoded, Origin, json_kind, strict_error, syntax, unreadable,
};
use crate::schema::{Gvk, Schema};

/// A body larger than this is refused with 413. Upstream: `MaxRequestBodyBytes`.
pub(crate) const BYTES_MAX: usize = 3 << 20;

const YAML: &str = "application/yaml";
const ACCEPTED: &str = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

/// What happens to fields that the type does not have, `fieldValidation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strictness {
    Ignore,
    Warn,
    Strict,
}

impl Strictness {
    /// From the query; `Warn` when nothing is said.
    ///
    /// # Errors
    /// Another word.
    pub(crate) fn of(query: &Query) -> Result<Self, FieldError> {
        match query.get("fieldValidation") {
            None | Some("Warn") => Ok(Self::Warn),
            Some("Ignore") => Ok(Self::Ignore),
            Some("Strict") => Ok(Self::Strict),
            Some(other) => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                Err(crate::field::not_supported(
                    "fieldValidation",
                    other,
                    &supported,
                ))
            }
        }
    }
}

/// Where a patched object comes from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// Decides the words for a wrong type.
    pub(crate) origin: Origin,
    /// What a refusal shows of it.
    pub(crate) quoted: String,
}

/// The refusal of an option in the query.
pub(crate) fn invalid_option(options_kind: &str, error: &FieldError) -> Refusal {
    invalid_options(options_kind, std::slice::from_ref(error))
}

/// The refusal of several options.
pub(crate) fn invalid_options(options_kind: &str, errors: &[FieldError]) -> Refusal {
    let subject = crate::refusal::Subject {
        group: "meta.k8s.io",
        resource: options_kind,
        name: "",
    };
    Refusal::invalid(subject, errors)
}

/// Reads a whole body.
///
/// # Errors
/// 413 when it is too large, 400 when it breaks off.
pub(crate) async fn read<B>(body: B) -> Result<Bytes, Refusal>
where
    B: http_body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    match Box::pin(Limited::new(body, BYTES_MAX).collect()).await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal::too_large(BYTES_MAX)),
        Err(error) => Err(Refusal::bad_request(error.to_string())),
    }
}

/// The JSON text of a body that is JSON, YAML or protobuf.
///
/// # Errors
/// 415 for another media type, 400 for a body that cannot be read.
pub(crate) fn json(media_type: &str, bytes: &Bytes) -> Result<Bytes, Refusal> {
    match media_type {
        "" | "application/json" | "*/*" => Ok(bytes.clone()),
        YAML => {
            let value: Value = yaml(bytes)?;
            Ok(serde_json::to_vec(&value)
                .expect("a JSON value has string keys only")
                .into())
        }
        protobuf::MEDIA_TYPE => {
            let value =
                protobuf::decode(bytes).map_err(|error| Refusal::bad_request(error.to_string()))?;
            Ok(serde_json::to_vec(&value)
                .expect("a JSON value has string keys only")
                .into())
        }
        _ => Err(Refusal::unsupported_media_type(format!(
            "the body of the request was in an unknown format - accepted media types include: {ACCEPTED}"
        ))),
    }
}

/// A YAML document as a value. kubectl and upstream read YAML 1.1, hence the octal numbers.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Value, Refusal> {
    let options = serde_saphyr::options! { legacy_octal_numbers: true };
    serde_saphyr::from_slice_with_options(bytes, options)
        .map_err(|error| Refusal::bad_request(format!("error converting YAML to JSON: {error}")))
}

/// Which type a body has to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) version: &'a Version,
}

impl<'a> Expected<'a> {
    fn gvk(&self) -> Gvk<'a> {
        Gvk::new(&self.kind.group, &self.version.name, &self.kind.kind)
    }

    /// Decodes a body into the stored form, with the warnings that go with it.
    ///
    /// # Errors
    /// 400 with upstream's reason.
    pub(crate) fn decode(
        &self,
        json: &[u8],
        strictness: Strictness,
    ) -> Result<(Value, Vec<String>), Refusal> {
        let gvk = self.gvk();
        let decoded = typed(gvk, json)?;
        self.settle(decoded, strictness, |why| {
            Refusal::bad_request(unreadable(gvk, why))
        })
    }

    /// Decodes the outcome of a patch into the stored form, with the warnings that go with it. `patched` is the outcome, and
    /// what was wrong with the patch itself, which is told first.
    ///
    /// # Errors
    /// 422 with upstream's reason.
    pub(crate) fn decode_patched(
        &self,
        patched: &Decoded,
        source: &Source,
        strictness: Strictness,
    ) -> Result<(Value, Vec<String>), Refusal> {
        let refuse = |why: &str| {
            let error = crate::field::invalid("patch", source.quoted.clone(), why);
            let nothing = crate::refusal::Subject {
                group: "",
                resource: "",
                name: "",
            };
            Refusal::invalid(nothing, &[error])
        };
        let mut decoded = Schema::builtin()
            .decode_value(self.gvk(), &patched.object, source.origin)
            .map_err(|error| refuse(&error.to_string()))?;
        decoded.strict.splice(..0, patched.strict.iter().cloned());
        self.settle(decoded, strictness, refuse)
    }

    fn settle(
        &self,
        decoded: Decoded,
        strictness: Strictness,
        refuse: impl Fn(&str) -> Refusal,
    ) -> Result<(Value, Vec<String>), Refusal> {
        let Decoded {
            mut object,
            mut strict,
        } = decoded;
        let unknown = self.kind.strategy.read(&self.version.name, &mut object);
        let unknown = unknown.map_err(|why| refuse(&why))?;
        strict.extend(
            unknown
                .iter()
                .map(|path| format!("unknown field {}", quote(path))),
        );
        let warnings = judged(strict, strictness, refuse)?;
        let mut object = self.kind.decode(self.version, object);
        self.kind.strategy.default(&mut object);
        Ok((object, warnings))
    }
}

/// Reads a body as an object of the type `gvk`, which it may name or leave out.
///
/// # Errors
/// 400 with upstream's reason.
pub(crate) fn typed(gvk: Gvk<'_>, json: &[u8]) -> Result<Decoded, Refusal> {
    check_type(gvk, json).map_err(|error| match error {
        TypeError::Unreadable(why) => unrecognized(gvk.kind, &why, json),
        TypeError::Unregistered { kind, version, why } => Refusal::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {}: {why}",
            gvk.kind
        )),
    })?;
    Schema::builtin()
        .decode(gvk, json)
        .map_err(|error| match error {
            DecodeError::Syntax(why) => unrecognized(gvk.kind, &why, json),
            DecodeError::Mismatch(why) => Refusal::bad_request(unreadable(gvk, &why)),
        })
}

/// As [`typed`], for the options of a request, of whose problems upstream tells as they are.
///
/// # Errors
/// 400 with upstream's reason.
pub(crate) fn options(gvk: Gvk<'_>, json: &[u8]) -> Result<Value, Refusal> {
    check_type(gvk, json).map_err(|error| match error {
        TypeError::Unreadable(why) => Refusal::bad_request(format!(
            "couldn't get version/kind; json parse error: {why}"
        )),
        TypeError::Unregistered { why, .. } => Refusal::bad_request(why),
    })?;
    Schema::builtin()
        .decode(gvk, json)
        .map(|decoded| decoded.object)
        .map_err(|error| Refusal::bad_request(error.to_string()))
}

/// What happens for fields that the type does not have: warnings, nothing, or a refusal.
///
/// # Errors
/// Whatever `refuse` makes of them.
pub(crate) fn judged(
    problems: Vec<String>,
    strictness: Strictness,
    refuse: impl Fn(&str) -> Refusal,
) -> Result<Vec<String>, Refusal> {
    match strictness {
        Strictness::Strict if !problems.is_empty() => Err(refuse(&strict_error(&problems))),
        Strictness::Strict | Strictness::Ignore => Ok(Vec::new()),
        Strictness::Warn => Ok(problems),
    }
}

/// A body does not say that it is of the expected type.
enum TypeError {
    /// What it says cannot be read.
    Unreadable(String),
    /// It says another type.
    Unregistered {
        kind: String,
        version: String,
        why: String,
    },
}

fn check_type(gvk: Gvk<'_>, json: &[u8]) -> Result<(), TypeError> {
    #[derive(serde::Deserialize)]
    struct TypeMeta {
        #[serde(default, rename = "apiVersion")]
        api_version: Value,
        #[serde(default)]
        kind: Value,
    }
    let found = serde_json::from_slice::<Option<TypeMeta>>(json).map_err(|error| {
        TypeError::Unreadable(syntax::problem(json).unwrap_or_else(|| error.to_string()))
    })?;
    let text = |field: &str, value: Option<Value>| match value {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(TypeError::Unreadable(format!(
            "json: cannot unmarshal {} into Go struct field .{field} of type string",
            json_kind(&other)
        ))),
    };
    let (api_version, kind) = found.map_or((None, None), |found| {
        (Some(found.api_version), Some(found.kind))
    });
    let (api_version, kind) = (text("apiVersion", api_version)?, text("kind", kind)?);
    let (group, version) = api_version
        .split_once('/')
        .unwrap_or(("", api_version.as_str()));
    let same_version = api_version.is_empty() || (group, version) == (gvk.group, gvk.version);
    if same_version && (kind.is_empty() || kind == gvk.kind) {
        return Ok(());
    }
    let why = format!(
        "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
    );
    Err(TypeError::Unregistered {
        version: version.to_owned(),
        kind,
        why,
    })
}

/// Upstream: `transformDecodeError` for a body whose type could not be found.
fn unrecognized(kind: &str, why: &str, json: &[u8]) -> Refusal {
    use std::fmt::Write as _;
    const SHOWN: usize = 30;
    let shown = &json[..json.len().min(SHOWN)];
    let mut summary = String::new();
    match std::str::from_utf8(shown) {
        _ if json.is_empty() => summary.push_str("<empty>"),
        Ok(text) if is_printable(text) => summary.push_str(text),
        _ => {
            for byte in shown {
                let _ = write!(summary, "{byte:02x}");
            }
        }
    }
    if json.len() > SHOWN {
        summary.push_str(" ...");
    }
    Refusal::bad_request(format!(
        "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {why} ({summary})"
    ))
}

/// Upstream shows such a body as it is, and the bytes of others.
fn is_printable(text: &str) -> bool {
    text.chars().all(|character| !character.is_control())
}

/// Checks that an object sent to a place names that place, if it names any. Upstream: rest.go `checkName`.
///
/// # Errors
/// 400.
pub(crate) fn check_name(object: &Value, name: &str) -> Result<(), Refusal> {
    match object::name(object) {
        "" => Err(Refusal::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
        found if found == name => Ok(()),
        found => Err(Refusal::bad_request(format!(
            "the name of the object ({found}) does not match the name on the URL ({name})"
        ))),
    }
}
