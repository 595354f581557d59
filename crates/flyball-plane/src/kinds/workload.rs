//! What Deployment, ReplicaSet and StatefulSet share: a count, a selector, a template that the selector must match.
//! Source: apps validation `ValidateDeploymentSpec`, `ValidateReplicaSetSpec`, `ValidateStatefulSetSpec`.

use flyball_api::selector::{LabelSelector, Selector};
use serde_json::{Map, Value, json};

use super::{label_selector, pod_spec};
use crate::field::{self, FieldError};
use crate::metadata;

/// The problem of a number at `spec.<field>` below zero.
pub(super) fn nonnegative(object: &Value, field: &str) -> Option<FieldError> {
    let value = object
        .get("spec")?
        .get(field)?
        .as_i64()
        .filter(|value| *value < 0)?;
    Some(field::invalid(
        format!("spec.{field}"),
        value,
        "must be greater than or equal to 0",
    ))
}

/// The problems of `spec.replicas`, `spec.minReadySeconds`, `spec.selector` and `spec.template`. `owner` names the kind in
/// the text about an empty selector.
pub(super) fn validate(object: &Value, owner: &str) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> = ["replicas", "minReadySeconds"]
        .into_iter()
        .filter_map(|field| nonnegative(object, field))
        .collect();
    if given_selector(object).is_none() {
        errors.push(field::required("spec.selector", ""));
    }
    errors.extend(selector(object, owner));
    let unreadable = given_selector(object).filter(|selector| compiled(selector).is_none());
    if let Some(unreadable) = unreadable {
        let detail = match owner {
            "statefulset" => "",
            _ => "invalid label selector",
        };
        errors.push(field::invalid("spec.selector", shown(unreadable), detail));
        return errors;
    }
    errors.extend(template(object));
    errors.extend(deadline(object, owner));
    errors
}

/// The problem of a template whose pods end. Upstream words it for the kind that makes the pods.
fn deadline(object: &Value, owner: &str) -> Option<FieldError> {
    object.pointer("/spec/template/spec/activeDeadlineSeconds")?;
    let kind = if owner == "statefulset" {
        "StatefulSet"
    } else {
        "ReplicaSet"
    };
    Some(field::forbidden(
        "spec.template.spec.activeDeadlineSeconds",
        format!("activeDeadlineSeconds in {kind} is not Supported"),
    ))
}

/// Drops fields that upstream's types leave out when they are zero.
pub(super) fn drop_zeros(object: &mut Value, part: &str, names: &[&str]) {
    if let Some(fields) = object.get_mut(part).and_then(Value::as_object_mut) {
        fields.retain(|name, value| {
            let zero = *value == json!(0) || *value == json!(false);
            !(zero && names.contains(&name.as_str()))
        });
    }
}

/// A selector as Go prints it, without what is empty.
fn shown(selector: &Value) -> Value {
    let mut selector = selector.clone();
    if let Value::Object(fields) = &mut selector {
        fields.retain(|_, value| *value != json!({}) && *value != json!([]));
    }
    selector
}

/// The selector of a workload, `None` when it has none.
fn given_selector(object: &Value) -> Option<&Value> {
    object
        .pointer("/spec/selector")
        .filter(|selector| selector.is_object())
}

/// The problems of a given `spec.selector`.
pub(super) fn selector(object: &Value, owner: &str) -> Vec<FieldError> {
    match given_selector(object) {
        None => Vec::new(),
        Some(selector) if is_empty(selector) => {
            let detail = format!("empty selector is invalid for {owner}");
            vec![field::invalid("spec.selector", shown(selector), detail)]
        }
        Some(selector) => label_selector::validate("spec.selector", selector),
    }
}

fn is_empty(selector: &Value) -> bool {
    let labels = selector
        .get("matchLabels")
        .and_then(Value::as_object)
        .is_none_or(Map::is_empty);
    let list = selector
        .get("matchExpressions")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty);
    labels && list
}

const LABELS: &str = "spec.template.metadata.labels";
const NO_MATCH: &str = "`selector` does not match template `labels`";

/// The problems of `spec.template`, which the selector must select.
pub(super) fn template(object: &Value) -> Vec<FieldError> {
    let selector = given_selector(object);
    let Some(template) = object.pointer("/spec/template") else {
        // Upstream's type has an empty template then.
        return vec![
            field::invalid(LABELS, Value::Null, NO_MATCH),
            field::required("spec.template.spec.containers", ""),
        ];
    };
    let labels = template
        .pointer("/metadata/labels")
        .cloned()
        .unwrap_or_default();
    let mut errors = Vec::new();
    // No selector selects nothing.
    if selector.is_none_or(|selector| !is_empty(selector) && !matches(selector, &labels)) {
        errors.push(field::invalid(LABELS, labels.clone(), NO_MATCH));
    }
    errors.extend(metadata::labels("spec.template.labels", Some(&labels)));
    errors.extend(pod_spec::validate(
        "spec.template.spec",
        template.get("spec"),
    ));
    let policy = template
        .pointer("/spec/restartPolicy")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if policy != "Always" {
        let path = "spec.template.spec.restartPolicy";
        errors.push(field::not_supported(path, policy, &["Always"]));
    }
    errors
}

/// False when a LabelSelector can be read and does not select a set of labels.
fn matches(selector: &Value, labels: &Value) -> bool {
    compiled(selector).is_none_or(|selector| selector.matches_with(|key| labels.get(key)?.as_str()))
}

fn compiled(selector: &Value) -> Option<Selector> {
    let parsed: LabelSelector = serde_json::from_value(selector.clone()).ok()?;
    LabelSelector::compile(Some(&parsed)).ok()
}

/// The problem of a changed selector.
pub(super) fn selector_is_immutable(object: &Value, old: &Value) -> Option<FieldError> {
    let (new, old) = (
        object.pointer("/spec/selector"),
        old.pointer("/spec/selector"),
    );
    (new != old).then(|| {
        field::invalid(
            "spec.selector",
            new.map(shown).unwrap_or_default(),
            "field is immutable",
        )
    })
}
