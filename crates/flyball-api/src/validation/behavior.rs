//! Rules for windows, policies and tolerances.

use serde_json::Value;

use crate::autoscaling::v2::{HorizontalPodAutoscalerBehavior, HpaScalingPolicy, HpaScalingRules};
use crate::field::{FieldError, FieldPath};

/// Longest period of a policy in seconds. Upstream: `MaxPeriodSeconds`.
const PERIOD_SECONDS_MAX: i32 = 1800;
/// Longest stabilization window in seconds. Upstream: `MaxStabilizationWindowSeconds`.
const WINDOW_SECONDS_MAX: i32 = 3600;

/// Upstream: `validateBehavior`.
pub(super) fn check(
    behavior: &HorizontalPodAutoscalerBehavior,
    path: &FieldPath,
) -> Vec<FieldError> {
    let directions = [
        (&behavior.scale_up, "scaleUp"),
        (&behavior.scale_down, "scaleDown"),
    ];
    let checked = directions.into_iter().filter_map(|(rules, name)| {
        rules
            .as_ref()
            .map(|rules| check_rules(rules, &path.child(name)))
    });
    checked.flatten().collect()
}

/// Upstream: `validateScalingRules`.
fn check_rules(rules: &HpaScalingRules, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if let Some(window) = rules.stabilization_window_seconds {
        let path = path.child("stabilizationWindowSeconds");
        if window < 0 {
            let detail = "must be greater than or equal to zero";
            problems.push(FieldError::invalid(&path, window, detail));
        }
        if window > WINDOW_SECONDS_MAX {
            let detail = format!("must be less than or equal to {WINDOW_SECONDS_MAX}");
            problems.push(FieldError::invalid(&path, window, detail));
        }
    }
    if let Some(policy) = &rules.select_policy {
        let known = ["Disabled", "Max", "Min"];
        if !known.contains(&policy.as_str()) {
            let (path, value) = (path.child("selectPolicy"), Value::from(policy.as_str()));
            problems.push(FieldError::not_supported(&path, value, &known));
        }
    }
    let policies_path = path.child("policies");
    let policies = rules.policies.as_deref().unwrap_or_default();
    if policies.is_empty() {
        problems.push(FieldError::required(
            &policies_path,
            "must specify at least one Policy",
        ));
    }
    for (index, policy) in policies.iter().enumerate() {
        problems.extend(check_policy(policy, &policies_path.index(index)));
    }
    if let Some(tolerance) = rules
        .tolerance
        .as_ref()
        .filter(|tolerance| tolerance.sign() < 0)
    {
        let (path, value) = (path.child("tolerance"), tolerance.to_string());
        problems.push(FieldError::invalid(
            &path,
            value.as_str(),
            "must be greater than or equal to 0",
        ));
    }
    problems
}

/// Upstream: `validateScalingPolicy`.
fn check_policy(policy: &HpaScalingPolicy, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let known = ["Percent", "Pods"];
    if !known.contains(&policy.r#type.as_str()) {
        let value = Value::from(policy.r#type.as_str());
        problems.push(FieldError::not_supported(
            &path.child("type"),
            value,
            &known,
        ));
    }
    if policy.value <= 0 {
        let path = path.child("value");
        problems.push(FieldError::invalid(
            &path,
            policy.value,
            "must be greater than zero",
        ));
    }
    let (period, path) = (policy.period_seconds, path.child("periodSeconds"));
    if period <= 0 {
        problems.push(FieldError::invalid(
            &path,
            period,
            "must be greater than zero",
        ));
    }
    if period > PERIOD_SECONDS_MAX {
        let detail = format!("must be less than or equal to {PERIOD_SECONDS_MAX}");
        problems.push(FieldError::invalid(&path, period, detail));
    }
    problems
}
