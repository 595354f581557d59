//! API objects through the bridge: what is lowered, and what a raised status looks like on the wire.

use flyball_api::autoscaling::v2::{HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus};
use flyball_api::pod::Pod;
use flyball_bridge::{lower, pod, raise};
use flyball_core::condition::{ConditionKind, ConditionState};
use flyball_core::metric::{Aim, Named, Source};
use flyball_core::outcome::{Metrics, Slot, Status};
use flyball_core::policy::{Rules, SelectPolicy, Settings};
use flyball_core::request::PodLevel;
use flyball_core::time::{Instant, Span};
use serde_json::{Value, json};

fn hpa(spec: &Value, status: &Value) -> HorizontalPodAutoscaler {
    let object = json!({
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": spec,
        "status": status,
    });
    serde_json::from_value(object).expect("a sound object")
}

fn spec(metrics: &Value) -> Value {
    json!({
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"},
        "maxReplicas": 9,
        "metrics": metrics,
    })
}

fn metrics() -> Value {
    json!([
        {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}}},
        {"type": "Object", "object": {
            "describedObject": {"kind": "Ingress", "name": "front"},
            "metric": {"name": "hits"},
            "target": {"type": "Value", "value": "1500m", "averageValue": "2"}}},
        {"type": "External", "external": {
            "metric": {"name": "queue", "selector": {"matchLabels": {"q": "a"}}},
            "target": {"type": "AverageValue", "averageValue": "0.1m"}}},
        {"type": "Weather"},
        {"type": "Pods"},
    ])
}

#[test]
fn a_policy_has_the_targets_that_count_and_the_names_of_messages() {
    let policy = lower::policy(&hpa(&spec(&metrics()), &json!({})), &Settings::default());
    assert_eq!(policy.target.to_string(), "Deployment/shop/shop");
    assert_eq!(policy.replicas_min, None);
    let aims: Vec<Aim> = policy.metrics.iter().map(|m| m.aim()).collect();
    let expected = [
        Aim::AverageValue(104_857_600_000),
        Aim::Value(1500),
        Aim::AverageValue(1),
        Aim::Nothing,
        Aim::Nothing,
    ];
    assert_eq!(aims, expected);
    let names: Vec<String> = policy
        .metrics
        .iter()
        .map(|m| Named(m).to_string())
        .collect();
    assert_eq!(names[1], "Ingress metric hits");
    let selector = "&LabelSelector{MatchLabels:map[string]string{q: a,},MatchExpressions:[]LabelSelectorRequirement{},}";
    assert_eq!(names[2], format!("external metric queue({selector})"));
    assert!(matches!(&policy.metrics[4].source, Source::Unknown { kind } if **kind == *"Pods"));
}

#[test]
fn a_missing_direction_gets_its_default_and_a_present_one_keeps_its_fields() {
    let mut wanted = spec(&json!([]));
    wanted["behavior"] = json!({"scaleUp": {
        "stabilizationWindowSeconds": 60,
        "selectPolicy": "Min",
        "policies": [{"type": "Pods", "value": 2, "periodSeconds": 30}],
        "tolerance": "700m",
    }});
    let behavior = lower::policy(&hpa(&wanted, &json!({})), &Settings::default()).behavior;
    let behavior = behavior.expect("a behavior was given");
    assert_eq!(behavior.down, Rules::default_down());
    assert_eq!(behavior.up.window, Some(Span::seconds(60)));
    assert_eq!(behavior.up.select, SelectPolicy::Min);
    // As the text reads back: 700 x 0.001, not the literal 0.7.
    assert_eq!(behavior.up.tolerance, Some(0.700_000_000_000_000_1));
}

#[test]
fn a_status_without_changes_raises_to_what_was_stored() {
    let stored = json!({
        "observedGeneration": 4,
        "lastScaleTime": "2026-01-02T03:04:05Z",
        "currentReplicas": 3,
        "desiredReplicas": 3,
        "currentMetrics": [{"type": "Resource", "resource": {"name": "memory", "current": {"averageValue": "100Mi"}}}],
        "conditions": [
            {"type": "AbleToScale", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z",
             "reason": "ReadyForNewScale", "message": "recommended size matches current size",
             "observedGeneration": 3, "colour": "red"},
            {"type": "Odd", "status": "Unknown", "lastTransitionTime": null},
        ],
        "later": {"field": 1},
    });
    let hpa = hpa(&spec(&json!([])), &stored);
    let previous = lower::previous(&hpa.status);
    assert_eq!(previous.conditions[0].kind, ConditionKind::AbleToScale);
    assert_eq!(
        previous.conditions[1].state,
        ConditionState::Other("Unknown".into())
    );
    let next = Status {
        current: previous.current,
        desired: previous.desired,
        metrics: Metrics::Kept,
        last_scale: previous.last_scale,
        observed_generation: previous.observed_generation,
        conditions: previous.conditions,
    };
    let raised = raise::status(&next, &hpa.spec, &hpa.status);
    assert_eq!(serde_json::to_value(&raised).expect("serialises"), stored);
}

#[test]
fn slots_become_figures_in_the_units_of_their_source() {
    let hpa = hpa(&spec(&metrics()), &json!({}));
    let next = Status {
        current: 0,
        desired: 2,
        metrics: Metrics::Slots(vec![
            Slot::Average(104_857_600_000),
            Slot::Value(2000),
            Slot::Average(i64::MIN),
            Slot::Empty,
        ]),
        last_scale: Some(Instant(1_000)),
        observed_generation: None,
        conditions: Vec::new(),
    };
    let raised = raise::status(&next, &hpa.spec, &HorizontalPodAutoscalerStatus::default());
    let json = serde_json::to_value(&raised).expect("serialises");
    assert_eq!(json["lastScaleTime"], "1970-01-01T00:00:01Z");
    assert_eq!(json.get("currentReplicas"), None);
    let current = &json["currentMetrics"];
    assert_eq!(
        current[0]["resource"]["current"],
        json!({"averageValue": "100Mi"})
    );
    assert_eq!(current[1]["object"]["current"], json!({"value": "2"}));
    assert_eq!(current[1]["object"]["describedObject"]["name"], "front");
    let asleep = json!({"averageValue": "-9223372036854775808m"});
    assert_eq!(current[2]["external"]["current"], asleep);
    assert_eq!(current[3], json!({"type": ""}));
}

#[test]
fn a_pod_keeps_its_readiness_its_start_and_its_requests() {
    let object = json!({
        "metadata": {"name": "web-1", "deletionTimestamp": "2026-01-01T00:00:09Z"},
        "spec": {
            "containers": [{"name": "app", "image": "x", "resources": {"requests": {"cpu": "1500u"}}}],
            "initContainers": [
                {"name": "mesh", "restartPolicy": "Always", "resources": {"requests": {"cpu": "20m"}}},
                {"name": "migrate", "resources": {}},
            ],
        },
        "status": {"phase": "Running", "startTime": "1970-01-01T00:00:02Z", "conditions": [
            {"type": "Ready", "status": "False", "lastTransitionTime": null}]},
    });
    let pod: Pod = serde_json::from_value(object).expect("a sound pod");
    let requests = pod::requests(&pod);
    assert_eq!(requests.of(&"cpu".into(), None, PodLevel::Honoured), Ok(22));
    let facts = pod::lower(&pod, requests.into());
    assert!(facts.terminating);
    assert_eq!(facts.start, Some(Instant(2_000)));
    assert_eq!(facts.ready.map(|r| r.since), Some(Instant::GO_ZERO));
}
