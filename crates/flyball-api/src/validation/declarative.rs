//! The rules that an API server of 1.37.2 checks from the schema instead of by hand, and how its answer joins the two.
//! Of the declarative rules only the enforced ones are here: the bounds of an autoscaler and the size in a Scale.
//!
//! Upstream: pkg/apis/autoscaling/v2/zz_generated.validations.go, apiserver registry/rest/validate.go
//! `ValidateDeclarativelyWithMigrationChecks`, with the default gates.

use crate::autoscaling::v2::HorizontalPodAutoscaler;
use crate::field::{FieldError, FieldPath};
use crate::scale::Scale;
use std::collections::BTreeSet;

/// Problems of an autoscaler's bounds. What an update leaves as it was is not checked again.
pub fn check(
    new: &HorizontalPodAutoscaler,
    old: Option<&HorizontalPodAutoscaler>,
    min_replicas_lower_bound: i32,
) -> Vec<FieldError> {
    let path = FieldPath::new("spec");
    let (new, old) = (&new.spec, old.map(|old| &old.spec));
    let mut problems = Vec::new();
    if old.is_none_or(|old| old.min_replicas != new.min_replicas) {
        let (bound, path) = (min_replicas_lower_bound, path.child("minReplicas"));
        problems.extend(new.min_replicas.and_then(|min| at_least(min, bound, &path)));
    }
    if old.is_none_or(|old| old.max_replicas != new.max_replicas) {
        let path = path.child("maxReplicas");
        if new.max_replicas == 0 {
            problems.push(FieldError::required(&path, ""));
        } else {
            problems.extend(at_least(new.max_replicas, 1, &path));
        }
    }
    problems
}

/// Problems of the size in a Scale that replaces `old`.
pub fn check_scale(new: &Scale, old: &Scale) -> Vec<FieldError> {
    let path = FieldPath::new("spec").child("replicas");
    let problem = at_least(new.spec.replicas, 0, &path);
    problem
        .filter(|_| new.spec.replicas != old.spec.replicas)
        .into_iter()
        .collect()
}

fn at_least(value: i32, bound: i32, path: &FieldPath) -> Option<FieldError> {
    let detail = format!("must be greater than or equal to {bound}");
    (value < bound).then(|| FieldError::invalid(path, value, detail))
}

/// The answer of the API server: each hand-written problem once, those that a declarative rule found too left out, then the
/// declarative ones. Upstream: api/validate/errors.go `FilterCoveredHandwrittenErrors`.
pub fn merge(by_hand: Vec<FieldError>, declarative: Vec<FieldError>) -> Vec<FieldError> {
    let mut seen = BTreeSet::new();
    let same = |a: &FieldError, b: &FieldError| (a.kind, &a.field) == (b.kind, &b.field);
    let is_replaced = |problem: &FieldError| {
        problem.covered_by_declarative && declarative.iter().any(|other| same(problem, other))
    };
    let kept = by_hand
        .into_iter()
        .filter(|problem| seen.insert(problem.to_string()) && !is_replaced(problem));
    let mut answer: Vec<FieldError> = kept.collect();
    answer.extend(declarative);
    answer
}
