//! What a workload controller sees ([`View`]) and what it asks for ([`Write`]): the seam between the pure steps and the
//! store that drives them. Not here: the store, the steps, the order in which keys are worked on (`agenda`).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::Value;

/// A kind of object by API group and kind, whatever the served version. The core group is `""`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// API group, `""` for core.
    pub group: Cow<'static, str>,
    /// Kind as in manifests: `ReplicaSet`.
    pub kind: Cow<'static, str>,
}

impl Kind {
    /// core/Namespace (cluster-scoped).
    pub const NAMESPACE: Self = Self::known("", "Namespace");
    /// core/Pod.
    pub const POD: Self = Self::known("", "Pod");
    /// core/ReplicationController.
    pub const REPLICATION_CONTROLLER: Self = Self::known("", "ReplicationController");
    /// core/ServiceAccount.
    pub const SERVICE_ACCOUNT: Self = Self::known("", "ServiceAccount");
    /// core/Event.
    pub const EVENT: Self = Self::known("", "Event");
    /// apps/Deployment.
    pub const DEPLOYMENT: Self = Self::known("apps", "Deployment");
    /// apps/ReplicaSet.
    pub const REPLICA_SET: Self = Self::known("apps", "ReplicaSet");
    /// apps/StatefulSet.
    pub const STATEFUL_SET: Self = Self::known("apps", "StatefulSet");
    /// apps/ControllerRevision.
    pub const CONTROLLER_REVISION: Self = Self::known("apps", "ControllerRevision");

    const fn known(group: &'static str, kind: &'static str) -> Self {
        Self {
            group: Cow::Borrowed(group),
            kind: Cow::Borrowed(kind),
        }
    }

    /// The kind named by an `apiVersion` (`apps/v1`, `v1`) and a `kind`.
    pub fn of(api_version: &str, kind: &str) -> Self {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Self {
            group: Cow::Owned(group.to_owned()),
            kind: Cow::Owned(kind.to_owned()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if self.group.is_empty() {
            Ok(())
        } else {
            write!(f, ".{}", self.group)
        }
    }
}

/// The name of one object. `namespace` is `""` for cluster-scoped kinds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectKey {
    /// Group and kind.
    pub kind: Kind,
    /// Namespace, `""` when cluster-scoped.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ObjectKey {
    /// The key of `kind` `namespace`/`name`.
    pub(crate) fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// The key an object's own `apiVersion`, `kind` and `metadata` name.
    pub(crate) fn of(object: &Value) -> Self {
        let text = |pointer| {
            object
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        Self::new(
            Kind::of(text("/apiVersion"), text("/kind")),
            text("/metadata/namespace"),
            text("/metadata/name"),
        )
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// Read access to the objects of the store as they are now, with every acknowledged write in them.
///
/// Invariant: every returned object carries `apiVersion`, `kind`, `metadata.{name,uid,resourceVersion,creationTimestamp}`,
/// and every returned list is ordered by (namespace, name). The steps rely on both.
pub trait View {
    /// The object of that name, or `None`.
    fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Arc<Value>>;

    /// All objects of `kind`, in one namespace or in all of them. The steps ask for one namespace only.
    fn list(&self, kind: &Kind, namespace: Option<&str>) -> Vec<Arc<Value>>;

    /// The objects of `kind` in `namespace` with an owner reference (controller or not) to `owner_uid`. An index, not a walk.
    fn owned_by(&self, kind: &Kind, namespace: &str, owner_uid: &str) -> Vec<Arc<Value>>;

    /// The objects of `kind` in `namespace` that no owner reference names a controller of: what may be adopted. An index, not a walk.
    fn uncontrolled(&self, kind: &Kind, namespace: &str) -> Vec<Arc<Value>>;

    /// The objects of every kind, in every namespace, with an owner reference to `owner_uid`. An index, not a walk.
    fn dependents(&self, owner_uid: &str) -> Vec<Arc<Value>>;

    /// The objects of every kind in `namespace`, the namespace itself not included. Asked only while it is being deleted.
    fn contents(&self, namespace: &str) -> Vec<Arc<Value>>;

    /// True when `kind` is served at all. A reference to a kind that is not served is never taken for a dead owner.
    fn serves(&self, kind: &Kind) -> bool;
}

/// One change of one object, as published by the store. At least one side is present.
#[derive(Clone, Debug)]
pub struct Change {
    /// The state before: `None` when the object was created.
    pub old: Option<Arc<Value>>,
    /// The state after: `None` when the object was removed.
    pub new: Option<Arc<Value>>,
}

/// What becomes of the dependents when an object is deleted (`propagationPolicy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// The object goes first, its dependents follow.
    Background,
    /// The dependents go first; the object waits with the `foregroundDeletion` finalizer.
    Foreground,
}

/// A request to the store. The driver applies a step's writes in order and stops at the first that is refused; the key is then
/// worked on again (at once after a conflict, later after any other refusal), so a step never has to undo.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Write {
    /// Create the object. Its name is set; uid, resourceVersion, creationTimestamp and
    /// defaults are the store's to add, and so is a pod's first phase, Pending.
    Create(Value),
    /// Replace the object but for its status. Conflicts when `metadata.resourceVersion` is not the current one.
    /// When this takes the last finalizer of an object that is being deleted (for a namespace: of `spec.finalizers`, as
    /// upstream's `finalize` subresource does), the store removes the object.
    Update(Value),
    /// Replace the object's status, and as in upstream's status strategies its annotations: the Deployment's revision is written
    /// with its status. `spec` and labels stay. Conflicts when `metadata.resourceVersion` is not the current one.
    UpdateStatus(Value),
    /// Delete the object if its uid is still `uid`; an object that is gone or another is success.
    Delete {
        /// Which object.
        key: ObjectKey,
        /// Precondition.
        uid: String,
        /// Seconds of grace; `None` is the kind's own: for a scheduled pod `spec.terminationGracePeriodSeconds`, for others 0.
        /// With grace the store sets `deletionTimestamp` (now + grace) and `deletionGracePeriodSeconds` and keeps the object.
        grace_seconds: Option<i64>,
        /// What happens to its dependents.
        propagation: Propagation,
    },
    /// Tell the user. The event module turns it into the Event object to create or update.
    Event(EventRecord),
}

/// An event before it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventRecord {
    /// The object it is about.
    pub regarding: ObjectKey,
    /// Its uid.
    pub uid: String,
    /// Its served version, `apps/v1`.
    pub api_version: String,
    /// `Normal` or `Warning`.
    pub severity: Severity,
    /// Machine-readable reason, such as `ScalingReplicaSet`.
    pub reason: &'static str,
    /// Text for people, in upstream's words.
    pub message: String,
    /// The reporting component, such as `deployment-controller`.
    pub component: &'static str,
}

/// The `type` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Nothing to worry about.
    Normal,
    /// Something a person may have to look at.
    Warning,
}

/// What one step asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Step {
    /// Writes, in the order in which they are to be applied.
    pub writes: Vec<Write>,
    /// When the same controller must look at the same key again even if nothing changes; `None` when never.
    pub next_due: Option<UnixMs>,
}
