//! Rules for metrics: one source that fits the type, and a target that it can aim at.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reference::{self, ReferenceOptions};
use super::resource_name;
use crate::Quantity;
use crate::autoscaling::v2::{
    ContainerResourceMetricSource, ExternalMetricSource, HorizontalPodAutoscalerSpec,
    MetricIdentifier, MetricSpec, MetricTarget, ObjectMetricSource, PodsMetricSource,
    ResourceMetricSource,
};
use crate::field::{FieldError, FieldPath};
use crate::name;

/// Types of metrics, sorted as messages list them.
const TYPES: [&str; 5] = [
    "ContainerResource",
    "External",
    "Object",
    "Pods",
    "Resource",
];

/// Upstream: `validateMetrics`.
pub(super) fn check_all(
    spec: &HorizontalPodAutoscalerSpec,
    path: &FieldPath,
    options: ReferenceOptions,
) -> Vec<FieldError> {
    let indexed = spec.metrics.iter().enumerate();
    let mut problems: Vec<FieldError> = indexed
        .flat_map(|(index, metric)| check(metric, &path.index(index), options))
        .collect();
    let wakes = |metric: &MetricSpec| metric.r#type == "Object" || metric.r#type == "External";
    if spec.min_replicas == Some(0) && !spec.metrics.iter().any(wakes) {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        problems.push(FieldError::forbidden(path, detail));
    }
    problems
}

/// Upstream: `validateMetricSpec`. Where it walks a map in random order, this walks by name.
fn check(metric: &MetricSpec, path: &FieldPath, options: ReferenceOptions) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let kind = metric.r#type.as_str();
    let type_path = path.child("type");
    let unknown = || FieldError::not_supported(&type_path, Value::from(kind), &TYPES);
    if kind.is_empty() {
        problems.push(FieldError::required(
            &type_path,
            "must specify a metric source type",
        ));
    }
    if !TYPES.contains(&kind) {
        problems.push(unknown());
    }
    problems.extend(check_first_source(metric, path, options));

    let present = sources(metric);
    let expected = TYPES.contains(&kind).then(|| source_field(kind));
    match expected {
        Some(field) if !present[field] => {
            let detail = "must populate information for the given metric source";
            problems.push(FieldError::required(&path.child(field), detail));
        }
        Some(_) => {}
        // Upstream complains of an unknown type a second time here.
        None => problems.push(unknown()),
    }
    let populated: Vec<&str> = present
        .into_iter()
        .filter_map(|(field, is)| is.then_some(field))
        .collect();
    if populated.len() != 1 {
        let surplus = populated
            .into_iter()
            .filter(|field| Some(*field) != expected);
        let detail = "must populate the given metric source only";
        problems.extend(surplus.map(|field| FieldError::forbidden(&path.child(field), detail)));
    }
    problems
}

/// The field that holds the source of a type.
fn source_field(kind: &str) -> &'static str {
    match kind {
        "ContainerResource" => "containerResource",
        "External" => "external",
        "Object" => "object",
        "Pods" => "pods",
        _ => "resource",
    }
}

fn sources(metric: &MetricSpec) -> BTreeMap<&'static str, bool> {
    BTreeMap::from([
        ("containerResource", metric.container_resource.is_some()),
        ("external", metric.external.is_some()),
        ("object", metric.object.is_some()),
        ("pods", metric.pods.is_some()),
        ("resource", metric.resource.is_some()),
    ])
}

/// Only the first source that is there is looked into, in this order.
fn check_first_source(
    metric: &MetricSpec,
    path: &FieldPath,
    options: ReferenceOptions,
) -> Vec<FieldError> {
    if let Some(source) = &metric.object {
        return check_object(source, &path.child("object"), options);
    }
    if let Some(source) = &metric.external {
        return check_external(source, &path.child("external"));
    }
    if let Some(source) = &metric.pods {
        return check_pods(source, &path.child("pods"));
    }
    if let Some(source) = &metric.resource {
        return check_resource(source, &path.child("resource"));
    }
    let source = metric.container_resource.as_ref();
    source
        .map(|source| check_container(source, &path.child("containerResource")))
        .unwrap_or_default()
}

/// Upstream: `validateObjectSource`.
fn check_object(
    source: &ObjectMetricSource,
    path: &FieldPath,
    options: ReferenceOptions,
) -> Vec<FieldError> {
    let described = path.child("describedObject");
    let mut problems = reference::check(&source.described_object, &described, options);
    problems.extend(check_identifier(&source.metric, &path.child("metric")));
    let (target, path) = (&source.target, path.child("target"));
    problems.extend(check_target(target, &path));
    if target.value.is_none() && target.average_value.is_none() {
        let detail = "must set either a target value or averageValue";
        problems.push(FieldError::required(&path.child("averageValue"), detail));
    }
    problems
}

/// Upstream: `validateExternalSource`.
fn check_external(source: &ExternalMetricSource, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = check_identifier(&source.metric, &path.child("metric"));
    let (target, path) = (&source.target, path.child("target"));
    problems.extend(check_target(target, &path));
    match (&target.value, &target.average_value) {
        (None, None) => {
            let detail = "must set either a target value for metric or a per-pod target";
            problems.push(FieldError::required(&path.child("averageValue"), detail));
        }
        (Some(_), Some(_)) => {
            let detail = "may not set both a target value for metric and a per-pod target";
            problems.push(FieldError::forbidden(&path.child("value"), detail));
        }
        _ => {}
    }
    problems
}

/// Upstream: `validatePodsSource`.
fn check_pods(source: &PodsMetricSource, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = check_identifier(&source.metric, &path.child("metric"));
    let path = path.child("target");
    problems.extend(check_target(&source.target, &path));
    if source.target.average_value.is_none() {
        let detail = "must specify a positive target averageValue";
        problems.push(FieldError::required(&path.child("averageValue"), detail));
    }
    problems
}

/// Upstream: `validateResourceSource`.
fn check_resource(source: &ResourceMetricSource, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if source.name.is_empty() {
        problems.push(FieldError::required(
            &path.child("name"),
            "must specify a resource name",
        ));
    }
    problems.extend(check_resource_target(&source.target, &path.child("target")));
    problems
}

/// Upstream: `validateContainerResourceSource`.
fn check_container(source: &ContainerResourceMetricSource, path: &FieldPath) -> Vec<FieldError> {
    let (name_path, container_path) = (path.child("name"), path.child("container"));
    let mut problems = Vec::new();
    if source.name.is_empty() {
        problems.push(FieldError::required(
            &name_path,
            "must specify a resource name",
        ));
    } else {
        problems.extend(resource_name::check(&source.name, &name_path));
    }
    if source.container.is_empty() {
        problems.push(FieldError::required(
            &container_path,
            "must specify a container",
        ));
    } else {
        let container = source.container.as_str();
        let found = name::dns_label(container).into_iter();
        problems
            .extend(found.map(|problem| FieldError::invalid(&container_path, container, problem)));
    }
    problems.extend(check_resource_target(&source.target, &path.child("target")));
    problems
}

/// The target of a resource: a percentage or an amount, never both.
fn check_resource_target(target: &MetricTarget, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = check_target(target, path);
    match (target.average_utilization, &target.average_value) {
        (None, None) => {
            let detail = "must set either a target raw value or a target utilization";
            problems.push(FieldError::required(
                &path.child("averageUtilization"),
                detail,
            ));
        }
        (Some(_), Some(_)) => {
            let detail = "may not set both a target raw value and a target utilization";
            problems.push(FieldError::forbidden(&path.child("averageValue"), detail));
        }
        _ => {}
    }
    problems
}

/// Upstream: `validateMetricTarget`. Nothing makes the type agree with the value that is set.
fn check_target(target: &MetricTarget, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let (kind, type_path) = (target.r#type.as_str(), path.child("type"));
    if kind.is_empty() {
        problems.push(FieldError::required(
            &type_path,
            "must specify a metric target type",
        ));
    }
    if !["Utilization", "Value", "AverageValue"].contains(&kind) {
        let detail = "must be either Utilization, Value, or AverageValue";
        problems.push(FieldError::invalid(&type_path, Value::from(kind), detail));
    }
    let amounts = [
        (&target.value, "value"),
        (&target.average_value, "averageValue"),
    ];
    for (amount, field) in amounts {
        if let Some(amount) = amount
            .as_ref()
            .filter(|amount: &&Quantity| amount.sign() <= 0)
        {
            let value = Value::from(amount.to_string());
            problems.push(FieldError::invalid(
                &path.child(field),
                value,
                "must be positive",
            ));
        }
    }
    if let Some(percent) = target.average_utilization.filter(|percent| *percent < 1) {
        let path = path.child("averageUtilization");
        problems.push(FieldError::invalid(
            &path,
            percent,
            "must be greater than 0",
        ));
    }
    problems
}

/// Upstream: `validateMetricIdentifier`. The selector is not checked.
fn check_identifier(metric: &MetricIdentifier, path: &FieldPath) -> Vec<FieldError> {
    let path = path.child("name");
    if metric.name.is_empty() {
        return vec![FieldError::required(&path, "must specify a metric name")];
    }
    let name = metric.name.as_str();
    let problems = name::path_segment(name).into_iter();
    problems
        .map(|problem| FieldError::invalid(&path, name, problem))
        .collect()
}
