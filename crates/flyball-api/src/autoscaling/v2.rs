//! `autoscaling/v2`: the autoscaler object as it stands on the wire. Texts that should be one of a few words stay texts,
//! because an unknown word must reach validation, and some must reach the controller.
//!
//! Upstream: k8s.io/api v0.37.2 autoscaling/v2/types.go. Equality is semantic: quantities by value, absent lists like empty ones.

mod behavior;
mod metric_spec;
mod metric_status;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

pub use self::behavior::{HorizontalPodAutoscalerBehavior, HpaScalingPolicy, HpaScalingRules};
pub use self::metric_spec::{
    ContainerResourceMetricSource, ExternalMetricSource, MetricIdentifier, MetricSpec,
    MetricTarget, ObjectMetricSource, PodsMetricSource, ResourceMetricSource,
};
pub use self::metric_status::{
    ContainerResourceMetricStatus, ExternalMetricStatus, MetricStatus, MetricValueStatus,
    ObjectMetricStatus, PodsMetricStatus, ResourceMetricStatus,
};
use crate::meta::ObjectMeta;
use crate::time::Time;
use crate::wire::{is_default, nullable};

/// `apiVersion` of the objects here.
pub const API_VERSION: &str = "autoscaling/v2";
/// `kind` of the objects here.
pub const KIND: &str = "HorizontalPodAutoscaler";

/// An autoscaler: the wanted bounds, metrics and behaviour, and what became of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HorizontalPodAutoscaler {
    /// `autoscaling/v2`, or empty inside lists.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// `HorizontalPodAutoscaler`, or empty inside lists.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
    /// Name, labels and the like.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What is wanted.
    #[serde(deserialize_with = "nullable")]
    pub spec: HorizontalPodAutoscalerSpec,
    /// What was found and done.
    #[serde(deserialize_with = "nullable")]
    pub status: HorizontalPodAutoscalerStatus,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What is wanted of an autoscaler.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HorizontalPodAutoscalerSpec {
    /// The workload to scale, in the same namespace.
    #[serde(deserialize_with = "nullable")]
    pub scale_target_ref: CrossVersionObjectReference,
    /// Lower bound; absent means 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_replicas: Option<i32>,
    /// Upper bound; 0 if it was not given.
    #[serde(deserialize_with = "nullable")]
    pub max_replicas: i32,
    /// What to measure; the largest proposal wins.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricSpec>,
    /// How fast to scale; absent is another path than the defaults written out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behavior: Option<HorizontalPodAutoscalerBehavior>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A reference to an object of any kind in the same namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct CrossVersionObjectReference {
    /// Kind of the object.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Name of the object.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Group and version of the kind.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What an autoscaler found and did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HorizontalPodAutoscalerStatus {
    /// The generation of the spec that this status follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When the target was last resized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_scale_time: Option<Time>,
    /// The target's wanted replicas as last read; 0 is left out on the wire.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "is_default")]
    pub current_replicas: i32,
    /// The replicas last decided.
    #[serde(deserialize_with = "nullable")]
    pub desired_replicas: i32,
    /// The metrics as last read, by the index of the spec's; a failed one is a default value. Empty is `null` on the wire.
    #[serde(deserialize_with = "nullable", serialize_with = "null_if_empty")]
    pub current_metrics: Vec<MetricStatus>,
    /// The conditions, in the order in which they first arose.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<HorizontalPodAutoscalerCondition>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn null_if_empty<S: Serializer>(list: &[MetricStatus], serializer: S) -> Result<S::Ok, S::Error> {
    if list.is_empty() {
        serializer.serialize_none()
    } else {
        list.serialize(serializer)
    }
}

/// One aspect of an autoscaler's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HorizontalPodAutoscalerCondition {
    /// `AbleToScale`, `ScalingActive`, `ScalingLimited` or `ScaledToZero`.
    #[serde(deserialize_with = "nullable")]
    pub r#type: String,
    /// `True`, `False` or `Unknown`.
    #[serde(deserialize_with = "nullable")]
    pub status: String,
    /// When the status changed last; `null` on the wire if never.
    pub last_transition_time: Option<Time>,
    /// The cause in one word.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub reason: String,
    /// The cause in a sentence.
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub message: String,
    /// The generation this condition follows; the controller of 1.37.2 leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[cfg(test)]
mod tests;
