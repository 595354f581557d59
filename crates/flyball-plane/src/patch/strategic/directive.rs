//! The directives a strategic merge patch may carry, apart from element order, and what is done with stray ones.

use serde_json::Value;

use super::{Object, PatchError};

/// `$patch: replace | delete` in an object, `merge` being refused in lists.
pub(super) const MARKER: &str = "$patch";
pub(super) const DELETE: &str = "delete";
pub(super) const REPLACE: &str = "replace";
pub(super) const MERGE: &str = "merge";
/// `$deleteFromPrimitiveList/<field>`: scalars to take out of a list.
pub(super) const DELETE_LIST: &str = "$deleteFromPrimitiveList";
/// `$setElementOrder/<field>`: the order the elements named shall have.
pub(super) const ORDER: &str = "$setElementOrder";
/// `$retainKeys`: the only fields the object may keep.
const RETAIN_KEYS: &str = "$retainKeys";

/// Clears every field of `original` that `$retainKeys` does not name. Takes the directive out of the patch.
pub(super) fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), PatchError> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let malformed = || PatchError::BadRequest("invalid patch format of retainKeys".into());
    let retained = directive.as_array().ok_or_else(malformed)?;
    let is_retained = |key: &String| retained.iter().any(|one| one == key.as_str());
    let is_directive = |key: &str| key.starts_with(DELETE_LIST) || key.starts_with(ORDER);
    let fits = |(key, wanted): (&String, &Value)| {
        wanted.is_null() || is_directive(key) || is_retained(key)
    };
    if !patch.iter().all(fits) {
        return Err(malformed());
    }
    original.retain(|key, _| is_retained(key));
    Ok(())
}

/// A value that had no counterpart to merge with: objects holding `$patch` vanish, at any depth
/// (upstream `removeDirectives`). `None` when the value itself vanishes.
pub(super) fn stripped(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(MARKER) => None,
        Value::Object(fields) => {
            let kept = fields
                .into_iter()
                .filter_map(|(key, inner)| Some((key, stripped(inner)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(items.into_iter().filter_map(stripped).collect()),
        other => Some(other),
    }
}

/// A value without null fields, at any depth (upstream `discardNullValuesFromPatch`). Null elements of lists stay.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, inner)| !inner.is_null())
            .map(|(key, inner)| (key, without_nulls(inner)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}
