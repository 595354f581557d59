//! What an API server fills into an `autoscaling/v2` autoscaler before it prepares and checks it. Not the controller's own
//! settings: a missing scale-down window stays missing, because the controller's flag fills it at run time.
//!
//! Upstream: kubernetes v1.37.2 pkg/apis/autoscaling/v2/defaults.go.

use crate::autoscaling::v2::{
    HorizontalPodAutoscaler, HpaScalingPolicy, HpaScalingRules, MetricSpec, MetricTarget,
    ResourceMetricSource,
};

/// Lower bound of an autoscaler that names none.
const MIN_REPLICAS: i32 = 1;
/// Percent of the CPU request that an autoscaler without metrics aims at.
const CPU_UTILIZATION: i32 = 80;
/// Length of the default policies' period in seconds.
const PERIOD_SECONDS: i32 = 15;

/// Fills what is missing. Upstream: `SetDefaults_HorizontalPodAutoscaler`.
pub fn apply(hpa: &mut HorizontalPodAutoscaler) {
    let spec = &mut hpa.spec;
    spec.min_replicas.get_or_insert(MIN_REPLICAS);
    if spec.metrics.is_empty() {
        spec.metrics.push(cpu_utilization());
    }
    if let Some(behavior) = &mut spec.behavior {
        behavior.scale_up = Some(scale_up_rules(behavior.scale_up.take()));
        behavior.scale_down = Some(scale_down_rules(behavior.scale_down.take()));
    }
}

fn cpu_utilization() -> MetricSpec {
    let target = MetricTarget {
        r#type: "Utilization".to_owned(),
        average_utilization: Some(CPU_UTILIZATION),
        ..MetricTarget::default()
    };
    let source = ResourceMetricSource {
        name: "cpu".to_owned(),
        target,
        ..ResourceMetricSource::default()
    };
    MetricSpec {
        r#type: "Resource".to_owned(),
        resource: Some(source),
        ..MetricSpec::default()
    }
}

/// The rules for growing, complete. Upstream: `GenerateHPAScaleUpRules`.
pub fn scale_up_rules(given: Option<HpaScalingRules>) -> HpaScalingRules {
    complete(
        given,
        Some(0),
        vec![policy("Pods", 4), policy("Percent", 100)],
    )
}

/// The rules for shrinking, complete but for the window. Upstream: `GenerateHPAScaleDownRules`.
pub fn scale_down_rules(given: Option<HpaScalingRules>) -> HpaScalingRules {
    complete(given, None, vec![policy("Percent", 100)])
}

fn policy(r#type: &str, value: i32) -> HpaScalingPolicy {
    let (r#type, period_seconds) = (r#type.to_owned(), PERIOD_SECONDS);
    HpaScalingPolicy {
        r#type,
        value,
        period_seconds,
        ..HpaScalingPolicy::default()
    }
}

/// Upstream: `copyHPAScalingRules`. A list that is given empty is given: it stays, and validation refuses it.
fn complete(
    given: Option<HpaScalingRules>,
    window_seconds: Option<i32>,
    policies: Vec<HpaScalingPolicy>,
) -> HpaScalingRules {
    let given = given.unwrap_or_default();
    HpaScalingRules {
        stabilization_window_seconds: given.stabilization_window_seconds.or(window_seconds),
        select_policy: given.select_policy.or_else(|| Some("Max".to_owned())),
        policies: given.policies.or(Some(policies)),
        ..given
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A spec, and what of it differs after defaulting.
    fn check(spec: &Value, expected: &Value) {
        let mut hpa: HorizontalPodAutoscaler =
            serde_json::from_value(json!({"spec": spec})).expect("a sound autoscaler");
        apply(&mut hpa);
        let filled = serde_json::to_value(&hpa.spec).expect("serialises");
        for (field, value) in expected
            .as_object()
            .expect("the expected fields are an object")
        {
            assert_eq!(&filled[field], value, "{field}");
        }
    }

    #[test]
    fn a_bare_spec_gets_one_replica_and_eighty_percent_of_cpu() {
        let metric = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}});
        check(
            &json!({}),
            &json!({"minReplicas": 1, "metrics": [metric], "behavior": null}),
        );
        check(&json!({"metrics": []}), &json!({"metrics": [metric]}));
    }

    #[test]
    fn what_is_given_stays() {
        let metric = json!({"type": "External"});
        let read_back = json!({"type": "External"});
        check(
            &json!({"minReplicas": 0, "metrics": [metric]}),
            &json!({"minReplicas": 0, "metrics": [read_back]}),
        );
    }

    #[test]
    fn an_empty_behavior_becomes_complete() {
        let up = json!({
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 15},
                {"type": "Percent", "value": 100, "periodSeconds": 15},
            ],
        });
        let down = json!({
            "selectPolicy": "Max",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
        });
        check(
            &json!({"behavior": {}}),
            &json!({"behavior": {"scaleUp": up, "scaleDown": down}}),
        );
    }

    #[test]
    fn each_rule_is_filled_by_itself() {
        let given = HpaScalingRules {
            select_policy: Some("Disabled".to_owned()),
            policies: Some(Vec::new()),
            tolerance: Some(crate::Quantity::from_milli(
                50,
                crate::quantity::Format::DecimalSI,
            )),
            ..HpaScalingRules::default()
        };
        let filled = scale_up_rules(Some(given.clone()));
        assert_eq!(filled.stabilization_window_seconds, Some(0));
        assert_eq!(filled.select_policy.as_deref(), Some("Disabled"));
        assert_eq!(filled.policies, Some(Vec::new()));
        assert_eq!(filled.tolerance, given.tolerance);
        let window = HpaScalingRules {
            stabilization_window_seconds: Some(7),
            ..HpaScalingRules::default()
        };
        assert_eq!(
            scale_down_rules(Some(window)).stabilization_window_seconds,
            Some(7)
        );
    }
}
