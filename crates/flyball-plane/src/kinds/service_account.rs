//! core/v1 ServiceAccount. Source: registry/core/serviceaccount/strategy.go. Tokens are not issued.

use serde_json::Value;

use crate::kind::{DeleteAnswer, Kind, Strategy};

#[derive(Debug)]
struct ServiceAccount;

pub(super) fn kind() -> Kind {
    let kind = Kind::new("", "v1", "ServiceAccount", ServiceAccount).short(&["sa"]);
    Kind {
        delete: DeleteAnswer::Object,
        ..kind
    }
}

impl Strategy for ServiceAccount {
    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_generation(&self) -> bool {
        false
    }
}
