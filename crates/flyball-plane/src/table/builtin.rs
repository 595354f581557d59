//! Which columns a kind has, and the kinds whose rows are short.

use flyball_clock::UnixMs;
use serde_json::Value;

use super::column::Column;
use super::{Cells, age, autoscaler, event, job, pod, policy, service, text, workload};
use crate::schema::Gvk;

const CONFIG_MAP: Gvk<'static> = Gvk::new("", "v1", "ConfigMap");
const SECRET: Gvk<'static> = Gvk::new("", "v1", "Secret");
const LEASE: Gvk<'static> = Gvk::new("coordination.k8s.io", "v1", "Lease");
const SCALE: Gvk<'static> = Gvk::new("autoscaling", "v1", "Scale");
const POD: Gvk<'static> = Gvk::new("", "v1", "Pod");

static NAMESPACE_COLUMNS: [Column; 3] = [
    Column::NAME,
    Column::text("Status").meaning("The status of the namespace"),
    Column::AGE,
];
static CONFIG_MAP_COLUMNS: [Column; 3] = [
    Column::NAME,
    Column::text("Data").field(CONFIG_MAP, &["data"]),
    Column::AGE,
];
static SECRET_COLUMNS: [Column; 4] = [
    Column::NAME,
    Column::text("Type").field(SECRET, &["type"]),
    Column::text("Data").field(SECRET, &["data"]),
    Column::AGE,
];
static SERVICE_ACCOUNT_COLUMNS: [Column; 2] = [Column::NAME, Column::AGE];
static LEASE_COLUMNS: [Column; 3] = [
    Column::NAME,
    Column::text("Holder").field(LEASE, &["spec", "holderIdentity"]),
    Column::AGE,
];
static SCALE_COLUMNS: [Column; 4] = [
    Column::text("Name").field(POD, &["metadata", "name"]),
    Column::integer("Desired").field(SCALE, &["spec", "replicas"]),
    Column::integer("Available").field(SCALE, &["status", "replicas"]),
    Column::AGE,
];
static OTHER_COLUMNS: [Column; 2] = [
    Column::NAME,
    Column::date("Created At").field(POD, &["metadata", "creationTimestamp"]),
];

/// The columns of a kind and what fills them.
pub(super) fn find(gvk: Gvk<'_>) -> (&'static [Column], Cells) {
    match (gvk.group, gvk.kind) {
        ("", "Pod") => (&pod::COLUMNS, pod::cells),
        ("", "PodTemplate") => (&workload::POD_TEMPLATE_COLUMNS, workload::pod_template),
        ("apps", "Deployment") => (&workload::DEPLOYMENT_COLUMNS, workload::deployment),
        ("apps", "ReplicaSet") => (&workload::REPLICA_SET_COLUMNS, workload::replica_set),
        ("apps", "StatefulSet") => (&workload::STATEFUL_SET_COLUMNS, workload::stateful_set),
        ("apps", "DaemonSet") => (&workload::DAEMON_SET_COLUMNS, workload::daemon_set),
        ("batch", "Job") => (&job::COLUMNS, job::cells),
        ("apps", "ControllerRevision") => (&workload::REVISION_COLUMNS, workload::revision),
        ("", "ReplicationController") => (
            &workload::REPLICATION_CONTROLLER_COLUMNS,
            workload::replication_controller,
        ),
        ("", "Service") => (&service::COLUMNS, service::cells),
        ("", "Namespace") => (&NAMESPACE_COLUMNS, namespace),
        ("", "ConfigMap") => (&CONFIG_MAP_COLUMNS, config_map),
        ("", "Secret") => (&SECRET_COLUMNS, secret),
        ("", "ServiceAccount") => (&SERVICE_ACCOUNT_COLUMNS, service_account),
        ("" | "events.k8s.io", "Event") => (&event::COLUMNS, event::cells),
        ("coordination.k8s.io", "Lease") => (&LEASE_COLUMNS, lease),
        ("policy", "PodDisruptionBudget") => (&policy::BUDGET_COLUMNS, policy::budget),
        ("networking.k8s.io", "Ingress") => (&policy::INGRESS_COLUMNS, policy::ingress),
        ("", "ResourceQuota") => (&policy::QUOTA_COLUMNS, policy::quota),
        ("apiregistration.k8s.io", "APIService") => {
            (&policy::API_SERVICE_COLUMNS, policy::api_service)
        }
        ("autoscaling", "HorizontalPodAutoscaler") => (&autoscaler::COLUMNS, autoscaler::cells),
        ("autoscaling", "Scale") => (&SCALE_COLUMNS, scale),
        _ => (&OTHER_COLUMNS, other),
    }
}

/// The name cell.
pub(super) fn name(object: &Value) -> Value {
    text(object, &["metadata", "name"]).into()
}

fn namespace(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let phase = text(object, &["status", "phase"]);
    vec![name(object), phase.into(), age::of(object, now_ms)]
}

fn config_map(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let entries = size(&object["data"]) + size(&object["binaryData"]);
    vec![name(object), entries.into(), age::of(object, now_ms)]
}

fn secret(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let kind = text(object, &["type"]);
    let entries = size(&object["data"]);
    vec![
        name(object),
        kind.into(),
        entries.into(),
        age::of(object, now_ms),
    ]
}

fn service_account(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    vec![name(object), age::of(object, now_ms)]
}

fn lease(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let holder = text(object, &["spec", "holderIdentity"]);
    vec![name(object), holder.into(), age::of(object, now_ms)]
}

fn scale(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let desired = super::number(object, &["spec", "replicas"]);
    let available = super::number(object, &["status", "replicas"]);
    vec![
        name(object),
        desired.into(),
        available.into(),
        age::of(object, now_ms),
    ]
}

/// Upstream: apiserver registry/rest/table.go, the default of every kind without a printer.
fn other(object: &Value, _now_ms: UnixMs) -> Vec<Value> {
    let created = text(object, &["metadata", "creationTimestamp"]);
    // Go prints the zero time where there is none.
    let created = if created.is_empty() {
        "0001-01-01T00:00:00Z"
    } else {
        created
    };
    vec![name(object), created.into()]
}

fn size(map: &Value) -> usize {
    map.as_object().map_or(0, serde_json::Map::len)
}
