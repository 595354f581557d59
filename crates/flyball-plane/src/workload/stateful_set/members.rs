//! The pods of a StatefulSet by ordinal: those it wants, made or not, and those beyond, which are condemned.

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use super::super::event::Reason;
use super::super::object::{
    available_at, count, is_being_deleted, is_ready, items, label, name, namespace, put, text, uid,
};
use super::super::pod_template::pod_of;
use super::super::replica_set::wanted;
use super::super::view::{EventRecord, Kind, ObjectKey, Propagation, Severity, Write};
use super::COMPONENT;
use super::revisions::{REVISION_LABEL, Revisions};

/// The pods of one StatefulSet as a step works on them.
pub(super) struct Members<'a> {
    pub(super) set: &'a Value,
    /// The pods asked for, by ordinal from the first.
    pub(super) replicas: Vec<Member>,
    /// The pods beyond, the highest ordinal first.
    pub(super) condemned: Vec<Arc<Value>>,
    now_ms: UnixMs,
    updating: usize,
    writes: Vec<Write>,
}

/// One pod that is asked for.
pub(super) struct Member {
    /// The pod, as stored or as it is to be created.
    pub(super) pod: Arc<Value>,
    /// True when it is stored.
    pub(super) exists: bool,
}

impl<'a> Members<'a> {
    /// Sorts the pods out by ordinal and makes up those that are missing, each of the right revision.
    pub(super) fn of(
        set: &'a Value,
        pods: &[Arc<Value>],
        revisions: &Revisions,
        now_ms: UnixMs,
    ) -> Self {
        let start = count(set, "/spec/ordinals/start");
        let end = start + wanted(set);
        let mut condemned: Vec<Arc<Value>> = pods
            .iter()
            .filter(|pod| !(start..end).contains(&ordinal(pod)))
            .cloned()
            .collect();
        condemned.sort_by_key(|pod| std::cmp::Reverse(ordinal(pod)));
        let member = |number| {
            let stored = pods.iter().find(|pod| ordinal(pod) == number).cloned();
            let exists = stored.is_some();
            Member {
                pod: stored.unwrap_or_else(|| Arc::new(new_pod(set, revisions, number))),
                exists,
            }
        };
        let replicas = (start..end).map(member).collect();
        Self {
            set,
            replicas,
            condemned,
            now_ms,
            updating: 0,
            writes: Vec::new(),
        }
    }

    /// Available now.
    pub(super) fn is_available(&self, pod: &Value) -> bool {
        available_at(pod, count(self.set, "/spec/minReadySeconds"))
            .is_some_and(|at| at <= self.now_ms)
    }

    /// Not available, or on its way out (upstream isUnavailable).
    pub(super) fn is_unavailable(&self, pod: &Value) -> bool {
        !self.is_available(pod) || is_being_deleted(pod)
    }

    /// Creates a missing pod.
    pub(super) fn create(&mut self, index: usize) {
        let pod = self.replicas[index].pod.clone();
        self.writes.push(Write::Create(Value::clone(&pod)));
        self.tell("SuccessfulCreate", "Create", &pod);
    }

    /// Gives a pod the labels of its ordinal again (upstream UpdateStatefulPod).
    pub(super) fn restore_identity(&mut self, index: usize) {
        let pod = self.replicas[index].pod.clone();
        if label(&pod, NAME_LABEL) == Some(name(&pod)) {
            return;
        }
        let mut update = Value::clone(&pod);
        identify(&mut update, ordinal(&pod));
        self.writes.push(Write::Update(update));
        self.tell("SuccessfulUpdate", "Update", &pod);
    }

    /// Deletes a pod.
    pub(super) fn delete(&mut self, pod: &Arc<Value>) {
        self.writes.push(Write::Delete {
            key: ObjectKey::new(Kind::POD, namespace(pod), name(pod)),
            uid: uid(pod).to_owned(),
            grace_seconds: None,
            propagation: Propagation::Background,
        });
        self.tell("SuccessfulDelete", "Delete", pod);
    }

    /// Deletes a pod so that one of the new revision takes its place.
    pub(super) fn update(&mut self, pod: &Arc<Value>) {
        self.delete(pod);
        self.updating += 1;
    }

    /// Pods this step deletes for an update; they no longer count as current.
    pub(super) fn updating(&self) -> usize {
        self.updating
    }

    fn tell(&mut self, reason: &'static str, verb: &str, pod: &Value) {
        let message = format!(
            "{verb} Pod {} in StatefulSet {} successful",
            name(pod),
            name(self.set)
        );
        let event = EventRecord::about(
            self.set,
            COMPONENT,
            Severity::Normal,
            Reason(reason, message),
        );
        self.writes.push(Write::Event(event));
    }

    /// The writes of the step.
    pub(super) fn into_writes(self) -> Vec<Write> {
        self.writes
    }
}

/// Parent name and ordinal in a pod's name `parent-ordinal` (upstream getParentNameAndOrdinal).
pub(super) fn parent_and_ordinal(pod: &Value) -> Option<(&str, i64)> {
    let (parent, digits) = name(pod).rsplit_once('-')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let ordinal: i32 = digits.parse().ok().filter(|_| is_number)?;
    Some((parent, i64::from(ordinal)))
}

fn ordinal(pod: &Value) -> i64 {
    parent_and_ordinal(pod).map_or(-1, |(_, ordinal)| ordinal)
}

/// The revision a pod was made of, `""` when it does not say.
pub(super) fn revision_of(pod: &Value) -> &str {
    label(pod, REVISION_LABEL).unwrap_or_default()
}

/// Upstream isRunningAndReady.
pub(super) fn is_running_and_ready(pod: &Value) -> bool {
    text(pod, "/status/phase") == "Running" && is_ready(pod)
}

const NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";
const INDEX_LABEL: &str = "apps.kubernetes.io/pod-index";

/// Upstream newVersionedStatefulSetPod: below the partition of the current revision, else of the new one.
fn new_pod(set: &Value, revisions: &Revisions, number: i64) -> Value {
    let partition = count(set, "/spec/updateStrategy/rollingUpdate/partition");
    let is_current = number < count(set, "/spec/ordinals/start") + partition;
    let (template, revision) = if is_current {
        (&revisions.current_template, &revisions.current)
    } else {
        (&revisions.update_template, &revisions.update)
    };
    let pod_name = format!("{}-{number}", name(set));
    let mut pod = pod_of(template, set, &pod_name);
    identify(&mut pod, number);
    put(
        &mut pod,
        &["metadata", "labels", REVISION_LABEL],
        json!(revision),
    );
    put(&mut pod, &["spec", "hostname"], json!(pod_name));
    let service = text(set, "/spec/serviceName");
    if !service.is_empty() {
        put(&mut pod, &["spec", "subdomain"], json!(service));
    }
    mount_claims(set, &mut pod, number);
    pod
}

fn identify(pod: &mut Value, number: i64) {
    let pod_name = name(pod).to_owned();
    put(pod, &["metadata", "labels", NAME_LABEL], json!(pod_name));
    put(
        pod,
        &["metadata", "labels", INDEX_LABEL],
        json!(number.to_string()),
    );
}

/// The volumes of `volumeClaimTemplates` (upstream updateStorage).
fn mount_claims(set: &Value, pod: &mut Value, number: i64) {
    let claims = items(set, "/spec/volumeClaimTemplates");
    if claims.is_empty() {
        return;
    }
    let is_claimed = |volume: &Value| {
        claims
            .iter()
            .any(|claim| name(claim) == text(volume, "/name"))
    };
    let claimed = claims.iter().map(|claim| {
        let claim_name = format!("{}-{}-{number}", name(claim), name(set));
        json!({"name": name(claim), "persistentVolumeClaim": {"claimName": claim_name}})
    });
    let others = items(pod, "/spec/volumes")
        .iter()
        .filter(|volume| !is_claimed(volume))
        .cloned();
    let volumes: Vec<Value> = claimed.chain(others).collect();
    put(pod, &["spec", "volumes"], json!(volumes));
}
