//! The suites: for each the lists of cases it may hold, and the check that runs one case.
//! One file a suite; what a key of a case means is documented with the vectors (`SCHEMA.md`).

use serde_json::Value;

use crate::vectors::Outcome;

mod behavior;
mod defaults;
mod expected;
mod handler;
mod manifest;
mod monitor;
mod pods;
mod quantity;
mod rate_limiter;
mod reconcile;
mod replica_calculator;
mod selector_store;
mod strategy;
mod utilization;
mod validation;

/// A list of cases inside a suite's file.
pub struct List {
    /// The key it stands under.
    pub key: &'static str,
    /// Runs one case; the whole file comes first, for its constants.
    pub check: fn(&Value, &Value) -> Outcome,
}

/// The lists of a suite; none when the suite is unknown.
pub fn lists(suite: &str) -> Option<&'static [List]> {
    Some(match suite {
        "behavior" => behavior::LISTS,
        "defaults" => defaults::LISTS,
        "monitor" => monitor::LISTS,
        "quantity" => quantity::LISTS,
        "rate_limiter" => rate_limiter::LISTS,
        "reconcile" => reconcile::LISTS,
        "replica_calculator" => replica_calculator::LISTS,
        "selector_store" => selector_store::LISTS,
        "strategy" => strategy::LISTS,
        "utilization" => utilization::LISTS,
        "validation" => validation::LISTS,
        _ => return None,
    })
}
