//! The step shared by ReplicaSet and ReplicationController: as many pods of one template as asked for
//! (upstream pkg/controller/replicaset). Not here: slow start and expectations, which a view that is never stale does not need.

use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::{Map, Value, json};

use super::claim::{Rule, claim};
use super::event::Reason;
use super::object::{
    available_at, condition, controller_of, count, int, is_active, is_being_deleted, is_ready,
    items, name, namespace, put, text, uid,
};
use super::pod_template::{pod_of, prefix, template_of};
use super::ranking::by_deletion_preference;
use super::selector::{matches_labels, of_labels};
use super::suffix::generated_name;
use super::view::{EventRecord, Kind, ObjectKey, Propagation, Severity, Step, View, Write};
use crate::time;

/// Most pods created or deleted in one step (upstream BurstReplicas); the next step goes on.
const BURST: usize = 500;

/// What tells a ReplicaSet from a ReplicationController.
pub(crate) struct Flavour {
    /// The kind that is stepped.
    pub kind: Kind,
    /// Component of its events.
    pub component: &'static str,
    /// True where the status tells terminating pods (upstream EnableStatusTerminatingReplicas).
    pub counts_terminating: bool,
}

/// apps/ReplicaSet.
pub(crate) const REPLICA_SET: Flavour = Flavour {
    kind: Kind::REPLICA_SET,
    component: "replicaset-controller",
    counts_terminating: true,
};

/// One step of a ReplicaSet or ReplicationController.
pub(crate) fn step(view: &dyn View, key: &ObjectKey, now_ms: UnixMs, flavour: &Flavour) -> Step {
    let Some(set) = view.get(&flavour.kind, &key.namespace, &key.name) else {
        return Step::default();
    };
    let selector = selector_of(&set, flavour);
    let claimed = claim(
        view,
        &set,
        &Kind::POD,
        &Rule {
            selector: &selector,
            considers: &is_active,
            fits: &|_| true,
        },
    );
    let mut writes = claimed.writes;
    let pods = claimed.objects;
    if !is_being_deleted(&set) {
        writes.extend(manage(view, &set, &pods, now_ms, flavour));
    }
    let status = status(view, &set, &pods, now_ms, flavour);
    if status != set.pointer("/status").cloned().unwrap_or_else(|| json!({})) {
        let mut update = Value::clone(&set);
        put(&mut update, &["status"], status);
        writes.push(Write::UpdateStatus(update));
    }
    Step {
        writes,
        next_due: next_available(&set, &pods, now_ms),
    }
}

/// The writes that tell of a refused pod: an event and the condition ReplicaFailure (upstream RealPodControl, calculateStatus).
pub(crate) fn refused(
    view: &dyn View,
    key: &ObjectKey,
    refusal: &Refusal<'_>,
    flavour: &Flavour,
) -> Vec<Write> {
    let Some(set) = view.get(&flavour.kind, &key.namespace, &key.name) else {
        return Vec::new();
    };
    let (reason, told) = match refusal.write {
        Write::Create(_) => (
            "FailedCreate",
            format!("Error creating: {}", refusal.message),
        ),
        Write::Delete { .. } => (
            "FailedDelete",
            format!("Error deleting: {}", refusal.message),
        ),
        Write::Update(_) | Write::UpdateStatus(_) | Write::Event(_) => return Vec::new(),
    };
    let event = EventRecord::about(
        &set,
        flavour.component,
        Severity::Warning,
        Reason(reason, told),
    );
    let mut writes = vec![Write::Event(event)];
    if condition(&set, FAILURE).is_none() {
        let mut update = Value::clone(&set);
        let mut conditions = items(&set, "/status/conditions").to_vec();
        conditions.push(json!({
            "type": FAILURE,
            "status": "True",
            "lastTransitionTime": time::print(refusal.now_ms),
            "reason": reason,
            "message": refusal.message,
        }));
        put(&mut update, &["status", "conditions"], json!(conditions));
        writes.push(Write::UpdateStatus(update));
    }
    writes
}

/// A write the store did not take.
pub(crate) struct Refusal<'a> {
    /// The write.
    pub write: &'a Write,
    /// The store's message.
    pub message: &'a str,
    /// When.
    pub now_ms: UnixMs,
}

const FAILURE: &str = "ReplicaFailure";

/// Pods asked for; absent means 1, the API's default.
pub(crate) fn wanted(set: &Value) -> i64 {
    int(set, "/spec/replicas").unwrap_or(1)
}

fn selector_of(set: &Value, flavour: &Flavour) -> Value {
    let selector = set.pointer("/spec/selector");
    if flavour.kind == Kind::REPLICATION_CONTROLLER {
        of_labels(selector)
    } else {
        selector.cloned().unwrap_or(Value::Null)
    }
}

fn manage(
    view: &dyn View,
    set: &Value,
    pods: &[Arc<Value>],
    now_ms: UnixMs,
    flavour: &Flavour,
) -> Vec<Write> {
    let wanted = usize::try_from(wanted(set)).unwrap_or(0);
    let missing = wanted.saturating_sub(pods.len());
    let surplus = pods.len().saturating_sub(wanted);
    if missing > 0 {
        let at = Instant {
            now_ms,
            pods: pods.len(),
            flavour,
        };
        return create(view, set, missing.min(BURST), &at);
    }
    if surplus > 0 {
        return delete(view, set, pods, surplus.min(BURST), flavour);
    }
    Vec::new()
}

/// What makes the names of this step's pods differ from those of any other step of the same owner.
struct Instant<'a> {
    now_ms: UnixMs,
    pods: usize,
    flavour: &'a Flavour,
}

fn create(view: &dyn View, set: &Value, missing: usize, at: &Instant<'_>) -> Vec<Write> {
    let template = template_of(set);
    let mut made: Vec<String> = Vec::with_capacity(missing);
    let mut writes = Vec::with_capacity(missing * 2);
    for number in 0..missing {
        let seed = format!("{}/{}/{}/{number}", uid(set), at.now_ms, at.pods);
        let taken = |candidate: &str| {
            made.iter().any(|known| known == candidate)
                || view.get(&Kind::POD, namespace(set), candidate).is_some()
        };
        let pod_name = generated_name(&prefix(set), &seed, taken);
        writes.push(Write::Create(pod_of(&template, set, &pod_name)));
        let reason = Reason("SuccessfulCreate", format!("Created pod: {pod_name}"));
        writes.push(Write::Event(EventRecord::about(
            set,
            at.flavour.component,
            Severity::Normal,
            reason,
        )));
        made.push(pod_name);
    }
    writes
}

fn delete(
    view: &dyn View,
    set: &Value,
    pods: &[Arc<Value>],
    surplus: usize,
    flavour: &Flavour,
) -> Vec<Write> {
    let mut ranked = pods.to_vec();
    by_deletion_preference(&mut ranked, &related(view, set, pods, flavour));
    let mut writes = Vec::with_capacity(surplus * 2);
    for pod in ranked.iter().take(surplus) {
        writes.push(Write::Delete {
            key: ObjectKey::new(Kind::POD, namespace(pod), name(pod)),
            uid: uid(pod).to_owned(),
            grace_seconds: None,
            propagation: Propagation::Background,
        });
        let reason = Reason("SuccessfulDelete", format!("Deleted pod: {}", name(pod)));
        writes.push(Write::Event(EventRecord::about(
            set,
            flavour.component,
            Severity::Normal,
            reason,
        )));
    }
    writes
}

/// The pods of every set with the same controller (upstream getIndirectlyRelatedPods), by ownership.
fn related(
    view: &dyn View,
    set: &Value,
    pods: &[Arc<Value>],
    flavour: &Flavour,
) -> Vec<Arc<Value>> {
    let Some(owner) = controller_of(set) else {
        return pods.to_vec();
    };
    let siblings = view.owned_by(&flavour.kind, namespace(set), &owner.uid);
    siblings
        .iter()
        .flat_map(|sibling| view.owned_by(&Kind::POD, namespace(set), uid(sibling)))
        .collect()
}

/// Upstream calculateStatus. A step that reaches its status write had none of its pods refused, so ReplicaFailure goes.
fn status(
    view: &dyn View,
    set: &Value,
    pods: &[Arc<Value>],
    now_ms: UnixMs,
    flavour: &Flavour,
) -> Value {
    let labels = of_labels(set.pointer("/spec/template/metadata/labels"));
    let min_ready = count(set, "/spec/minReadySeconds");
    let number = |test: &dyn Fn(&Value) -> bool| pods.iter().filter(|pod| test(pod)).count();
    let is_labelled = |pod: &Value| {
        matches_labels(
            &labels,
            pod.pointer("/metadata/labels").and_then(Value::as_object),
        )
    };
    let is_available = |pod: &Value| available_at(pod, min_ready).is_some_and(|at| at <= now_ms);
    let mut status = Map::new();
    status.insert("replicas".to_owned(), json!(pods.len()));
    put_count(&mut status, "fullyLabeledReplicas", number(&is_labelled));
    put_count(&mut status, "readyReplicas", number(&is_ready));
    put_count(&mut status, "availableReplicas", number(&is_available));
    if flavour.counts_terminating {
        status.insert(
            "terminatingReplicas".to_owned(),
            json!(terminating(view, set)),
        );
    }
    put_count(
        &mut status,
        "observedGeneration",
        count(set, "/metadata/generation") as usize,
    );
    let conditions: Vec<&Value> = items(set, "/status/conditions")
        .iter()
        .filter(|entry| text(entry, "/type") != FAILURE)
        .collect();
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), json!(conditions));
    }
    Value::Object(status)
}

/// Sets a counter unless it is 0, as Go's omitempty does.
pub(crate) fn put_count(status: &mut Map<String, Value>, field: &str, number: usize) {
    if number > 0 {
        status.insert(field.to_owned(), json!(number));
    }
}

fn terminating(view: &dyn View, set: &Value) -> usize {
    let owned = view.owned_by(&Kind::POD, namespace(set), uid(set));
    let is_leaving = |pod: &&Arc<Value>| {
        is_being_deleted(pod) && !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
    };
    owned.iter().filter(is_leaving).count()
}

/// The earliest instant at which a ready pod of the set becomes available.
fn next_available(set: &Value, pods: &[Arc<Value>], now_ms: UnixMs) -> Option<UnixMs> {
    let min_ready = count(set, "/spec/minReadySeconds");
    pods.iter()
        .filter_map(|pod| available_at(pod, min_ready))
        .filter(|at| *at > now_ms)
        .min()
}

#[cfg(test)]
mod tests {
    use super::super::object::label;
    use super::super::testing::{World, workload};
    use super::*;

    fn world(kind: &str, replicas: i64) -> World {
        let mut world = World::new();
        world.create(workload(kind, "web", replicas));
        world.settle();
        world
    }

    #[test]
    fn a_set_makes_its_pods_tells_of_each_and_counts_them() {
        for (kind, kind_name, terminating) in [
            (Kind::REPLICA_SET, "ReplicaSet", Some(0)),
            (Kind::REPLICATION_CONTROLLER, "ReplicationController", None),
        ] {
            let world = world(kind_name, 2);
            let set = world.object(&kind, "web");
            let expected = json!({"replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "observedGeneration": 1});
            let mut expected = expected;
            if let Some(terminating) = terminating {
                expected["terminatingReplicas"] = json!(terminating);
            }
            assert_eq!(set["status"], expected);
            let pods = world.all(&Kind::POD);
            let mut told = world.events();
            told.sort();
            let expected: Vec<String> = pods
                .iter()
                .map(|pod| format!("SuccessfulCreate Created pod: {}", name(pod)))
                .collect();
            assert_eq!(told, expected);
            assert!(
                pods.iter()
                    .all(|pod| is_ready(pod) && name(pod).len() == "web-".len() + 5)
            );
        }
    }

    #[test]
    fn the_newest_pods_go_first_when_a_set_shrinks() {
        let mut world = world("ReplicaSet", 2);
        let first: Vec<String> = world
            .log
            .iter()
            .filter(|line| line.starts_with('+'))
            .cloned()
            .collect();
        world.change(&Kind::REPLICA_SET, "web", |set| {
            set["spec"]["replicas"] = json!(4);
        });
        world.settle();
        world.change(&Kind::REPLICA_SET, "web", |set| {
            set["spec"]["replicas"] = json!(2);
        });
        world.settle();
        let left: Vec<String> = world
            .all(&Kind::POD)
            .iter()
            .map(|pod| format!("+{}", name(pod)))
            .collect();
        let mut first = first;
        first.sort();
        assert_eq!(left, first);
    }

    #[test]
    fn a_pod_that_loses_its_label_is_released_and_replaced_and_adopted_when_it_returns() {
        let mut world = world("ReplicaSet", 1);
        let pod = name(&world.all(&Kind::POD)[0]).to_owned();
        world.change(&Kind::POD, &pod, |pod| {
            pod["metadata"]["labels"]["app"] = json!("other");
        });
        world.settle();
        assert_eq!(world.all(&Kind::POD).len(), 2);
        assert_eq!(controller_of(&world.object(&Kind::POD, &pod)), None);
        world.change(&Kind::POD, &pod, |pod| {
            pod["metadata"]["labels"]["app"] = json!("web");
        });
        world.settle();
        let pods = world.all(&Kind::POD);
        assert_eq!(pods.len(), 1);
        assert!(controller_of(&pods[0]).is_some() && label(&pods[0], "app") == Some("web"));
    }

    #[test]
    fn a_refused_pod_is_told_in_an_event_and_a_condition_until_it_succeeds() {
        let mut world = World::new();
        world.refused = Some((Kind::POD, "pods \"x\" is forbidden"));
        world.create(workload("ReplicaSet", "web", 1));
        world.run_for(3_000);
        let set = world.object(&Kind::REPLICA_SET, "web");
        let failure = condition(&set, "ReplicaFailure").unwrap();
        assert_eq!(
            (text(failure, "/reason"), text(failure, "/message")),
            ("FailedCreate", "pods \"x\" is forbidden")
        );
        assert_eq!(
            world.events(),
            ["FailedCreate Error creating: pods \"x\" is forbidden"]
        );
        world.refused = None;
        world.settle();
        let set = world.object(&Kind::REPLICA_SET, "web");
        assert_eq!(
            (
                condition(&set, "ReplicaFailure"),
                &set["status"]["readyReplicas"]
            ),
            (None, &json!(1))
        );
    }

    #[test]
    fn a_pod_is_available_only_after_its_minimum_of_ready_seconds() {
        let mut world = World::new();
        let mut set = workload("ReplicaSet", "web", 1);
        set["spec"]["minReadySeconds"] = json!(10);
        world.create(set);
        world.run_for(11_999);
        assert_eq!(
            world.object(&Kind::REPLICA_SET, "web")["status"]["availableReplicas"],
            Value::Null
        );
        world.run_for(1);
        assert_eq!(
            world.object(&Kind::REPLICA_SET, "web")["status"]["availableReplicas"],
            json!(1)
        );
    }
}
