//! Rules for the metadata of objects of any kind: names, labels, annotations, owners, and what an update may not change.
//!
//! Upstream: apimachinery v0.37.2 api/validation/objectmeta.go. Where it walks a map in random order, this walks by key.

pub(super) mod managed_fields;
mod owner;

use serde_json::Value;

use super::not_negative;
use crate::field::{BadValue, FieldError, FieldPath};
use crate::go_text;
use crate::meta::ObjectMeta;
use crate::name;

/// Bytes of all keys and values of an object's annotations. Upstream: `TotalAnnotationSizeLimitB`.
const ANNOTATION_BYTES_MAX: usize = 256 * 1024;
/// Finalizer: the dependents are kept.
const ORPHAN: &str = "orphan";
/// Finalizer: the dependents are deleted first.
const FOREGROUND: &str = "foregroundDeletion";

/// Whether the objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each object has a namespace.
    Namespaced,
    /// No object has one.
    Cluster,
}

/// Problems of a new object's metadata; `name_rule` is the kind's rule for names. Upstream: `ValidateObjectMeta`.
pub fn check(
    meta: &ObjectMeta,
    scope: Scope,
    name_rule: fn(&str) -> Vec<String>,
) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let mut problems = Vec::new();
    if !meta.generate_name.is_empty() {
        let found = name_rule(&mask_trailing_dash(&meta.generate_name));
        problems.extend(invalid(
            &path.child("generateName"),
            &meta.generate_name,
            found,
        ));
    }
    let name_path = path.child("name");
    if meta.name.is_empty() {
        problems.push(FieldError::required(
            &name_path,
            "name or generateName is required",
        ));
    } else {
        problems.extend(invalid(&name_path, &meta.name, name_rule(&meta.name)));
    }
    problems.extend(check_namespace(
        &meta.namespace,
        scope,
        &path.child("namespace"),
    ));
    problems.extend(not_negative(meta.generation, &path.child("generation")));
    problems.extend(check_maps(meta, &path));
    problems.extend(check_finalizers(
        &meta.finalizers,
        &path.child("finalizers"),
    ));
    problems.extend(managed_fields::check(
        &meta.managed_fields,
        &path.child("managedFields"),
    ));
    problems
}

/// Problems of a changed object's metadata. Upstream: `ValidateObjectMetaAccessorUpdate`.
pub fn check_update(new: &ObjectMeta, old: &ObjectMeta) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let mut problems = Vec::new();
    if old.deletion_timestamp.is_some() {
        problems.extend(check_no_new_finalizers(new, old, &path.child("finalizers")));
    }
    if new.resource_version.is_empty() {
        let path = path.child("resourceVersion");
        problems.push(FieldError::invalid(
            &path,
            "",
            "must be specified for an update",
        ));
    }
    let generation_path = path.child("generation");
    problems.extend(not_negative(new.generation, &generation_path));
    if new.generation < old.generation {
        let detail = "must not be decremented";
        problems.push(FieldError::invalid(
            &generation_path,
            new.generation,
            detail,
        ));
    }
    problems.extend(check_identity(new, old, &path));
    problems.extend(check_maps(new, &path));
    problems.extend(managed_fields::check(
        &new.managed_fields,
        &path.child("managedFields"),
    ));
    problems
}

/// What is checked of every changed object before the rules of its kind; names are checked only as parts of a path.
///
/// Upstream: apiserver registry/rest/update.go `validateCommonFields`.
pub fn check_common(new: &ObjectMeta, old: &ObjectMeta, scope: Scope) -> Vec<FieldError> {
    let mut problems = check(new, scope, name::path_segment);
    problems.extend(check_update(new, old));
    problems
}

/// Problems of labels, or of a selector's. Upstream: meta/v1/validation/validation.go `ValidateLabels`.
pub fn check_labels<'a>(
    labels: impl IntoIterator<Item = (&'a str, &'a str)>,
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for (key, value) in labels {
        problems.extend(invalid(path, key, name::label_key(key)));
        problems.extend(invalid(path, value, name::label_value(value)));
    }
    problems
}

/// Finalizers without a prefix must be ones that Kubernetes knows. Upstream: core/validation `validateKubeFinalizerName`.
pub fn check_finalizer_names(meta: &ObjectMeta) -> Vec<FieldError> {
    let path = FieldPath::new("metadata").child("finalizers");
    let unknown =
        |name: &str| !name.contains('/') && !["kubernetes", ORPHAN, FOREGROUND].contains(&name);
    let found = meta
        .finalizers
        .iter()
        .enumerate()
        .filter(|(_, name)| unknown(name));
    let detail = "name is neither a standard finalizer name nor is it fully qualified";
    found
        .map(|(i, name)| FieldError::invalid(&path.index(i), name.as_str(), detail))
        .collect()
}

fn invalid(path: &FieldPath, value: &str, problems: Vec<String>) -> Vec<FieldError> {
    problems
        .into_iter()
        .map(|problem| FieldError::invalid(path, value, problem))
        .collect()
}

/// Upstream: api/validation/generic.go `maskTrailingDash`. More characters will follow a generated name's dash.
fn mask_trailing_dash(prefix: &str) -> String {
    match prefix.strip_suffix('-') {
        // Upstream replaces the character before the dash too.
        Some(rest) if !rest.is_empty() => {
            let kept: String = rest.chars().take(rest.chars().count() - 1).collect();
            kept + "a"
        }
        _ => prefix.to_owned(),
    }
}

fn check_namespace(namespace: &str, scope: Scope, path: &FieldPath) -> Vec<FieldError> {
    match (scope, namespace) {
        (Scope::Namespaced, "") => vec![FieldError::required(path, "")],
        (Scope::Namespaced, _) => invalid(path, namespace, name::dns_label(namespace)),
        (Scope::Cluster, "") => Vec::new(),
        (Scope::Cluster, _) => vec![FieldError::forbidden(path, "not allowed on this type")],
    }
}

/// Labels, annotations and owners: the same for new and changed objects.
fn check_maps(meta: &ObjectMeta, path: &FieldPath) -> Vec<FieldError> {
    let labels = meta.labels.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let mut problems = check_labels(labels, &path.child("labels"));
    let annotations_path = path.child("annotations");
    for key in meta.annotations.keys() {
        problems.extend(invalid(
            &annotations_path,
            key,
            name::label_key(&key.to_lowercase()),
        ));
    }
    let bytes: usize = meta
        .annotations
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum();
    if bytes > ANNOTATION_BYTES_MAX {
        problems.push(FieldError::too_long(
            &annotations_path,
            ANNOTATION_BYTES_MAX,
        ));
    }
    problems.extend(owner::check(
        &meta.owner_references,
        &path.child("ownerReferences"),
    ));
    problems
}

/// Upstream: `ValidateFinalizers`.
fn check_finalizers(finalizers: &[String], path: &FieldPath) -> Vec<FieldError> {
    let each = finalizers
        .iter()
        .flat_map(|name| invalid(path, name, name::label_key(name)));
    let mut problems: Vec<FieldError> = each.collect();
    let has = |wanted: &str| finalizers.iter().any(|name| name == wanted);
    if has(ORPHAN) && has(FOREGROUND) {
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        problems.push(FieldError::invalid(path, Value::from(finalizers), detail));
    }
    problems
}

/// Upstream: `ValidateNoNewFinalizers`.
fn check_no_new_finalizers(
    new: &ObjectMeta,
    old: &ObjectMeta,
    path: &FieldPath,
) -> Option<FieldError> {
    let mut added: Vec<&String> = new
        .finalizers
        .iter()
        .filter(|name| !old.finalizers.contains(name))
        .collect();
    added.sort_unstable();
    added.dedup();
    let quoted: Vec<String> = added.iter().map(|name| go_text::quote(name)).collect();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        quoted.join(", ")
    );
    (!added.is_empty()).then(|| FieldError::forbidden(path, detail))
}

/// What makes an object the one it is cannot change.
fn check_identity(new: &ObjectMeta, old: &ObjectMeta, path: &FieldPath) -> Vec<FieldError> {
    let immutable = |field: &str, value: BadValue| {
        FieldError::invalid(&path.child(field), value, "field is immutable")
    };
    let mut problems = Vec::new();
    for (new, old, field) in [
        (&new.name, &old.name, "name"),
        (&new.namespace, &old.namespace, "namespace"),
    ] {
        if new != old {
            let path = path.child(field);
            problems.push(FieldError::invalid(
                &path,
                new.as_str(),
                "field is immutable",
            ));
        }
    }
    if new.uid != old.uid {
        problems.push(immutable("uid", Value::from(new.uid.as_str()).into()));
    }
    if new.creation_timestamp != old.creation_timestamp {
        problems.push(immutable(
            "creationTimestamp",
            BadValue::of(&new.creation_timestamp),
        ));
    }
    if new.deletion_timestamp != old.deletion_timestamp {
        problems.push(immutable(
            "deletionTimestamp",
            BadValue::of(&new.deletion_timestamp),
        ));
    }
    if new.deletion_grace_period_seconds != old.deletion_grace_period_seconds {
        let seconds = BadValue::of(&new.deletion_grace_period_seconds);
        problems.push(immutable("deletionGracePeriodSeconds", seconds));
    }
    problems
}

#[cfg(test)]
mod tests;
