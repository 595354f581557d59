//! Which objects a controller manages: those it owns and selects, those it adopts, those it lets go
//! (upstream controller.BaseControllerRefManager.ClaimObject). Not here: what is done with them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::object::{
    controller_reference, is_being_deleted, is_controlled_by, name, namespace, owners, put, uid,
};
use super::selector::selects;
use super::view::{Kind, View, Write};

/// The outcome of claiming.
pub(crate) struct Claim {
    /// The objects the owner manages, adopted ones with their new reference.
    pub objects: Vec<Arc<Value>>,
    /// Adoptions and releases to write.
    pub writes: Vec<Write>,
}

/// Claims the objects of `kind` for `owner`: those it controls stay while `selector` matches them, those without a controller
/// are adopted when it does and `fits` agrees. An owner that is being deleted neither adopts nor releases.
pub(crate) fn claim(view: &dyn View, owner: &Value, kind: &Kind, rule: &Rule<'_>) -> Claim {
    let place = namespace(owner);
    let mut claim = Claim {
        objects: Vec::new(),
        writes: Vec::new(),
    };
    let wanted = |object: &Value| selects(rule.selector, object) && (rule.fits)(object);
    let is_considered = |object: &Value| (rule.considers)(object);
    for object in view.owned_by(kind, place, uid(owner)) {
        if !is_controlled_by(&object, owner) || !is_considered(&object) {
            continue;
        }
        if wanted(&object) {
            claim.objects.push(object);
        } else if !is_being_deleted(owner) {
            claim.writes.push(Write::Update(released(&object, owner)));
        }
    }
    if is_being_deleted(owner) {
        return claim;
    }
    for object in view.uncontrolled(kind, place) {
        if is_considered(&object) && wanted(&object) && !is_being_deleted(&object) {
            let adopted = adopted(&object, owner);
            claim.writes.push(Write::Update(adopted.clone()));
            claim.objects.push(Arc::new(adopted));
        }
    }
    claim
        .objects
        .sort_by(|left, right| name(left).cmp(name(right)));
    claim
}

/// What an owner claims.
pub(crate) struct Rule<'a> {
    /// A LabelSelector object.
    pub selector: &'a Value,
    /// Which objects are looked at; the others keep the owner they have. A terminating pod stays its set's.
    pub considers: &'a dyn Fn(&Value) -> bool,
    /// A further test, such as "has my name and an ordinal"; an object that fails it is released.
    pub fits: &'a dyn Fn(&Value) -> bool,
}

fn adopted(object: &Value, owner: &Value) -> Value {
    let mut references: Vec<Value> = owners(object)
        .iter()
        .filter(|entry| entry["uid"] != uid(owner))
        .cloned()
        .collect();
    references.push(controller_reference(owner));
    with_owners(object, &references)
}

fn released(object: &Value, owner: &Value) -> Value {
    let references: Vec<Value> = owners(object)
        .iter()
        .filter(|entry| entry["uid"] != uid(owner))
        .cloned()
        .collect();
    with_owners(object, &references)
}

fn with_owners(object: &Value, references: &[Value]) -> Value {
    let mut object = object.clone();
    put(
        &mut object,
        &["metadata", "ownerReferences"],
        json!(references),
    );
    object
}
