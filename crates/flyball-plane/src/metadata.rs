//! The rules every object's metadata follows, whatever its kind.
//! Source: apimachinery api/validation/objectmeta.go, apiserver registry/rest/{create,update,meta}.go.
//! Not here: the kinds' own rules.

use flyball_api::name as names;
use flyball_clock::UnixMs;
use serde_json::{Map, Value};

use crate::entropy::Entropy;
use crate::field::{self, FieldError};
use crate::kind::Kind;
use crate::object;
use crate::refusal::Refusal;
use crate::time;

/// All annotations of one object together, keys and values.
const ANNOTATIONS_BYTES_MAX: usize = 256 << 10;
/// Fields of metadata that upstream leaves out when they are empty.
const COLLECTIONS: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];
/// Text fields of metadata that upstream leaves out when they are empty.
const TEXTS: [&str; 6] = [
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "selfLink",
];

/// Brings metadata into the form that upstream's typed objects have: no managed fields (they are not kept), no empty fields.
pub(crate) fn normalize(object: &mut Value) {
    let metadata = object::child(object, "metadata");
    metadata.remove("managedFields");
    metadata.remove("selfLink");
    metadata.retain(|field, value| {
        let empty_collection = COLLECTIONS.contains(&field.as_str())
            && (value.as_object().is_some_and(Map::is_empty)
                || value.as_array().is_some_and(Vec::is_empty));
        let empty_text = TEXTS.contains(&field.as_str()) && value.as_str() == Some("");
        !empty_collection && !empty_text && !value.is_null()
    });
}

/// Checks that the object belongs into the namespace of the request and puts it there.
///
/// # Errors
/// 400 when the object names another one.
pub(crate) fn settle_namespace(
    kind: &Kind,
    object: &mut Value,
    namespace: &str,
) -> Result<(), Refusal> {
    let found = object::namespace(object);
    let expected = if kind.is_namespaced() { namespace } else { "" };
    if found.is_empty() && !expected.is_empty() {
        object::set_meta(object, "namespace", expected);
        return Ok(());
    }
    if found == expected {
        return Ok(());
    }
    if !kind.is_namespaced() {
        // Upstream forgets a namespace on a cluster-scoped object when the request has none either.
        object::remove_meta(object, "namespace");
        return Ok(());
    }
    Err(Refusal::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request",
    ))
}

/// Gives a new object what only the server gives: uid and creation time; takes away what a client must not set.
pub(crate) fn fill_new(object: &mut Value, entropy: &Entropy, now_ms: UnixMs) {
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
    ] {
        object::remove_meta(object, field);
    }
    object::set_meta(object, "uid", entropy.uid());
    object::set_meta(object, "creationTimestamp", time::seconds(now_ms));
}

/// Carries over what an update can never change.
pub(crate) fn carry_over(object: &mut Value, old: &Value) {
    if object::uid(object).is_empty() {
        object::set_meta(object, "uid", object::uid(old));
    }
    let old = old.get("metadata");
    for field in [
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        match old.and_then(|metadata| metadata.get(field)) {
            Some(value) => object::set_meta(object, field, value.clone()),
            None => object::remove_meta(object, field),
        }
    }
}

/// The problems of an object's metadata.
pub(crate) fn validate(kind: &Kind, object: &Value) -> Vec<FieldError> {
    let rule = kind.strategy.name_rule();
    let mut errors = Vec::new();
    let prefix = object::meta(object, "generateName");
    if !prefix.is_empty() {
        let invalid = |why| field::invalid("metadata.generateName", prefix, why);
        errors.extend(rule.check_prefix(prefix).into_iter().map(invalid));
    }
    let name = object::name(object);
    if name.is_empty() {
        errors.push(field::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else {
        let invalid = |why| field::invalid("metadata.name", name, why);
        errors.extend(rule.check(name).into_iter().map(invalid));
    }
    let namespace = object::namespace(object);
    if kind.is_namespaced() {
        let invalid = |why| field::invalid("metadata.namespace", namespace, why);
        errors.extend(names::dns_label(namespace).into_iter().map(invalid));
    }
    errors.extend(labels(
        "metadata.labels",
        object.pointer("/metadata/labels"),
    ));
    errors.extend(annotations(object));
    errors.extend(owners(object));
    errors.extend(finalizers(object));
    errors
}

/// The problems of changed metadata.
pub(crate) fn validate_update(kind: &Kind, object: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = validate(kind, object);
    let (new_list, old_list) = (object::finalizers(object), object::finalizers(old));
    if object::is_being_deleted(old) {
        let added: Vec<String> = new_list
            .into_iter()
            .filter(|one| !old_list.contains(one))
            .map(|one| format!("{one:?}"))
            .collect();
        if !added.is_empty() {
            let list = added.join(", ");
            errors.push(field::forbidden(
                "metadata.finalizers",
                format!("no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"),
            ));
        }
    }
    for field in ["name", "namespace", "uid"] {
        if object::meta(object, field) != object::meta(old, field) {
            let value = object::meta(object, field);
            errors.push(field::invalid(
                format!("metadata.{field}"),
                value,
                "field is immutable",
            ));
        }
    }
    errors
}

/// The problems of a map of labels at `path`.
pub(crate) fn labels(path: &str, labels: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in labels.and_then(Value::as_object).into_iter().flatten() {
        errors.extend(
            names::label_key(key)
                .into_iter()
                .map(|why| field::invalid(path, key.as_str(), why)),
        );
        let value = value.as_str().unwrap_or_default();
        errors.extend(
            names::label_value(value)
                .into_iter()
                .map(|why| field::invalid(path, value, why)),
        );
    }
    errors
}

fn annotations(object: &Value) -> Vec<FieldError> {
    const PATH: &str = "metadata.annotations";
    let mut errors = Vec::new();
    let mut bytes = 0;
    for (key, value) in object
        .pointer("/metadata/annotations")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let why = names::label_key(&key.to_lowercase());
        errors.extend(
            why.into_iter()
                .map(|why| field::invalid(PATH, key.as_str(), why)),
        );
        bytes += key.len() + value.as_str().map_or(0, str::len);
    }
    if bytes > ANNOTATIONS_BYTES_MAX {
        errors.push(field::too_long(PATH, ANNOTATIONS_BYTES_MAX));
    }
    errors
}

fn owners(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    let owners = object.pointer("/metadata/ownerReferences");
    for (index, owner) in owners
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
        for field in ["apiVersion", "kind", "name", "uid"] {
            if text(field).is_empty() {
                let path = format!("metadata.ownerReferences[{index}].{field}");
                errors.push(field::required(path, "must not be empty"));
            }
        }
        if owner.get("controller").and_then(Value::as_bool) == Some(true) {
            let this = format!("{}/{}", text("kind"), text("name"));
            match &controller {
                Some(first) => errors.push(field::invalid(
                    "metadata.ownerReferences",
                    owners.cloned().unwrap_or_default(),
                    format!("Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"),
                )),
                None => controller = Some(this),
            }
        }
    }
    errors
}

fn finalizers(object: &Value) -> Vec<FieldError> {
    const PATH: &str = "metadata.finalizers";
    let list = object::finalizers(object);
    let mut errors = Vec::new();
    for one in &list {
        errors.extend(
            names::label_key(one)
                .into_iter()
                .map(|why| field::invalid(PATH, one.as_str(), why)),
        );
    }
    let has = |name: &str| list.iter().any(|one| one == name);
    if has("orphan") && has("foregroundDeletion") {
        let list: Vec<Value> = list.into_iter().map(Value::from).collect();
        errors.push(field::invalid(
            PATH,
            list,
            "finalizer orphan and foregroundDeletion cannot be both set",
        ));
    }
    errors
}
