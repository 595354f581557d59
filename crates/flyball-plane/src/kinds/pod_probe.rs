//! What a probe of a container may say. Source: core validation `validateProbe`, `validateHandler`.

use serde_json::Value;

use super::pod_spec::{list, text};
use super::port;
use crate::field::{self, FieldError};

const COUNTS: [&str; 5] = [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
];
const HANDLERS: [&str; 4] = ["exec", "httpGet", "tcpSocket", "grpc"];
const GRACE: &str = "terminationGracePeriodSeconds";

/// The problems of the probe `which` of a container at `path`, none when it has none.
pub(super) fn validate(path: &str, container: &Value, which: &str) -> Vec<FieldError> {
    let Some(probe) = container.get(which).filter(|probe| probe.is_object()) else {
        return Vec::new();
    };
    let path = format!("{path}.{which}");
    let number = |field: &str| probe.get(field).and_then(Value::as_i64);
    let mut errors = handlers(&path, probe);
    for field in COUNTS {
        if let Some(count) = number(field).filter(|count| *count < 0) {
            let detail = "must be greater than or equal to 0";
            errors.push(field::invalid(format!("{path}.{field}"), count, detail));
        }
    }
    let grace = number(GRACE);
    if let Some(seconds) = grace.filter(|seconds| *seconds <= 0) {
        let detail = "must be greater than 0";
        errors.push(field::invalid(format!("{path}.{GRACE}"), seconds, detail));
    }
    if which == "readinessProbe" {
        let detail = "must not be set for readinessProbes";
        errors.extend(
            grace.map(|seconds| field::invalid(format!("{path}.{GRACE}"), seconds, detail)),
        );
        return errors;
    }
    let threshold = number("successThreshold").unwrap_or(1);
    if threshold != 1 {
        let path = format!("{path}.successThreshold");
        errors.push(field::invalid(path, threshold, "must be 1"));
    }
    errors
}

fn handlers(path: &str, probe: &Value) -> Vec<FieldError> {
    let mut given = HANDLERS
        .into_iter()
        .filter_map(|name| Some((name, probe.get(name).filter(|one| one.is_object())?)));
    let Some((name, action)) = given.next() else {
        return vec![field::required(path, "must specify a handler type")];
    };
    let mut errors = handler(&format!("{path}.{name}"), name, action);
    let detail = "may not specify more than 1 handler type";
    errors.extend(given.map(|(name, _)| field::forbidden(format!("{path}.{name}"), detail)));
    errors
}

fn handler(path: &str, name: &str, action: &Value) -> Vec<FieldError> {
    match name {
        "exec" if list(action, "command").is_empty() => {
            vec![field::required(format!("{path}.command"), "")]
        }
        "exec" => Vec::new(),
        _ => {
            let mut errors = port(&format!("{path}.port"), action.get("port"));
            let scheme = text(action, "scheme");
            if name == "httpGet" && !["HTTP", "HTTPS"].contains(&scheme) {
                let path = format!("{path}.scheme");
                errors.push(field::not_supported(path, scheme, &["HTTP", "HTTPS"]));
            }
            errors
        }
    }
}

/// Upstream: `ValidatePortNumOrName`.
fn port(path: &str, port: Option<&Value>) -> Vec<FieldError> {
    let Some(name) = port.and_then(Value::as_str) else {
        let number = port.and_then(Value::as_i64).unwrap_or(0);
        let sound = port::is_number(number);
        let error = (!sound).then(|| field::invalid(path, number, port::RANGE));
        return error.into_iter().collect();
    };
    let problems = port::name(name).into_iter();
    problems
        .map(|why| field::invalid(path, name, why))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_probe_has_one_handler() {
        let table = [
            (json!({"tcpSocket": {"port": 1}}), 0),
            (json!({}), 1),
            (json!({"exec": {}}), 1),
            (
                json!({"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}}),
                1,
            ),
            (json!({"httpGet": {"port": "A", "scheme": "HTTP"}}), 2),
        ];
        for (probe, problems) in table {
            let container = json!({"livenessProbe": probe});
            let found = validate("c", &container, "livenessProbe");
            assert_eq!(found.len(), problems, "{container}");
        }
    }
}
