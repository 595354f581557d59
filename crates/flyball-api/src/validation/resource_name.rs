//! Names of resources that containers can request.

use serde_json::Value;

use crate::field::{FieldError, FieldPath};
use crate::name;

/// Resources by plain name that containers can request, huge pages apart. Upstream: core/helper `standardContainerResources`.
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Resources by plain name of any kind, quotas included, huge pages apart. Upstream: core/helper `standardResources`.
const OF_ANY_KIND: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// Upstream: core/validation `ValidateContainerResourceName`.
pub(super) fn check(name: &str, path: &FieldPath) -> Vec<FieldError> {
    let problem = |detail: String| FieldError::invalid(path, Value::from(name), detail);
    let mut problems: Vec<FieldError> = name::label_key(name).into_iter().map(problem).collect();
    if name.contains('/') {
        if !is_native(name) && !is_extended(name) {
            problems.push(problem(
                "doesn't follow extended resource name standard".to_owned(),
            ));
        }
        return problems;
    }
    let is_quota_of_pages =
        name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
    if problems.is_empty() && !OF_ANY_KIND.contains(&name) && !is_quota_of_pages {
        problems.push(problem(
            "must be a standard resource type or fully qualified".to_owned(),
        ));
    }
    if !OF_CONTAINERS.contains(&name) && !name.starts_with("hugepages-") {
        problems.push(problem(
            "must be a standard resource for containers".to_owned(),
        ));
    }
    problems
}

/// Whether a name with a slash is Kubernetes' own. Upstream: core/helper `IsNativeResource`.
fn is_native(name: &str) -> bool {
    name.contains("kubernetes.io/")
}

/// Upstream: core/helper `IsExtendedResourceName`. The name must leave room for the prefix that quotas give it.
fn is_extended(name: &str) -> bool {
    !name.starts_with("requests.") && name::label_key(&format!("requests.{name}")).is_empty()
}
