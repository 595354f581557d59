//! What a pod's spec may say, in a Pod and in every template of one: the rules clients meet.
//! Source: core validation `ValidatePodSpec`. Not here: defaults (`pod_template`), and the rules about devices, security contexts
//! and the many kinds of volumes, as nothing here runs containers.

use std::collections::BTreeSet;

use flyball_api::name;
use serde_json::Value;

use super::pod_container::{self, Surrounding};
use crate::field::{self, FieldError};
use crate::metadata;

const RESTART_POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];
const DNS_POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const DEADLINE_MAX: i64 = i32::MAX as i64;

/// The problems of a pod spec at `path`.
pub(super) fn validate(path: &str, spec: Option<&Value>) -> Vec<FieldError> {
    let nothing = Value::Null;
    let spec = spec.unwrap_or(&nothing);
    let (names, mut errors) = volumes(&format!("{path}.volumes"), spec);
    let around = Surrounding { volumes: &names };
    errors.extend(pod_container::regular(
        &format!("{path}.containers"),
        spec,
        &around,
    ));
    errors.extend(pod_container::initial(
        &format!("{path}.initContainers"),
        spec,
        &around,
    ));
    for (field, supported) in [
        ("restartPolicy", &RESTART_POLICIES[..]),
        ("dnsPolicy", &DNS_POLICIES[..]),
    ] {
        let policy = text(spec, field);
        if spec.get(field).is_some() && !supported.contains(&policy) {
            errors.push(field::not_supported(
                format!("{path}.{field}"),
                policy,
                supported,
            ));
        }
    }
    errors.extend(metadata::labels(
        &format!("{path}.nodeSelector"),
        spec.get("nodeSelector"),
    ));
    if spec["shareProcessNamespace"] == true && spec["hostPID"] == true {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(field::invalid(
            format!("{path}.shareProcessNamespace"),
            true,
            detail,
        ));
    }
    errors.extend(named(path, spec, "serviceAccountName", name::dns_subdomain));
    errors.extend(named(path, spec, "nodeName", name::dns_subdomain));
    if let Some(seconds) = spec.get("activeDeadlineSeconds").and_then(Value::as_i64)
        && !(1..=DEADLINE_MAX).contains(&seconds)
    {
        let detail = format!("must be between 1 and {DEADLINE_MAX}, inclusive");
        errors.push(field::invalid(
            format!("{path}.activeDeadlineSeconds"),
            seconds,
            detail,
        ));
    }
    errors.extend(named(path, spec, "hostname", name::dns_label));
    errors.extend(named(path, spec, "subdomain", name::dns_label));
    for (index, one) in list(spec, "tolerations").iter().enumerate() {
        errors.extend(toleration(&format!("{path}.tolerations[{index}]"), one));
    }
    errors
}

/// The problems of images that templates may name and pods may not. Upstream: `validateContainersOnlyForPod`.
pub(super) fn padded_images(path: &str, spec: Option<&Value>) -> Vec<FieldError> {
    let nothing = Value::Null;
    let spec = spec.unwrap_or(&nothing);
    let mut errors = Vec::new();
    for field in ["containers", "initContainers"] {
        for (index, one) in list(spec, field).iter().enumerate() {
            let image = text(one, "image");
            if image.trim() != image {
                let path = format!("{path}.{field}[{index}].image");
                let detail = "must not have leading or trailing whitespace";
                errors.push(field::invalid(path, image, detail));
            }
        }
    }
    errors
}

/// The text of a field, `""` when absent.
pub(super) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The elements of a field's list.
pub(super) fn list<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    let list = object.get(field).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The problems of a field's text by a rule for names, none when it is empty.
pub(super) fn named(
    path: &str,
    object: &Value,
    field: &str,
    rule: fn(&str) -> Vec<String>,
) -> Vec<FieldError> {
    let text = text(object, field);
    let problems = if text.is_empty() {
        Vec::new()
    } else {
        rule(text)
    };
    let invalid = |why| field::invalid(format!("{path}.{field}"), text, why);
    problems.into_iter().map(invalid).collect()
}

/// The names of the sound volumes, and the problems of the others.
fn volumes(path: &str, spec: &Value) -> (BTreeSet<String>, Vec<FieldError>) {
    let (mut names, mut errors) = (BTreeSet::new(), Vec::new());
    for (index, volume) in list(spec, "volumes").iter().enumerate() {
        let path = format!("{path}[{index}]");
        let before = errors.len();
        let given = text(volume, "name");
        if given.is_empty() {
            errors.push(field::required(format!("{path}.name"), ""));
        }
        errors.extend(named(&path, volume, "name", name::dns_label));
        if names.contains(given) {
            errors.push(field::duplicate(format!("{path}.name"), given));
        }
        if errors.len() == before {
            names.insert(given.to_owned());
        }
    }
    (names, errors)
}

/// Upstream: `ValidateTolerations`.
fn toleration(path: &str, one: &Value) -> Vec<FieldError> {
    let (key, operator, value) = (text(one, "key"), text(one, "operator"), text(one, "value"));
    let effect = text(one, "effect");
    let mut errors = named(path, one, "key", name::label_key);
    let at = format!("{path}.operator");
    if key.is_empty() && operator != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.push(field::invalid(&at, operator, detail));
    }
    if one.get("tolerationSeconds").is_some_and(Value::is_number) && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(field::invalid(format!("{path}.effect"), effect, detail));
    }
    match operator {
        "Equal" | "" => {
            let problems = name::label_value(value);
            if !problems.is_empty() {
                errors.push(field::invalid(at, value, problems.join(";")));
            }
        }
        "Exists" if value.is_empty() => {}
        "Exists" => {
            let detail = "value must be empty when `operator` is 'Exists'";
            errors.push(field::invalid(at, value, detail));
        }
        "Lt" | "Gt" => {}
        other => errors.push(field::not_supported(at, other, &["Equal", "Exists"])),
    }
    if !effect.is_empty() && !EFFECTS.contains(&effect) {
        errors.push(field::not_supported(
            format!("{path}.effect"),
            effect,
            &EFFECTS,
        ));
    }
    errors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_toleration_matches_a_key_or_everything() {
        let table = [
            (json!({"operator": "Exists"}), 0),
            (json!({}), 1),
            (json!({"key": "a", "value": "b"}), 0),
            (json!({"key": "a", "operator": "Exists", "value": "b"}), 1),
            (json!({"key": "a", "operator": "X", "effect": "Y"}), 2),
            (json!({"key": "a", "tolerationSeconds": 1}), 1),
        ];
        for (one, problems) in table {
            assert_eq!(toleration("t", &one).len(), problems, "{one}");
        }
    }
}
