//! How fast an autoscaler may go: windows, policies and tolerances of the two directions.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::quantity::Quantity;
use crate::wire::nullable;

/// The rules of both directions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HorizontalPodAutoscalerBehavior {
    /// Rules for growing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_up: Option<HpaScalingRules>,
    /// Rules for shrinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_down: Option<HpaScalingRules>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The rules of one direction.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HpaScalingRules {
    /// Seconds of past recommendations to take into account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stabilization_window_seconds: Option<i32>,
    /// Which policy counts: `Max`, `Min` or `Disabled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select_policy: Option<String>,
    /// Limits per period. Note: an explicit empty list keeps the defaults away, so it differs from an absent one until
    /// the object is defaulted; on the wire both are left out.
    #[serde(skip_serializing_if = "none_or_empty")]
    pub policies: Option<Vec<HpaScalingPolicy>>,
    /// Deviation from 1 that the usage ratio may have without a change; absent means the controller's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Quantity>,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn none_or_empty(policies: &Option<Vec<HpaScalingPolicy>>) -> bool {
    policies.as_ref().is_none_or(Vec::is_empty)
}

/// Semantic, as upstream compares specs: an absent list of policies equals an empty one.
impl PartialEq for HpaScalingRules {
    fn eq(&self, other: &Self) -> bool {
        let list = |rules: &Self| rules.policies.clone().unwrap_or_default();
        self.stabilization_window_seconds == other.stabilization_window_seconds
            && self.select_policy == other.select_policy
            && list(self) == list(other)
            && self.tolerance == other.tolerance
            && self.rest == other.rest
    }
}

/// One limit on the change within a period.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HpaScalingPolicy {
    /// `Pods` or `Percent`.
    #[serde(deserialize_with = "nullable")]
    pub r#type: String,
    /// Pods, or percent of the replicas at the start of the period.
    #[serde(deserialize_with = "nullable")]
    pub value: i32,
    /// Length of the period in seconds.
    #[serde(deserialize_with = "nullable")]
    pub period_seconds: i32,
    /// Fields this version does not know, kept as they came.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
