//! The token of the next page of a list. Source: apiserver storage/continue.go, storage/etcd3/errors.go.
//! Not here: which objects are on a page (`list`).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::Call;
use crate::refusal::Refusal;
use crate::schema::decode::syntax;
use crate::store::{Key, Revision};

const TOO_OLD: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
/// The form of the token.
const VERSION: &str = "meta.k8s.io/v1";
/// The revision of a token that goes on at the present.
const PRESENT: i64 = -1;
/// The fields of a token and their Go types.
const FIELDS: [(&str, &str); 3] = [("v", "string"), ("rv", "int64"), ("start", "string")];

/// Where a page starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// The revision of the first page; `None` for the present.
    pub(super) revision: Option<Revision>,
    /// The first key that may be on the page, without the prefix of the list.
    start: String,
}

impl Page {
    /// Reads a token of a client's.
    pub(super) fn parse(token: &str) -> Result<Self, Refusal> {
        let bytes = URL_SAFE_NO_PAD
            .decode(token)
            .map_err(|error| invalid(&format!(": {}", illegal_base64(&error, token))))?;
        let fields = fields(&bytes).map_err(|why| invalid(&format!(": {why}")))?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("v") != VERSION {
            let found = text("v");
            return Err(invalid(&format!(
                ": server does not recognize this encoded version {found}"
            )));
        }
        let revision = fields.get("rv").and_then(Value::as_i64).unwrap_or_default();
        if revision == 0 {
            return Err(invalid(&format!(
                ": incorrect encoded start resourceVersion (version {VERSION})"
            )));
        }
        let start = text("start");
        if start.is_empty() {
            return Err(invalid(&format!(
                ": encoded start key empty (version {VERSION})"
            )));
        }
        let inner = start.strip_prefix('/').unwrap_or(start);
        if inner.split('/').any(|part| ["", ".", ".."].contains(&part)) {
            return Err(invalid(&format!(": {start}")));
        }
        Ok(Self {
            revision: Revision::try_from(revision).ok(),
            start: inner.to_owned(),
        })
    }

    /// The refusal of a token whose revision has left the history, with one that goes on at the present.
    pub(super) fn too_old(&self) -> Refusal {
        let mut refusal = Refusal::expired(TOO_OLD);
        refusal.next_page = Some(encode(PRESENT, &self.start).into());
        refusal
    }
}

impl Call {
    /// The first key that may be on the page.
    pub(super) fn page_key(&self, page: &Page) -> Key {
        let (namespace, name) = match &self.path.namespace {
            Some(namespace) => (namespace.as_str(), page.start.as_str()),
            None if self.kind.is_namespaced() => {
                page.start.split_once('/').unwrap_or((&page.start, ""))
            }
            None => ("", page.start.as_str()),
        };
        Key::new(&self.kind.stored, namespace, name)
    }

    /// The token of the page that begins right after `last`.
    pub(super) fn next_page(&self, revision: Revision, last: &Key) -> String {
        let inner = if self.path.namespace.is_none() && self.kind.is_namespaced() {
            format!("/{}/{}\0", last.namespace, last.name)
        } else {
            format!("/{}\0", last.name)
        };
        encode(i64::try_from(revision).unwrap_or(PRESENT), &inner)
    }
}

fn encode(revision: i64, start: &str) -> String {
    let page = json!({"v": VERSION, "rv": revision, "start": start});
    URL_SAFE_NO_PAD.encode(page.to_string())
}

fn invalid(why: &str) -> Refusal {
    Refusal::bad_request(format!(
        "invalid continue token: continue key is not valid{why}"
    ))
}

/// The fields of a token, or Go's words for what is wrong with them.
fn fields(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| syntax::problem(bytes).unwrap_or_else(|| error.to_string()))?;
    let fields = match value {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        other => {
            let kind = go_kind(&other);
            return Err(format!(
                "json: cannot unmarshal {kind} into Go value of type storage.continueToken"
            ));
        }
    };
    for (name, wanted) in FIELDS {
        let fits = match fields.get(name) {
            None | Some(Value::Null) => true,
            Some(value) if wanted == "string" => value.is_string(),
            Some(value) => value.is_i64(),
        };
        if !fits {
            let kind = go_kind(&fields[name]);
            return Err(format!(
                "json: cannot unmarshal {kind} into Go struct field continueToken.{name} of type {wanted}"
            ));
        }
    }
    Ok(fields)
}

/// What Go's JSON package calls a value it cannot use.
fn go_kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_i64() => "number".to_owned(),
        Value::Number(number) => format!("number {number}"),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

/// Go's words for a text that is not base64: the place of its first wrong byte.
fn illegal_base64(error: &base64::DecodeError, token: &str) -> String {
    let at = match error {
        base64::DecodeError::InvalidByte(at, _) | base64::DecodeError::InvalidLastSymbol(at, _) => {
            *at
        }
        // Go stops where the group of four begins that does not end.
        base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => {
            token.find('=').unwrap_or(token.len() / 4 * 4)
        }
    };
    format!("illegal base64 data at input byte {at}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_and_refused_as_upstream_does() {
        let page = |revision, start: &str| {
            Ok(Page {
                revision,
                start: start.to_owned(),
            })
        };
        let refused = |why: &str| {
            Err(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let table = [
            (
                r#"{"v":"meta.k8s.io/v1","rv":7,"start":"/b\u0000"}"#,
                page(Some(7), "b\0"),
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":-1,"start":"n/b"}"#,
                page(None, "n/b"),
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":0,"start":"b"}"#,
                refused("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":7,"start":""}"#,
                refused("encoded start key empty (version meta.k8s.io/v1)"),
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":7,"start":"a/../b"}"#,
                refused("a/../b"),
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":"a","start":"b"}"#,
                refused(
                    "json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
                ),
            ),
            (
                r#"{"v":"x"}"#,
                refused("server does not recognize this encoded version x"),
            ),
        ];
        for (token, expected) in table {
            let read = Page::parse(&URL_SAFE_NO_PAD.encode(token));
            assert_eq!(read.map_err(|refusal| refusal.message), expected, "{token}");
        }
    }
}
