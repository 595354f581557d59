//! JSON patch (RFC 6902) as upstream's server applies it (`evanphx/json-patch` v4), with its departures: indices may be
//! negative, `replace` of an absent field adds it, and the error texts are its own, which is why this is not a library.

use flyball_api::go_text::quote;
use serde_json::{Map, Value};

use super::PatchError;
use crate::schema::decode::json_kind;

/// Operations one patch may have (upstream: `maxJSONPatchOperations`).
const OPERATIONS_MAX: usize = 10_000;

/// `document` after every operation of `patch`, or the first error; the document is never half patched.
pub(crate) fn apply(document: &Value, patch: &Value) -> Result<Value, PatchError> {
    let operations = decode(patch)?;
    let mut patched = document.clone();
    for operation in operations {
        operation
            .apply(&mut patched)
            .map_err(PatchError::Unprocessable)?;
    }
    Ok(patched)
}

fn decode<'a>(patch: &'a Value) -> Result<Vec<Operation<'a>>, PatchError> {
    let wrong = |value: &Value, of: &str| {
        let kind = json_kind(value);
        PatchError::BadRequest(format!(
            "error decoding patch: json: cannot unmarshal {kind} into Go value of type {of}"
        ))
    };
    let items = match patch {
        Value::Null => &[][..],
        Value::Array(items) => items.as_slice(),
        other => return Err(wrong(other, "[]handlers.jsonPatchOp")),
    };
    if items.len() > OPERATIONS_MAX {
        return Err(PatchError::TooLarge {
            limit: OPERATIONS_MAX,
            got: items.len(),
        });
    }
    let operation = |item: &'a Value| match item {
        Value::Object(fields) => Operation::decode(fields),
        other => Err(wrong(other, "handlers.jsonPatchOp")),
    };
    items.iter().map(operation).collect()
}

/// One operation. Upstream looks for each member only when it is needed, so one that is not needed may be absent.
struct Operation<'a> {
    fields: &'a Map<String, Value>,
}

/// Why an operation does not apply, in upstream's words.
type Fault = String;

impl<'a> Operation<'a> {
    fn decode(fields: &'a Map<String, Value>) -> Result<Self, PatchError> {
        for member in ["from", "op", "path"] {
            match fields.get(member) {
                None | Some(Value::Null | Value::String(_)) => {}
                Some(other) => {
                    let kind = json_kind(other);
                    return Err(PatchError::BadRequest(format!(
                        "error decoding patch: json: cannot unmarshal {kind} into Go struct field jsonPatchOp.{member} of type string"
                    )));
                }
            }
        }
        Ok(Self { fields })
    }
}

impl Operation<'_> {
    fn apply(&self, document: &mut Value) -> Result<(), Fault> {
        match self.text("op").unwrap_or("unknown") {
            "add" => self.add(document),
            "remove" => self.remove(document),
            "replace" => self.replace(document),
            "move" => self.relocate(document),
            "copy" => self.copy(document),
            "test" => self.test(document),
            other => Err(format!("Unexpected kind: {other}")),
        }
    }

    fn text(&self, member: &str) -> Option<&str> {
        self.fields.get(member)?.as_str()
    }

    fn path(&self, operation: &str) -> Result<&str, Fault> {
        self.text("path").ok_or_else(|| {
            let cause = match operation {
                "add" | "remove" | "copy" => "missing value",
                _ => "operation missing path field: missing value",
            };
            format!("{operation} operation failed to decode path: {cause}")
        })
    }

    fn from(&self, operation: &str) -> Result<&str, Fault> {
        self.text("from").ok_or_else(|| {
            format!("{operation} operation failed to decode from: operation, missing from field: missing value")
        })
    }

    fn value(&self) -> Value {
        self.fields.get("value").cloned().unwrap_or(Value::Null)
    }

    fn add(&self, document: &mut Value) -> Result<(), Fault> {
        let path = self.path("add")?;
        let place = find(document, path).ok_or_else(|| {
            format!("add operation does not apply: doc is missing path: \"{path}\": missing value")
        })?;
        place
            .add(self.value())
            .map_err(|fault| format!("error in add for path: '{path}': {fault}"))
    }

    fn remove(&self, document: &mut Value) -> Result<(), Fault> {
        let path = self.path("remove")?;
        let place = find(document, path).ok_or_else(|| {
            format!(
                "remove operation does not apply: doc is missing path: \"{path}\": missing value"
            )
        })?;
        let removed = place.remove();
        removed
            .map(drop)
            .map_err(|fault| format!("error in remove for path: '{path}': {fault}"))
    }

    fn replace(&self, document: &mut Value) -> Result<(), Fault> {
        let path = self.path("replace")?;
        if path.is_empty() {
            return self.replace_whole(document);
        }
        let place = find(document, path).ok_or_else(|| {
            format!("replace operation does not apply: doc is missing path: {path}: missing value")
        })?;
        place.set(self.value()).map_err(|_| {
            format!("replace operation does not apply: doc is missing key: {path}: missing value")
        })
    }

    fn replace_whole(&self, document: &mut Value) -> Result<(), Fault> {
        let value = self.value();
        if value.is_object() || value.is_array() {
            *document = value;
            Ok(())
        } else {
            // Upstream wraps an error that is nil here, and prints it so.
            Err("replace operation value must be object or array: %!w(<nil>)".into())
        }
    }

    fn relocate(&self, document: &mut Value) -> Result<(), Fault> {
        let from = self.from("move")?;
        let source = find(document, from).ok_or_else(|| {
            format!(
                "move operation does not apply: doc is missing from path: {from}: missing value"
            )
        })?;
        let key = source.key.clone();
        let moved = source
            .remove()
            .map_err(|fault| format!("error in move for path: '{key}': {fault}"))?;
        let path = self.path("move")?;
        let place = find(document, path).ok_or_else(|| {
            format!("move operation does not apply: doc is missing destination path: {path}: missing value")
        })?;
        place
            .add(moved)
            .map_err(|fault| format!("error in move for path: '{path}': {fault}"))
    }

    fn copy(&self, document: &mut Value) -> Result<(), Fault> {
        let from = self.from("copy")?;
        let source = find(document, from).ok_or_else(|| {
            format!(
                "copy operation does not apply: doc is missing from path: {from}: missing value"
            )
        })?;
        let copied = source
            .get()
            .map_err(|fault| format!("error in copy for from: '{from}': {fault}"))?;
        let copied = copied.unwrap_or(Value::Null);
        let path = self.path("copy")?;
        let place = find(document, path).ok_or_else(|| {
            format!("copy operation does not apply: doc is missing destination path: {path}: missing value")
        })?;
        place
            .add(copied)
            .map_err(|fault| format!("error while adding value during copy: {fault}"))
    }

    fn test(&self, document: &mut Value) -> Result<(), Fault> {
        let path = self.path("test")?;
        let found = if path.is_empty() {
            document.clone()
        } else {
            let place = find(document, path).ok_or_else(|| {
                format!("test operation does not apply: is missing path: {path}: missing value")
            })?;
            let found = place
                .get()
                .map_err(|fault| format!("error in test for path: '{path}': {fault}"))?;
            found.unwrap_or(Value::Null)
        };
        if found == self.value() {
            Ok(())
        } else {
            Err(format!("testing value {path} failed: test failed"))
        }
    }
}

/// The object or list that holds a path's last step, and that step.
struct Place<'a> {
    holder: Holder<'a>,
    key: String,
}

enum Holder<'a> {
    Object(&'a mut Map<String, Value>),
    List(&'a mut Vec<Value>),
}

/// Walks to the holder of the last step. `None` when a step before it is absent or holds nothing.
fn find<'a>(document: &'a mut Value, path: &str) -> Option<Place<'a>> {
    let mut steps: Vec<String> = path.split('/').skip(1).map(unescape).collect();
    let key = steps.pop()?;
    let mut current = document;
    for step in &steps {
        current = match current {
            Value::Object(fields) => fields.get_mut(step)?,
            Value::Array(items) => {
                let index = existing(step, items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
    }
    let holder = match current {
        Value::Object(fields) => Holder::Object(fields),
        Value::Array(items) => Holder::List(items),
        _ => return None,
    };
    Some(Place { holder, key })
}

impl Place<'_> {
    /// The value here; an object answers `None` for an absent field, a list answers with a fault.
    fn get(&self) -> Result<Option<Value>, Fault> {
        match &self.holder {
            Holder::Object(fields) => Ok(fields.get(&self.key).cloned()),
            Holder::List(items) => {
                let index = existing(&self.key, items.len())?;
                Ok(items.get(index).cloned())
            }
        }
    }

    fn set(self, value: Value) -> Result<(), Fault> {
        match self.holder {
            Holder::Object(fields) => drop(fields.insert(self.key, value)),
            Holder::List(items) => {
                let index = existing(&self.key, items.len())?;
                items[index] = value;
            }
        }
        Ok(())
    }

    fn add(self, value: Value) -> Result<(), Fault> {
        match self.holder {
            Holder::Object(fields) => drop(fields.insert(self.key, value)),
            Holder::List(items) if self.key == "-" => items.push(value),
            Holder::List(items) => {
                let parsed = index(&self.key).map_err(|fault| {
                    format!(
                        "value was not a proper array index: '{}': {fault}",
                        self.key
                    )
                })?;
                items.insert(within(parsed, items.len() + 1)?, value);
            }
        }
        Ok(())
    }

    fn remove(self) -> Result<Value, Fault> {
        match self.holder {
            Holder::Object(fields) => fields.remove(&self.key).ok_or_else(|| {
                format!(
                    "Unable to remove nonexistent key: {}: missing value",
                    self.key
                )
            }),
            Holder::List(items) => {
                let index = existing(&self.key, items.len())?;
                Ok(items.remove(index))
            }
        }
    }
}

/// The index of an element that is there. Negative indices count from the end.
fn existing(key: &str, length: usize) -> Result<usize, Fault> {
    within(index(key)?, length)
}

fn within(index: i64, length: usize) -> Result<usize, Fault> {
    let length = length as i64;
    let wrapped = if index < 0 { index + length } else { index };
    if (0..length).contains(&wrapped) {
        Ok(wrapped as usize)
    } else {
        Err(format!(
            "Unable to access invalid index: {index}: invalid index referenced"
        ))
    }
}

/// Go's `strconv.Atoi`, with its error text.
fn index(key: &str) -> Result<i64, Fault> {
    key.parse::<i64>().map_err(|cause| {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        let why = match cause.kind() {
            NegOverflow | PosOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("strconv.Atoi: parsing {}: {why}", quote(key))
    })
}

/// RFC 6901: `~1` is `/` and `~0` is `~`, replaced in one pass.
fn unescape(step: &str) -> String {
    let mut text = String::with_capacity(step.len());
    let mut rest = step;
    while let Some(at) = rest.find('~') {
        text.push_str(&rest[..at]);
        let (plain, taken) = match rest.as_bytes().get(at + 1) {
            Some(b'1') => ('/', 2),
            Some(b'0') => ('~', 2),
            _ => ('~', 1),
        };
        text.push(plain);
        rest = &rest[at + taken..];
    }
    text + rest
}
