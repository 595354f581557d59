//! What the plane knows of the types it serves: fields, formats, merge keys, defaults, read once from the generated
//! `definitions.json` and the hand-written `metrics.json`. Not here: validation of values beyond their type, and the
//! schemas of custom resources, which belong to their definitions.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Map, Value};

pub(crate) mod decode;
pub(crate) mod node;
pub(crate) mod openapi;

pub(crate) use node::{Node, Shape, Strategy};

/// Generated from upstream's published OpenAPI v3 documents by `tools/gen-schema.py`.
const DEFINITIONS: &str = include_str!("schema/definitions.json");
/// The metrics APIs, which upstream publishes in no document.
const METRICS: &str = include_str!("schema/metrics.json");
/// How a definition names another.
const REFERENCE_PREFIX: &str = "#/components/schemas/";

/// A served type: API group (`""` for core), version, kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gvk<'a> {
    /// API group, `""` for core.
    pub group: &'a str,
    /// API version: `v1`.
    pub version: &'a str,
    /// Kind as in manifests: `Deployment`.
    pub kind: &'a str,
}

impl<'a> Gvk<'a> {
    /// The type with these names.
    pub(crate) const fn new(group: &'a str, version: &'a str, kind: &'a str) -> Self {
        Self {
            group,
            version,
            kind,
        }
    }
}

/// All definitions by name, and which of them is which kind.
#[derive(Debug)]
pub(crate) struct Schema {
    definitions: Map<String, Value>,
    kinds: BTreeMap<(String, String, String), String>,
}

impl Schema {
    /// The built-in types. The text is parsed at the first call and kept.
    pub(crate) fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Schema> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let mut definitions = parse(DEFINITIONS);
            definitions.extend(parse(METRICS));
            Self::new(definitions)
        })
    }

    fn new(definitions: Map<String, Value>) -> Self {
        let mut kinds = BTreeMap::new();
        for (name, definition) in &definitions {
            for gvk in gvks(definition) {
                let key = (gvk.group.into(), gvk.version.into(), gvk.kind.into());
                kinds.insert(key, name.clone());
            }
        }
        Self { definitions, kinds }
    }

    /// The root node of a kind, or `None` for a kind that is not built in.
    pub(crate) fn kind(&self, gvk: Gvk<'_>) -> Option<Node<'_>> {
        let key = (gvk.group.into(), gvk.version.into(), gvk.kind.into());
        let name = self.kinds.get(&key)?;
        Some(Node::definition(self, name, self.definitions.get(name)?))
    }

    /// The definition of that name as it stands in an OpenAPI document: `io.k8s.api.apps.v1.Deployment`.
    pub(crate) fn definition(&self, name: &str) -> Option<&Value> {
        self.definitions.get(name)
    }

    /// The name of a kind's definition.
    pub(crate) fn definition_name(&self, gvk: Gvk<'_>) -> Option<&str> {
        let key = (gvk.group.into(), gvk.version.into(), gvk.kind.into());
        self.kinds.get(&key).map(String::as_str)
    }

    fn referenced(&self, reference: &str) -> Option<(&str, &Value)> {
        let name = reference.strip_prefix(REFERENCE_PREFIX)?;
        let (name, definition) = self.definitions.get_key_value(name)?;
        Some((name, definition))
    }
}

/// The kinds a definition says it is.
fn gvks(definition: &Value) -> impl Iterator<Item = Gvk<'_>> {
    let list = definition["x-kubernetes-group-version-kind"].as_array();
    list.into_iter().flatten().filter_map(|gvk| {
        Some(Gvk::new(
            gvk["group"].as_str()?,
            gvk["version"].as_str()?,
            gvk["kind"].as_str()?,
        ))
    })
}

fn parse(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect("the committed definitions are a JSON object")
}

#[cfg(test)]
mod tests;
