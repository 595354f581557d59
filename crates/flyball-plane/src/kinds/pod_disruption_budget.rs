//! policy/v1 PodDisruptionBudget, as a stored object: nothing is evicted here. Source: registry/policy/poddisruptionbudget,
//! policy validation `ValidatePodDisruptionBudgetSpec`.

use flyball_api::field::{BadValue, FieldPath};
use flyball_api::name;
use serde_json::{Value, json};

use super::{condition, label_selector};
use crate::field::{self, FieldError};
use crate::kind::{Kind, MetadataRules, PutRule, Strategy};
use crate::object;

const COUNTS: [&str; 4] = [
    "disruptionsAllowed",
    "currentHealthy",
    "desiredHealthy",
    "expectedPods",
];
const POLICIES: [&str; 2] = ["AlwaysAllow", "IfHealthyBudget"];

#[derive(Debug)]
struct PodDisruptionBudget;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("policy", "v1", "PodDisruptionBudget", PodDisruptionBudget)
        .short(&["pdb"])
        .with_status();
    Kind {
        put: PutRule::Conditional,
        ..kind
    }
}

impl Strategy for PodDisruptionBudget {
    fn default(&self, object: &mut Value) {
        object::child(object, "spec");
    }

    fn empty_status(&self) -> Option<Value> {
        Some(COUNTS.iter().map(|field| (*field, json!(0))).collect())
    }

    // Upstream checks no more of the name than that it fits a path.
    fn name_rule(&self) -> fn(&str) -> Vec<String> {
        name::path_segment
    }

    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::General
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let spec = object.get("spec").cloned().unwrap_or_default();
        let given = |field: &str| spec.get(field).filter(|value| !value.is_null());
        let mut errors = Vec::new();
        if given("minAvailable").is_some() && given("maxUnavailable").is_some() {
            errors.push(both(&spec));
        }
        for field in ["minAvailable", "maxUnavailable"] {
            errors.extend(given(field).and_then(|value| amount(&format!("spec.{field}"), value)));
        }
        if let Some(selector) = given("selector") {
            errors.extend(label_selector::validate("spec.selector", selector));
        }
        let policy = given("unhealthyPodEvictionPolicy").and_then(Value::as_str);
        if let Some(policy) = policy.filter(|policy| !POLICIES.contains(policy)) {
            let path = "spec.unhealthyPodEvictionPolicy";
            errors.push(field::not_supported(path, policy, &POLICIES));
        }
        errors
    }

    fn validate_status(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        let status = object.get("status").cloned().unwrap_or_default();
        let mut errors = condition::validate("status.conditions", status.get("conditions"));
        for field in COUNTS {
            let count = status.get(field).and_then(Value::as_i64);
            if let Some(count) = count.filter(|count| *count < 0) {
                let detail = "must be greater than or equal to 0";
                errors.push(field::invalid(format!("status.{field}"), count, detail));
            }
        }
        errors
    }
}

/// The refusal of two limits at once shows the spec in the order and with the names of upstream's internal type.
fn both(spec: &Value) -> FieldError {
    let shown = |field: &str| spec.get(field).cloned().unwrap_or_default();
    let text = format!(
        r#"{{"MinAvailable":{},"Selector":{},"MaxUnavailable":{},"UnhealthyPodEvictionPolicy":{}}}"#,
        shown("minAvailable"),
        shown("selector"),
        shown("maxUnavailable"),
        shown("unhealthyPodEvictionPolicy"),
    );
    FieldError::invalid(
        &FieldPath::new("spec"),
        BadValue::JsonText(text),
        "minAvailable and maxUnavailable cannot be both set",
    )
}

/// The problem of a count or a share. Source: apps validation `ValidatePositiveIntOrPercent`, `IsNotMoreThan100Percent`.
fn amount(path: &str, value: &Value) -> Option<FieldError> {
    const NO_PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    if let Some(number) = value.as_i64() {
        let detail = "must be greater than or equal to 0";
        return (number < 0).then(|| field::invalid(path, number, detail));
    }
    let text = value.as_str().unwrap_or_default();
    let digits = text.strip_suffix('%').unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(field::invalid(path, text, NO_PERCENT));
    }
    let digits = digits.trim_start_matches('0');
    let more = digits.len() > 3 || digits.parse::<u32>().unwrap_or(0) > 100;
    more.then(|| field::invalid(path, text, "must not be greater than 100%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_count_or_a_share() {
        let table = [
            (json!(0), true),
            (json!(-1), false),
            (json!("0%"), true),
            (json!("100%"), true),
            (json!("101%"), false),
            (json!("%"), false),
            (json!("5"), false),
            (json!("99999999999999999999%"), false),
        ];
        for (value, sound) in table {
            assert_eq!(amount("p", &value).is_none(), sound, "{value}");
        }
    }
}
