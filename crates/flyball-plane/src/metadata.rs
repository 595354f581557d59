//! How every object's metadata is settled before it is stored, whatever its kind.
//! Source: apiserver registry/rest/{create,update,meta}.go.
//! Not here: the rules it must obey, which are [`flyball_api::validation::metadata`]'s, and the kinds' own.

use flyball_api::field::FieldPath;
use flyball_api::meta::ObjectMeta;
use flyball_api::time::Time;
use flyball_api::validation::metadata as rules;
use flyball_clock::UnixMs;
use serde_json::{Map, Value};

use crate::entropy::Entropy;
use crate::field::{self, FieldError};
use crate::kind::{Kind, MetadataRules};
use crate::object;
use crate::refusal::Refusal;

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
    object::set_meta(
        object,
        "creationTimestamp",
        Time::from_millis(now_ms).to_string(),
    );
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

/// The problems of a new object's metadata.
pub(crate) fn validate(kind: &Kind, object: &Value) -> Vec<FieldError> {
    match typed(object) {
        Ok(meta) => {
            let mut problems = rules::check(&meta, kind.scope, kind.strategy.name_rule());
            problems.extend(finalizer_names(kind, &meta));
            problems
        }
        Err(problem) => vec![problem],
    }
}

/// The problems of changed metadata.
pub(crate) fn validate_update(kind: &Kind, object: &Value, old: &Value) -> Vec<FieldError> {
    match (typed(object), typed(old)) {
        (Ok(new), Ok(old)) => {
            let mut problems = rules::check_common(&new, &old, kind.scope);
            problems.extend(finalizer_names(kind, &new));
            problems
        }
        (Err(problem), _) | (_, Err(problem)) => vec![problem],
    }
}

fn finalizer_names(kind: &Kind, meta: &ObjectMeta) -> Vec<FieldError> {
    match kind.strategy.metadata_rules() {
        MetadataRules::Core => rules::check_finalizer_names(meta),
        MetadataRules::General => Vec::new(),
    }
}

fn typed(object: &Value) -> Result<ObjectMeta, FieldError> {
    field::read("metadata", &object["metadata"])
}

/// The problems of a map of labels at `path`.
pub(crate) fn labels(path: &str, labels: Option<&Value>) -> Vec<FieldError> {
    let pairs = labels.and_then(Value::as_object).into_iter().flatten();
    let texts = pairs.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()));
    rules::check_labels(texts, &FieldPath::new(path))
}
