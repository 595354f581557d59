//! Rows of specs and every problem they have, in order and in words.

use serde_json::{Value, json};

use super::*;

fn hpa(spec: &Value) -> HorizontalPodAutoscaler {
    let metadata = json!({"name": "web", "namespace": "default", "resourceVersion": "1"});
    serde_json::from_value(json!({"metadata": metadata, "spec": spec}))
        .expect("the object of a test is an autoscaler")
}

/// A sound spec with these fields instead of its own.
fn spec(changes: &Value) -> Value {
    let mut spec = json!({
        "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
        "maxReplicas": 10,
    });
    for (field, value) in changes.as_object().expect("changes are an object") {
        spec[field] = value.clone();
    }
    spec
}

/// The changes make exactly these problems, both when created and when updated.
fn check_with(changes: &Value, options: Options, problems: &[&str]) {
    let object = hpa(&spec(changes));
    let texts = |problems: Vec<FieldError>| {
        problems
            .iter()
            .map(FieldError::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        texts(validate_create(&object, &options)),
        problems,
        "{changes}"
    );
    assert_eq!(
        texts(validate_update(&object, &object, &options)),
        problems,
        "{changes}"
    );
}

fn check(changes: &Value, problems: &[&str]) {
    check_with(changes, Options::default(), problems);
}

/// One metric makes exactly these problems, told without the path to the metric.
fn check_metric(metric: &Value, problems: &[&str]) {
    let full: Vec<String> = problems
        .iter()
        .map(|problem| format!("spec.metrics[0].{problem}"))
        .collect();
    let full: Vec<&str> = full.iter().map(String::as_str).collect();
    check(&json!({"metrics": [metric]}), &full);
}

#[test]
fn bounds() {
    check(&json!({"minReplicas": 1}), &[]);
    check(
        &json!({"minReplicas": -1}),
        &["spec.minReplicas: Invalid value: -1: must be greater than or equal to 1"],
    );
    check(
        &json!({"maxReplicas": 0}),
        &["spec.maxReplicas: Required value: must be set and greater than 0"],
    );
    check(
        &json!({"maxReplicas": -1}),
        &["spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1"],
    );
    check(&json!({"minReplicas": 10}), &[]);
    check(
        &json!({"minReplicas": 11}),
        &["spec.maxReplicas: Invalid value: 10: must be greater than or equal to `minReplicas`"],
    );
}

#[test]
fn zero_replicas_need_leave_and_a_metric_that_wakes() {
    let zero = Options {
        min_replicas_lower_bound: 0,
        ..Options::default()
    };
    let external = json!({"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}});
    let forbidden = "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to \
                     zero replicas";
    check_with(&json!({"minReplicas": 0, "metrics": [external]}), zero, &[]);
    check_with(&json!({"minReplicas": 0}), zero, &[forbidden]);
    check(
        &json!({"minReplicas": 0}),
        &[
            "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
            forbidden,
        ],
    );
    check_with(
        &json!({"minReplicas": -1}),
        zero,
        &["spec.minReplicas: Invalid value: -1: must be greater than or equal to 0"],
    );
}

#[test]
fn references() {
    let target = |kind: &str, name: &str, version: &str| json!({"scaleTargetRef": {"kind": kind, "name": name, "apiVersion": version}});
    check(
        &target("", "", "apps/v1"),
        &[
            "spec.scaleTargetRef.kind: Required value",
            "spec.scaleTargetRef.name: Required value",
        ],
    );
    check(
        &target("..", "a/%b", "apps/v1"),
        &[
            "spec.scaleTargetRef.kind: Invalid value: \"..\": may not be '..'",
            "spec.scaleTargetRef.name: Invalid value: \"a/%b\": may not contain '/'",
            "spec.scaleTargetRef.name: Invalid value: \"a/%b\": may not contain '%'",
        ],
    );
    check(
        &target("K", "n", "a/b/c"),
        &[
            "spec.scaleTargetRef.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
        ],
    );
    for version in ["", "v1", "/v1", "/"] {
        let problem = format!(
            "spec.scaleTargetRef.apiVersion: Invalid value: \"{version}\": apiVersion must specify API group"
        );
        check(&target("K", "n", version), &[&problem]);
    }
    check(&target("K", "n", "apps/"), &[]);
    let kept = ReferenceOptions {
        allow_invalid_api_version: true,
        allow_empty_api_group: false,
    };
    let options = Options {
        scale_target_ref: kept,
        ..Options::default()
    };
    check_with(&target("K", "n", "a/b/c"), options, &[]);
}

#[test]
fn types_of_metrics() {
    let supported =
        "supported values: \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"";
    let unknown = |kind: &str| format!("type: Unsupported value: \"{kind}\": {supported}");
    let cpu = json!({"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 1}});
    check_metric(
        &json!({"type": ""}),
        &[
            "type: Required value: must specify a metric source type",
            &unknown(""),
            &unknown(""),
        ],
    );
    check_metric(
        &json!({"type": "cpu", "resource": cpu}),
        &[&unknown("cpu"), &unknown("cpu")],
    );
    check_metric(
        &json!({"type": "Pods"}),
        &["pods: Required value: must populate information for the given metric source"],
    );
    check_metric(
        &json!({"type": "Pods", "resource": cpu}),
        &["pods: Required value: must populate information for the given metric source"],
    );
    let pods = json!({"metric": {"name": ""}, "target": {}});
    check_metric(
        &json!({"type": "Resource", "resource": cpu, "pods": pods}),
        &[
            "pods.metric.name: Required value: must specify a metric name",
            "pods.target.type: Required value: must specify a metric target type",
            "pods.target.type: Invalid value: \"\": must be either Utilization, Value, or AverageValue",
            "pods.target.averageValue: Required value: must specify a positive target averageValue",
            "pods: Forbidden: must populate the given metric source only",
        ],
    );
}

#[test]
fn targets_of_metrics() {
    let object = |target: Value| {
        let described = json!({"kind": "K", "name": "n"});
        json!({"type": "Object", "object": {"describedObject": described, "metric": {"name": "m"}, "target": target}})
    };
    let external = |target: Value| json!({"type": "External", "external": {"metric": {"name": "a/b"}, "target": target}});
    check_metric(
        &object(json!({"type": "Value", "value": "1", "averageValue": "1"})),
        &[],
    );
    check_metric(
        &object(json!({"type": "Value"})),
        &[
            "object.target.averageValue: Required value: must set either a target value or averageValue",
        ],
    );
    check_metric(
        &object(
            json!({"type": "x", "value": "0", "averageValue": "-1500m", "averageUtilization": 0}),
        ),
        &[
            "object.target.type: Invalid value: \"x\": must be either Utilization, Value, or AverageValue",
            "object.target.value: Invalid value: \"0\": must be positive",
            "object.target.averageValue: Invalid value: \"-1500m\": must be positive",
            "object.target.averageUtilization: Invalid value: 0: must be greater than 0",
        ],
    );
    let bad_name = "external.metric.name: Invalid value: \"a/b\": may not contain '/'";
    check_metric(
        &external(json!({"type": "Value"})),
        &[
            bad_name,
            "external.target.averageValue: Required value: must set either a target value for metric or a per-pod target",
        ],
    );
    check_metric(
        &external(json!({"type": "Value", "value": "1", "averageValue": "1"})),
        &[
            bad_name,
            "external.target.value: Forbidden: may not set both a target value for metric and a per-pod target",
        ],
    );
}

#[test]
fn objects_of_metrics_may_be_of_the_core_group() {
    let object = |version: &str| {
        let described = json!({"kind": "Pod", "name": "n", "apiVersion": version});
        let target = json!({"type": "Value", "value": "1"});
        json!({"type": "Object", "object": {"describedObject": described, "metric": {"name": "m"}, "target": target}})
    };
    check_metric(&object("v1"), &[]);
    check_metric(
        &object("a/b/c"),
        &[
            "object.describedObject.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
        ],
    );
}

#[test]
fn resources_aim_at_a_percentage_or_an_amount() {
    let resource =
        |target: Value| json!({"type": "Resource", "resource": {"name": "", "target": target}});
    let no_name = "resource.name: Required value: must specify a resource name";
    check_metric(
        &resource(json!({"type": "Value"})),
        &[
            no_name,
            "resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
        ],
    );
    check_metric(
        &resource(json!({"type": "Value", "averageUtilization": 1, "averageValue": "1"})),
        &[
            no_name,
            "resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization",
        ],
    );
}

#[test]
fn names_of_container_resources() {
    let check_name = |name: &str, problems: &[&str]| {
        let target = json!({"type": "Utilization", "averageUtilization": 1});
        let source = json!({"name": name, "container": "app", "target": target});
        let full: Vec<String> = problems
            .iter()
            .map(|problem| format!("containerResource.name: Invalid value: \"{name}\": {problem}"))
            .collect();
        let full: Vec<&str> = full.iter().map(String::as_str).collect();
        check_metric(
            &json!({"type": "ContainerResource", "containerResource": source}),
            &full,
        );
    };
    let (not_standard, not_of_containers, not_extended) = (
        "must be a standard resource type or fully qualified",
        "must be a standard resource for containers",
        "doesn't follow extended resource name standard",
    );
    for sound in [
        "cpu",
        "memory",
        "ephemeral-storage",
        "hugepages-2Mi",
        "example.com/gpu",
        "kubernetes.io/x",
    ] {
        check_name(sound, &[]);
    }
    for of_quotas in [
        "pods",
        "storage",
        "limits.cpu",
        "requests.hugepages-2Mi",
        "services.nodeports",
    ] {
        check_name(of_quotas, &[not_of_containers]);
    }
    check_name("gpu", &[not_standard, not_of_containers]);
    check_name("requests.example.com/gpu", &[not_extended]);
    check_name(&format!("{}.com/gpu", "a".repeat(245)), &[not_extended]);
}

#[test]
fn containers_have_names() {
    let source = |container: &str| {
        let target = json!({"type": "Utilization", "averageUtilization": 1});
        json!({"type": "ContainerResource", "containerResource": {"name": "", "container": container, "target": target}})
    };
    let no_name = "containerResource.name: Required value: must specify a resource name";
    check_metric(
        &source(""),
        &[
            no_name,
            "containerResource.container: Required value: must specify a container",
        ],
    );
    check_metric(
        &source("a.b"),
        &[
            no_name,
            "containerResource.container: Invalid value: \"a.b\": must not contain dots",
        ],
    );
}

#[test]
fn rules_of_behavior() {
    let policy = json!({"type": "Pods", "value": 1, "periodSeconds": 1});
    let down = |rules: &Value| json!({"behavior": {"scaleDown": rules}});
    check(
        &down(&json!({"policies": [policy], "stabilizationWindowSeconds": 3600, "tolerance": "0"})),
        &[],
    );
    check(
        &down(
            &json!({"policies": [policy], "stabilizationWindowSeconds": -1, "selectPolicy": "max", "tolerance": "-1m"}),
        ),
        &[
            "spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero",
            "spec.behavior.scaleDown.selectPolicy: Unsupported value: \"max\": supported values: \"Disabled\", \"Max\", \"Min\"",
            "spec.behavior.scaleDown.tolerance: Invalid value: \"-1m\": must be greater than or equal to 0",
        ],
    );
    check(
        &json!({"behavior": {"scaleUp": {}, "scaleDown": {"policies": [policy], "stabilizationWindowSeconds": 3601}}}),
        &[
            "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy",
            "spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
        ],
    );
}

#[test]
fn policies_of_behavior() {
    let check_policy = |policy: Value, problems: &[&str]| {
        let full: Vec<String> = problems
            .iter()
            .map(|problem| format!("spec.behavior.scaleUp.policies[0].{problem}"))
            .collect();
        let full: Vec<&str> = full.iter().map(String::as_str).collect();
        check(
            &json!({"behavior": {"scaleUp": {"policies": [policy]}}}),
            &full,
        );
    };
    check_policy(
        json!({"type": "Percent", "value": 2_147_483_647, "periodSeconds": 1800}),
        &[],
    );
    check_policy(
        json!({}),
        &[
            "type: Unsupported value: \"\": supported values: \"Percent\", \"Pods\"",
            "value: Invalid value: 0: must be greater than zero",
            "periodSeconds: Invalid value: 0: must be greater than zero",
        ],
    );
    check_policy(
        json!({"type": "Pods", "value": 1, "periodSeconds": 1801}),
        &["periodSeconds: Invalid value: 1801: must be less than or equal to 1800"],
    );
}

#[test]
fn a_status_holds_no_negative_counts() {
    let old = hpa(&spec(&json!({})));
    let mut new = old.clone();
    let status = json!({
        "currentReplicas": -1,
        "desiredReplicas": -2,
        "conditions": [{"observedGeneration": 1}, {"observedGeneration": -1}],
    });
    new.status = serde_json::from_value(status).expect("a well-typed status");
    let words = "must be greater than or equal to 0";
    let texts: Vec<String> = validate_status_update(&new, &old)
        .iter()
        .map(FieldError::to_string)
        .collect();
    assert_eq!(
        texts,
        [
            format!("status.conditions[1].observedGeneration: Invalid value: -1: {words}"),
            format!("status.currentReplicas: Invalid value: -1: {words}"),
            format!("status.desiredReplicas: Invalid value: -2: {words}"),
        ]
    );
}

#[test]
fn a_scale_holds_no_negative_size() {
    let scale = |json| serde_json::from_value::<Scale>(json).expect("a well-typed scale");
    assert_eq!(validate_scale(&scale(json!({"spec": {"replicas": 0}}))), []);
    let (old, new) = (scale(json!({})), scale(json!({"spec": {"replicas": -1}})));
    let by_hand = validate_scale(&new);
    let answer = declarative::merge(by_hand, declarative::check_scale(&new, &old));
    let texts: Vec<String> = answer.iter().map(FieldError::to_string).collect();
    assert_eq!(
        texts,
        ["spec.replicas: Invalid value: -1: must be greater than or equal to 0"]
    );
    assert_eq!(declarative::check_scale(&new, &new), []);
}

#[test]
fn metadata_is_checked_before_the_spec() {
    let mut object = hpa(&spec(&json!({"maxReplicas": 0})));
    object.metadata.name = "A".to_owned();
    object.metadata.finalizers = vec!["x".to_owned()];
    let problems = validate_create(&object, &Options::default());
    let fields: Vec<&str> = problems
        .iter()
        .map(|problem| problem.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "metadata.name",
            "metadata.finalizers[0]",
            "spec.maxReplicas"
        ]
    );
}
