//! What an API server does to an autoscaler between decoding and storing: which half of the object a request may change,
//! the generation, gated fields, and the knobs of validation. Pure functions; the gates are passed in.
//!
//! Upstream: kubernetes v1.37.2 pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go.

use crate::autoscaling::v2::{HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus};
use crate::field::FieldError;
use crate::validation::metadata::{self, Scope};
use crate::validation::{
    self, Options, declarative, validate_create, validate_status_update, validate_update,
};

/// The feature gates that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gates {
    /// `HPAScaleToZero`: `minReplicas` may be 0.
    pub scale_to_zero: bool,
    /// `HPAConfigurableTolerance`: the behaviour may name tolerances.
    pub configurable_tolerance: bool,
    /// `HPAGeneration`: `metadata.generation` counts changes of the spec.
    pub generation: bool,
}

/// The gates of 1.37.2 as they come.
impl Default for Gates {
    fn default() -> Self {
        Self {
            scale_to_zero: true,
            configurable_tolerance: true,
            generation: true,
        }
    }
}

/// Makes a request's object the one to create. Upstream: `PrepareForCreate`.
pub fn prepare_create(new: &mut HorizontalPodAutoscaler, gates: Gates) {
    new.status = HorizontalPodAutoscalerStatus::default();
    if gates.generation {
        new.metadata.generation = 1;
    }
    drop_disabled_fields(new, None, gates);
}

/// Makes a request's object the one to replace `old` with. Upstream: `PrepareForUpdate`, registry/rest/update.go `BeforeUpdate`.
pub fn prepare_update(
    new: &mut HorizontalPodAutoscaler,
    old: &HorizontalPodAutoscaler,
    gates: Gates,
) {
    new.status = old.status.clone();
    new.metadata.generation = old.metadata.generation;
    drop_disabled_fields(new, Some(old), gates);
    if gates.generation && new.spec != old.spec {
        new.metadata.generation += 1;
    }
}

/// Makes a request's object the one to replace `old`'s status with. Upstream: status strategy `PrepareForUpdate`.
pub fn prepare_status_update(new: &mut HorizontalPodAutoscaler, old: &HorizontalPodAutoscaler) {
    new.metadata.generation = old.metadata.generation;
    new.spec = old.spec.clone();
}

/// The answer of an API server to a prepared new object: no problems, or all of them.
pub fn check_create(new: &HorizontalPodAutoscaler, gates: Gates) -> Vec<FieldError> {
    let options = validation_options(new, None, gates);
    let by_hand = validate_create(new, &options);
    declarative::merge(
        by_hand,
        declarative::check(new, None, options.min_replicas_lower_bound),
    )
}

/// The answer of an API server to a prepared change: no problems, or all of them.
pub fn check_update(
    new: &HorizontalPodAutoscaler,
    old: &HorizontalPodAutoscaler,
    gates: Gates,
) -> Vec<FieldError> {
    let options = validation_options(new, Some(old), gates);
    let mut by_hand = metadata::check_common(&new.metadata, &old.metadata, Scope::Namespaced);
    by_hand.extend(validate_update(new, old, &options));
    declarative::merge(
        by_hand,
        declarative::check(new, Some(old), options.min_replicas_lower_bound),
    )
}

/// The answer of an API server to a prepared change of the status: no problems, or all of them.
pub fn check_status_update(
    new: &HorizontalPodAutoscaler,
    old: &HorizontalPodAutoscaler,
) -> Vec<FieldError> {
    let mut by_hand = metadata::check_common(&new.metadata, &old.metadata, Scope::Namespaced);
    by_hand.extend(validate_status_update(new, old));
    // The spec is the old one, and declarative rules skip what has not changed.
    declarative::merge(by_hand, Vec::new())
}

/// The knobs for a new object, or for one that replaces `old`: what was stored before may stay.
///
/// Upstream: `validationOptionsForHorizontalPodAutoscaler`.
pub fn validation_options(
    new: &HorizontalPodAutoscaler,
    old: Option<&HorizontalPodAutoscaler>,
    gates: Gates,
) -> Options {
    let mut options = Options::default();
    let may_be_zero =
        gates.scale_to_zero || old.is_some_and(|old| old.spec.min_replicas == Some(0));
    if may_be_zero {
        options.min_replicas_lower_bound = 0;
    }
    let target = &new.spec.scale_target_ref;
    let same_kind = old.is_some_and(|old| {
        let old = &old.spec.scale_target_ref;
        (&old.api_version, &old.kind) == (&target.api_version, &target.kind)
    });
    if same_kind {
        options.scale_target_ref.allow_invalid_api_version = true;
    } else if target.kind == "ReplicationController" {
        // The one kind of the core group that has a size.
        options.scale_target_ref.allow_empty_api_group = true;
    }
    let strict = options.object_metrics;
    let old_metrics = old
        .map(|old| old.spec.metrics.as_slice())
        .unwrap_or_default();
    let sources = old_metrics
        .iter()
        .filter(|metric| metric.r#type == "Object");
    let mut objects = sources.filter_map(|metric| Some(&metric.object.as_ref()?.described_object));
    options.object_metrics.allow_invalid_api_version =
        objects.any(|object| validation::check_api_version(&object.api_version, strict).is_err());
    options
}

/// Drops tolerances while their gate is off and the old object has none. Upstream: `dropDisabledFields`.
fn drop_disabled_fields(
    new: &mut HorizontalPodAutoscaler,
    old: Option<&HorizontalPodAutoscaler>,
    gates: Gates,
) {
    if gates.configurable_tolerance || old.is_some_and(uses_tolerance) {
        return;
    }
    if let Some(behavior) = &mut new.spec.behavior {
        for rules in [&mut behavior.scale_up, &mut behavior.scale_down]
            .into_iter()
            .flatten()
        {
            rules.tolerance = None;
        }
    }
}

/// Upstream: `toleranceInUse`.
fn uses_tolerance(hpa: &HorizontalPodAutoscaler) -> bool {
    let behavior = hpa.spec.behavior.iter();
    let mut rules = behavior
        .flat_map(|behavior| [&behavior.scale_up, &behavior.scale_down])
        .flatten();
    rules.any(|rules| rules.tolerance.is_some())
}

#[cfg(test)]
mod tests;
