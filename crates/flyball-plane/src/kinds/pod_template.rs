//! What upstream fills into a pod's spec, in a Pod and in every template of one. Source: core/v1 defaults.go and
//! zz_generated.defaults.go. Not here: what a spec may say (`pod_spec`).

use serde_json::{Map, Value, json};

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
        // A text that is no image has no tag either.
        _ if image.contains('@') || image.contains(char::is_whitespace) => false,
        Some((_, tag)) => tag == "latest",
        None => true,
    }
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
