//! `metrics.k8s.io/v1beta1`: what pods use, by container. Upstream: k8s.io/metrics metrics/v1beta1/types.go.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::duration;
use crate::meta::{ListMeta, ObjectMeta};
use crate::quantity::Quantity;
use crate::time::Time;
use crate::wire::nullable;

/// `apiVersion` of the objects here.
pub const API_VERSION: &str = "metrics.k8s.io/v1beta1";

/// Usage of several pods.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodMetricsList {
    /// `metrics.k8s.io/v1beta1`
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// `PodMetricsList`
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
    /// Version of the list.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ListMeta,
    /// One sample for each pod that has one.
    #[serde(deserialize_with = "nullable")]
    pub items: Vec<PodMetrics>,
}

/// Usage of one pod over a window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodMetrics {
    /// `metrics.k8s.io/v1beta1`, or empty inside lists.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// `PodMetrics`, or empty inside lists.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
    /// Name and labels of the pod.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// When the window ended.
    pub timestamp: Option<Time>,
    /// Length of the window.
    #[serde(deserialize_with = "nullable")]
    pub window: Window,
    /// Usage by container.
    #[serde(deserialize_with = "nullable")]
    pub containers: Vec<ContainerMetrics>,
}

/// Usage of one container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerMetrics {
    /// The container's name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Usage by resource: cores for `cpu`, bytes for `memory`.
    #[serde(deserialize_with = "nullable")]
    pub usage: BTreeMap<String, Quantity>,
}

/// Length of a sample's window in milliseconds; `30s` on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window(pub i64);

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&duration::format_millis(self.0))
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        duration::parse_millis(&text)
            .map(Self)
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_survives_a_round_trip() {
        let json = json!({
            "apiVersion": API_VERSION,
            "kind": "PodMetricsList",
            "metadata": {},
            "items": [{
                "metadata": {"name": "web-0", "namespace": "default", "labels": {"app": "web"}},
                "timestamp": "2000-01-01T00:00:00Z",
                "window": "30s",
                "containers": [{"name": "app", "usage": {"cpu": "12345678n", "memory": "1Mi"}}],
            }],
        });
        let list: PodMetricsList = serde_json::from_value(json.clone()).expect("a sound list");
        assert_eq!(list.items[0].window, Window(30_000));
        assert_eq!(list.items[0].containers[0].usage["cpu"].milli_value(), 13);
        assert_eq!(serde_json::to_value(&list).expect("serialises"), json);
    }

    #[test]
    fn nulls_and_gaps_read_as_absent() {
        let json =
            json!({"items": [{"metadata": null, "timestamp": null, "containers": null}, {}]});
        let list: PodMetricsList = serde_json::from_value(json).expect("a sound list");
        assert_eq!(list.items, [PodMetrics::default(), PodMetrics::default()]);
    }
}
