//! Deployments, ReplicaSets, StatefulSets, ReplicationControllers, and the two kinds that keep their templates.

use flyball_api::selector::LabelSelector;
use flyball_clock::UnixMs;
use serde::Deserialize as _;
use serde_json::Value;

use super::builtin::name;
use super::column::Column;
use super::{age, at, list, number, text};
use crate::schema::Gvk;

const CONTROLLER: Gvk<'static> = Gvk::new("", "v1", "ReplicationController");
const DEPLOYMENT: Gvk<'static> = Gvk::new("apps", "v1", "Deployment");
const REPLICA_SET: Gvk<'static> = Gvk::new("apps", "v1", "ReplicaSet");
const DAEMON_SET: Gvk<'static> = Gvk::new("apps", "v1", "DaemonSet");
const POD: Gvk<'static> = Gvk::new("", "v1", "Pod");
const REVISION: Gvk<'static> = Gvk::new("apps", "v1", "ControllerRevision");

pub(super) static POD_TEMPLATE_COLUMNS: [Column; 4] = [
    Column::NAME,
    Column::text("Containers").meaning("Names of each container in the template."),
    Column::text("Images").meaning("Images referenced by each container in the template."),
    Column::text("Pod Labels").meaning("The labels for the pod template."),
];
pub(super) static DEPLOYMENT_COLUMNS: [Column; 8] = [
    Column::NAME,
    Column::text("Ready").meaning("Number of the pod with ready state"),
    Column::text("Up-to-date").field(DEPLOYMENT, &["status", "updatedReplicas"]),
    Column::text("Available").field(DEPLOYMENT, &["status", "availableReplicas"]),
    Column::AGE,
    Column::CONTAINERS,
    Column::IMAGES,
    Column::text("Selector")
        .field(DEPLOYMENT, &["spec", "selector"])
        .wide(),
];
pub(super) static REPLICA_SET_COLUMNS: [Column; 8] = replicas(REPLICA_SET);
pub(super) static REPLICATION_CONTROLLER_COLUMNS: [Column; 8] = replicas(CONTROLLER);
pub(super) static STATEFUL_SET_COLUMNS: [Column; 5] = [
    Column::NAME,
    Column::text("Ready").meaning("Number of the pod with ready state"),
    Column::AGE,
    Column::CONTAINERS,
    Column::IMAGES,
];
pub(super) static REVISION_COLUMNS: [Column; 4] = [
    Column::NAME,
    Column::text("Controller").meaning("Controller of the object"),
    Column::text("Revision").field(REVISION, &["revision"]),
    Column::AGE,
];

pub(super) static DAEMON_SET_COLUMNS: [Column; 11] = [
    Column::NAME,
    Column::integer("Desired").field(DAEMON_SET, &["status", "desiredNumberScheduled"]),
    Column::integer("Current").field(DAEMON_SET, &["status", "currentNumberScheduled"]),
    Column::integer("Ready").field(DAEMON_SET, &["status", "numberReady"]),
    Column::integer("Up-to-date").field(DAEMON_SET, &["status", "updatedNumberScheduled"]),
    Column::integer("Available").field(DAEMON_SET, &["status", "numberAvailable"]),
    Column::text("Node Selector").field(POD, &["spec", "nodeSelector"]),
    Column::AGE,
    Column::CONTAINERS,
    Column::IMAGES,
    Column::text("Selector")
        .field(DAEMON_SET, &["spec", "selector"])
        .wide(),
];

const fn replicas(gvk: Gvk<'static>) -> [Column; 8] {
    [
        Column::NAME,
        Column::integer("Desired").field(gvk, &["spec", "replicas"]),
        Column::integer("Current").field(gvk, &["status", "replicas"]),
        Column::integer("Ready").field(gvk, &["status", "readyReplicas"]),
        Column::AGE,
        Column::CONTAINERS,
        Column::IMAGES,
        Column::text("Selector")
            .field(gvk, &["spec", "selector"])
            .wide(),
    ]
}

pub(super) fn deployment(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let [names, images] = containers(&object["spec"]["template"]);
    vec![
        name(object),
        ready(object),
        number(object, &["status", "updatedReplicas"]).into(),
        number(object, &["status", "availableReplicas"]).into(),
        age::of(object, now_ms),
        names,
        images,
        selector(object)
            .unwrap_or_else(|| "<invalid>".into())
            .into(),
    ]
}

pub(super) fn daemon_set(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let template = &object["spec"]["template"];
    let [names, images] = containers(template);
    let mut cells = vec![name(object)];
    for field in [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ] {
        cells.push(number(object, &["status", field]).into());
    }
    cells.push(labels(at(template, &["spec", "nodeSelector"])).into());
    cells.extend([age::of(object, now_ms), names, images]);
    let selector = selector(object).unwrap_or_else(|| "<invalid>".into());
    cells.push(selector.into());
    cells
}

pub(super) fn stateful_set(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let [names, images] = containers(&object["spec"]["template"]);
    let age = age::of(object, now_ms);
    vec![name(object), ready(object), age, names, images]
}

pub(super) fn replica_set(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let selector = match selector(object).as_deref() {
        None => "<error>".into(),
        Some("") => "<none>".into(),
        Some(selector) => selector.to_owned(),
    };
    replica_cells(object, selector, now_ms)
}

pub(super) fn replication_controller(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    replica_cells(object, labels(&object["spec"]["selector"]), now_ms)
}

fn replica_cells(object: &Value, selector: String, now_ms: UnixMs) -> Vec<Value> {
    let [names, images] = containers(&object["spec"]["template"]);
    vec![
        name(object),
        number(object, &["spec", "replicas"]).into(),
        number(object, &["status", "replicas"]).into(),
        number(object, &["status", "readyReplicas"]).into(),
        age::of(object, now_ms),
        names,
        images,
        selector.into(),
    ]
}

pub(super) fn pod_template(object: &Value, _now_ms: UnixMs) -> Vec<Value> {
    let template = &object["template"];
    let [names, images] = containers(template);
    let labels = labels(at(template, &["metadata", "labels"]));
    vec![name(object), names, images, labels.into()]
}

pub(super) fn revision(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let owners = list(object, &["metadata", "ownerReferences"]);
    let owner = owners.iter().find(|owner| owner["controller"] == true);
    let owner = owner.map_or_else(|| "<none>".into(), reference);
    let revision = number(object, &["revision"]);
    let age = age::of(object, now_ms);
    vec![name(object), owner.into(), revision.into(), age]
}

/// `statefulset.apps/web` (upstream: `formatResourceName`).
fn reference(owner: &Value) -> String {
    let kind = text(owner, &["kind"]).to_lowercase();
    let name = text(owner, &["name"]);
    match text(owner, &["apiVersion"]).split_once('/') {
        Some((group, _)) => format!("{kind}.{group}/{name}"),
        None => format!("{kind}/{name}"),
    }
}

fn ready(object: &Value) -> Value {
    let ready = number(object, &["status", "readyReplicas"]);
    format!("{ready}/{}", number(object, &["spec", "replicas"])).into()
}

/// Names and images of a template's containers.
pub(super) fn containers(template: &Value) -> [Value; 2] {
    let all = list(template, &["spec", "containers"]);
    ["name", "image"].map(|field| {
        let texts: Vec<&str> = all.iter().map(|one| text(one, &[field])).collect();
        texts.join(",").into()
    })
}

/// `spec.selector` as text; `None` when it is not a selector.
pub(super) fn selector(object: &Value) -> Option<String> {
    let selector = Option::<LabelSelector>::deserialize(at(object, &["spec", "selector"])).ok()?;
    let compiled = LabelSelector::compile(selector.as_ref()).ok()?;
    Some(compiled.to_string())
}

/// A map of labels: `a=1,b=2`, `<none>` when empty (upstream: `labels.FormatLabels`).
pub(super) fn labels(map: &Value) -> String {
    let pairs: Vec<String> = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    if pairs.is_empty() {
        "<none>".into()
    } else {
        pairs.join(",")
    }
}
