//! The order of a merged list. `$setElementOrder` wins over the order in the patch, which wins over the order in the
//! object; elements only the object has keep their place as far as that allows.

use serde_json::Value;

use super::directive::{DELETE, MARKER, ORDER, stripped};
use super::{
    Object, PatchError, as_object, bad_element_order, bad_type, key_of, list, lookup_list,
};
use crate::patch::golang;
use crate::schema::{Node, Strategy};

/// Upstream `mergePatchIntoOriginal`: merges and orders every list the patch gives an order for, and takes the list and
/// the directive out of the patch.
pub(super) fn apply(
    original: &mut Object,
    patch: &mut Object,
    node: Node<'_>,
) -> Result<(), PatchError> {
    let directives: Vec<String> = patch
        .keys()
        .filter(|key| key.starts_with(ORDER))
        .cloned()
        .collect();
    for directive in directives {
        let order = patch.remove(&directive).unwrap_or_default();
        let order = into_list(order)?;
        let rest = directive.strip_prefix(ORDER).unwrap_or_default();
        let key = rest.strip_prefix('/').ok_or_else(bad_element_order)?;
        let old = original.get(key).cloned().map(into_list).transpose()?;
        let new = patch.remove(key).map(into_list).transpose()?;
        let (field, element) = lookup_list(node, key)?;
        let sent = new.clone().unwrap_or_default();
        check_order(&sent, &order, field.merge_key())?;
        let mut server = old.clone().unwrap_or_default();
        let merged = match (old, new) {
            (None, None) => continue,
            (Some(old), None) => old,
            (None, Some(new)) => new.into_iter().filter_map(stripped).collect(),
            (Some(old), Some(new)) if field.strategy() == Strategy::Merge => {
                let merged = list::merge(old, new, field.merge_key(), element)?;
                list::edit_in_place(&mut server, &sent, field.merge_key());
                merged
            }
            (Some(_), Some(new)) => new,
        };
        let ordered = arrange(merged, &order, &server, field.merge_key())?;
        list::are_objects(&[&server, &sent])?;
        original.insert(key.to_owned(), Value::Array(ordered));
    }
    Ok(())
}

/// `merged` with the elements `order` names in that order and the others in the order of `server`, interleaved by it.
/// Upstream `normalizeElementOrder` with the partition before it. `key` is `None` for scalars.
pub(super) fn arrange(
    merged: Vec<Value>,
    order: &[Value],
    server: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, PatchError> {
    check_elements(&merged, order, key)?;
    let ids = |list: &[Value]| -> Result<Vec<Value>, PatchError> {
        let ids = list.iter().map(|one| identity(one, key).cloned());
        ids.collect()
    };
    let merged_ids = ids(&merged)?;
    let (order, server) = (ids(order)?, ids(server)?);
    let place = |list: &[Value], id: &Value| list.iter().position(|one| one == id);
    let entry = |(element, id): (Value, Value)| Entry {
        wanted: place(&order, &id),
        served: place(&server, &id),
        element,
    };
    let entries = merged.into_iter().zip(merged_ids).map(entry);
    let (mut named, mut others): (Vec<Entry>, Vec<Entry>) =
        entries.partition(|one| one.wanted.is_some());
    named.sort_by_key(|one| one.wanted);
    sort_served(&mut others);
    Ok(interleave(others, named))
}

/// Upstream looks every element up in the order, and stumbles over what is no object there.
fn check_elements(merged: &[Value], order: &[Value], key: Option<&str>) -> Result<(), PatchError> {
    let Some(key) = key else {
        return Ok(());
    };
    for element in merged {
        let id = key_of(element, key)?;
        for (at, one) in order.iter().enumerate() {
            if !one.is_object() {
                let text = format!("value for key {at} is not a map");
                return Err(PatchError::Internal(text));
            }
            if one.get(key) == Some(id) {
                break;
            }
        }
    }
    Ok(())
}

struct Entry {
    element: Value,
    /// Place in the order asked for.
    wanted: Option<usize>,
    /// Place in the object before the patch.
    served: Option<usize>,
}

/// Go's insertion sort under upstream's comparison, which calls any element smaller that is not found: new elements
/// that no order names come out reversed and first.
fn sort_served(entries: &mut [Entry]) {
    let less = |left: &Entry, right: &Entry| match (left.served, right.served) {
        (Some(left), Some(right)) => left < right,
        _ => true,
    };
    for end in 1..entries.len() {
        let mut at = end;
        while at > 0 && less(&entries[at], &entries[at - 1]) {
            entries.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Upstream `mergeSortedSlice`: `others` go in front of the first of `named` that stood behind them in the object.
fn interleave(others: Vec<Entry>, named: Vec<Entry>) -> Vec<Value> {
    let mut result = Vec::with_capacity(others.len() + named.len());
    let mut others = others.into_iter().peekable();
    for one in named {
        while let Some(other) = others.next_if(|other| comes_before(other, &one)) {
            result.push(other.element);
        }
        result.push(one.element);
    }
    result.extend(others.map(|other| other.element));
    result
}

fn comes_before(left: &Entry, right: &Entry) -> bool {
    matches!((left.served, right.served), (Some(left), Some(right)) if left < right)
}

/// Upstream `validatePatchWithSetOrderList`: the patch's elements, deletions apart, are among those named and in
/// their order.
fn check_order(patch: &[Value], order: &[Value], key: Option<&str>) -> Result<(), PatchError> {
    if order.is_empty() || patch.is_empty() {
        return Ok(());
    }
    let mut sent = without_deletions(patch, key)?.into_iter().peekable();
    for name in order {
        // An element with another directive has no place, but needs a name behind it: upstream's loop ends with them.
        while sent.next_if(|one| one.get(MARKER).is_some()).is_some() {}
        let Some(element) = sent.peek() else {
            return Ok(());
        };
        if identity(element, key)? == identity(name, key)? {
            sent.next();
        }
    }
    if sent.peek().is_none() {
        return Ok(());
    }
    Err(PatchError::Internal(format!(
        "The order in patch list:\n{}\n doesn't match {ORDER} list:\n{}\n",
        golang::text(&Value::Array(patch.to_vec())),
        golang::text(&Value::Array(order.to_vec()))
    )))
}

fn without_deletions<'a>(
    patch: &'a [Value],
    key: Option<&str>,
) -> Result<Vec<&'a Value>, PatchError> {
    if key.is_none() {
        return Ok(patch.iter().collect());
    }
    let mut kept = Vec::with_capacity(patch.len());
    for element in patch {
        if as_object(element)?
            .get(MARKER)
            .is_none_or(|one| one != DELETE)
        {
            kept.push(element);
        }
    }
    Ok(kept)
}

/// What tells an element from the others: its merge key, or a scalar itself.
fn identity<'a>(element: &'a Value, key: Option<&str>) -> Result<&'a Value, PatchError> {
    match key {
        Some(key) => key_of(element, key),
        None => Ok(element),
    }
}

fn into_list(value: Value) -> Result<Vec<Value>, PatchError> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(bad_type(&Value::Array(Vec::new()), &other)),
    }
}
