//! core/v1 Pod. Source: registry/core/pod/strategy.go, core/v1 defaults.go `SetDefaults_Pod`, core validation
//! `ValidatePodUpdate`.

use serde_json::{Map, Value, json};

use super::{pod_admission, pod_spec, pod_template};
use crate::field::{self, FieldError};
use crate::kind::{DeleteAnswer, Kind, Strategy, Surroundings};
use crate::object::{self, default_field};
use crate::refusal::Refusal;

#[derive(Debug)]
struct Pod;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("", "v1", "Pod", Pod)
        .short(&["po"])
        .in_all()
        .with_status();
    Kind {
        delete: DeleteAnswer::Object,
        ..kind
    }
}

impl Strategy for Pod {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        pod_template::default_spec(spec);
        default_field(spec, "enableServiceLinks", true);
        for field in ["containers", "initContainers"] {
            for container in spec
                .get_mut(field)
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                request_limits(container);
            }
        }
    }

    fn zero_status(&self) -> Option<Value> {
        Some(json!({}))
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"phase": "Pending"}))
    }

    fn admit(&self, object: &mut Value, around: &Surroundings<'_>) -> Result<(), Refusal> {
        pod_admission::admit(object, around)
    }

    fn prepare_create(&self, object: &mut Value) {
        let class = qos_class(object);
        object::child(object, "status").insert("qosClass".to_owned(), class.into());
    }

    fn prepare_status(&self, object: &mut Value, old: &Value) {
        let conditions = object.pointer_mut("/status/conditions");
        for condition in conditions
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            for time in ["lastProbeTime", "lastTransitionTime"] {
                default_field(object::fields(condition), time, Value::Null);
            }
        }
        if let Some(class) = old.pointer("/status/qosClass").cloned() {
            object::child(object, "status").insert("qosClass".to_owned(), class);
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let spec = object.get("spec");
        let mut errors = pod_spec::validate("spec", spec);
        errors.extend(pod_spec::padded_images("spec", spec));
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = self.validate(object);
        for list in ["containers", "initContainers"] {
            let path = format!("/spec/{list}");
            let count = |pod: &Value| {
                pod.pointer(&path)
                    .and_then(Value::as_array)
                    .map_or(0, Vec::len)
            };
            if count(object) != count(old) {
                let detail = "pod updates may not add or remove containers";
                errors.push(field::forbidden(format!("spec.{list}"), detail));
                return errors;
            }
        }
        if let Some((error, stops)) = deadline(object, old) {
            errors.push(error);
            if stops {
                return errors;
            }
        }
        if fixed(object) != fixed(old) {
            errors.push(field::forbidden(
                "spec",
                "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
            ));
        }
        errors
    }

    fn grace_seconds(&self, object: &Value, asked: Option<i64>) -> Option<i64> {
        let text = |pointer| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let own = object
            .pointer("/spec/terminationGracePeriodSeconds")
            .and_then(Value::as_i64);
        let finished = ["Failed", "Succeeded"].contains(&text("/status/phase"));
        if text("/spec/nodeName").is_empty() || finished {
            return Some(0);
        }
        let seconds = asked.or(own).unwrap_or(30);
        Some(if seconds < 0 { 1 } else { seconds })
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ]
    }

    fn field_value(&self, object: &Value, field: &str) -> String {
        match object.pointer(&format!("/{}", field.replace('.', "/"))) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(flag)) => flag.to_string(),
            _ if field == "spec.hostNetwork" => "false".to_owned(),
            _ => String::new(),
        }
    }
}

/// What is wrong with a change of the deadline, and whether nothing else is looked at then.
fn deadline(object: &Value, old: &Value) -> Option<(FieldError, bool)> {
    const PATH: &str = "spec.activeDeadlineSeconds";
    let seconds = |pod: &Value| {
        pod.pointer("/spec/activeDeadlineSeconds")
            .and_then(Value::as_i64)
    };
    match (seconds(object), seconds(old)) {
        (Some(new), _) if !(0..=i64::from(i32::MAX)).contains(&new) => {
            let detail = "must be between 0 and 2147483647, inclusive";
            Some((field::invalid(PATH, new, detail), true))
        }
        (Some(new), Some(old)) if old < new => {
            let detail = "must be less than or equal to previous value";
            Some((field::invalid(PATH, new, detail), true))
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            Some((field::invalid(PATH, Value::Null, detail), false))
        }
        _ => None,
    }
}

/// The spec without what an update may change.
fn fixed(object: &Value) -> Value {
    let mut spec = object.get("spec").cloned().unwrap_or_default();
    let fields = object::fields(&mut spec);
    // The node is set by a binding upstream; here the pod stages set it, once.
    for field in ["activeDeadlineSeconds", "tolerations", "nodeName"] {
        fields.remove(field);
    }
    for list in ["containers", "initContainers"] {
        for container in fields
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            object::fields(container).remove("image");
        }
    }
    spec
}

/// Requests default to limits, in pods but not in templates.
fn request_limits(container: &mut Value) {
    let Some(limits) = container
        .pointer("/resources/limits")
        .and_then(Value::as_object)
        .cloned()
    else {
        return;
    };
    let resources = object::child(container, "resources");
    let requests = object::fields(resources.entry("requests").or_insert_with(|| json!({})));
    for (resource, limit) in limits {
        requests.entry(resource).or_insert(limit);
    }
}

/// A container's requests or limits.
fn amounts<'a>(
    container: &'a Value,
    which: &str,
    empty: &'a Map<String, Value>,
) -> &'a Map<String, Value> {
    let amounts = container
        .get("resources")
        .and_then(|resources| resources.get(which));
    amounts.and_then(Value::as_object).unwrap_or(empty)
}

/// Upstream: pkg/apis/core/helper/qos `ComputePodQOS`, over cpu and memory.
fn qos_class(object: &Value) -> &'static str {
    const COUNTED: [&str; 2] = ["cpu", "memory"];
    let empty = Map::new();
    let lists =
        ["initContainers", "containers"].map(|field| object.pointer(&format!("/spec/{field}")));
    let containers = || {
        lists
            .iter()
            .flatten()
            .filter_map(|list| list.as_array())
            .flatten()
    };
    let any = containers().any(|container| {
        COUNTED.iter().any(|resource| {
            amounts(container, "requests", &empty).contains_key(*resource)
                || amounts(container, "limits", &empty).contains_key(*resource)
        })
    });
    if !any {
        return "BestEffort";
    }
    let all = containers().all(|container| {
        COUNTED.iter().all(|resource| {
            let limit = amounts(container, "limits", &empty).get(*resource);
            limit.is_some() && amounts(container, "requests", &empty).get(*resource) == limit
        })
    });
    if all { "Guaranteed" } else { "Burstable" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_of_service_follows_requests_and_limits() {
        let pod = |resources: Value| json!({"spec": {"containers": [{"resources": resources}]}});
        let table = [
            (json!({}), "BestEffort"),
            (json!({"requests": {"cpu": "1"}}), "Burstable"),
            (
                json!({"requests": {"cpu": "1", "memory": "1"}, "limits": {"cpu": "1", "memory": "1"}}),
                "Guaranteed",
            ),
        ];
        for (resources, class) in table {
            assert_eq!(qos_class(&pod(resources)), class);
        }
    }
}
