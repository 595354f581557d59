//! What the committed definitions say.

use super::*;

const DEPLOYMENT: Gvk<'static> = Gvk::new("apps", "v1", "Deployment");

fn at<'a>(gvk: Gvk<'_>, path: &str) -> Node<'a> {
    let root = Schema::builtin().kind(gvk).expect("a built-in kind");
    path.split('.').fold(root, |node, step| match step {
        "[]" => node.element().expect("a list"),
        "{}" => node.value().expect("a map"),
        name => node.field(name).expect("a field"),
    })
}

#[test]
fn merge_keys_are_those_of_the_go_types() {
    for (path, key) in [
        ("spec.template.spec.containers", Some("name")),
        (
            "spec.template.spec.containers.[].ports",
            Some("containerPort"),
        ),
        ("spec.template.spec.containers.[].env", Some("name")),
        (
            "spec.template.spec.containers.[].volumeMounts",
            Some("mountPath"),
        ),
        ("spec.template.spec.containers.[].args", None),
        ("status.conditions", Some("type")),
        ("metadata.ownerReferences", Some("uid")),
        ("metadata.finalizers", None),
    ] {
        assert_eq!(at(DEPLOYMENT, path).merge_key(), key, "{path}");
    }
}

#[test]
fn strategies_are_those_of_the_go_types() {
    for (path, strategy) in [
        ("metadata.finalizers", Strategy::Merge),
        ("spec.strategy", Strategy::Unnamed),
        ("spec.template.spec.volumes", Strategy::Merge),
        ("spec.template.spec.containers.[].args", Strategy::Unnamed),
    ] {
        assert_eq!(at(DEPLOYMENT, path).strategy(), strategy, "{path}");
    }
}

#[test]
fn shapes_tell_what_may_stand_there() {
    for (path, shape) in [
        ("metadata.labels", Shape::Map),
        ("metadata.labels.{}", Shape::String),
        ("metadata.creationTimestamp", Shape::Time),
        ("metadata.managedFields.[].fieldsV1", Shape::Opaque),
        ("spec.replicas", Shape::Int32),
        ("metadata.generation", Shape::Int64),
        ("spec.strategy.rollingUpdate.maxSurge", Shape::IntOrString),
        (
            "spec.template.spec.containers.[].resources.requests.{}",
            Shape::Quantity,
        ),
        ("spec.template", Shape::Struct),
        ("spec.paused", Shape::Boolean),
    ] {
        assert_eq!(at(DEPLOYMENT, path).shape(), shape, "{path}");
    }
}

#[test]
fn go_types_read_as_go_prints_them() {
    for (path, text) in [
        ("spec", "v1.DeploymentSpec"),
        ("metadata", "v1.ObjectMeta"),
        ("metadata.labels", "map[string]string"),
        ("spec.template.spec.containers", "[]v1.Container"),
    ] {
        assert_eq!(at(DEPLOYMENT, path).go_type(), text, "{path}");
    }
}

#[test]
fn every_reference_leads_to_a_definition() {
    fn walk(schema: &Schema, value: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                    assert!(schema.referenced(reference).is_some(), "{reference}");
                }
                fields.values().for_each(|inner| walk(schema, inner));
            }
            Value::Array(items) => items.iter().for_each(|inner| walk(schema, inner)),
            _ => {}
        }
    }
    let schema = Schema::builtin();
    schema
        .definitions
        .values()
        .for_each(|one| walk(schema, one));
}

#[test]
fn a_kind_that_is_not_built_in_has_no_node() {
    let gvk = Gvk::new("autoscaling.flyball.dev", "v2", "HorizontalPodAutoscaler");
    assert!(Schema::builtin().kind(gvk).is_none());
}

#[test]
fn every_metrics_kind_is_defined() {
    for (group, version, kind) in [
        ("metrics.k8s.io", "v1beta1", "PodMetrics"),
        ("metrics.k8s.io", "v1beta1", "NodeMetricsList"),
        ("custom.metrics.k8s.io", "v1beta2", "MetricValueList"),
        (
            "external.metrics.k8s.io",
            "v1beta1",
            "ExternalMetricValueList",
        ),
    ] {
        assert!(
            Schema::builtin()
                .kind(Gvk::new(group, version, kind))
                .is_some(),
            "{kind}"
        );
    }
}
