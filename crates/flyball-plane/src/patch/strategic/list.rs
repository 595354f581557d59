//! Lists that merge: by key when their elements are objects, as sets when they are scalars. Not here: lists that are
//! replaced, and the order a patch may ask for.

use serde_json::Value;

use super::directive::{DELETE, MARKER, MERGE, REPLACE};
use super::{
    Object, PatchError, as_object, key_of, merge_objects, no_merge_key, order, unknown_directive,
};
use crate::patch::golang;
use crate::schema::Node;

/// Upstream `mergeSlice` for a field whose strategy is merge: patch items in the patch's order, the others between them.
/// `key` is the merge key, which lists of scalars have none of; `node` the type of an element.
pub(super) fn merge(
    original: Vec<Value>,
    patch: Vec<Value>,
    key: Option<&str>,
    node: Node<'_>,
) -> Result<Vec<Value>, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if !are_objects(&[&original, &patch])? {
        let mut both = original.clone();
        both.extend(patch.iter().cloned());
        deduplicate(&mut both);
        return order::arrange(both, &patch, &original, None);
    }
    let key = key.ok_or_else(|| {
        PatchError::Internal("cannot merge lists without merge key for struct".into())
    })?;
    let (original, patch) = obey_directives(original, patch, key)?;
    let merged = merge_elements(original.clone(), patch.clone(), key, node)?;
    order::arrange(merged, &patch, &original, Some(key))
}

/// Upstream `mergeSliceWithSpecialElements`: deletes what the patch deletes, and drops the original when the patch
/// replaces it. Returns both lists without directives.
fn obey_directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replace = false;
    for element in patch {
        let object = as_object(&element)?;
        match object.get(MARKER) {
            None => plain.push(element),
            Some(one) if one == DELETE => {
                let unwanted = object.get(key).ok_or_else(|| no_merge_key(object, key))?;
                original.retain(|old| old.get(key) != Some(unwanted));
            }
            Some(one) if one == REPLACE => replace = true,
            Some(one) if one == MERGE => {
                let text = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Internal(text.into()));
            }
            Some(one) => return Err(unknown_directive(one, object)),
        }
    }
    Ok(if replace {
        (plain, Vec::new())
    } else {
        (original, plain)
    })
}

/// Upstream `mergeSliceWithoutSpecialElements`: merges elements of equal key, appends the others.
fn merge_elements(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
    node: Node<'_>,
) -> Result<Vec<Value>, PatchError> {
    for element in patch {
        let wanted = key_of(&element, key)?.clone();
        match original
            .iter_mut()
            .find(|old| old.get(key) == Some(&wanted))
        {
            Some(old) => {
                let before = take_object(old);
                let change = into_object(element);
                *old = Value::Object(merge_objects(before, change, node)?);
            }
            None => original.push(element),
        }
    }
    Ok(original)
}

/// Makes of the object's list what upstream's merge leaves in it, by which it orders the result afterwards: deletions
/// move the rest to the front, and new elements overwrite the places this frees.
///
/// Note: it is an accident of Go's slices (`append` into shared memory), but a client that swaps one element for another
/// sees its effect.
pub(super) fn edit_in_place(server: &mut [Value], patch: &[Value], key: Option<&str>) {
    let Some(key) = key else {
        return;
    };
    let (unwanted, plain): (Vec<&Value>, Vec<&Value>) =
        patch.iter().partition(|one| one.get(MARKER).is_some());
    let mut length = server.len();
    for id in unwanted.iter().filter(|one| one[MARKER] == DELETE) {
        while let Some(at) = position(&server[..length], id, key) {
            for next in at + 1..length {
                server[next - 1] = server[next].clone();
            }
            length -= 1;
        }
    }
    if unwanted.iter().any(|one| one[MARKER] == REPLACE) {
        return;
    }
    let mut added: Vec<Value> = Vec::new();
    for element in plain {
        let known =
            position(&server[..length], element, key).or_else(|| position(&added, element, key));
        if known.is_some() {
            continue;
        }
        if length < server.len() {
            server[length] = element.clone();
            length += 1;
        } else {
            added.push(element.clone());
        }
    }
}

fn position(list: &[Value], element: &Value, key: &str) -> Option<usize> {
    list.iter().position(|one| one.get(key) == element.get(key))
}

/// Upstream `deleteFromSlice`.
pub(super) fn delete_scalars(items: &mut Vec<Value>, unwanted: &[Value]) -> Result<(), PatchError> {
    if items.is_empty() && unwanted.is_empty() {
        return Ok(());
    }
    are_objects(&[items, unwanted])?;
    items.retain(|item| !unwanted.contains(item));
    Ok(())
}

/// Whether the elements of all lists are objects. Elements of several types, and lists of lists, are errors
/// (upstream `sliceElementType`).
pub(super) fn are_objects(lists: &[&[Value]]) -> Result<bool, PatchError> {
    let mut elements = lists.iter().copied().flatten();
    let Some(first) = elements.next() else {
        let text = "no elements in any of the given slices";
        return Err(PatchError::Internal(text.into()));
    };
    if first.is_array() {
        let text = "lists of lists are not supported";
        return Err(PatchError::Unprocessable(text.into()));
    }
    let kind = golang::type_name(first);
    if elements.any(|element| golang::type_name(element) != kind) {
        let all: Value = lists.iter().map(|list| list.to_vec()).collect();
        return Err(PatchError::Internal(format!(
            "list element types are not identical: {}",
            golang::text(&all)
        )));
    }
    Ok(first.is_object())
}

/// Upstream `deduplicateScalars`, which fills the gap of a duplicate with the last element.
fn deduplicate(items: &mut Vec<Value>) {
    let mut first = 0;
    while first < items.len() {
        let mut other = first + 1;
        while other < items.len() {
            if items[first] == items[other] {
                items.swap_remove(other);
            } else {
                other += 1;
            }
        }
        first += 1;
    }
}

fn take_object(value: &mut Value) -> Object {
    into_object(value.take())
}

fn into_object(value: Value) -> Object {
    match value {
        Value::Object(fields) => fields,
        _ => Object::new(),
    }
}
