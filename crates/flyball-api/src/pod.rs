//! The part of a core/v1 Pod that an autoscaler reads. Everything else is skipped while decoding and never kept,
//! so this type must not be written back.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Quantity;
use crate::time::Time;
use crate::wire::nullable;

/// Resource names and quantities.
pub type ResourceList = BTreeMap<String, Quantity>;

/// A pod, as far as it matters here.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pod {
    /// Name, namespace, labels, deletion.
    #[serde(deserialize_with = "nullable")]
    pub metadata: PodMeta,
    /// Containers and pod-level resources.
    #[serde(deserialize_with = "nullable")]
    pub spec: PodSpec,
    /// Phase, conditions, start.
    #[serde(deserialize_with = "nullable")]
    pub status: PodStatus,
}

/// What is read of a pod's metadata.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodMeta {
    /// Name.
    pub name: String,
    /// Namespace.
    pub namespace: String,
    /// Labels.
    #[serde(deserialize_with = "nullable")]
    pub labels: BTreeMap<String, String>,
    /// Set while the pod is going.
    pub deletion_timestamp: Option<Time>,
    /// Version of the object.
    pub resource_version: String,
}

/// What is read of a pod's spec.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// Containers.
    #[serde(deserialize_with = "nullable")]
    pub containers: Vec<PodContainer>,
    /// Init containers, sidecars among them.
    #[serde(deserialize_with = "nullable")]
    pub init_containers: Vec<PodContainer>,
    /// Pod-level resources.
    pub resources: Option<PodResources>,
    /// What running the pod costs beside its containers.
    #[serde(deserialize_with = "nullable")]
    pub overhead: ResourceList,
}

/// What is read of a container.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodContainer {
    /// Name.
    pub name: String,
    /// Its requests.
    #[serde(deserialize_with = "nullable")]
    pub resources: PodResources,
    /// `Always` makes an init container a sidecar.
    pub restart_policy: Option<String>,
}

/// Requests of a container or a pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PodResources {
    /// `requests`.
    #[serde(deserialize_with = "nullable")]
    pub requests: ResourceList,
}

/// What is read of a pod's status.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed`, `Unknown` or empty.
    pub phase: String,
    /// Conditions, `Ready` among them.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<PodCondition>,
    /// When the pod was accepted by its node.
    pub start_time: Option<Time>,
}

/// What is read of a pod's condition.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodCondition {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// When the status last changed.
    pub last_transition_time: Option<Time>,
}
