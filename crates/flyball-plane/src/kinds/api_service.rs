//! apiregistration.k8s.io/v1 APIService, as a stored object: requests are never passed on to the service it names.
//! Source: kube-aggregator registry/apiservice, apiregistration validation `ValidateAPIService`.

use flyball_api::name;
use serde_json::{Value, json};

use super::port;
use crate::field::{self, FieldError};
use crate::kind::{Kind, MetadataRules, PutRule, Scope, Strategy};
use crate::object::{self, default_field};

const STATUSES: [&str; 3] = ["True", "False", "Unknown"];
/// The fields of the metadata that the status subresource leaves as they are.
const KEPT: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];
/// Bounds of the two priorities, and what is said beyond them.
const PRIORITIES: [(&str, i64); 2] = [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)];

#[derive(Debug)]
struct ApiService;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("apiregistration.k8s.io", "v1", "APIService", ApiService).with_status();
    Kind {
        scope: Scope::Cluster,
        put: PutRule::Conditional,
        categories: vec!["api-extensions".into()],
        ..kind
    }
}

impl Strategy for ApiService {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        if let Some(service) = spec.get_mut("service").filter(|one| one.is_object()) {
            default_field(object::fields(service), "port", 443);
        }
        for (field, _) in PRIORITIES {
            default_field(spec, field, 0);
        }
        object::child(object, "status");
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::General
    }

    fn name_rule(&self) -> fn(&str) -> Vec<String> {
        name::path_segment
    }

    fn prepare_create(&self, object: &mut Value) {
        if object
            .pointer("/spec/service")
            .is_some_and(Value::is_object)
        {
            return;
        }
        let condition = json!({
            "type": "Available",
            "status": "True",
            "lastTransitionTime": object::meta(object, "creationTimestamp"),
            "reason": "Local",
            "message": "Local APIServices are always available",
        });
        object::child(object, "status").insert("conditions".to_owned(), json!([condition]));
    }

    fn prepare_status(&self, object: &mut Value, old: &Value) {
        for field in KEPT {
            match old["metadata"].get(field) {
                Some(value) => object::set_meta(object, field, value.clone()),
                None => object::remove_meta(object, field),
            }
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let spec = object.get("spec").cloned().unwrap_or_default();
        let text = |field: &str| spec.get(field).and_then(Value::as_str).unwrap_or_default();
        let (group, version) = (text("group"), text("version"));
        let mut errors: Vec<FieldError> = misnamed(object, group, version).into_iter().collect();
        if group.is_empty() {
            let detail = "only v1 may have an empty group and it better be legacy kube";
            errors.extend((version != "v1").then(|| field::required("spec.group", detail)));
        } else {
            let problems = name::dns_subdomain(group).into_iter();
            errors.extend(problems.map(|why| field::invalid("spec.group", group, why)));
        }
        let problems = name::dns_1035_label(version).into_iter();
        errors.extend(problems.map(|why| field::invalid("spec.version", version, why)));
        for (field, most) in PRIORITIES {
            let priority = spec.get(field).and_then(Value::as_i64).unwrap_or(0);
            if !(1..=most).contains(&priority) {
                let detail = format!("must be positive and less than {most}");
                errors.push(field::invalid(format!("spec.{field}"), priority, detail));
            }
        }
        errors.extend(served_by(&spec));
        errors
    }

    fn validate_status(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        let list = object.pointer("/status/conditions");
        let list = list.and_then(Value::as_array).into_iter().flatten();
        let statuses = list.map(|one| one["status"].as_str().unwrap_or_default());
        let wrong = statuses
            .enumerate()
            .filter(|(_, status)| !STATUSES.contains(status));
        wrong
            .map(|(index, status)| {
                let path = format!("status.conditions[{index}].status");
                field::not_supported(path, status, &STATUSES)
            })
            .collect()
    }
}

fn misnamed(object: &Value, group: &str, version: &str) -> Option<FieldError> {
    let (name, wanted) = (object::name(object), format!("{version}.{group}"));
    if name == wanted || !name::path_segment(name).is_empty() {
        return None;
    }
    let detail = format!("must be `spec.version+\".\"+spec.group`: {wanted:?}");
    Some(field::invalid("metadata.name", name, detail))
}

/// The problems of the service that serves the API, or of what only such a service may have.
fn served_by(spec: &Value) -> Vec<FieldError> {
    let unchecked = spec["insecureSkipTLSVerify"] == true;
    let bundle = spec["caBundle"].as_str().map_or(0, decoded_bytes);
    let mut errors = Vec::new();
    let Some(service) = spec.get("service").filter(|one| one.is_object()) else {
        if bundle > 0 {
            let detail = "local APIServices may not have a caBundle";
            errors.push(field::invalid(
                "spec.caBundle",
                format!("{bundle} bytes"),
                detail,
            ));
        }
        if unchecked {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.push(field::invalid("spec.insecureSkipTLSVerify", true, detail));
        }
        return errors;
    };
    for field in ["namespace", "name"] {
        if service[field].as_str().unwrap_or_default().is_empty() {
            errors.push(field::required(format!("spec.service.{field}"), ""));
        }
    }
    let number = service["port"].as_i64().unwrap_or(0);
    if !port::is_number(number) {
        let detail = format!("port is not valid: {}", port::RANGE);
        errors.push(field::invalid("spec.service.port", number, detail));
    }
    if unchecked && bundle > 0 {
        let detail = "may not be true if caBundle is present";
        errors.push(field::invalid("spec.insecureSkipTLSVerify", true, detail));
    }
    errors
}

/// How many bytes a base64 text stands for.
fn decoded_bytes(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_says_version_and_group() {
        let named = |name: &str| json!({"metadata": {"name": name}});
        assert_eq!(misnamed(&named("v1.a.b"), "a.b", "v1"), None);
        assert_eq!(misnamed(&named("v1."), "", "v1"), None);
        assert!(misnamed(&named("v2.a.b"), "a.b", "v1").is_some());
    }

    #[test]
    fn padding_counts_for_nothing() {
        for (text, bytes) in [("YQ==", 1), ("YWI=", 2), ("YWJj", 3), ("", 0)] {
            assert_eq!(decoded_bytes(text), bytes, "{text}");
        }
    }
}
