//! The wire form of the zero values, the survival of unknown fields, and semantic equality.

use serde_json::json;

use super::*;

fn hpa(json: Value) -> HorizontalPodAutoscaler {
    serde_json::from_value(json).expect("the object of a test is an autoscaler")
}

fn status(json: Value) -> HorizontalPodAutoscalerStatus {
    serde_json::from_value(json).expect("the object of a test is a status")
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("an object serialises")
}

#[test]
fn zero_values_are_written_as_upstream_writes_them() {
    assert_eq!(
        written(&HorizontalPodAutoscaler::default()),
        json!({
            "metadata": {},
            "spec": {"scaleTargetRef": {"kind": "", "name": ""}, "maxReplicas": 0},
            "status": {"desiredReplicas": 0, "currentMetrics": null},
        })
    );
    let status = HorizontalPodAutoscalerStatus {
        current_metrics: vec![MetricStatus::default()],
        conditions: vec![HorizontalPodAutoscalerCondition::default()],
        ..HorizontalPodAutoscalerStatus::default()
    };
    assert_eq!(
        written(&status),
        json!({
            "desiredReplicas": 0,
            "currentMetrics": [{"type": ""}],
            "conditions": [{"type": "", "status": "", "lastTransitionTime": null}],
        })
    );
}

/// An object with every field, and an unknown one at each level.
fn full() -> Value {
    let reference = json!({"kind": "K", "name": "n", "apiVersion": "a/v1", "x": 1});
    let metric = json!({"name": "m", "selector": {"matchLabels": {"a": "b"}, "x": 1}, "x": 1});
    let target = json!({"type": "Value", "value": "1500m", "averageValue": "1Ki", "averageUtilization": 5, "x": 1});
    let current = json!({"value": "1500m", "averageValue": "1Ki", "averageUtilization": 5, "x": 1});
    let rules = json!({
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 1, "periodSeconds": 2, "x": 1}],
        "tolerance": "50m",
        "x": 1,
    });
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "x": 1},
        "spec": {
            "scaleTargetRef": reference,
            "minReplicas": 0,
            "maxReplicas": 2_147_483_647,
            "metrics": [
                {"type": "Object", "object": {"describedObject": reference, "target": target, "metric": metric, "x": 1}, "x": 1},
                {"type": "Pods", "pods": {"metric": metric, "target": target, "x": 1}},
                {"type": "Resource", "resource": {"name": "cpu", "target": target, "x": 1}},
                {"type": "ContainerResource", "containerResource": {"name": "cpu", "target": target, "container": "c", "x": 1}},
                {"type": "External", "external": {"metric": metric, "target": target, "x": 1}},
            ],
            "behavior": {"scaleUp": rules, "scaleDown": rules, "x": 1},
            "syncPeriodSeconds": 9_223_372_036_854_775_807_i64,
        },
        "status": {
            "observedGeneration": 9_223_372_036_854_775_807_i64,
            "lastScaleTime": "2000-01-01T00:00:00Z",
            "currentReplicas": 1,
            "desiredReplicas": 2,
            "currentMetrics": [
                {"type": "Object", "object": {"metric": metric, "current": current, "describedObject": reference, "x": 1}, "x": 1},
                {"type": "Pods", "pods": {"metric": metric, "current": current, "x": 1}},
                {"type": "Resource", "resource": {"name": "cpu", "current": current, "x": 1}},
                {"type": "ContainerResource", "containerResource": {"name": "cpu", "current": current, "container": "c", "x": 1}},
                {"type": "External", "external": {"metric": metric, "current": current, "x": 1}},
            ],
            "conditions": [{
                "type": "AbleToScale",
                "status": "True",
                "lastTransitionTime": "2000-01-01T00:00:00Z",
                "reason": "r",
                "message": "m",
                "observedGeneration": 1,
                "x": 1,
            }],
            "x": 1,
        },
        "x": {"deep": [18_446_744_073_709_551_615_u64]},
    })
}

#[test]
fn unknown_fields_survive_at_every_level() {
    assert_eq!(written(&hpa(full())), full());
    let text = full().to_string();
    let read: HorizontalPodAutoscaler = serde_json::from_str(&text).expect("the text is sound");
    assert_eq!(written(&read), full());
}

#[test]
fn nulls_read_as_absent() {
    let nulls = json!({
        "apiVersion": null, "kind": null, "metadata": null, "status": null,
        "spec": {"scaleTargetRef": null, "minReplicas": null, "maxReplicas": null, "metrics": null, "behavior": null},
    });
    assert_eq!(hpa(nulls), HorizontalPodAutoscaler::default());
}

#[test]
fn an_empty_list_of_policies_is_told_from_an_absent_one_but_equals_it() {
    let rules = |json| serde_json::from_value::<HpaScalingRules>(json).expect("sound rules");
    let (absent, empty) = (rules(json!({})), rules(json!({"policies": []})));
    assert_eq!(
        (absent.policies.clone(), empty.policies.clone()),
        (None, Some(Vec::new()))
    );
    assert_eq!(absent, empty);
    assert_eq!(written(&empty), json!({}));
    assert_ne!(absent, rules(json!({"policies": [{"type": "Pods"}]})));
}

#[test]
fn statuses_are_compared_by_meaning() {
    let base = json!({"currentMetrics": [{"type": "Resource", "resource": {"current": {"averageValue": "1"}}}]});
    let with = |value: &str| {
        let mut json = base.clone();
        json["currentMetrics"][0]["resource"]["current"]["averageValue"] = value.into();
        status(json)
    };
    assert_eq!(with("1"), with("1000m"));
    assert_ne!(with("1"), with("1001m"));
    assert_eq!(
        status(json!({"conditions": [], "currentMetrics": []})),
        status(json!({"currentMetrics": null}))
    );
    let at = |time: &str| status(json!({"lastScaleTime": time}));
    assert_eq!(at("2000-01-01T00:00:00Z"), at("2000-01-01T01:00:00+01:00"));
    assert_ne!(at("2000-01-01T00:00:00Z"), at("2000-01-01T00:00:01Z"));
}

#[test]
fn a_wrong_type_is_an_error_that_says_so() {
    let json = json!({"spec": {"maxReplicas": "ten"}});
    let error =
        serde_json::from_value::<HorizontalPodAutoscaler>(json).expect_err("text is no number");
    assert!(error.to_string().contains("i32"), "{error}");
}
