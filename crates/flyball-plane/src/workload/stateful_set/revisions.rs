//! The revisions of a StatefulSet's template, kept as ControllerRevisions (upstream getStatefulSetRevisions, truncateHistory).

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::object::{controller_reference, count, int, name, namespace, put, text, uid};
use super::super::pod_template::{same_template, template_of};
use super::super::suffix::template_hash;
use super::super::view::{Kind, ObjectKey, Propagation, View, Write};
use super::members::revision_of;

/// The label that names a pod's revision.
pub(super) const REVISION_LABEL: &str = "controller-revision-hash";
/// Upstream's label of the hash in a ControllerRevision.
const HASH_LABEL: &str = "controller.kubernetes.io/hash";
/// Longest prefix of a revision's name.
const PREFIX_LENGTH: usize = 223;

/// The revisions in force, and the rest.
pub(super) struct Revisions {
    /// Name of the revision the set comes from.
    pub(super) current: String,
    /// Its template.
    pub(super) current_template: Value,
    /// Name of the revision of the template in the spec.
    pub(super) update: String,
    /// Its template.
    pub(super) update_template: Value,
    /// Names that were taken by other templates.
    pub(super) collisions: i64,
    history: Vec<Arc<Value>>,
}

impl Revisions {
    /// Finds the revision of the template in force among `history`, making it or moving it to the top with `writes`.
    pub(super) fn of(
        view: &dyn View,
        set: &Value,
        mut history: Vec<Arc<Value>>,
        writes: &mut Vec<Write>,
    ) -> Self {
        history.sort_by(|left, right| {
            count(left, "/revision")
                .cmp(&count(right, "/revision"))
                .then_with(|| name(left).cmp(name(right)))
        });
        let template = template_of(set);
        let mut collisions = count(set, "/status/collisionCount");
        let next = history
            .last()
            .map_or(1, |last| count(last, "/revision") + 1);
        let equal = history
            .iter()
            .rposition(|revision| same_template(&template_in(revision), &template));
        let update = if let Some(index) = equal {
            if index + 1 < history.len() {
                let mut moved = Value::clone(&history[index]);
                put(&mut moved, &["revision"], json!(next));
                writes.push(Write::Update(moved));
            }
            name(&history[index]).to_owned()
        } else {
            let revision = new_revision(view, set, next, &mut collisions);
            let made = name(&revision).to_owned();
            writes.push(Write::Create(revision));
            made
        };
        let known = history
            .iter()
            .find(|revision| name(revision) == text(set, "/status/currentRevision"));
        let current = known.map_or_else(|| update.clone(), |revision| name(revision).to_owned());
        let current_template =
            known.map_or_else(|| template.clone(), |revision| template_in(revision));
        Self {
            current,
            current_template,
            update,
            update_template: template,
            collisions,
            history,
        }
    }

    /// Deletions of the oldest revisions that nothing uses, beyond `spec.revisionHistoryLimit`.
    pub(super) fn surplus(&self, set: &Value, pods: &[Arc<Value>]) -> Vec<Write> {
        let is_live = |revision: &&Arc<Value>| {
            let revision = name(revision);
            revision == self.current
                || revision == self.update
                || pods.iter().any(|pod| revision_of(pod) == revision)
        };
        let dead: Vec<&Arc<Value>> = self
            .history
            .iter()
            .filter(|revision| !is_live(revision))
            .collect();
        let limit = int(set, "/spec/revisionHistoryLimit").unwrap_or(10);
        let surplus = dead
            .len()
            .saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        let deletions = dead
            .into_iter()
            .take(surplus)
            .map(|revision| Write::Delete {
                key: ObjectKey::of(revision),
                uid: uid(revision).to_owned(),
                grace_seconds: None,
                propagation: Propagation::Background,
            });
        deletions.collect()
    }
}

/// The template a revision restores.
fn template_in(revision: &Value) -> Value {
    let mut template = revision
        .pointer("/data/spec/template")
        .cloned()
        .unwrap_or(Value::Null);
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    template
}

/// Bound of the search for a free name: a name is taken only by a hash collision or by someone else's object.
const ATTEMPTS: i64 = 100;

fn new_revision(view: &dyn View, set: &Value, number: i64, collisions: &mut i64) -> Value {
    let mut template = template_of(set);
    let labels = template
        .pointer("/metadata/labels")
        .cloned()
        .unwrap_or_else(|| json!({}));
    let prefix = name(set).get(..PREFIX_LENGTH).unwrap_or_else(|| name(set));
    let mut hash = String::new();
    for _ in 0..ATTEMPTS {
        hash = template_hash(&template, Some(*collisions));
        if view
            .get(
                &Kind::CONTROLLER_REVISION,
                namespace(set),
                &format!("{prefix}-{hash}"),
            )
            .is_none()
        {
            break;
        }
        *collisions += 1;
    }
    put(&mut template, &["$patch"], json!("replace"));
    let mut revision = json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": format!("{prefix}-{hash}"),
            "namespace": namespace(set),
            "labels": labels,
            "annotations": set.pointer("/metadata/annotations").cloned().unwrap_or_else(|| json!({})),
            "ownerReferences": [controller_reference(set)],
        },
        "data": {"spec": {"template": template}},
        "revision": number,
    });
    put(
        &mut revision,
        &["metadata", "labels", HASH_LABEL],
        json!(hash),
    );
    revision
}
