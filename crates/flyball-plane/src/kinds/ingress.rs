//! networking.k8s.io/v1 Ingress, as a stored object: nothing is routed here. Source: registry/networking/ingress, networking
//! validation `ValidateIngressSpec`.

use std::net::IpAddr;

use flyball_api::name;
use serde_json::{Value, json};

use super::port;
use crate::field::{self, FieldError};
use crate::kind::{Kind, Strategy};
use crate::object;

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];
const BAD_PARTS: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDS: [&str; 2] = ["/..", "/."];
const NO_ADDRESS: &str = "must be a DNS name, not an IP address";
const HOST_BYTES_MAX: usize = 253;
const WILDCARD_WORDS: &str = r"a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

#[derive(Debug)]
struct Ingress;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("networking.k8s.io", "v1", "Ingress", Ingress)
        .short(&["ing"])
        .with_status();
    Kind {
        plural: "ingresses".into(),
        stored: "ingresses.networking.k8s.io".into(),
        ..kind
    }
}

impl Strategy for Ingress {
    fn default(&self, object: &mut Value) {
        let spec = object::child(object, "spec");
        let rules = spec.get_mut("rules").and_then(Value::as_array_mut);
        for rule in rules.into_iter().flatten() {
            let paths = rule.pointer_mut("/http/paths");
            let paths = paths.and_then(Value::as_array_mut);
            for path in paths.into_iter().flatten() {
                if path["path"] == "" {
                    object::fields(path).remove("path");
                }
            }
        }
    }

    fn empty_status(&self) -> Option<Value> {
        Some(json!({"loadBalancer": {}}))
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = spec(object);
        let class = object.pointer("/spec/ingressClassName");
        let annotation = object
            .pointer("/metadata/annotations")
            .and_then(|annotations| annotations.get(CLASS_ANNOTATION));
        if let (Some(class), Some(annotation)) = (class, annotation)
            && class != annotation
        {
            let detail = "must match `ingressClassName` when both are specified";
            let path = format!("annotations.{CLASS_ANNOTATION}");
            errors.push(field::invalid(path, annotation.clone(), detail));
        }
        errors
    }

    fn validate_update(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        spec(object)
    }

    fn validate_status(&self, object: &Value, _old: &Value) -> Vec<FieldError> {
        let list = object.pointer("/status/loadBalancer/ingress");
        let list = list.and_then(Value::as_array).into_iter().flatten();
        let mut errors = Vec::new();
        for (index, one) in list.enumerate() {
            let path = format!("status.loadBalancer.ingress[{index}]");
            let (ip, host) = (text(one, "ip"), text(one, "hostname"));
            if !ip.is_empty() && ip.parse::<IpAddr>().is_err() {
                let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
                errors.push(field::invalid(format!("{path}.ip"), ip, detail));
            }
            if !host.is_empty() {
                let path = format!("{path}.hostname");
                errors.extend(named(&path, host, name::dns_subdomain));
                errors.extend(address(&path, host));
            }
        }
        errors
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn list<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    let list = object.get(field).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// The problems of a text at `path` by a rule for names.
fn named(path: &str, text: &str, rule: fn(&str) -> Vec<String>) -> Vec<FieldError> {
    let problems = rule(text).into_iter();
    problems
        .map(|why| field::invalid(path, text, why))
        .collect()
}

fn address(path: &str, host: &str) -> Option<FieldError> {
    host.parse::<IpAddr>()
        .is_ok()
        .then(|| field::invalid(path, host, NO_ADDRESS))
}

fn wildcard(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > HOST_BYTES_MAX {
        problems.push(format!("must be no more than {HOST_BYTES_MAX} characters"));
    }
    let rest = text.strip_prefix("*.");
    if rest.is_none_or(|rest| !name::dns_subdomain(rest).is_empty()) {
        problems.push(WILDCARD_WORDS.to_owned());
    }
    problems
}

fn host(path: &str, text: &str) -> Vec<FieldError> {
    let rule = if text.contains('*') {
        wildcard
    } else {
        name::dns_subdomain
    };
    named(path, text, rule)
}

fn spec(object: &Value) -> Vec<FieldError> {
    let spec = object.get("spec").cloned().unwrap_or_default();
    let backend_given = spec.get("defaultBackend").filter(|one| !one.is_null());
    let mut errors = Vec::new();
    if list(&spec, "rules").is_empty() && backend_given.is_none() {
        let rules = spec.get("rules").cloned().unwrap_or_default();
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.push(field::invalid("spec", rules, detail));
    }
    if let Some(one) = backend_given {
        errors.extend(backend("spec.defaultBackend", one));
    }
    for (index, one) in list(&spec, "rules").iter().enumerate() {
        errors.extend(rule(&format!("spec.rules[{index}]"), one));
    }
    for (index, one) in list(&spec, "tls").iter().enumerate() {
        errors.extend(tls(&format!("spec.tls[{index}]"), one));
    }
    if let Some(class) = spec.get("ingressClassName").and_then(Value::as_str) {
        errors.extend(named("spec.ingressClassName", class, name::dns_subdomain));
    }
    errors
}

fn tls(path: &str, tls: &Value) -> Vec<FieldError> {
    let hosts = list(tls, "hosts").iter().filter_map(Value::as_str);
    let mut errors: Vec<FieldError> = hosts
        .enumerate()
        .flat_map(|(index, text)| host(&format!("{path}.hosts[{index}]"), text))
        .collect();
    match text(tls, "secretName") {
        "" => {}
        secret => errors.extend(named(
            &format!("{path}.secretName"),
            secret,
            name::dns_subdomain,
        )),
    }
    errors
}

fn rule(path: &str, rule: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let name = text(rule, "host");
    if !name.is_empty() {
        let path = format!("{path}.host");
        errors.extend(address(&path, name));
        errors.extend(host(&path, name));
    }
    let Some(http) = rule.get("http").filter(|http| !http.is_null()) else {
        return errors;
    };
    let path = format!("{path}.http.paths");
    if list(http, "paths").is_empty() {
        errors.push(field::required(&path, ""));
    }
    for (index, one) in list(http, "paths").iter().enumerate() {
        errors.extend(http_path(&format!("{path}[{index}]"), one));
    }
    errors
}

fn http_path(path: &str, one: &Value) -> Vec<FieldError> {
    let Some(kind) = one.get("pathType").and_then(Value::as_str) else {
        let detail = "pathType must be specified";
        return vec![field::required(format!("{path}.pathType"), detail)];
    };
    let wanted = text(one, "path");
    let invalid = |why: String| field::invalid(format!("{path}.path"), wanted, why);
    let mut errors = Vec::new();
    if !PATH_TYPES.contains(&kind) {
        let path = format!("{path}.pathType");
        errors.push(field::not_supported(path, kind, &PATH_TYPES));
    } else if !wanted.starts_with('/') && (kind != "ImplementationSpecific" || !wanted.is_empty()) {
        errors.push(invalid("must be an absolute path".to_owned()));
    }
    if ["Exact", "Prefix"].contains(&kind) {
        let parts = BAD_PARTS.iter().filter(|part| wanted.contains(**part));
        errors.extend(parts.map(|part| invalid(format!("must not contain '{part}'"))));
        let ends = BAD_ENDS.iter().filter(|end| wanted.ends_with(**end));
        errors.extend(ends.map(|end| invalid(format!("cannot end with '{end}'"))));
    }
    let nothing = Value::Null;
    let behind = one.get("backend").unwrap_or(&nothing);
    errors.extend(backend(&format!("{path}.backend"), behind));
    errors
}

fn backend(path: &str, backend: &Value) -> Vec<FieldError> {
    let given = |field: &str| backend.get(field).filter(|value| !value.is_null());
    match (given("resource"), given("service")) {
        (Some(_), Some(_)) => {
            let detail = "cannot set both resource and service backends";
            vec![field::invalid(path, "", detail)]
        }
        (Some(reference), None) => resource(&format!("{path}.resource"), reference),
        (None, Some(one)) => service(path, one),
        (None, None) => {
            let detail = "resource or service backend is required";
            vec![field::invalid(path, "", detail)]
        }
    }
}

fn resource(path: &str, reference: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(group) = reference.get("apiGroup").and_then(Value::as_str) {
        errors.extend(named(
            &format!("{path}.apiGroup"),
            group,
            name::dns_subdomain,
        ));
    }
    for field in ["kind", "name"] {
        let path = format!("{path}.{field}");
        match text(reference, field) {
            "" => errors.push(field::required(path, "")),
            given => errors.extend(named(&path, given, name::path_segment)),
        }
    }
    errors
}

fn service(path: &str, service: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let at = format!("{path}.service");
    match text(service, "name") {
        "" => errors.push(field::required(format!("{at}.name"), "")),
        given => errors.extend(named(&format!("{at}.name"), given, name::dns_label)),
    }
    let port = service.get("port").cloned().unwrap_or_default();
    let number = port.get("number").and_then(Value::as_i64).unwrap_or(0);
    match (text(&port, "name"), number) {
        ("", 0) => errors.push(field::required(path, "port name or number is required")),
        ("", number) if port::is_number(number) => {}
        ("", number) => {
            let path = format!("{at}.port.number");
            errors.push(field::invalid(path, number, port::RANGE));
        }
        (name, 0) => errors.extend(named(&format!("{at}.port.name"), name, port::name)),
        (_, _) => {
            let detail = "cannot set both port name & port number";
            errors.push(field::invalid(path, "", detail));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_absolute_and_plain_unless_its_meaning_is_the_implementation_s() {
        let table = [
            ("Exact", "/a", 0),
            ("Exact", "", 1),
            ("Prefix", "/a//b/.", 2),
            ("ImplementationSpecific", "", 0),
            ("ImplementationSpecific", "/a//b", 0),
            ("Other", "a", 1),
        ];
        for (kind, path, problems) in table {
            let backend = json!({"service": {"name": "s", "port": {"number": 1}}});
            let one = json!({"path": path, "pathType": kind, "backend": backend});
            assert_eq!(http_path("p", &one).len(), problems, "{kind} {path}");
        }
    }

    #[test]
    fn a_star_stands_for_the_first_label_alone() {
        for (text, sound) in [
            ("*.a", true),
            ("*.*.a", false),
            ("*a", false),
            ("a.*", false),
        ] {
            assert_eq!(wildcard(text).is_empty(), sound, "{text}");
        }
    }
}
