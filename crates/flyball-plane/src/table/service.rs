//! Services: addresses and ports.

use std::collections::BTreeSet;

use flyball_clock::UnixMs;
use serde_json::Value;

use super::builtin::name;
use super::column::Column;
use super::workload::labels;
use super::{age, list, number, text};
use crate::schema::Gvk;

const SERVICE: Gvk<'static> = Gvk::new("", "v1", "Service");

pub(super) static COLUMNS: [Column; 7] = [
    Column::NAME,
    Column::text("Type").field(SERVICE, &["spec", "type"]),
    Column::text("Cluster-IP").field(SERVICE, &["spec", "clusterIP"]),
    Column::text("External-IP").field(SERVICE, &["spec", "externalIPs"]),
    Column::text("Port(s)").field(SERVICE, &["spec", "ports"]),
    Column::AGE,
    Column::text("Selector")
        .field(SERVICE, &["spec", "selector"])
        .wide(),
];

pub(super) fn cells(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let address = list(object, &["spec", "clusterIPs"]).first();
    let address = address.and_then(Value::as_str).unwrap_or("<none>");
    vec![
        name(object),
        text(object, &["spec", "type"]).into(),
        address.into(),
        external(object).into(),
        ports(object).into(),
        age::of(object, now_ms),
        labels(&object["spec"]["selector"]).into(),
    ]
}

/// Upstream: `getServiceExternalIP`.
fn external(object: &Value) -> String {
    let declared = list(object, &["spec", "externalIPs"]);
    let declared = declared.iter().filter_map(Value::as_str);
    let (balanced, absent) = match text(object, &["spec", "type"]) {
        "ClusterIP" | "NodePort" => (BTreeSet::new(), "<none>"),
        "LoadBalancer" => (balanced(object), "<pending>"),
        "ExternalName" => return text(object, &["spec", "externalName"]).into(),
        _ => return "<unknown>".into(),
    };
    let all: Vec<&str> = balanced.into_iter().chain(declared).collect();
    if all.is_empty() {
        absent.into()
    } else {
        all.join(",")
    }
}

/// The addresses a load balancer gave, in order.
fn balanced(object: &Value) -> BTreeSet<&str> {
    let ingress = list(object, &["status", "loadBalancer", "ingress"]);
    let address = |one| match text(one, &["ip"]) {
        "" => text(one, &["hostname"]),
        ip => ip,
    };
    ingress
        .iter()
        .map(address)
        .filter(|address| !address.is_empty())
        .collect()
}

fn ports(object: &Value) -> String {
    let piece = |port: &Value| {
        let (number, protocol) = (number(port, &["port"]), text(port, &["protocol"]));
        match self::number(port, &["nodePort"]) {
            node if node > 0 => format!("{number}:{node}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    };
    let pieces: Vec<String> = list(object, &["spec", "ports"]).iter().map(piece).collect();
    if pieces.is_empty() {
        "<none>".into()
    } else {
        pieces.join(",")
    }
}
