//! What an autoscaler last measured. A metric that could not be read is a default value: `{"type":""}`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CrossVersionObjectReference, MetricIdentifier};
use crate::quantity::Quantity;
use crate::wire::nullable;

/// One metric as last read: its type, and the source that matches it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricStatus {
    /// The type of the spec's metric; empty if the reading failed.
    #[serde(deserialize_with = "nullable")]
    pub r#type: String,
    /// A metric of one object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectMetricStatus>,
    /// A metric of each pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodsMetricStatus>,
    /// A resource that the pods request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceMetricStatus>,
    /// A resource that one container of each pod requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_resource: Option<ContainerResourceMetricStatus>,
    /// A metric from outside the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalMetricStatus>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The last reading of a metric of one object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ObjectMetricStatus {
    /// Which metric.
    #[serde(deserialize_with = "nullable")]
    pub metric: MetricIdentifier,
    /// The reading.
    #[serde(deserialize_with = "nullable")]
    pub current: MetricValueStatus,
    /// The object.
    #[serde(deserialize_with = "nullable")]
    pub described_object: CrossVersionObjectReference,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The last reading of a metric that each pod has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodsMetricStatus {
    /// Which metric.
    #[serde(deserialize_with = "nullable")]
    pub metric: MetricIdentifier,
    /// The reading.
    #[serde(deserialize_with = "nullable")]
    pub current: MetricValueStatus,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The last reading of a resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ResourceMetricStatus {
    /// The resource.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The reading.
    #[serde(deserialize_with = "nullable")]
    pub current: MetricValueStatus,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The last reading of a resource of one container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerResourceMetricStatus {
    /// The resource.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The reading.
    #[serde(deserialize_with = "nullable")]
    pub current: MetricValueStatus,
    /// The container's name.
    #[serde(deserialize_with = "nullable")]
    pub container: String,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The last reading of a metric from outside the cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExternalMetricStatus {
    /// Which metric.
    #[serde(deserialize_with = "nullable")]
    pub metric: MetricIdentifier,
    /// The reading.
    #[serde(deserialize_with = "nullable")]
    pub current: MetricValueStatus,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A reading, in the terms of the target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricValueStatus {
    /// The whole metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Quantity>,
    /// The average per pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_value: Option<Quantity>,
    /// Percent of the requested amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_utilization: Option<i32>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
