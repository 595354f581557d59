//! Names of objects in the store. Not here: what a resource is (see `kind`).

use std::fmt;
use std::sync::Arc;

/// The name of a stored resource, `pods` or `deployments.apps`: the same for every served version.
pub type ResourceName = Arc<str>;

/// The place of one object. Ordered by resource, then namespace, then name, which is the order of every list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The stored resource.
    pub resource: ResourceName,
    /// Namespace, `""` for cluster-scoped resources.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
}

impl Key {
    /// The key of `namespace`/`name` in `resource`.
    pub fn new(resource: &ResourceName, namespace: &str, name: &str) -> Self {
        Self {
            resource: Arc::clone(resource),
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.resource, self.namespace, self.name)
    }
}
