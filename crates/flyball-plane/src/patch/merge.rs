//! JSON merge patch (RFC 7386) as upstream's server applies it (`evanphx/json-patch` v4 `MergePatch`). It knows no
//! lists: a list in a patch replaces the list in the object.

use serde_json::{Map, Value};

use super::PatchError;
use crate::schema::decode::json_kind;

/// `document`, an object, with `patch` merged in: objects merge, `null` deletes, everything else replaces.
pub(crate) fn apply(document: &Value, patch: &Value) -> Result<Value, PatchError> {
    let Value::Object(document) = document else {
        return Err(PatchError::Internal("Invalid JSON Document".into()));
    };
    let patch = match patch {
        Value::Object(patch) => patch,
        Value::Null => return Err(PatchError::BadRequest("Invalid JSON Patch".into())),
        other => {
            let kind = json_kind(other);
            return Err(PatchError::BadRequest(format!(
                "error decoding patch: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
            )));
        }
    };
    let mut merged = document.clone();
    merge(&mut merged, patch);
    Ok(Value::Object(merged))
}

fn merge(document: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, wanted) in patch {
        if wanted.is_null() {
            document.remove(key);
            continue;
        }
        match (document.get_mut(key), wanted) {
            (Some(Value::Object(inner)), Value::Object(wanted)) => merge(inner, wanted),
            // Upstream keeps nulls inside a list or scalar that replaces an object or list that was there, and drops
            // them from what is new or replaces a scalar.
            (Some(Value::Object(_)), _) => {
                document.insert(key.clone(), wanted.clone());
            }
            _ => {
                document.insert(key.clone(), without_nulls(wanted));
            }
        }
    }
}

/// A value whose objects hold no null, at any depth; list elements that are null stay.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, inner)| !inner.is_null())
            .map(|(key, inner)| (key.clone(), without_nulls(inner)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
