//! Whether another controller writes the status of an HPA: two of them must never act on one object.
//! Not here: what is done then ([`crate::reconcile`]).

use flyball_api::meta::ObjectMeta;
use thiserror::Error;

use crate::api_client::FIELD_MANAGER;

/// What to do with an HPA whose status another controller owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ownership {
    /// Leave it alone.
    #[default]
    Respect,
    /// Act on it: the other controller is turned off.
    TakeOver,
}

/// Another controller owns the status.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "status of {namespace}/{name} belongs to {manager}, so it is left alone; turn that controller off and start this \
     one with --take-over, or watch with --mode shadow"
)]
pub struct ForeignStatus {
    namespace: String,
    name: String,
    manager: String,
}

/// The other owner of an object's status, if there is one.
///
/// Note: an owner stays on record after it was turned off, which is why taking over is the operator's to say.
pub fn foreign_status(metadata: &ObjectMeta) -> Option<ForeignStatus> {
    let mut owners = metadata
        .managed_fields
        .iter()
        .filter(|entry| entry.subresource == "status");
    let owner = owners.find(|entry| entry.manager != FIELD_MANAGER)?;
    Some(ForeignStatus {
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        manager: owner.manager.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The manager that `foreign_status` names among these `(manager, subresource)` pairs.
    fn foreign(entries: &[(&str, &str)]) -> Option<String> {
        let entries: Vec<Value> = entries
            .iter()
            .map(|(manager, subresource)| json!({"manager": manager, "subresource": subresource}))
            .collect();
        let metadata = json!({"namespace": "shop", "name": "web", "managedFields": entries});
        let metadata: ObjectMeta = serde_json::from_value(metadata).expect("metadata");
        foreign_status(&metadata).map(|foreign| foreign.manager)
    }

    #[test]
    fn only_another_manager_of_the_status_counts() {
        assert_eq!(foreign(&[]), None);
        assert_eq!(foreign(&[("kubectl", ""), ("flyball", "status")]), None);
        let both = [("flyball", "status"), ("kube-controller-manager", "status")];
        assert_eq!(foreign(&both), Some("kube-controller-manager".to_owned()));
    }
}
