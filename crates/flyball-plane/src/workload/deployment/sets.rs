//! The ReplicaSets of one Deployment as a step works on them: copies that are changed in memory and written once at the end.
//! Not here: how large each should be.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::event::Reason;
use super::super::object::{
    Rounding, annotate, annotation, by_creation, count, int, is_being_deleted, name, namespace,
    put, scaled, uid,
};
use super::super::pod_template::{same_template, template_of};
use super::super::replica_set::wanted;
use super::super::view::{EventRecord, Kind, ObjectKey, Propagation, Severity, Write};
use super::COMPONENT;
use super::revision::revision_of;

/// How many replicas the Deployment asked for when the set was last sized.
pub(super) const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// `spec.replicas` + maxSurge at that time.
pub(super) const MAXIMUM: &str = "deployment.kubernetes.io/max-replicas";

/// One ReplicaSet, as stored and as the step wants it.
struct Set {
    is: Arc<Value>,
    was: Option<Arc<Value>>,
}

/// The ReplicaSets of one Deployment, oldest first.
pub(super) struct Sets {
    list: Vec<Set>,
    new: Option<usize>,
    bounds: Bounds,
    deployment: Value,
    events: Vec<EventRecord>,
    doomed: Vec<usize>,
}

/// The numbers of a Deployment that every rule asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// `spec.replicas`.
    pub replicas: i64,
    /// Pods allowed above that.
    pub max_surge: i64,
    /// Pods allowed to be missing from it.
    pub max_unavailable: i64,
}

impl Bounds {
    /// Reads them (upstream ResolveFenceposts, MaxSurge, MaxUnavailable).
    pub(super) fn of(deployment: &Value) -> Self {
        let replicas = wanted(deployment);
        if deployment.pointer("/spec/strategy/type") == Some(&json!("Recreate")) {
            // A Recreate rollout has no fences: it never surges, and nothing it lacks counts as too much.
            return Self {
                replicas,
                max_surge: 0,
                max_unavailable: 0,
            };
        }
        let quarter = json!("25%");
        let part = |field: &str, rounding| {
            let value = deployment.pointer(&format!("/spec/strategy/rollingUpdate/{field}"));
            scaled(Some(value.unwrap_or(&quarter)), replicas, rounding)
        };
        let max_surge = part("maxSurge", Rounding::Up);
        let mut max_unavailable = part("maxUnavailable", Rounding::Down);
        if max_surge == 0 && max_unavailable == 0 {
            // Percentages may round both to nothing; then one pod may be missing, or nothing would ever move.
            max_unavailable = 1;
        }
        Self {
            replicas,
            max_surge,
            max_unavailable: max_unavailable.min(replicas),
        }
    }

    /// Most pods at any time.
    pub(super) fn max_total(self) -> i64 {
        self.replicas.saturating_add(self.max_surge)
    }

    /// Fewest available pods during a rollout.
    pub(super) fn min_available(self) -> i64 {
        self.replicas - self.max_unavailable
    }
}

impl Sets {
    /// Sorts out which set is the new one: the oldest with the Deployment's template (upstream FindNewReplicaSet).
    pub(super) fn of(deployment: &Value, mut objects: Vec<Arc<Value>>) -> Self {
        objects.sort_by(by_creation);
        let template = template_of(deployment);
        let new = objects
            .iter()
            .position(|set| same_template(&template_of(set), &template));
        let list = objects
            .into_iter()
            .map(|set| Set {
                is: set.clone(),
                was: Some(set),
            })
            .collect();
        let bounds = Bounds::of(deployment);
        let deployment = deployment.clone();
        Self {
            list,
            new,
            bounds,
            deployment,
            events: Vec::new(),
            doomed: Vec::new(),
        }
    }

    /// The Deployment as stored.
    pub(super) fn deployment(&self) -> &Value {
        &self.deployment
    }

    /// True for RollingUpdate.
    pub(super) fn rolls(&self) -> bool {
        self.deployment.pointer("/spec/strategy/type") != Some(&json!("Recreate"))
    }

    /// The numbers in force.
    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The set with the Deployment's template.
    pub(super) fn new_set(&self) -> Option<usize> {
        self.new
    }

    /// All sets, oldest first.
    pub(super) fn all(&self) -> Vec<usize> {
        (0..self.list.len()).collect()
    }

    /// All but the new set, oldest first.
    pub(super) fn old(&self) -> Vec<usize> {
        self.all()
            .into_iter()
            .filter(|index| Some(*index) != self.new)
            .collect()
    }

    /// Those of `which` that want pods.
    pub(super) fn active(&self, which: Vec<usize>) -> Vec<usize> {
        which
            .into_iter()
            .filter(|index| self.replicas(*index) > 0)
            .collect()
    }

    pub(super) fn get(&self, index: usize) -> &Value {
        &self.list[index].is
    }

    pub(super) fn change(&mut self, index: usize) -> &mut Value {
        Arc::make_mut(&mut self.list[index].is)
    }

    /// `spec.replicas` as the step wants it by now.
    pub(super) fn replicas(&self, index: usize) -> i64 {
        wanted(self.get(index))
    }

    pub(super) fn available(&self, index: usize) -> i64 {
        count(self.get(index), "/status/availableReplicas")
    }

    /// Sum of `spec.replicas` over all sets.
    pub(super) fn total(&self) -> i64 {
        self.all()
            .into_iter()
            .map(|index| self.replicas(index))
            .sum()
    }

    /// Sum of a counter of the status over some sets.
    pub(super) fn sum(&self, which: &[usize], counter: &str) -> i64 {
        which
            .iter()
            .map(|index| count(self.get(*index), &format!("/status/{counter}")))
            .sum()
    }

    /// Adds the set to create; it becomes the new one.
    pub(super) fn create(&mut self, mut set: Value) {
        self.mark_size(&mut set);
        if wanted(&set) > 0 {
            self.tell(format!(
                "Scaled up replica set {} from 0 to {}",
                name(&set),
                wanted(&set)
            ));
        }
        self.new = Some(self.list.len());
        self.list.push(Set {
            is: Arc::new(set),
            was: None,
        });
    }

    /// Resizes a set, with its annotations, unless it has that size (upstream scaleReplicaSet). True when it changed.
    pub(super) fn scale(&mut self, index: usize, to: i64) -> bool {
        let from = self.replicas(index);
        if from == to {
            return false;
        }
        self.mark(index);
        put(self.change(index), &["spec", "replicas"], json!(to));
        let way = if from < to { "up" } else { "down" };
        self.tell(format!(
            "Scaled {way} replica set {} from {from} to {to}",
            name(self.get(index))
        ));
        true
    }

    /// Records on a set for which size of the Deployment it was sized.
    pub(super) fn mark(&mut self, index: usize) {
        let mut set = Value::clone(&self.list[index].is);
        self.mark_size(&mut set);
        self.list[index].is = Arc::new(set);
    }

    fn mark_size(&self, set: &mut Value) {
        annotate(set, DESIRED, &self.bounds.replicas.to_string());
        annotate(set, MAXIMUM, &self.bounds.max_total().to_string());
    }

    fn tell(&mut self, message: String) {
        let reason = Reason("ScalingReplicaSet", message);
        self.events.push(EventRecord::about(
            &self.deployment,
            COMPONENT,
            Severity::Normal,
            reason,
        ));
    }

    /// True when an active set was sized for another `spec.replicas` (upstream isScalingEvent).
    pub(super) fn are_resized(&self) -> bool {
        self.active(self.all()).into_iter().any(|index| {
            annotated(self.get(index), DESIRED)
                .is_some_and(|desired| desired != self.bounds.replicas)
        })
    }

    /// Dooms the oldest revisions beyond `spec.revisionHistoryLimit` that have no pods (upstream cleanupDeployment).
    pub(super) fn clean_up(&mut self) {
        let limit = int(&self.deployment, "/spec/revisionHistoryLimit").unwrap_or(10);
        if limit == i64::from(i32::MAX) {
            return;
        }
        let mut old = self.old();
        old.retain(|index| !is_being_deleted(self.get(*index)));
        let surplus = old
            .len()
            .saturating_sub(usize::try_from(limit).unwrap_or(0));
        old.sort_by_key(|index| revision_of(self.get(*index)));
        for index in old.into_iter().take(surplus) {
            let set = self.get(index);
            let is_observed =
                count(set, "/metadata/generation") <= count(set, "/status/observedGeneration");
            if count(set, "/status/replicas") == 0 && wanted(set) == 0 && is_observed {
                self.doomed.push(index);
            }
        }
    }

    /// The writes of the step: sets created and changed, then events, then deletions.
    pub(super) fn into_writes(self) -> Vec<Write> {
        // The new set is last in the list and first to be written, as upstream creates it before it sizes the others.
        let mut writes: Vec<Write> = (self.list.iter())
            .filter(|set| set.was.is_none())
            .map(|set| Write::Create(Value::clone(&set.is)))
            .collect();
        let is_changed = |set: &&Set| set.was.as_ref().is_some_and(|was| *was != set.is);
        let changed = self.list.iter().filter(is_changed);
        writes.extend(changed.map(|set| Write::Update(Value::clone(&set.is))));
        writes.extend(self.events.into_iter().map(Write::Event));
        writes.extend(self.doomed.iter().map(|index| {
            let set = &self.list[*index].is;
            Write::Delete {
                key: ObjectKey::new(Kind::REPLICA_SET, namespace(set), name(set)),
                uid: uid(set).to_owned(),
                grace_seconds: None,
                propagation: Propagation::Background,
            }
        }));
        writes
    }
}

/// A non-negative 32-bit number in an annotation (upstream getNonNegativeInt32FromAnnotation).
pub(super) fn annotated(set: &Value, key: &str) -> Option<i64> {
    let number: i64 = annotation(set, key)?.parse().ok()?;
    (0..=i64::from(i32::MAX))
        .contains(&number)
        .then_some(number)
}
