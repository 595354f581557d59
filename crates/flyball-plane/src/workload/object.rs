//! Reading and writing the fields of a JSON object that every controller needs, by JSON pointer: owner references, times,
//! conditions. Plain metadata is read as everywhere in the plane. Not here: rules of any one kind.

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::{Map, Value, json};

use super::view::{Kind, ObjectKey};
pub(crate) use crate::object::{is_being_deleted, label, name, namespace, uid};
use crate::time;

/// The string at a JSON pointer, `""` when it is absent or no string.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The integer at a JSON pointer.
pub(crate) fn int(object: &Value, pointer: &str) -> Option<i64> {
    object.pointer(pointer).and_then(Value::as_i64)
}

/// The integer at a JSON pointer, 0 when absent: how an omitted counter of a status reads.
pub(crate) fn count(object: &Value, pointer: &str) -> i64 {
    int(object, pointer).unwrap_or(0)
}

/// True when the boolean at a JSON pointer is set.
pub(crate) fn is_set(object: &Value, pointer: &str) -> bool {
    object
        .pointer(pointer)
        .and_then(Value::as_bool)
        .unwrap_or(false)
}

/// The elements of the array at a JSON pointer; none when absent.
pub(crate) fn items<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// `metadata.annotations[key]`.
pub(crate) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.pointer("/metadata/annotations")?.get(key)?.as_str()
}

/// The time at a JSON pointer (RFC 3339, any precision), in milliseconds.
pub(crate) fn time_at(object: &Value, pointer: &str) -> Option<UnixMs> {
    time::parse(text(object, pointer))
}

/// `metadata.creationTimestamp`; 0 when the store has not set it.
pub(crate) fn created_ms(object: &Value) -> UnixMs {
    time_at(object, "/metadata/creationTimestamp").unwrap_or(0)
}

/// Sets the value at `path`, making the objects on the way.
pub(crate) fn put(object: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *object = value;
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    // Indexing an object by a key it lacks adds the key.
    put(&mut object[*first], rest, value);
}

/// Sets `metadata.annotations[key]`; true when that changed something.
pub(crate) fn annotate(object: &mut Value, key: &str, value: &str) -> bool {
    if annotation(object, key) == Some(value) {
        return false;
    }
    put(object, &["metadata", "annotations", key], json!(value));
    true
}

/// An owner reference that is the controller of its object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControllerRef {
    /// Key of the owner, in the namespace of the object.
    pub key: ObjectKey,
    /// uid of the owner.
    pub uid: String,
}

/// The owner reference marked `controller: true`.
pub(crate) fn controller_of(object: &Value) -> Option<ControllerRef> {
    let owner = owners(object)
        .iter()
        .find(|owner| is_set(owner, "/controller"))?;
    let kind = Kind::of(text(owner, "/apiVersion"), text(owner, "/kind"));
    Some(ControllerRef {
        key: ObjectKey::new(kind, namespace(object), text(owner, "/name")),
        uid: text(owner, "/uid").to_owned(),
    })
}

/// `metadata.ownerReferences`.
pub(crate) fn owners(object: &Value) -> &[Value] {
    items(object, "/metadata/ownerReferences")
}

/// True when `owner` is the controller of `object`.
pub(crate) fn is_controlled_by(object: &Value, owner: &Value) -> bool {
    controller_of(object).is_some_and(|reference| reference.uid == uid(owner))
}

/// The owner reference that makes `owner` a controller (upstream metav1.NewControllerRef).
pub(crate) fn controller_reference(owner: &Value) -> Value {
    json!({
        "apiVersion": text(owner, "/apiVersion"),
        "kind": text(owner, "/kind"),
        "name": name(owner),
        "uid": uid(owner),
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// The condition of that type in `status.conditions`.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    items(object, "/status/conditions")
        .iter()
        .find(|entry| text(entry, "/type") == kind)
}

/// True when the pod's Ready condition is True (upstream podutil.IsPodReady).
pub(crate) fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready").is_some_and(|ready| text(ready, "/status") == "True")
}

/// When a ready pod became ready; `None` when it is not ready or does not say.
pub(crate) fn ready_since(pod: &Value) -> Option<UnixMs> {
    let ready = condition(pod, "Ready").filter(|ready| text(ready, "/status") == "True")?;
    time_at(ready, "/lastTransitionTime")
}

/// When a pod is available: ready for `min_ready_seconds` (upstream podutil.IsPodAvailable). `None` when it is not ready.
pub(crate) fn available_at(pod: &Value, min_ready_seconds: i64) -> Option<UnixMs> {
    if min_ready_seconds == 0 {
        return is_ready(pod).then_some(UnixMs::MIN);
    }
    ready_since(pod).map(|since| since.saturating_add(min_ready_seconds.saturating_mul(1000)))
}

/// True unless the pod has ended or is being deleted (upstream controller.IsPodActive).
pub(crate) fn is_active(pod: &Value) -> bool {
    !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed") && !is_being_deleted(pod)
}

/// `int-or-percent` of `total` (upstream intstr.GetScaledValueFromIntOrPercent). Unreadable values are 0: validation
/// refuses them before they are stored.
pub(crate) fn scaled(value: Option<&Value>, total: i64, rounding: Rounding) -> i64 {
    match value {
        Some(Value::Number(number)) => number.as_i64().unwrap_or(0),
        Some(Value::String(percent)) => {
            let percent: i64 = percent.trim_end_matches('%').parse().unwrap_or(0);
            let product = percent.saturating_mul(total);
            match rounding {
                Rounding::Up => product.div_euclid(100) + i64::from(product.rem_euclid(100) > 0),
                Rounding::Down => product.div_euclid(100),
            }
        }
        _ => 0,
    }
}

/// Which way a percentage of pods is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// Away from zero, for surge.
    Up,
    /// Towards zero, for unavailability.
    Down,
}

/// Order by creation, then by name (upstream ReplicaSetsByCreationTimestamp and ControllersByCreationTimestamp).
pub(crate) fn by_creation(left: &Arc<Value>, right: &Arc<Value>) -> std::cmp::Ordering {
    created_ms(left)
        .cmp(&created_ms(right))
        .then_with(|| name(left).cmp(name(right)))
}
