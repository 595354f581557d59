//! Manifests, gates and options as the suites of the API write them.

use flyball_api::autoscaling::v2::HorizontalPodAutoscaler;
use flyball_api::strategy::Gates;
use flyball_api::validation::{Options, ReferenceOptions};
use serde::Deserialize;
use serde_json::{Value, json};

/// The object with this specification and nothing else.
pub(super) fn of_spec(spec: &Value) -> serde_json::Result<HorizontalPodAutoscaler> {
    HorizontalPodAutoscaler::deserialize(json!({"spec": spec}))
}

/// The gates a case sets; the others are at their defaults.
#[derive(Default, Deserialize)]
pub(super) struct GateCase {
    #[serde(rename = "HPAScaleToZero")]
    scale_to_zero: Option<bool>,
    #[serde(rename = "HPAConfigurableTolerance")]
    configurable_tolerance: Option<bool>,
    #[serde(rename = "HPAGeneration")]
    generation: Option<bool>,
}

impl GateCase {
    /// Every gate.
    pub(super) fn gates(&self) -> Gates {
        let usual = Gates::default();
        Gates {
            scale_to_zero: self.scale_to_zero.unwrap_or(usual.scale_to_zero),
            configurable_tolerance: self
                .configurable_tolerance
                .unwrap_or(usual.configurable_tolerance),
            generation: self.generation.unwrap_or(usual.generation),
        }
    }
}

/// What the storage strategy hands to the validator.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OptionCase {
    min_replicas_lower_bound: i32,
    scale_target_ref: ReferenceCase,
    object_metrics: ReferenceCase,
}

#[derive(Deserialize)]
struct ReferenceCase {
    #[serde(rename = "allowInvalidAPIVersion")]
    invalid_api_version: bool,
    #[serde(rename = "allowEmptyAPIGroup")]
    empty_api_group: bool,
}

impl OptionCase {
    /// The options.
    pub(super) fn options(&self) -> Options {
        let reference = |case: &ReferenceCase| ReferenceOptions {
            allow_invalid_api_version: case.invalid_api_version,
            allow_empty_api_group: case.empty_api_group,
        };
        Options {
            min_replicas_lower_bound: self.min_replicas_lower_bound,
            scale_target_ref: reference(&self.scale_target_ref),
            object_metrics: reference(&self.object_metrics),
        }
    }
}

/// Options as a case writes them.
pub(super) fn written(options: Options) -> Value {
    let reference = |options: &ReferenceOptions| {
        json!({
            "allowInvalidAPIVersion": options.allow_invalid_api_version,
            "allowEmptyAPIGroup": options.allow_empty_api_group,
        })
    };
    json!({
        "minReplicasLowerBound": options.min_replicas_lower_bound,
        "scaleTargetRef": reference(&options.scale_target_ref),
        "objectMetrics": reference(&options.object_metrics),
    })
}
