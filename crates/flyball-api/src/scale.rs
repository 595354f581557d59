//! `autoscaling/v1` Scale: the size of any workload, as its `scale` subresource shows it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::meta::ObjectMeta;
use crate::wire::{is_default, nullable};

/// `apiVersion` of the objects here.
pub const API_VERSION: &str = "autoscaling/v1";
/// `kind` of the objects here.
pub const KIND: &str = "Scale";

/// The wanted and the observed size of a workload. Upstream: k8s.io/api autoscaling/v1/types.go `Scale`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Scale {
    /// `autoscaling/v1`
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// `Scale`
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
    /// Name and version of the workload itself.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// The wanted size.
    #[serde(deserialize_with = "nullable")]
    pub spec: ScaleSpec,
    /// The observed size.
    #[serde(deserialize_with = "nullable")]
    pub status: ScaleStatus,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The wanted size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ScaleSpec {
    /// Pods wanted; 0 is left out on the wire.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub replicas: i32,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The observed size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ScaleStatus {
    /// Pods that exist.
    #[serde(deserialize_with = "nullable")]
    pub replicas: i32,
    /// Which pods belong to the workload, as selector text.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub selector: String,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn zero_wanted_replicas_are_left_out_and_read_back() {
        let zero = json!({"metadata": {}, "spec": {}, "status": {"replicas": 0}});
        assert_eq!(
            serde_json::to_value(Scale::default()).expect("serialises"),
            zero
        );
        assert_eq!(
            serde_json::from_value::<Scale>(zero).expect("sound"),
            Scale::default()
        );
        assert_eq!(
            serde_json::from_value::<Scale>(json!({})).expect("sound"),
            Scale::default()
        );
    }

    #[test]
    fn unknown_fields_survive() {
        let json = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"},
            "spec": {"replicas": 3, "x": 1}, "status": {"replicas": 2, "selector": "app=web", "x": 1}, "x": 1,
        });
        let scale: Scale = serde_json::from_value(json.clone()).expect("sound");
        assert_eq!(serde_json::to_value(&scale).expect("serialises"), json);
    }
}
