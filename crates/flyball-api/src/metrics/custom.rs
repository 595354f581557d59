//! `custom.metrics.k8s.io`: metrics that describe Kubernetes objects. Held in the form of v1beta2; v1beta1 is read and written too.
//!
//! Upstream: k8s.io/metrics custom_metrics/{v1beta1,v1beta2}/types.go and v1beta1/conversion.go.

use serde::{Deserialize, Serialize};

use crate::meta::ListMeta;
use crate::quantity::Quantity;
use crate::selector::LabelSelector;
use crate::time::Time;
use crate::wire::nullable;

/// `apiVersion` of the form that is held.
pub const API_VERSION: &str = "custom.metrics.k8s.io/v1beta2";
/// `apiVersion` of the older form.
pub const API_VERSION_V1BETA1: &str = "custom.metrics.k8s.io/v1beta1";

/// Values of one metric for several objects.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricValueList {
    /// The group and version of the answer.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// `MetricValueList`
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
    /// Version of the list.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ListMeta,
    /// One value for each object that has one.
    #[serde(deserialize_with = "nullable")]
    pub items: Vec<MetricValue>,
}

/// The value of one metric for one object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricValue {
    /// The object.
    #[serde(deserialize_with = "nullable")]
    pub described_object: ObjectReference,
    /// The metric.
    #[serde(deserialize_with = "nullable")]
    pub metric: MetricName,
    /// When the value was taken.
    pub timestamp: Option<Time>,
    /// Seconds over which it was taken, 0 for the usual window, absent for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_seconds: Option<i64>,
    /// The value.
    #[serde(deserialize_with = "nullable")]
    pub value: Quantity,
}

/// A metric's name and the series that was asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MetricName {
    /// The name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The series; `null` on the wire if none was named.
    pub selector: Option<LabelSelector>,
}

/// A reference to an object. Upstream: k8s.io/api core/v1/types.go `ObjectReference`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ObjectReference {
    /// Kind of the object.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
    /// Namespace of the object.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub namespace: String,
    /// Name of the object.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub name: String,
    /// Identity of the object.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub uid: String,
    /// Group and version of the kind.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// Version of the stored object.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub resource_version: String,
    /// A part of the object, `spec.containers{app}` for instance.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub field_path: String,
}

/// A list in the form of v1beta1; converts both ways.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricValueListV1beta1 {
    /// The group and version of the answer.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// `MetricValueList`
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
    /// Version of the list.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ListMeta,
    /// One value for each object that has one.
    #[serde(deserialize_with = "nullable")]
    pub items: Vec<MetricValueV1beta1>,
}

/// A value in the form of v1beta1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricValueV1beta1 {
    /// The object.
    #[serde(deserialize_with = "nullable")]
    pub described_object: ObjectReference,
    /// The metric's name.
    #[serde(deserialize_with = "nullable")]
    pub metric_name: String,
    /// When the value was taken.
    pub timestamp: Option<Time>,
    /// Seconds over which it was taken.
    #[serde(rename = "window", skip_serializing_if = "Option::is_none")]
    pub window_seconds: Option<i64>,
    /// The value.
    #[serde(deserialize_with = "nullable")]
    pub value: Quantity,
    /// The series; `null` on the wire if none was named.
    pub selector: Option<LabelSelector>,
}

impl From<MetricValueListV1beta1> for MetricValueList {
    fn from(old: MetricValueListV1beta1) -> Self {
        let value = |old: MetricValueV1beta1| MetricValue {
            described_object: old.described_object,
            metric: MetricName {
                name: old.metric_name,
                selector: old.selector,
            },
            timestamp: old.timestamp,
            window_seconds: old.window_seconds,
            value: old.value,
        };
        Self {
            api_version: API_VERSION.to_owned(),
            kind: old.kind,
            metadata: old.metadata,
            items: old.items.into_iter().map(value).collect(),
        }
    }
}

impl From<MetricValueList> for MetricValueListV1beta1 {
    fn from(new: MetricValueList) -> Self {
        let value = |new: MetricValue| MetricValueV1beta1 {
            described_object: new.described_object,
            metric_name: new.metric.name,
            selector: new.metric.selector,
            timestamp: new.timestamp,
            window_seconds: new.window_seconds,
            value: new.value,
        };
        Self {
            api_version: API_VERSION_V1BETA1.to_owned(),
            kind: new.kind,
            metadata: new.metadata,
            items: new.items.into_iter().map(value).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn new() -> Value {
        json!({
            "apiVersion": API_VERSION,
            "kind": "MetricValueList",
            "metadata": {},
            "items": [
                {
                    "describedObject": {"kind": "Pod", "namespace": "default", "name": "web-0", "apiVersion": "/v1"},
                    "metric": {"name": "queue", "selector": {"matchLabels": {"q": "a"}}},
                    "timestamp": "2000-01-01T00:00:00Z",
                    "windowSeconds": 60,
                    "value": "1500m",
                },
                {"describedObject": {}, "metric": {"name": "", "selector": null}, "timestamp": null, "value": "0"},
            ],
        })
    }

    #[test]
    fn both_versions_hold_the_same() {
        let list: MetricValueList = serde_json::from_value(new()).expect("a sound list");
        assert_eq!(serde_json::to_value(&list).expect("serialises"), new());
        let old = MetricValueListV1beta1::from(list.clone());
        let json = serde_json::to_value(&old).expect("serialises");
        let item = json!({
            "describedObject": {"kind": "Pod", "namespace": "default", "name": "web-0", "apiVersion": "/v1"},
            "metricName": "queue",
            "selector": {"matchLabels": {"q": "a"}},
            "timestamp": "2000-01-01T00:00:00Z",
            "window": 60,
            "value": "1500m",
        });
        assert_eq!(
            (&json["apiVersion"], &json["items"][0]),
            (&json!(API_VERSION_V1BETA1), &item)
        );
        let read: MetricValueListV1beta1 = serde_json::from_value(json).expect("a sound list");
        assert_eq!(MetricValueList::from(read), list);
    }
}
