//! Disruption budgets, ingresses, quotas and API services.

use std::collections::BTreeSet;

use flyball_clock::UnixMs;
use serde_json::Value;

use super::builtin::name;
use super::column::Column;
use super::{age, list, number, text};

const HOSTS_MAX: usize = 3;

pub(super) static BUDGET_COLUMNS: [Column; 5] = [
    Column::NAME,
    Column::text("Min Available").meaning("The minimum number of pods that must be available."),
    Column::text("Max Unavailable").meaning("The maximum number of pods that may be unavailable."),
    Column::integer("Allowed Disruptions")
        .meaning("Calculated number of pods that may be disrupted at this time."),
    Column::AGE,
];
pub(super) static INGRESS_COLUMNS: [Column; 6] = [
    Column::NAME,
    Column::text("Class").meaning(
        "The name of the IngressClass resource that should be used for additional configuration",
    ),
    Column::text("Hosts")
        .meaning("Hosts that incoming requests are matched against before the ingress rule"),
    Column::text("Address")
        .meaning("Address is a list containing ingress points for the load-balancer"),
    Column::text("Ports").meaning("Ports of TLS configurations that open"),
    Column::AGE,
];
pub(super) static QUOTA_COLUMNS: [Column; 4] = [
    Column::NAME,
    Column::text("Request").meaning(
        "Request represents a minimum amount of cpu/memory that a container may consume.",
    ),
    Column::text("Limit").meaning(
        "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
    ),
    Column::AGE,
];
pub(super) static API_SERVICE_COLUMNS: [Column; 4] = [
    Column::NAME,
    Column::text("Service").meaning("The reference to the service that hosts this API endpoint."),
    Column::text("Available").meaning("Whether this service is available."),
    Column::AGE,
];

pub(super) fn budget(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let limit = |field: &str| match &object["spec"][field] {
        Value::Null => "N/A".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    vec![
        name(object),
        limit("minAvailable").into(),
        limit("maxUnavailable").into(),
        number(object, &["status", "disruptionsAllowed"]).into(),
        age::of(object, now_ms),
    ]
}

pub(super) fn ingress(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let class = object["spec"]["ingressClassName"].as_str();
    let ports = if list(object, &["spec", "tls"]).is_empty() {
        "80"
    } else {
        "80, 443"
    };
    vec![
        name(object),
        class.unwrap_or("<none>").into(),
        hosts(object).into(),
        addresses(object).into(),
        ports.into(),
        age::of(object, now_ms),
    ]
}

/// Upstream: `formatHosts`.
fn hosts(object: &Value) -> String {
    let rules = list(object, &["spec", "rules"]);
    let mut shown: Vec<&str> = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= shown.len() == HOSTS_MAX;
        let host = text(rule, &["host"]);
        if !more && !host.is_empty() {
            shown.push(host);
        }
    }
    match (shown.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, false) => shown.join(","),
        (false, true) => format!("{} + {} more...", shown.join(","), rules.len() - HOSTS_MAX),
    }
}

/// Upstream: `ingressLoadBalancerStatusStringer`, which cuts nothing in a server.
fn addresses(object: &Value) -> String {
    let given = list(object, &["status", "loadBalancer", "ingress"]);
    let address = |one| match text(one, &["ip"]) {
        "" => text(one, &["hostname"]),
        ip => ip,
    };
    let set: BTreeSet<&str> = given
        .iter()
        .map(address)
        .filter(|one| !one.is_empty())
        .collect();
    set.into_iter().collect::<Vec<_>>().join(",")
}

pub(super) fn quota(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let hard = object["status"]["hard"].as_object();
    for (resource, most) in hard.into_iter().flatten() {
        let used = object["status"]["used"][resource].as_str().unwrap_or("0");
        let piece = format!("{resource}: {used}/{}", most.as_str().unwrap_or_default());
        if resource.starts_with("limits.") {
            limits.push(piece);
        } else {
            requests.push(piece);
        }
    }
    vec![
        name(object),
        requests.join(", ").into(),
        limits.join(", ").into(),
        age::of(object, now_ms),
    ]
}

pub(super) fn api_service(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let service = match &object["spec"]["service"] {
        Value::Null => "Local".to_owned(),
        service => format!(
            "{}/{}",
            text(service, &["namespace"]),
            text(service, &["name"])
        ),
    };
    let conditions = list(object, &["status", "conditions"]);
    let available = conditions.iter().find(|one| one["type"] == "Available");
    let available = available.map_or_else(
        || "Unknown".to_owned(),
        |one| {
            let (status, reason) = (text(one, &["status"]), text(one, &["reason"]));
            if status == "True" || reason.is_empty() {
                status.to_owned()
            } else {
                format!("{status} ({reason})")
            }
        },
    );
    vec![
        name(object),
        service.into(),
        available.into(),
        age::of(object, now_ms),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn three_hosts_are_named_and_the_others_counted() {
        let of = |hosts: &[&str]| {
            let rules: Vec<Value> = hosts.iter().map(|host| json!({"host": host})).collect();
            super::hosts(&json!({"spec": {"rules": rules}}))
        };
        assert_eq!(of(&[]), "*");
        assert_eq!(of(&["a", "b", "c"]), "a,b,c");
        assert_eq!(of(&["a", "b", "c", "d", "e"]), "a,b,c + 2 more...");
    }

    #[test]
    fn limits_stand_in_a_column_of_their_own() {
        let hard = json!({"cpu": "1", "limits.memory": "1Gi"});
        let object = json!({"status": {"hard": hard, "used": {"cpu": "500m"}}});
        assert_eq!(
            quota(&object, 0)[1..3],
            [json!("cpu: 500m/1"), json!("limits.memory: 0/1Gi")]
        );
    }
}
