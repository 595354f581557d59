//! What upstream fills into a pod's spec, in a Pod and in every template of one, and the fields it demands.
//! Source: core/v1 defaults.go and zz_generated.defaults.go, core validation `ValidatePodSpec` (the required fields only:
//! nothing here runs containers, so the many rules about devices, volumes and security are not repeated).

use flyball_api::name as names;
use serde_json::{Map, Value, json};

use crate::field::{self, FieldError};
use crate::object::{child, default_field, fields};

/// Containers by field of the spec.
const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];
const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];
/// Volume sources with a `defaultMode`, 0644.
const MODES: [&str; 4] = ["secret", "configMap", "downwardAPI", "projected"];

/// Fills in a pod spec.
pub(super) fn default_spec(spec: &mut Map<String, Value>) {
    let account = spec
        .get("serviceAccountName")
        .or_else(|| spec.get("serviceAccount"))
        .cloned();
    if let Some(account) = account {
        spec.insert("serviceAccountName".to_owned(), account.clone());
        spec.insert("serviceAccount".to_owned(), account);
    }
    default_field(spec, "dnsPolicy", "ClusterFirst");
    default_field(spec, "restartPolicy", "Always");
    default_field(spec, "securityContext", json!({}));
    default_field(spec, "terminationGracePeriodSeconds", 30);
    default_field(spec, "schedulerName", "default-scheduler");
    for list in CONTAINERS {
        for container in spec
            .get_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            default_container(fields(container));
        }
    }
    for volume in spec
        .get_mut("volumes")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        default_volume(fields(volume));
    }
}

fn default_container(container: &mut Map<String, Value>) {
    let image = container
        .get("image")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let policy = if is_latest(image) {
        "Always"
    } else {
        "IfNotPresent"
    };
    default_field(container, "imagePullPolicy", policy);
    default_field(container, "terminationMessagePath", "/dev/termination-log");
    default_field(container, "terminationMessagePolicy", "File");
    default_field(container, "resources", json!({}));
    for port in container
        .get_mut("ports")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        default_field(fields(port), "protocol", "TCP");
    }
    for probe in PROBES {
        if let Some(probe) = container.get_mut(probe).filter(|probe| probe.is_object()) {
            default_probe(fields(probe));
        }
    }
    for variable in container
        .get_mut("env")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        if let Some(reference) = variable.pointer_mut("/valueFrom/fieldRef") {
            default_field(fields(reference), "apiVersion", "v1");
        }
    }
    for hook in ["postStart", "preStop"] {
        let action = container
            .get_mut("lifecycle")
            .and_then(|l| l.get_mut(hook))
            .and_then(|h| h.get_mut("httpGet"));
        if let Some(action) = action {
            default_http(fields(action));
        }
    }
}

fn default_probe(probe: &mut Map<String, Value>) {
    for (field, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        if probe.get(field).and_then(Value::as_i64).unwrap_or(0) == 0 {
            probe.insert(field.to_owned(), value.into());
        }
    }
    if let Some(action) = probe.get_mut("httpGet") {
        default_http(fields(action));
    }
    if let Some(action) = probe.get_mut("grpc") {
        default_field(fields(action), "service", "");
    }
}

fn default_http(action: &mut Map<String, Value>) {
    default_field(action, "path", "/");
    default_field(action, "scheme", "HTTP");
}

fn default_volume(volume: &mut Map<String, Value>) {
    if volume.keys().all(|field| field == "name") {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    for source in MODES {
        if let Some(source) = volume.get_mut(source) {
            default_field(fields(source), "defaultMode", 420);
        }
    }
}

/// True when an image has the tag `latest`, or none and no digest. Upstream: pkg/util/parsers `ParseImageName`.
fn is_latest(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or(image);
    match name.split_once(':') {
        _ if image.contains('@') => false,
        Some((_, tag)) => tag == "latest",
        None => true,
    }
}

/// The problems of a pod spec at `path`.
pub(super) fn validate_spec(path: &str, spec: Option<&Value>) -> Vec<FieldError> {
    let list = |field: &str| {
        spec.and_then(|spec| spec.get(field))
            .and_then(Value::as_array)
    };
    let mut errors = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    if list("containers").is_none_or(Vec::is_empty) {
        errors.push(field::required(format!("{path}.containers"), ""));
    }
    for field in ["initContainers", "containers"] {
        for (index, container) in list(field).into_iter().flatten().enumerate() {
            errors.extend(validate_container(
                &format!("{path}.{field}[{index}]"),
                container,
                &mut seen,
            ));
        }
    }
    errors
}

fn validate_container(path: &str, container: &Value, seen: &mut Vec<String>) -> Vec<FieldError> {
    let text = |field: &str| {
        container
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let mut errors = Vec::new();
    let name = text("name");
    if name.is_empty() {
        errors.push(field::required(format!("{path}.name"), ""));
    } else if seen.iter().any(|one| one == name) {
        errors.push(field::duplicate(format!("{path}.name"), name));
    } else {
        let invalid = |why| field::invalid(format!("{path}.name"), name, why);
        errors.extend(names::dns_label(name).into_iter().map(invalid));
        seen.push(name.to_owned());
    }
    let image = text("image");
    if image.is_empty() {
        errors.push(field::required(format!("{path}.image"), ""));
    } else if image.trim() != image {
        let detail = "must not have leading or trailing whitespace";
        errors.push(field::invalid(format!("{path}.image"), image, detail));
    }
    for (index, port) in container
        .get("ports")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let path = format!("{path}.ports[{index}].containerPort");
        match port
            .get("containerPort")
            .and_then(Value::as_i64)
            .unwrap_or(0)
        {
            0 => errors.push(field::required(path, "")),
            1..=65535 => {}
            number => errors.push(field::invalid(
                path,
                number,
                "must be between 1 and 65535, inclusive",
            )),
        }
    }
    errors
}

/// Fills in the pod template of a workload object at `spec.template`.
pub(super) fn default_template(object: &mut Value) {
    if let Some(template) = object.pointer_mut("/spec/template") {
        // A time in a template's metadata is a zero value that clients print and upstream drops.
        child(template, "metadata").remove("creationTimestamp");
        default_spec(child(template, "spec"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_latest_and_missing_tags_are_always_pulled() {
        let table = [
            ("web", true),
            ("web:latest", true),
            ("web:1", false),
            ("r:5000/web", true),
            ("web@sha256:0", false),
        ];
        for (image, expected) in table {
            assert_eq!(is_latest(image), expected, "{image}");
        }
    }

    #[test]
    fn probes_and_ports_get_their_defaults() {
        let mut spec = json!({"containers": [{
            "name": "a", "image": "a:1", "ports": [{"containerPort": 1}], "readinessProbe": {"httpGet": {"port": 1}},
        }], "volumes": [{"name": "v"}]});
        default_spec(fields(&mut spec));
        assert_eq!(spec["containers"][0]["ports"][0]["protocol"], "TCP");
        assert_eq!(spec["containers"][0]["readinessProbe"]["periodSeconds"], 10);
        assert_eq!(
            spec["containers"][0]["readinessProbe"]["httpGet"],
            json!({"port": 1, "path": "/", "scheme": "HTTP"})
        );
        assert_eq!(spec["volumes"][0]["emptyDir"], json!({}));
    }
}
