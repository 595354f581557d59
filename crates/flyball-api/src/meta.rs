//! Metadata of objects and lists. Fields that this version does not know are kept in `rest`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::Time;
use crate::wire::{is_default, nullable};

/// Metadata of an object. Upstream: apimachinery meta/v1/types.go `ObjectMeta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ObjectMeta {
    /// Unique within kind and namespace.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub name: String,
    /// Start of the name that the server completes when `name` is empty.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub generate_name: String,
    /// Empty for cluster-scoped kinds.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub namespace: String,
    /// Identity over time: a new object of the same name has another.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub uid: String,
    /// Opaque version of the stored object.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub resource_version: String,
    /// Counts changes of the wanted state; 0 where the kind does not count.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub generation: i64,
    /// When the server stored the object first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Time>,
    /// When the object is to be gone; set by the server on deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Time>,
    /// Seconds of grace that a deletion was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Labels, for selectors.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub labels: BTreeMap<String, String>,
    /// Annotations, for everything else.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub annotations: BTreeMap<String, String>,
    /// Objects this one is deleted with.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<OwnerReference>,
    /// Names that must be removed before a deletion takes effect.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    /// Who set which fields.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub managed_fields: Vec<ManagedFieldsEntry>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A reference from an object to one it belongs to. Upstream: apimachinery meta/v1/types.go `OwnerReference`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OwnerReference {
    /// Group and version of the owner.
    #[serde(deserialize_with = "nullable")]
    pub api_version: String,
    /// Kind of the owner.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Name of the owner.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Identity of the owner.
    #[serde(deserialize_with = "nullable")]
    pub uid: String,
    /// Whether the owner manages this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether the owner stays until this object is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Fields that one manager set by one operation. Upstream: apimachinery meta/v1/types.go `ManagedFieldsEntry`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ManagedFieldsEntry {
    /// Who set them.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub manager: String,
    /// `Apply` or `Update`.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub operation: String,
    /// The version in whose terms the fields are named.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// When the entry changed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// The notation of the fields: `FieldsV1`.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub fields_type: String,
    /// The fields, as a tree.
    #[serde(rename = "fieldsV1", skip_serializing_if = "Option::is_none")]
    pub fields_v1: Option<Value>,
    /// The subresource they were set through, empty for the main one.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub subresource: String,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Metadata of a list. Upstream: apimachinery meta/v1/types.go `ListMeta`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ListMeta {
    /// The version of the store that the list shows.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub resource_version: String,
    /// Where the next page begins; empty on the last.
    #[serde(
        rename = "continue",
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub continue_token: String,
    /// Items on later pages, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<i64>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_survives_a_round_trip_with_unknown_fields() {
        let json = json!({
            "name": "web",
            "namespace": "default",
            "uid": "u",
            "resourceVersion": "7",
            "generation": 9_223_372_036_854_775_807_i64,
            "creationTimestamp": "2000-01-01T00:00:00Z",
            "labels": {"a": "b"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": true, "new": 1}],
            "managedFields": [{"manager": "m", "operation": "Apply", "fieldsV1": {"f:a": {}}, "new": [null]}],
            "selfLink": "x",
            "new": {"deep": [1.5, 18_446_744_073_709_551_615_u64]},
        });
        let meta: ObjectMeta = serde_json::from_value(json.clone()).expect("sound metadata");
        assert_eq!(serde_json::to_value(&meta).expect("serialises"), json);
    }

    #[test]
    fn nulls_read_as_absent() {
        let json = json!({"name": null, "generation": null, "creationTimestamp": null, "labels": null, "finalizers": null});
        let meta: ObjectMeta = serde_json::from_value(json).expect("sound metadata");
        assert_eq!(meta, ObjectMeta::default());
        assert_eq!(serde_json::to_value(&meta).expect("serialises"), json!({}));
    }
}
