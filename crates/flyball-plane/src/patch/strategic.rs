//! Strategic merge patch as upstream's server applies it (`apimachinery/pkg/util/strategicpatch`): objects merge field
//! by field, lists whose type says so merge by key or as sets, and directives (`$patch`, `$retainKeys`,
//! `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) steer it. Not here: making such patches, which clients do.
//!
//! Where upstream walks a Go map in random order, this walks keys in order, so a patch has one result.

use flyball_api::go_text::quote;
use serde_json::{Map, Value};

use super::{PatchError, golang};
use crate::schema::decode::json_kind;
use crate::schema::{Node, Shape, Strategy};

mod directive;
mod list;
mod order;

use directive::{DELETE, DELETE_LIST, MARKER, REPLACE};

type Object = Map<String, Value>;

/// `document` with `patch` applied. Both must be objects; `root` is the type of the document.
///
/// Custom resources have no such type: upstream refuses strategic patches for them with [`unsupported`].
pub(crate) fn apply(document: &Value, patch: &Value, root: Node<'_>) -> Result<Value, PatchError> {
    let (Value::Object(document), Value::Object(patch)) = (document, patch) else {
        let kind = json_kind(patch);
        return Err(PatchError::BadRequest(format!(
            "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
        )));
    };
    merge_objects(document.clone(), patch.clone(), root).map(Value::Object)
}

/// The refusal for kinds without a built-in type.
pub(crate) fn unsupported() -> PatchError {
    PatchError::BadRequest("strategic merge patch format is not supported".into())
}

/// Upstream `mergeMap`; `node` is the type of the object.
fn merge_objects(
    mut original: Object,
    mut patch: Object,
    node: Node<'_>,
) -> Result<Object, PatchError> {
    if let Some(directive) = patch.get(MARKER).cloned() {
        return whole(&directive, patch);
    }
    directive::retain_keys(&mut original, &mut patch)?;
    order::apply(&mut original, &mut patch, node)?;
    for (key, wanted) in patch {
        match key.strip_prefix(DELETE_LIST) {
            Some(rest) => {
                let name = rest.strip_prefix('/').ok_or_else(bad_primitive_list)?;
                delete_from(&mut original, name, wanted)?;
            }
            None => merge_field(&mut original, key, wanted, node)?,
        }
    }
    Ok(original)
}

/// Upstream `handleDirectiveInMergeMap`: the object is replaced by the patch's other fields, or emptied.
fn whole(directive: &Value, mut patch: Object) -> Result<Object, PatchError> {
    if directive == REPLACE {
        patch.remove(MARKER);
        Ok(patch)
    } else if directive == DELETE {
        Ok(Object::new())
    } else {
        Err(unknown_directive(directive, &patch))
    }
}

fn merge_field(
    original: &mut Object,
    key: String,
    wanted: Value,
    node: Node<'_>,
) -> Result<(), PatchError> {
    if wanted.is_null() {
        original.remove(&key);
        return Ok(());
    }
    let merged = match (original.remove(&key), wanted) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            let field = lookup(node, &key)?;
            Some(Value::Object(match field.strategy() {
                Strategy::Replace => new,
                Strategy::Merge | Strategy::Unnamed => merge_objects(old, new, field)?,
            }))
        }
        (Some(Value::Array(old)), Value::Array(new)) => {
            let (field, element) = lookup_list(node, &key)?;
            Some(Value::Array(match field.strategy() {
                Strategy::Merge => list::merge(old, new, field.merge_key(), element)?,
                Strategy::Replace | Strategy::Unnamed => new,
            }))
        }
        (Some(old), new) if golang::type_name(&old) == golang::type_name(&new) => Some(new),
        (_, new) => directive::stripped(directive::without_nulls(new)),
    };
    if let Some(merged) = merged {
        original.insert(key, merged);
    }
    Ok(())
}

/// Removes scalars from a list; a field that is absent or no list stays as it is.
fn delete_from(original: &mut Object, name: &str, unwanted: Value) -> Result<(), PatchError> {
    let unwanted = match unwanted {
        Value::Null => {
            original.remove(name);
            return Ok(());
        }
        Value::Array(items) => items,
        _ => return Ok(()),
    };
    if let Some(Value::Array(items)) = original.get_mut(name) {
        list::delete_scalars(items, &unwanted)?;
    }
    Ok(())
}

/// The type of a field that is about to be merged.
fn lookup<'a>(node: Node<'a>, key: &str) -> Result<Node<'a>, PatchError> {
    node.field(key).ok_or_else(|| {
        PatchError::Internal(match node.short_name() {
            Some(name) if node.shape() == Shape::Struct => {
                format!(
                    "unable to find api field in struct {name} for the json field {}",
                    quote(key)
                )
            }
            _ => "merging an object in json but data type is not struct, instead is: map".into(),
        })
    })
}

/// The types of a list that is about to be merged, and of its elements.
fn lookup_list<'a>(node: Node<'a>, key: &str) -> Result<(Node<'a>, Node<'a>), PatchError> {
    let field = lookup(node, key)?;
    let element = field.element().ok_or_else(|| {
        PatchError::Internal("expected slice or array type, but got: struct".into())
    })?;
    Ok((field, element))
}

fn bad_primitive_list() -> PatchError {
    PatchError::BadRequest("invalid patch format of primitive list".into())
}

fn bad_element_order() -> PatchError {
    PatchError::BadRequest("invalid patch format of setElementOrder list".into())
}

fn unknown_directive(directive: &Value, within: &Object) -> PatchError {
    PatchError::Internal(format!(
        "unknown patch type: {} in map: {}",
        golang::text(directive),
        golang::text(&Value::Object(within.clone()))
    ))
}

fn no_merge_key(element: &Object, key: &str) -> PatchError {
    PatchError::Internal(format!(
        "map: {} does not contain declared merge key: {key}",
        golang::text(&Value::Object(element.clone()))
    ))
}

/// A value of another type than `expected`, an empty value of the wanted type.
fn bad_type(expected: &Value, actual: &Value) -> PatchError {
    PatchError::Internal(format!(
        "expected a {}, but received a {}",
        golang::type_name(expected),
        golang::type_name(actual)
    ))
}

/// The element as an object, or the error upstream gives for one that is not.
fn as_object(element: &Value) -> Result<&Object, PatchError> {
    let object = element.as_object();
    object.ok_or_else(|| bad_type(&Value::Object(Object::new()), element))
}

/// The value of the merge key in an element of a list that merges by key.
fn key_of<'a>(element: &'a Value, key: &str) -> Result<&'a Value, PatchError> {
    let object = as_object(element)?;
    object.get(key).ok_or_else(|| no_merge_key(object, key))
}
