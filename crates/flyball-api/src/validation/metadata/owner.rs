//! Rules for the references from an object to its owners.

use crate::field::{BadValue, FieldError, FieldPath};
use crate::meta::OwnerReference;

/// Upstream: `ValidateOwnerReferences`.
pub(super) fn check(owners: &[OwnerReference], path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let mut first_controller: Option<String> = None;
    for (index, owner) in owners.iter().enumerate() {
        problems.extend(check_one(owner, &path.index(index)));
        if owner.controller != Some(true) {
            continue;
        }
        let controller = format!("{}/{}", owner.kind, owner.name);
        if let Some(first) = &first_controller {
            let detail = format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {first} and \
                 {controller}"
            );
            problems.push(FieldError::invalid(path, BadValue::of(&owners), detail));
        } else {
            first_controller = Some(controller);
        }
    }
    problems
}

/// Upstream: `validateOwnerReference`.
fn check_one(owner: &OwnerReference, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    let version = owner.api_version.as_str();
    let is_version = version.matches('/').count() <= 1 && !version.ends_with('/');
    if version.is_empty() {
        problems.push(FieldError::required(
            &path.child("apiVersion"),
            "must not be empty",
        ));
    } else if !is_version {
        let detail = "must be <group>/<version> or <version>";
        problems.push(FieldError::invalid(
            &path.child("apiVersion"),
            version,
            detail,
        ));
    }
    let texts = [
        (&owner.kind, "kind"),
        (&owner.name, "name"),
        (&owner.uid, "uid"),
    ];
    let empty = texts.into_iter().filter(|(text, _)| text.is_empty());
    problems.extend(
        empty.map(|(_, field)| FieldError::required(&path.child(field), "must not be empty")),
    );
    if (version, owner.kind.as_str()) == ("v1", "Event") {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        problems.push(FieldError::invalid(path, BadValue::of(owner), detail));
    }
    problems
}
