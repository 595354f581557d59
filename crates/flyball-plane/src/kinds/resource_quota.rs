//! core/v1 ResourceQuota, as a stored object: nothing is counted here. Source: registry/core/resourcequota, core validation
//! `ValidateResourceQuotaSpec`, core helper `IsResourceQuotaScopeValidForResource`.

use flyball_api::{Quantity, name};
use serde_json::{Map, Value, json};

use crate::field::{self, FieldError};
use crate::kind::{DeleteAnswer, Kind, Strategy};
use crate::object;

/// What pods ask of nodes, which scopes of pods can divide.
const COMPUTE: [&str; 6] = [
    "cpu",
    "memory",
    "limits.cpu",
    "limits.memory",
    "requests.cpu",
    "requests.memory",
];
const STORAGE: [&str; 5] = [
    "requests.storage",
    "ephemeral-storage",
    "limits.ephemeral-storage",
    "requests.ephemeral-storage",
    "storage",
];
/// What is counted in whole objects.
const OBJECTS: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];
const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];
const CONFLICTS: [[&str; 2]; 2] = [
    ["BestEffort", "NotBestEffort"],
    ["Terminating", "NotTerminating"],
];

#[derive(Debug)]
struct ResourceQuota;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("", "v1", "ResourceQuota", ResourceQuota)
        .short(&["quota"])
        .with_status();
    Kind {
        delete: DeleteAnswer::Object,
        ..kind
    }
}

impl Strategy for ResourceQuota {
    fn default(&self, object: &mut Value) {
        object::child(object, "spec");
        object::child(object, "status");
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({}))
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let spec = object.get("spec").cloned().unwrap_or_default();
        let mut errors = amounts("spec.hard", spec.get("hard"));
        errors.extend(scopes(&spec));
        errors.extend(selector(&spec));
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = self.validate(object);
        let set = |object: &Value| {
            let mut list = texts(object.pointer("/spec/scopes"));
            list.sort_unstable();
            list.dedup();
            list
        };
        if set(object) != set(old) {
            let scopes = object.pointer("/spec/scopes").cloned().unwrap_or_default();
            errors.push(field::invalid("spec.scopes", scopes, "field is immutable"));
        }
        errors
    }

    fn validate_status(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        let mut errors = amounts("status.hard", object.pointer("/status/hard"));
        errors.extend(amounts("status.used", object.pointer("/status/used")));
        errors
    }
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array);
    let texts = list.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// The problems of a map of amounts.
fn amounts(path: &str, amounts: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (resource, amount) in amounts.and_then(Value::as_object).into_iter().flatten() {
        let path = format!("{path}[{resource}]");
        errors.extend(resource_name(&path, resource));
        let text = amount.as_str().unwrap_or_default();
        let Ok(amount) = Quantity::parse(text) else {
            continue;
        };
        if amount.sign() < 0 {
            let detail = "must be greater than or equal to 0";
            errors.push(field::invalid(&path, text, detail));
        }
        if OBJECTS.contains(&resource.as_str()) && amount.milli_value() % 1000 != 0 {
            errors.push(field::invalid(&path, text, "must be an integer"));
        }
    }
    errors
}

/// The problems of a resource's name. Source: core validation `ValidateResourceQuotaResourceName`.
fn resource_name(path: &str, resource: &str) -> Vec<FieldError> {
    let invalid = |why: &str| field::invalid(path, resource, why);
    let mut errors: Vec<FieldError> = name::label_key(resource)
        .iter()
        .map(|why| invalid(why))
        .collect();
    if resource.contains('/') {
        return errors;
    }
    let known = is_known(resource);
    if errors.is_empty() && !is_standard(resource) {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(invalid(detail));
    }
    if !known {
        errors.push(invalid("must be a standard resource for quota"));
    }
    errors
}

/// True for a resource that needs no domain in its name. Upstream: `IsStandardResourceName`.
pub(super) fn is_standard(resource: &str) -> bool {
    is_known(resource) || resource == "storage"
}

/// True for what a quota can count without a domain in its name.
fn is_known(resource: &str) -> bool {
    let storage = STORAGE.contains(&resource) && resource != "storage";
    let huge = ["hugepages-", "requests.hugepages-"];
    storage
        || COMPUTE.contains(&resource)
        || OBJECTS.contains(&resource)
        || huge.iter().any(|prefix| resource.starts_with(prefix))
}

/// True when a scope can divide a resource, or either is unknown.
fn divides(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            ["persistentvolumeclaims", "requests.storage"].contains(&resource)
        }
        scope if SCOPES.contains(&scope) => resource == "pods" || COMPUTE.contains(&resource),
        _ => true,
    }
}

/// The known resources of the spec that a scope cannot divide.
fn undivided(spec: &Value, scope: &str) -> usize {
    let hard = spec.get("hard").and_then(Value::as_object);
    let empty = Map::new();
    let resources = hard.unwrap_or(&empty).keys();
    resources
        .filter(|resource| is_known(resource) && !divides(scope, resource))
        .count()
}

fn scopes(spec: &Value) -> Vec<FieldError> {
    let Some(list) = spec.get("scopes") else {
        return Vec::new();
    };
    let names = texts(Some(list));
    let invalid = |why: &str| field::invalid("spec.scopes", list.clone(), why);
    let mut errors = Vec::new();
    for scope in &names {
        if !SCOPES.contains(&scope.as_str()) {
            errors.push(invalid("unsupported scope"));
        }
        let why = "unsupported scope applied to resource";
        errors.extend((0..undivided(spec, scope)).map(|_| invalid(why)));
    }
    for pair in CONFLICTS {
        if pair.iter().all(|one| names.iter().any(|name| name == one)) {
            errors.push(invalid("conflicting scopes"));
        }
    }
    errors
}

/// Upstream: `validateScopedResourceSelectorRequirement`, which does not say which of the expressions it means.
fn selector(spec: &Value) -> Vec<FieldError> {
    const PATH: &str = "spec.scopeSelector.matchExpressions";
    let list = spec.pointer("/scopeSelector/matchExpressions");
    let mut errors = Vec::new();
    for one in list.and_then(Value::as_array).into_iter().flatten() {
        let text = |field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default();
        let (scope, operator) = (text("scopeName"), text("operator"));
        if !SCOPES.contains(&scope) {
            let path = format!("{PATH}.scopeName");
            errors.push(field::invalid(path, scope, "unsupported scope"));
        }
        let whole = spec.get("scopeSelector").cloned().unwrap_or_default();
        let why = "unsupported scope applied to resource";
        errors
            .extend((0..undivided(spec, scope)).map(|_| field::invalid(PATH, whole.clone(), why)));
        let valued = ["PriorityClass", "VolumeAttributesClass"].contains(&scope);
        if SCOPES.contains(&scope) && !valued && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.push(field::invalid(format!("{PATH}.operator"), operator, detail));
        }
        errors.extend(values(PATH, operator, one.get("values")));
    }
    errors
}

fn values(path: &str, operator: &str, values: Option<&Value>) -> Option<FieldError> {
    let some = !texts(values).is_empty();
    let at = format!("{path}.values");
    match operator {
        "In" | "NotIn" => (!some).then(|| {
            let detail =
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
            field::required(at, detail)
        }),
        "Exists" | "DoesNotExist" => some.then(|| {
            let detail =
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
            field::invalid(at, values.cloned().unwrap_or_default(), detail)
        }),
        other => Some(field::invalid(
            format!("{path}.operator"),
            other,
            "not a valid selector operator",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_counts_known_resources_and_those_with_a_domain() {
        let table = [
            ("cpu", 0),
            ("count/deployments.apps", 0),
            ("requests.hugepages-2Mi", 0),
            ("storage", 1),
            ("foo", 2),
            ("a b", 2),
        ];
        for (resource, problems) in table {
            assert_eq!(resource_name("p", resource).len(), problems, "{resource}");
        }
    }

    #[test]
    fn a_scope_divides_what_pods_ask_for() {
        assert!(divides("BestEffort", "pods") && !divides("BestEffort", "cpu"));
        assert!(divides("Terminating", "cpu") && !divides("Terminating", "services"));
        assert!(divides("Other", "services"));
    }
}
