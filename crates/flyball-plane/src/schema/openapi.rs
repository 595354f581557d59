//! The OpenAPI v3 documents a client discovers types with: an index of hashed addresses and one document per group and
//! version. `kubectl explain` reads the types, `kubectl apply` the merge keys and which parameters a PATCH takes. Not
//! here: OpenAPI v2, which clients ask for as protobuf and do without.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{Gvk, Schema};

mod operation;
mod reach;

use reach::Reached;

/// Whether objects live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// In a namespace.
    Namespaced,
    /// In the cluster.
    Cluster,
}

/// What clients may do with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everything.
    ReadWrite,
    /// Read and list alone, as the metrics APIs allow.
    ReadOnly,
}

/// A second address of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subresource {
    /// `/status`, of the object's own type.
    Status,
    /// `/scale`, an `autoscaling/v1` Scale.
    Scale,
}

/// One served resource in one version.
#[derive(Clone, Debug)]
pub(crate) struct Resource<'a> {
    /// Its type.
    pub gvk: Gvk<'a>,
    /// Its name in paths: `deployments`.
    pub plural: &'a str,
    /// Where its objects live.
    pub reach: Reach,
    /// What clients may do.
    pub access: Access,
    /// Its further addresses.
    pub subresources: &'a [Subresource],
    /// The `openAPIV3Schema` of a custom resource's version. Built-in types are known.
    pub custom: Option<&'a Value>,
}

/// One document as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// JSON.
    pub body: Bytes,
    /// Changes when the body does: the `hash` parameter of its address, and its `ETag`.
    pub hash: String,
}

/// Every document of a server, made anew when its resources change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents {
    by_path: BTreeMap<String, Document>,
}

impl Documents {
    /// The documents of these resources. A resource that is neither built in nor custom is left out.
    pub(crate) fn new(schema: &Schema, resources: &[Resource<'_>]) -> Self {
        let mut groups: BTreeMap<String, Vec<&Resource<'_>>> = BTreeMap::new();
        for resource in resources {
            groups.entry(path(resource.gvk)).or_default().push(resource);
        }
        let by_path = groups
            .into_iter()
            .map(|(path, resources)| (path, publish(&document(schema, &resources))))
            .collect();
        Self { by_path }
    }

    /// What `/openapi/v3` answers: where each group and version has its document.
    pub(crate) fn index(&self) -> Value {
        let address = |(path, document): (&String, &Document)| {
            let url = format!("/openapi/v3/{path}?hash={}", document.hash);
            (path.clone(), json!({"serverRelativeURL": url}))
        };
        json!({"paths": self.by_path.iter().map(address).collect::<Map<_, _>>()})
    }

    /// The document below `/openapi/v3/`: `api/v1`, `apis/apps/v1`.
    pub(crate) fn get(&self, path: &str) -> Option<&Document> {
        self.by_path.get(path)
    }
}

fn path(gvk: Gvk<'_>) -> String {
    if gvk.group.is_empty() {
        format!("api/{}", gvk.version)
    } else {
        format!("apis/{}/{}", gvk.group, gvk.version)
    }
}

fn document(schema: &Schema, resources: &[&Resource<'_>]) -> Value {
    let mut reached = Reached::new(schema);
    let mut paths = Map::new();
    for resource in resources {
        if let Some(names) = reached.add(resource) {
            operation::add_paths(resource, &names, &mut paths);
        }
    }
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": reached.into_schemas()},
    })
}

fn publish(document: &Value) -> Document {
    let body = Bytes::from(document.to_string());
    let hash = hash(&body);
    Document { body, hash }
}

/// FNV-1a of 128 bits: a change is seen, and nothing hangs on more than that.
fn hash(body: &[u8]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mix = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
    format!("{:032X}", body.iter().fold(OFFSET, mix))
}

#[cfg(test)]
mod tests;
