//! ReplicationController: the ReplicaSet's step with a plain label map as selector (upstream pkg/controller/replication).

use super::replica_set::Flavour;
use super::view::Kind;

/// core/ReplicationController.
pub(crate) const REPLICATION_CONTROLLER: Flavour = Flavour {
    kind: Kind::REPLICATION_CONTROLLER,
    component: "replication-controller",
    counts_terminating: false,
};
