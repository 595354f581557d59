//! What an autoscaler measures and which value it aims at.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CrossVersionObjectReference;
use crate::quantity::Quantity;
use crate::selector::LabelSelector;
use crate::wire::nullable;

/// One metric: its type, and one source to match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricSpec {
    /// `Object`, `Pods`, `Resource`, `ContainerResource` or `External`.
    #[serde(deserialize_with = "nullable")]
    pub r#type: String,
    /// A metric of one object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectMetricSource>,
    /// A metric of each pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodsMetricSource>,
    /// A resource that the pods request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceMetricSource>,
    /// A resource that one container of each pod requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_resource: Option<ContainerResourceMetricSource>,
    /// A metric from outside the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalMetricSource>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A metric that describes one object, requests per second of an Ingress for instance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ObjectMetricSource {
    /// The object, in the same namespace.
    #[serde(deserialize_with = "nullable")]
    pub described_object: CrossVersionObjectReference,
    /// The value to aim at.
    #[serde(deserialize_with = "nullable")]
    pub target: MetricTarget,
    /// Which metric.
    #[serde(deserialize_with = "nullable")]
    pub metric: MetricIdentifier,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A metric that each pod has, averaged over the pods.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PodsMetricSource {
    /// Which metric.
    #[serde(deserialize_with = "nullable")]
    pub metric: MetricIdentifier,
    /// The value to aim at.
    #[serde(deserialize_with = "nullable")]
    pub target: MetricTarget,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A resource that the pods request and use.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ResourceMetricSource {
    /// `cpu` or `memory`, or another resource.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The value to aim at.
    #[serde(deserialize_with = "nullable")]
    pub target: MetricTarget,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A resource that one container of each pod requests and uses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ContainerResourceMetricSource {
    /// `cpu` or `memory`, or another resource.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The value to aim at.
    #[serde(deserialize_with = "nullable")]
    pub target: MetricTarget,
    /// The container's name.
    #[serde(deserialize_with = "nullable")]
    pub container: String,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A metric from outside the cluster, the length of a queue for instance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExternalMetricSource {
    /// Which metric.
    #[serde(deserialize_with = "nullable")]
    pub metric: MetricIdentifier,
    /// The value to aim at.
    #[serde(deserialize_with = "nullable")]
    pub target: MetricTarget,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A metric's name, and which of its series are meant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricIdentifier {
    /// The name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The series; absent means those without labels to choose by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The value to aim at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MetricTarget {
    /// `Utilization`, `Value` or `AverageValue`. Note: nothing makes it agree with the field that is set.
    #[serde(deserialize_with = "nullable")]
    pub r#type: String,
    /// A value for the whole metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Quantity>,
    /// A value per pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_value: Option<Quantity>,
    /// Percent of the requested amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_utilization: Option<i32>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
