//! References to objects of any kind: kind, name, and the version that must name a group.

use crate::autoscaling::v2::CrossVersionObjectReference;
use crate::field::{FieldError, FieldPath};
use crate::name;

/// How strictly a reference's `apiVersion` is checked. Upstream: `CrossVersionObjectReferenceValidationOptions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceOptions {
    /// Skips the check: the version was there before.
    pub allow_invalid_api_version: bool,
    /// Allows versions of the core group, which have no group part.
    pub allow_empty_api_group: bool,
}

/// Upstream: `ValidateCrossVersionObjectReference`.
pub(super) fn check(
    reference: &CrossVersionObjectReference,
    path: &FieldPath,
    options: ReferenceOptions,
) -> Vec<FieldError> {
    let mut problems = check_segment(&reference.kind, &path.child("kind"));
    problems.extend(check_segment(&reference.name, &path.child("name")));
    if let Err(detail) = check_api_version(&reference.api_version, options) {
        let version = reference.api_version.as_str();
        problems.push(FieldError::invalid(
            &path.child("apiVersion"),
            version,
            detail,
        ));
    }
    problems
}

/// A text that must be there and fit into a URL path.
fn check_segment(text: &str, path: &FieldPath) -> Vec<FieldError> {
    if text.is_empty() {
        return vec![FieldError::required(path, "")];
    }
    let problems = name::path_segment(text).into_iter();
    problems
        .map(|problem| FieldError::invalid(path, text, problem))
        .collect()
}

/// What is wrong with the version. Upstream: `ValidateAPIVersion`, schema/group_version.go `ParseGroupVersion`.
pub(crate) fn check_api_version(version: &str, options: ReferenceOptions) -> Result<(), String> {
    if options.allow_invalid_api_version {
        return Ok(());
    }
    let has_group = match version.matches('/').count() {
        0 => false,
        1 => !version.starts_with('/'),
        _ => return Err(format!("unexpected GroupVersion string: {version}")),
    };
    if has_group || options.allow_empty_api_group {
        Ok(())
    } else {
        Err("apiVersion must specify API group".to_owned())
    }
}
