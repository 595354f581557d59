//! What makes CustomResourceDefinitions take effect: names are accepted, a definition is established, and one that is deleted
//! takes its objects with it. Upstream does this inside the kube-apiserver, so it runs without workload controllers too.
//! Source: apiextensions controller/{status,establish,finalizer}. Not here: what is then served (`serving`).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::api::Api;
use crate::custom::compile::{compile, is_true};
use crate::kind::Kind;
use crate::object;
use crate::refusal::Refusal;
use crate::registry::{DeleteOptions, Mode, Part, Place, Registry};
use crate::serving::DEFINITIONS;
use crate::store::{ResourceName, Revision};
use crate::time;

/// What keeps a definition until its objects are gone.
pub(crate) const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
/// Objects deleted in one go, so that other definitions have their turn between.
const DELETIONS_MAX: usize = 500;

/// Acts on definitions until the plane stops.
pub(crate) async fn run(api: Arc<Api>) {
    let stopping = api.stopping.clone();
    let resource = ResourceName::from(DEFINITIONS);
    let mut definitions = api.registry.store.subscribe(&resource);
    let mut everything = api.registry.store.subscribe_all();
    loop {
        let rest = settle(&api.registry).await;
        tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            more = definitions.changed() => if more.is_err() { return },
            // Objects of a definition that is being deleted may go at any time.
            more = changed(&mut everything), if rest == Rest::Waiting => if more.is_err() { return },
        }
    }
}

async fn changed(receiver: &mut watch::Receiver<Revision>) -> Result<(), watch::error::RecvError> {
    receiver.changed().await
}

/// What is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// Nothing until a definition changes.
    Nothing,
    /// A definition waits for its objects to go.
    Waiting,
}

/// Brings every definition a step on until none moves.
async fn settle(registry: &Registry) -> Rest {
    loop {
        let all = definitions(registry);
        let mut moved = false;
        let mut rest = Rest::Nothing;
        for definition in &all {
            let outcome = if object::is_being_deleted(definition) {
                finalize(registry, definition, &mut rest).await
            } else {
                establish(registry, definition, &all).await
            };
            match outcome {
                Ok(step) => moved |= step == Step::Made,
                Err(refusal) => {
                    tracing::debug!(message = %refusal.message, "a definition could not be brought on");
                }
            }
            if moved {
                // Names that another definition wants may have become free or taken.
                break;
            }
        }
        if !moved {
            return rest;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Made,
    None,
}

fn definitions(registry: &Registry) -> Vec<Arc<Value>> {
    let state = registry.store.read();
    let all = state.range(&ResourceName::from(DEFINITIONS), None, None);
    all.map(|(_, entry)| Arc::clone(&entry.object)).collect()
}

/// Accepts names, then establishes: two writes, as upstream's two controllers make.
async fn establish(
    registry: &Registry,
    definition: &Value,
    all: &[Arc<Value>],
) -> Result<Step, Refusal> {
    let named = with_names(definition, all, registry.clock.now_ms());
    if named["status"] != definition["status"] {
        return write(registry, definition, named).await;
    }
    if is_true(definition, "NamesAccepted") && !is_true(definition, "Established") {
        let mut established = definition.clone();
        let said = [
            "InitialNamesAccepted",
            "the initial names have been accepted",
        ];
        set_condition(
            &mut established,
            ("Established", "True", said),
            registry.clock.now_ms(),
        );
        return write(registry, definition, established).await;
    }
    Ok(Step::None)
}

/// Upstream: naming_controller.go `calculateNamesAndConditions`.
fn with_names(definition: &Value, all: &[Arc<Value>], now_ms: i64) -> Value {
    let wanted = &definition["spec"]["names"];
    let accepted = &definition["status"]["acceptedNames"];
    if wanted == accepted {
        return definition.clone();
    }
    let (resources, kinds) = taken(definition, all);
    let mut names = accepted.clone();
    let mut conflict: Option<(&str, String)> = None;
    for (field, reason, used) in [
        ("plural", "PluralConflict", &resources),
        ("singular", "SingularConflict", &resources),
        ("shortNames", "ShortNamesConflict", &resources),
        ("kind", "KindConflict", &kinds),
        ("listKind", "ListKindConflict", &kinds),
    ] {
        let had = texts(&accepted[field]);
        let fresh = texts(&wanted[field])
            .into_iter()
            .filter(|name| !had.contains(name));
        let clashes: Vec<String> = fresh
            .filter(|name| used.contains(name))
            .map(|name| format!("{name:?} is already in use"))
            .collect();
        match clashes.as_slice() {
            [] => copy(&mut names, wanted, field),
            [one] => conflict = Some((reason, one.clone())),
            several => conflict = Some((reason, format!("[{}]", several.join(", ")))),
        }
    }
    copy(&mut names, wanted, "categories");
    let mut new = definition.clone();
    new["status"]["acceptedNames"] = names;
    if let Some((reason, message)) = &conflict {
        let said = [*reason, message.as_str()];
        set_condition(&mut new, ("NamesAccepted", "False", said), now_ms);
        if condition(&new, "Established").is_none() {
            let said = ["NotAccepted", "not all names are accepted"];
            set_condition(&mut new, ("Established", "False", said), now_ms);
        }
        return new;
    }
    let said = ["NoConflicts", "no conflicts found"];
    set_condition(&mut new, ("NamesAccepted", "True", said), now_ms);
    if !is_true(&new, "Established") {
        let said = ["Installing", "the initial names have been accepted"];
        set_condition(&mut new, ("Established", "False", said), now_ms);
    }
    new
}

fn copy(names: &mut Value, wanted: &Value, field: &str) {
    object::take_field(names, wanted, field);
}

/// The resources and kinds that other definitions of the group have.
fn taken(definition: &Value, all: &[Arc<Value>]) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut resources, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    let others = all.iter().filter(|one| {
        one["spec"]["group"] == definition["spec"]["group"]
            && object::name(one) != object::name(definition)
    });
    for other in others {
        let names = &other["status"]["acceptedNames"];
        for field in ["plural", "singular", "shortNames"] {
            resources.extend(texts(&names[field]));
        }
        for field in ["kind", "listKind"] {
            kinds.extend(texts(&names[field]));
        }
    }
    resources.remove("");
    kinds.remove("");
    (resources, kinds)
}

/// A text or a list of texts.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

fn condition<'a>(definition: &'a Value, name: &str) -> Option<&'a Value> {
    let all = definition["status"]["conditions"].as_array();
    all.into_iter().flatten().find(|one| one["type"] == name)
}

/// Sets a condition: its name, its status, reason and message. Its time moves with the status alone.
pub(crate) fn set_condition(
    definition: &mut Value,
    (name, status, [reason, message]): (&str, &str, [&str; 2]),
    now_ms: i64,
) {
    let old = condition(definition, name);
    let since = match old {
        Some(old) if old["status"] == status => old["lastTransitionTime"].clone(),
        _ => time::print(now_ms).into(),
    };
    let new = json!({
        "type": name,
        "status": status,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    });
    let list = object::child(definition, "status")
        .entry("conditions")
        .or_insert_with(|| json!([]));
    if !list.is_array() {
        *list = json!([]);
    }
    if let Value::Array(list) = list {
        match list.iter_mut().find(|one| one["type"] == name) {
            Some(one) => *one = new,
            None => list.push(new),
        }
    }
}

/// Deletes the objects of a definition, then lets it go.
async fn finalize(
    registry: &Registry,
    definition: &Value,
    rest: &mut Rest,
) -> Result<Step, Refusal> {
    let mut finalizers = object::finalizers(definition);
    if !finalizers.iter().any(|one| one == FINALIZER) {
        return Ok(Step::None);
    }
    let deleting = "InstanceDeletionInProgress";
    if condition(definition, "Terminating").is_none_or(|one| one["reason"] != deleting) {
        let mut new = definition.clone();
        let said = [deleting, "CustomResource deletion is in progress"];
        set_condition(
            &mut new,
            ("Terminating", "True", said),
            registry.clock.now_ms(),
        );
        return write(registry, definition, new).await;
    }
    if let Some(kind) = compile(definition).map(Arc::new) {
        let left = delete_objects(registry, &kind).await?;
        if left > 0 {
            *rest = Rest::Waiting;
            return Ok(Step::None);
        }
    }
    let mut new = definition.clone();
    let said = ["InstanceDeletionCompleted", "removed all instances"];
    set_condition(
        &mut new,
        ("Terminating", "False", said),
        registry.clock.now_ms(),
    );
    finalizers.retain(|one| one != FINALIZER);
    object::set_finalizers(&mut new, finalizers);
    write(registry, definition, new).await
}

/// Asks for the deletion of the objects of a kind and tells how many are left.
async fn delete_objects(registry: &Registry, kind: &Arc<Kind>) -> Result<usize, Refusal> {
    let listed = || -> Vec<Arc<Value>> {
        let state = registry.store.read();
        let all = state.range(&kind.stored, None, None);
        all.map(|(_, entry)| Arc::clone(&entry.object)).collect()
    };
    let waiting = listed();
    for one in waiting
        .iter()
        .filter(|one| !object::is_being_deleted(one))
        .take(DELETIONS_MAX)
    {
        let place = Place {
            kind,
            namespace: object::namespace(one),
            name: object::name(one),
        };
        match registry
            .delete(place, &DeleteOptions::default(), Mode::Commit)
            .await
        {
            Err(refusal) if refusal.code != http::StatusCode::NOT_FOUND => return Err(refusal),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(listed().len())
}

/// Writes the status and metadata of a definition, unless it has changed since.
async fn write(registry: &Registry, old: &Value, new: Value) -> Result<Step, Refusal> {
    let served = registry.served();
    let Some(kind) = served
        .kinds
        .by_plural("apiextensions.k8s.io", "customresourcedefinitions")
    else {
        return Ok(Step::None);
    };
    let place = Place {
        kind,
        namespace: "",
        name: object::name(old),
    };
    match registry
        .update(place, Part::Status, Mode::Commit, |_| Ok(new.clone()))
        .await
    {
        Ok(_) => Ok(Step::Made),
        // Whoever was faster has changed the definition, which wakes the loop.
        Err(refusal) if refusal.reason == "Conflict" || refusal.reason == "NotFound" => {
            Ok(Step::None)
        }
        Err(refusal) => Err(refusal),
    }
}
