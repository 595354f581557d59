//! Reading and setting the metadata every object has, on its JSON form. Not here: rules about metadata (`metadata`).

use serde_json::{Map, Value, json};

/// `metadata.<field>` as a string, `""` when absent.
pub(crate) fn meta<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get("metadata")
        .and_then(|metadata| metadata.get(field))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// `metadata.name`.
pub(crate) fn name(object: &Value) -> &str {
    meta(object, "name")
}

/// `metadata.namespace`, `""` for cluster-scoped objects.
pub(crate) fn namespace(object: &Value) -> &str {
    meta(object, "namespace")
}

/// `metadata.uid`.
pub(crate) fn uid(object: &Value) -> &str {
    meta(object, "uid")
}

/// `metadata.generation`, 0 when absent.
pub(crate) fn generation(object: &Value) -> i64 {
    object
        .pointer("/metadata/generation")
        .and_then(Value::as_i64)
        .unwrap_or(0)
}

/// True once a deletion has been asked for.
pub(crate) fn is_being_deleted(object: &Value) -> bool {
    !meta(object, "deletionTimestamp").is_empty()
}

/// `metadata.finalizers`.
pub(crate) fn finalizers(object: &Value) -> Vec<String> {
    let list = object
        .pointer("/metadata/finalizers")
        .and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The uids of `metadata.ownerReferences`.
pub(crate) fn owner_uids(object: &Value) -> impl Iterator<Item = &str> {
    let list = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|owner| owner.get("uid"))
        .filter_map(Value::as_str)
}

/// True when one of `metadata.ownerReferences` is the object's controller.
pub(crate) fn has_controller(object: &Value) -> bool {
    let list = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .any(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))
}

/// The value of a label, if it is set.
pub(crate) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}

/// The object's fields; an empty object takes the place of anything that is not one.
pub(crate) fn fields(object: &mut Value) -> &mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    match object {
        Value::Object(fields) => fields,
        _ => unreachable!("made an object just above"),
    }
}

/// The fields of `object.<field>`, made when absent.
pub(crate) fn child<'a>(object: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    fields(fields(object).entry(field).or_insert_with(|| json!({})))
}

/// Sets `metadata.<field>`.
pub(crate) fn set_meta(object: &mut Value, field: &str, value: impl Into<Value>) {
    child(object, "metadata").insert(field.to_owned(), value.into());
}

/// Removes `metadata.<field>`.
pub(crate) fn remove_meta(object: &mut Value, field: &str) {
    child(object, "metadata").remove(field);
}

/// Sets `metadata.resourceVersion`.
pub(crate) fn set_resource_version(object: &mut Value, revision: u64) {
    set_meta(object, "resourceVersion", revision.to_string());
}

/// Sets `metadata.finalizers`, removing the field when the list is empty.
pub(crate) fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    if finalizers.is_empty() {
        remove_meta(object, "finalizers");
    } else {
        set_meta(object, "finalizers", finalizers);
    }
}

/// Sets `field` to `value` when it is absent or null.
pub(crate) fn default_field(fields: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    if fields.get(field).is_none_or(Value::is_null) {
        fields.insert(field.to_owned(), value.into());
    }
}

/// Copies `field` from `source`, or removes it when it is absent there.
pub(crate) fn take_field(object: &mut Value, source: &Value, field: &str) {
    match source.get(field) {
        Some(value) => {
            fields(object).insert(field.to_owned(), value.clone());
        }
        None => {
            fields(object).remove(field);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_metadata_reads_as_empty_and_is_made_when_set() {
        let mut object = json!({});
        assert_eq!((name(&object), generation(&object)), ("", 0));
        set_resource_version(&mut object, 7);
        assert_eq!(object, json!({"metadata": {"resourceVersion": "7"}}));
    }
}
