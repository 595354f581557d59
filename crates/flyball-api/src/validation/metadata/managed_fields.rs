//! Rules for the record of who set which fields. Not who may.

use serde_json::Value;

use crate::field::{FieldError, FieldPath};
use crate::go_text;
use crate::meta::ManagedFieldsEntry;

/// Bytes of a field manager's name. Upstream: `FieldManagerMaxLength`.
const MANAGER_BYTES_MAX: usize = 128;
/// Bytes of a subresource's name. Upstream: `MaxSubresourceNameLength`.
const SUBRESOURCE_BYTES_MAX: usize = 256;

/// Upstream: meta/v1/validation/validation.go `ValidateManagedFields`.
pub(in crate::validation) fn check(
    entries: &[ManagedFieldsEntry],
    path: &FieldPath,
) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let path = path.index(index);
        let operation_path = path.child("operation");
        match entry.operation.as_str() {
            "" => problems.push(FieldError::required(&operation_path, "must not be empty")),
            "Apply" | "Update" => {}
            other => {
                let known = ["Apply", "Update"];
                problems.push(FieldError::not_supported(
                    &operation_path,
                    Value::from(other),
                    &known,
                ));
            }
        }
        if !["", "FieldsV1"].contains(&entry.fields_type.as_str()) {
            let fields_type = entry.fields_type.as_str();
            let path = path.child("fieldsType");
            problems.push(FieldError::invalid(
                &path,
                fields_type,
                "must be `FieldsV1`",
            ));
        }
        problems.extend(check_manager(&entry.manager, &path.child("manager")));
        if entry.subresource.len() > SUBRESOURCE_BYTES_MAX {
            problems.push(FieldError::too_long(
                &path.child("subresource"),
                SUBRESOURCE_BYTES_MAX,
            ));
        }
    }
    problems
}

/// Problems of a field manager's name. Upstream: meta/v1/validation/validation.go `ValidateFieldManager`.
fn check_manager(manager: &str, path: &FieldPath) -> Vec<FieldError> {
    let mut problems = Vec::new();
    if manager.len() > MANAGER_BYTES_MAX {
        problems.push(FieldError::too_long(path, MANAGER_BYTES_MAX));
    }
    let hidden = manager
        .char_indices()
        .filter(|(_, c)| !go_text::is_printable(*c));
    problems.extend(hidden.map(|(at, c)| {
        let detail = format!(
            "invalid character U+{:04X} (at position {at})",
            u32::from(c)
        );
        FieldError::invalid(path, manager, detail)
    }));
    problems
}
