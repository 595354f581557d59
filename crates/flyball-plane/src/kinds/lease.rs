//! coordination.k8s.io/v1 Lease. Source: registry/coordination/lease/strategy.go, coordination validation `ValidateLeaseSpec`.

use serde_json::Value;

use crate::field::{self, FieldError};
use crate::kind::{Kind, MetadataRules, PutRule, Strategy};

#[derive(Debug)]
struct Lease;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("coordination.k8s.io", "v1", "Lease", Lease);
    Kind {
        put: PutRule::ConditionalOrCreate,
        ..kind
    }
}

impl Strategy for Lease {
    fn default(&self, object: &mut Value) {
        crate::object::child(object, "spec");
    }

    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::General
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let number = |field: &str| {
            object
                .pointer(&format!("/spec/{field}"))
                .and_then(Value::as_i64)
        };
        if let Some(seconds) = number("leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
            errors.push(field::invalid(
                "spec.leaseDurationSeconds",
                seconds,
                "must be greater than 0",
            ));
        }
        if let Some(count) = number("leaseTransitions").filter(|count| *count < 0) {
            errors.push(field::invalid(
                "spec.leaseTransitions",
                count,
                "must be greater than or equal to 0",
            ));
        }
        errors
    }
}
