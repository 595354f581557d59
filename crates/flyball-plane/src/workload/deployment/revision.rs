//! Revisions of a Deployment: which number each ReplicaSet has, and the ReplicaSet of the template in force.
//! Not here: sizes.

use flyball_clock::UnixMs;
use serde_json::{Map, Value, json};

use super::super::object::{
    annotate, annotation, controller_reference, count, int, name, namespace, put,
};
use super::super::pod_template::{HASH_LABEL, template_of};
use super::super::suffix::template_hash;
use super::super::view::{Kind, View};
use super::rolling::new_size;
use super::sets::{DESIRED, MAXIMUM, Sets};
use super::status;
use crate::time;

/// The revision of a Deployment or ReplicaSet.
const REVISION: &str = "deployment.kubernetes.io/revision";
/// Revisions a ReplicaSet had before it was rolled back to.
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// Longest revision history, in characters (upstream maxRevHistoryLengthInChars).
const HISTORY_LENGTH: usize = 2000;
/// Annotations that a ReplicaSet does not take over from its Deployment.
const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MAXIMUM,
    "deprecated.deployment.rollback.to",
];
/// Longest name of a ReplicaSet.
const NAME_LENGTH: usize = 253;

/// The revision number of a ReplicaSet, 0 when it has none or an unreadable one.
pub(super) fn revision_of(set: &Value) -> i64 {
    annotation(set, REVISION)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// Brings annotations, `minReadySeconds` and revision of the new set up to date, and the Deployment's revision with it
/// (upstream getNewReplicaSet for a set that exists).
pub(super) fn sync(deployment: &mut Value, sets: &mut Sets, now_ms: UnixMs) {
    let Some(new) = sets.new_set() else {
        return;
    };
    let next = next_revision(sets);
    let set = sets.change(new);
    inherit(deployment, set, next);
    let min_ready = count(deployment, "/spec/minReadySeconds");
    if count(set, "/spec/minReadySeconds") != min_ready {
        put(set, &["spec", "minReadySeconds"], json!(min_ready));
    }
    let revision = annotation(set, REVISION).unwrap_or_default().to_owned();
    annotate(deployment, REVISION, &revision);
    if status::has_deadline(deployment) && status::progressing(deployment).is_none() {
        let message = format!("Found new replica set \"{}\"", name(sets.get(new)));
        status::set_progress(
            deployment,
            "True",
            ("FoundNewReplicaSet", message),
            &time::print(now_ms),
        );
    }
}

/// Creates the new set when there is none (upstream getNewReplicaSet). A name that another template holds raises
/// `status.collisionCount`, and the next step tries another hash: then false.
pub(super) fn ensure_new(
    deployment: &mut Value,
    sets: &mut Sets,
    view: &dyn View,
    now_ms: UnixMs,
) -> bool {
    if sets.new_set().is_some() {
        return true;
    }
    let collisions = int(deployment, "/status/collisionCount");
    let hash = template_hash(&template_of(deployment), collisions);
    let mut set = new_set(deployment, &hash);
    if view
        .get(&Kind::REPLICA_SET, namespace(deployment), name(&set))
        .is_some()
    {
        put(
            deployment,
            &["status", "collisionCount"],
            json!(collisions.unwrap_or(0) + 1),
        );
        return false;
    }
    let next = next_revision(sets);
    inherit(deployment, &mut set, next);
    put(&mut set, &["spec", "replicas"], json!(new_size(sets, 0)));
    let message = format!("Created new replica set \"{}\"", name(&set));
    sets.create(set);
    annotate(deployment, REVISION, &next.to_string());
    if status::has_deadline(deployment) {
        status::set_progress(
            deployment,
            "True",
            ("NewReplicaSetCreated", message),
            &time::print(now_ms),
        );
    }
    true
}

fn next_revision(sets: &Sets) -> i64 {
    sets.old()
        .into_iter()
        .map(|index| revision_of(sets.get(index)))
        .max()
        .unwrap_or(0)
        .max(0)
        + 1
}

fn new_set(deployment: &Value, hash: &str) -> Value {
    let mut template = template_of(deployment);
    put(
        &mut template,
        &["metadata", "labels", HASH_LABEL],
        json!(hash),
    );
    let mut selector = deployment
        .pointer("/spec/selector")
        .cloned()
        .unwrap_or_else(|| json!({}));
    put(&mut selector, &["matchLabels", HASH_LABEL], json!(hash));
    let room = NAME_LENGTH - 1 - hash.len();
    let base = name(deployment)
        .get(..room)
        .unwrap_or_else(|| name(deployment));
    let mut set = json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{base}-{hash}"),
            "namespace": namespace(deployment),
            "labels": template.pointer("/metadata/labels"),
            "ownerReferences": [controller_reference(deployment)],
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    });
    let min_ready = count(deployment, "/spec/minReadySeconds");
    if min_ready > 0 {
        put(&mut set, &["spec", "minReadySeconds"], json!(min_ready));
    }
    set
}

/// Upstream SetNewReplicaSetAnnotations: the Deployment's annotations, and a revision that only rises.
fn inherit(deployment: &Value, set: &mut Value, next: i64) {
    let given = deployment
        .pointer("/metadata/annotations")
        .and_then(Value::as_object);
    for (key, value) in given.into_iter().flat_map(Map::iter) {
        if !OWN.contains(&key.as_str()) {
            annotate(set, key, value.as_str().unwrap_or_default());
        }
    }
    let had = annotation(set, REVISION).map(str::to_owned);
    let readable: Result<i64, _> = had
        .as_deref()
        .filter(|text| !text.is_empty())
        .unwrap_or("0")
        .parse();
    let Ok(revision) = readable else {
        return;
    };
    if revision >= next {
        return;
    }
    annotate(set, REVISION, &next.to_string());
    if let Some(had) = had {
        remember(set, &had);
    }
}

/// Appends a revision to the history, dropping the oldest ones for which there is no room.
fn remember(set: &mut Value, revision: &str) {
    let history = annotation(set, HISTORY).unwrap_or_default();
    let mut kept: Vec<&str> = history
        .split(',')
        .filter(|entry| !entry.is_empty())
        .collect();
    let length =
        |kept: &[&str]| kept.iter().map(|entry| entry.len() + 1).sum::<usize>() + revision.len();
    while !kept.is_empty() && length(&kept) > HISTORY_LENGTH {
        kept.remove(0);
    }
    kept.push(revision);
    let history = kept.join(",");
    annotate(set, HISTORY, &history);
}
