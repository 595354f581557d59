//! The rules an autoscaler and a Scale must obey, as an API server of 1.37.2 checks them: every problem, in upstream's order
//! and words. Not defaulting, and not the choice of the knobs: that is `strategy`.
//!
//! Upstream: kubernetes v1.37.2 pkg/apis/autoscaling/validation/validation.go.

pub mod declarative;
pub mod metadata;

mod behavior;
mod metric;
mod reference;
mod resource_name;

use self::reference::ReferenceOptions as Reference;
pub use self::reference::ReferenceOptions;
pub(crate) use self::reference::check_api_version;
use crate::autoscaling::v2::{HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec};
use crate::field::{FieldError, FieldPath};
use crate::meta::ObjectMeta;
use crate::name;
use crate::scale::Scale;

/// The knobs of the rules for specs. Upstream: `HorizontalPodAutoscalerSpecValidationOptions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Least `minReplicas`: 1, or 0 where scaling to zero is allowed.
    pub min_replicas_lower_bound: i32,
    /// Rules for the target.
    pub scale_target_ref: ReferenceOptions,
    /// Rules for the objects of Object metrics.
    pub object_metrics: ReferenceOptions,
}

/// Upstream's knobs for a new object while scaling to zero is not allowed.
impl Default for Options {
    fn default() -> Self {
        let strict = Reference {
            allow_invalid_api_version: false,
            allow_empty_api_group: false,
        };
        Self {
            min_replicas_lower_bound: 1,
            scale_target_ref: strict,
            object_metrics: Reference {
                allow_empty_api_group: true,
                ..strict
            },
        }
    }
}

/// Problems of a new autoscaler. Upstream: `ValidateHorizontalPodAutoscaler`.
pub fn validate_create(hpa: &HorizontalPodAutoscaler, options: &Options) -> Vec<FieldError> {
    let scope = metadata::Scope::Namespaced;
    let mut problems = metadata::check(&hpa.metadata, scope, name::dns_subdomain);
    problems.extend(metadata::check_finalizer_names(&hpa.metadata));
    problems.extend(check_spec(&hpa.spec, *options));
    problems
}

/// Problems of a changed autoscaler. Upstream: `ValidateHorizontalPodAutoscalerUpdate`.
pub fn validate_update(
    new: &HorizontalPodAutoscaler,
    old: &HorizontalPodAutoscaler,
    options: &Options,
) -> Vec<FieldError> {
    let mut problems = check_metadata_update(&new.metadata, &old.metadata);
    problems.extend(check_spec(&new.spec, *options));
    problems
}

/// Problems of a changed status. Upstream: `ValidateHorizontalPodAutoscalerStatusUpdate`.
pub fn validate_status_update(
    new: &HorizontalPodAutoscaler,
    old: &HorizontalPodAutoscaler,
) -> Vec<FieldError> {
    let mut problems = check_metadata_update(&new.metadata, &old.metadata);
    let status = FieldPath::new("status");
    for (index, condition) in new.status.conditions.iter().enumerate() {
        let path = status
            .child("conditions")
            .index(index)
            .child("observedGeneration");
        problems.extend(
            condition
                .observed_generation
                .and_then(|value| not_negative(value, &path)),
        );
    }
    let counts = [
        (new.status.current_replicas, "currentReplicas"),
        (new.status.desired_replicas, "desiredReplicas"),
    ];
    problems.extend(
        counts
            .into_iter()
            .filter_map(|(count, name)| not_negative(count.into(), &status.child(name))),
    );
    problems
}

/// Problems of a Scale that is written. Upstream: `ValidateScale`; other metadata is ignored by the subresource.
pub fn validate_scale(scale: &Scale) -> Vec<FieldError> {
    let path = FieldPath::new("metadata").child("managedFields");
    let mut problems = metadata::managed_fields::check(&scale.metadata.managed_fields, &path);
    let path = FieldPath::new("spec").child("replicas");
    problems.extend(not_negative(scale.spec.replicas.into(), &path).map(FieldError::covered));
    problems
}

fn check_metadata_update(new: &ObjectMeta, old: &ObjectMeta) -> Vec<FieldError> {
    let mut problems = metadata::check_update(new, old);
    problems.extend(metadata::check_finalizer_names(new));
    problems
}

/// Upstream: `ValidateNonnegativeField`.
fn not_negative(value: i64, path: &FieldPath) -> Option<FieldError> {
    (value < 0).then(|| FieldError::invalid(path, value, "must be greater than or equal to 0"))
}

/// Upstream: `validateHorizontalPodAutoscalerSpec`.
fn check_spec(spec: &HorizontalPodAutoscalerSpec, options: Options) -> Vec<FieldError> {
    let path = FieldPath::new("spec");
    let mut problems = check_bounds(spec, options.min_replicas_lower_bound, &path);
    let target = reference::check(
        &spec.scale_target_ref,
        &path.child("scaleTargetRef"),
        options.scale_target_ref,
    );
    problems.extend(target);
    problems.extend(metric::check_all(
        spec,
        &path.child("metrics"),
        options.object_metrics,
    ));
    let rules = spec
        .behavior
        .as_ref()
        .map(|rules| behavior::check(rules, &path.child("behavior")));
    problems.extend(rules.into_iter().flatten());
    problems
}

fn check_bounds(
    spec: &HorizontalPodAutoscalerSpec,
    bound: i32,
    path: &FieldPath,
) -> Vec<FieldError> {
    let (min_path, max_path) = (path.child("minReplicas"), path.child("maxReplicas"));
    let (min, max) = (spec.min_replicas, spec.max_replicas);
    let mut problems = Vec::new();
    if let Some(min) = min.filter(|min| *min < bound) {
        let detail = format!("must be greater than or equal to {bound}");
        problems.push(FieldError::invalid(&min_path, min, detail).covered());
    }
    if max == 0 {
        problems.push(FieldError::required(&max_path, "must be set and greater than 0").covered());
    } else if max < 0 {
        let detail = "must be greater than or equal to 1";
        problems.push(FieldError::invalid(&max_path, max, detail).covered());
    }
    if min.is_some_and(|min| max < min) {
        let detail = "must be greater than or equal to `minReplicas`";
        problems.push(FieldError::invalid(&max_path, max, detail));
    }
    problems
}

#[cfg(test)]
mod tests;
