//! What the containers of a pod may say. Source: core validation `validateContainers`, `validateInitContainers`,
//! `validateContainerCommon`. Not here: devices, security contexts, lifecycle hooks.

use std::collections::BTreeSet;

use flyball_api::field::FieldPath;
use flyball_api::{Quantity, name};
use serde_json::Value;

use super::pod_spec::{list, named, text};
use super::{pod_probe, port, resource_quota};
use crate::field::{self, FieldError};

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES: [&str; 2] = ["File", "FallbackToLogsOnError"];
const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const SOURCES: [&str; 5] = [
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
];
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
const NO_NUMBER: &str = "must be an integer";

/// What a container may refer to in its pod.
pub(super) struct Surrounding<'a> {
    /// The names of the sound volumes.
    pub(super) volumes: &'a BTreeSet<String>,
}

/// The problems of `containers`.
pub(super) fn regular(path: &str, spec: &Value, around: &Surrounding<'_>) -> Vec<FieldError> {
    let containers = list(spec, "containers");
    if containers.is_empty() {
        return vec![field::required(path, "")];
    }
    let (mut names, mut errors) = (BTreeSet::new(), Vec::new());
    for (index, container) in containers.iter().enumerate() {
        let path = format!("{path}[{index}]");
        errors.extend(common(&path, container, around));
        if !names.insert(text(container, "name")) {
            errors.push(field::duplicate(
                format!("{path}.name"),
                text(container, "name"),
            ));
        }
        for probe in PROBES {
            errors.extend(pod_probe::validate(&path, container, probe));
        }
    }
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        errors.extend(host_ports(
            &format!("{path}[{index}]"),
            container,
            &mut taken,
        ));
    }
    errors
}

/// The problems of `initContainers`.
pub(super) fn initial(path: &str, spec: &Value, around: &Surrounding<'_>) -> Vec<FieldError> {
    let regular = list(spec, "containers").iter();
    let mut names: BTreeSet<&str> = regular.map(|one| text(one, "name")).collect();
    let mut errors = Vec::new();
    for (index, container) in list(spec, "initContainers").iter().enumerate() {
        let path = format!("{path}[{index}]");
        errors.extend(common(&path, container, around));
        let name = text(container, "name");
        if names.contains(name) {
            errors.push(field::duplicate(format!("{path}.name"), name));
        } else if !name.is_empty() {
            names.insert(name);
        }
        let stays = text(container, "restartPolicy") == "Always";
        for probe in PROBES {
            if stays {
                errors.extend(pod_probe::validate(&path, container, probe));
            } else if container.get(probe).is_some_and(Value::is_object) {
                let detail = "may not be set for init containers without restartPolicy=Always";
                errors.push(field::forbidden(format!("{path}.{probe}"), detail));
            }
        }
    }
    errors
}

fn common(path: &str, container: &Value, around: &Surrounding<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if text(container, "name").is_empty() {
        errors.push(field::required(format!("{path}.name"), ""));
    }
    errors.extend(named(path, container, "name", name::dns_label));
    if text(container, "image").is_empty() {
        errors.push(field::required(format!("{path}.image"), ""));
    }
    errors.extend(policy(
        path,
        container,
        "terminationMessagePolicy",
        &MESSAGE_POLICIES,
    ));
    errors.extend(ports(&format!("{path}.ports"), container));
    for (index, one) in list(container, "env").iter().enumerate() {
        errors.extend(variable(&format!("{path}.env[{index}]"), one));
    }
    errors.extend(mounts(&format!("{path}.volumeMounts"), container, around));
    errors.extend(policy(path, container, "imagePullPolicy", &PULL_POLICIES));
    errors.extend(resources(&format!("{path}.resources"), container));
    errors
}

fn policy(path: &str, container: &Value, field: &str, supported: &[&str]) -> Option<FieldError> {
    let policy = text(container, field);
    let wrong = !policy.is_empty() && !supported.contains(&policy);
    wrong.then(|| field::not_supported(format!("{path}.{field}"), policy, supported))
}

fn ports(path: &str, container: &Value) -> Vec<FieldError> {
    let (mut names, mut errors) = (BTreeSet::new(), Vec::new());
    for (index, one) in list(container, "ports").iter().enumerate() {
        let path = format!("{path}[{index}]");
        let problems = named(&path, one, "name", port::name);
        let name = text(one, "name");
        if problems.is_empty() && !name.is_empty() && !names.insert(name) {
            errors.push(field::duplicate(format!("{path}.name"), name));
        }
        errors.extend(problems);
        let number = |field: &str| one.get(field).and_then(Value::as_i64).unwrap_or(0);
        if number("containerPort") == 0 {
            errors.push(field::required(format!("{path}.containerPort"), ""));
        }
        for field in ["containerPort", "hostPort"] {
            let number = number(field);
            if number != 0 && !port::is_number(number) {
                let path = format!("{path}.{field}");
                errors.push(field::invalid(path, number, port::RANGE));
            }
        }
        errors.extend(policy(&path, one, "protocol", &PROTOCOLS));
    }
    errors
}

/// Upstream: `AccumulateUniqueHostPorts`.
fn host_ports(path: &str, container: &Value, taken: &mut BTreeSet<String>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, one) in list(container, "ports").iter().enumerate() {
        let number = one.get("hostPort").and_then(Value::as_i64).unwrap_or(0);
        let place = format!("{}/{}/{number}", text(one, "protocol"), text(one, "hostIP"));
        if number != 0 && !taken.insert(place.clone()) {
            let path = format!("{path}.ports[{index}].hostPort");
            errors.push(field::duplicate(path, place));
        }
    }
    errors
}

/// Upstream: `IsRelaxedEnvVarName`.
fn variable_name(text: &str) -> Vec<String> {
    let printable = text.chars().all(|c| (' '..='~').contains(&c) && c != '=');
    let detail = "a valid environment variable name must consist only of printable ASCII characters other than '='";
    (!printable)
        .then(|| detail.to_owned())
        .into_iter()
        .collect()
}

/// Upstream: `ValidateEnv`.
fn variable(path: &str, one: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if text(one, "name").is_empty() {
        errors.push(field::required(format!("{path}.name"), ""));
    }
    errors.extend(named(path, one, "name", variable_name));
    let Some(from) = one.get("valueFrom").filter(|from| from.is_object()) else {
        return errors;
    };
    let path = format!("{path}.valueFrom");
    for source in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(reference) = from.get(source).filter(|one| one.is_object()) {
            errors.extend(key(&format!("{path}.{source}"), reference));
        }
    }
    let given = |source: &&&str| from.get(**source).is_some_and(Value::is_object);
    let detail = match SOURCES.iter().filter(given).count() {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        }
        _ if !text(one, "value").is_empty() => "may not be specified when `value` is not empty",
        1 => return errors,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(field::invalid(path, "", detail));
    errors
}

fn key(path: &str, reference: &Value) -> Vec<FieldError> {
    let of = text(reference, "name");
    let invalid = |why| field::invalid(format!("{path}.name"), of, why);
    let mut errors: Vec<FieldError> = name::dns_subdomain(of).into_iter().map(invalid).collect();
    if text(reference, "key").is_empty() {
        errors.push(field::required(format!("{path}.key"), ""));
    }
    errors.extend(named(path, reference, "key", name::config_key));
    errors
}

/// Upstream: `ValidateVolumeMounts`.
fn mounts(path: &str, container: &Value, around: &Surrounding<'_>) -> Vec<FieldError> {
    let (mut places, mut errors) = (BTreeSet::new(), Vec::new());
    for (index, one) in list(container, "volumeMounts").iter().enumerate() {
        let at = |field: &str| format!("{path}[{index}].{field}");
        let (name, place) = (text(one, "name"), text(one, "mountPath"));
        if name.is_empty() {
            errors.push(field::required(at("name"), ""));
        }
        if !around.volumes.contains(name) {
            errors.push(FieldError::not_found(&FieldPath::new(&at("name")), name));
        }
        if place.is_empty() {
            errors.push(field::required(at("mountPath"), ""));
        }
        if !places.insert(place) {
            errors.push(field::invalid(at("mountPath"), place, "must be unique"));
        }
        // Upstream leaves the index out of this path.
        let below = text(one, "subPath");
        let sub = format!("{path}.subPath");
        if below.starts_with('/') {
            errors.push(field::invalid(&sub, below, "must be a relative path"));
        }
        if below.split('/').any(|part| part == "..") {
            errors.push(field::invalid(&sub, below, "must not contain '..'"));
        }
    }
    errors
}

/// Upstream: `validateResourceRequirements`.
fn resources(path: &str, container: &Value) -> Vec<FieldError> {
    let amount = |list: &str, resource: &str| {
        let text = container.pointer("/resources")?.get(list)?.get(resource)?;
        Quantity::parse(text.as_str()?).ok()
    };
    let mut errors = Vec::new();
    for which in ["limits", "requests"] {
        let given = container.pointer(&format!("/resources/{which}"));
        for (resource, value) in given.and_then(Value::as_object).into_iter().flatten() {
            let at = format!("{path}.{which}[{resource}]");
            let shown = value.as_str().unwrap_or_default();
            errors.extend(resource_name(&at, resource));
            let Some(asked) = amount(which, resource) else {
                continue;
            };
            if asked.sign() < 0 {
                let detail = "must be greater than or equal to 0";
                errors.push(field::invalid(&at, shown, detail));
            }
            if resource.contains('/') && asked.milli_value() % 1000 != 0 {
                errors.push(field::invalid(&at, shown, NO_NUMBER));
            }
            if let Some(limit) = amount("limits", resource).filter(|limit| asked > *limit) {
                let detail = format!("must be less than or equal to {resource} limit of {limit}");
                errors.push(field::invalid(format!("{path}.requests"), shown, detail));
            }
        }
    }
    errors
}

/// Upstream: `ValidateContainerResourceName`.
fn resource_name(path: &str, resource: &str) -> Vec<FieldError> {
    let invalid = |why: &str| field::invalid(path, resource, why);
    let mut errors: Vec<FieldError> = name::label_key(resource)
        .iter()
        .map(|why| invalid(why))
        .collect();
    if resource.contains('/') {
        return errors;
    }
    if errors.is_empty() && !resource_quota::is_standard(resource) {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(invalid(detail));
    }
    let plain = ["cpu", "memory", "ephemeral-storage"].contains(&resource);
    if !plain && !resource.starts_with("hugepages-") {
        errors.push(invalid("must be a standard resource for containers"));
    }
    errors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_variable_has_a_name_and_one_source() {
        let table = [
            (json!({"name": "a", "value": "b"}), 0),
            (json!({"name": "a=b"}), 1),
            (json!({"name": "a", "valueFrom": {}}), 1),
            (
                json!({"name": "a", "value": "b", "valueFrom": {"fieldRef": {}}}),
                1,
            ),
            (
                json!({"name": "a", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}),
                0,
            ),
        ];
        for (one, problems) in table {
            assert_eq!(variable("e", &one).len(), problems, "{one}");
        }
    }

    #[test]
    fn requests_stay_within_limits() {
        let of = |requests: Value, limits: Value| {
            let container = json!({"resources": {"requests": requests, "limits": limits}});
            resources("r", &container).len()
        };
        assert_eq!(of(json!({"cpu": "1"}), json!({"cpu": "1"})), 0);
        assert_eq!(of(json!({"cpu": "2"}), json!({"cpu": "1"})), 1);
        assert_eq!(of(json!({"foo": "1"}), json!({})), 2);
    }
}
