//! What is served, told to clients: plain and aggregated discovery, and the version.
//! Source: apiserver endpoints/discovery, apidiscovery.k8s.io/v2. Not here: schemas (`schema`).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::kind::{Kind, Kinds, Scope};
use crate::metrics_api;
use crate::schema::openapi::{self, Access, Documents, Reach, Subresource};
use crate::schema::{Gvk, Schema};

/// The verbs of every kind in the store, in upstream's order.
const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
/// The verbs of a custom resource, in upstream's order.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];
/// Media type of an aggregated document.
pub(crate) const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// One resource as discovery tells of it.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) singular: String,
    pub(crate) namespaced: bool,
    /// Group, version and kind of what it answers.
    pub(crate) response: (String, String, String),
    pub(crate) verbs: Vec<&'static str>,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    /// Name and response of each subresource.
    pub(crate) subresources: Vec<(&'static str, (String, String, String))>,
}

/// The resources by group and version, groups and versions in the order in which they are told.
#[derive(Debug)]
pub(crate) struct Discovery {
    groups: BTreeMap<String, Vec<(String, Vec<Resource>)>>,
}

impl Discovery {
    pub(crate) fn of(kinds: &Kinds) -> Self {
        let mut discovery = Self {
            groups: BTreeMap::new(),
        };
        for kind in kinds.iter() {
            for version in &kind.versions {
                discovery.add(&kind.group, &version.name, resource(kind, &version.name));
            }
        }
        for (group, versions) in metrics_api::GROUPS {
            for version in versions {
                discovery.version(group, version);
            }
        }
        for (name, kind) in [("nodes", "NodeMetrics"), ("pods", "PodMetrics")] {
            discovery.add(
                "metrics.k8s.io",
                "v1beta1",
                read_only(name, ("metrics.k8s.io", "v1beta1", kind)),
            );
        }
        let review = ("authorization.k8s.io", "v1", "SelfSubjectAccessReview");
        discovery.add(
            review.0,
            review.1,
            created_only("selfsubjectaccessreviews", review),
        );
        discovery
    }

    /// Adds a resource to a version of a group.
    fn add(&mut self, group: &str, version: &str, resource: Resource) {
        self.version(group, version).push(resource);
    }

    /// The resources of a version of a group, which is served from now on even if it has none: the custom and external
    /// metrics APIs take any metric's name as a resource.
    fn version(&mut self, group: &str, version: &str) -> &mut Vec<Resource> {
        let versions = self.groups.entry(group.to_owned()).or_default();
        let index = versions
            .iter()
            .position(|(name, _)| name == version)
            .unwrap_or_else(|| {
                versions.push((version.to_owned(), Vec::new()));
                versions.len() - 1
            });
        &mut versions[index].1
    }

    /// `/api`.
    pub(crate) fn core_versions(&self) -> Value {
        let versions: Vec<&String> = self
            .groups
            .get("")
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
            .collect();
        json!({
            "kind": "APIVersions",
            "versions": versions,
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}],
        })
    }

    /// `/apis`.
    pub(crate) fn groups(&self) -> Value {
        let groups: Vec<Value> = self
            .named()
            .map(|(group, versions)| group_fields(group, versions))
            .collect();
        json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    }

    /// `/apis/G`.
    pub(crate) fn group(&self, group: &str) -> Option<Value> {
        let versions = self.groups.get(group).filter(|_| !group.is_empty())?;
        let mut value = group_fields(group, versions);
        value["kind"] = "APIGroup".into();
        value["apiVersion"] = "v1".into();
        Some(value)
    }

    /// `/api/v1`, `/apis/G/V`.
    pub(crate) fn resources(&self, group: &str, version: &str) -> Option<Value> {
        let (_, resources) = self
            .groups
            .get(group)?
            .iter()
            .find(|(name, _)| name == version)?;
        let list: Vec<Value> = resources.iter().flat_map(plain).collect();
        Some(json!({
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": group_version(group, version),
            "resources": list,
        }))
    }

    /// `/api` or `/apis` in one document.
    pub(crate) fn aggregated(&self, core: bool) -> Value {
        let items: Vec<Value> = self
            .groups
            .iter()
            .filter(|(group, _)| group.is_empty() == core)
            .map(|(group, versions)| {
                let mut metadata = Map::new();
                if !group.is_empty() {
                    metadata.insert("name".to_owned(), group.as_str().into());
                }
                let versions: Vec<Value> = versions
                    .iter()
                    .map(|(version, resources)| {
                        let resources: Vec<Value> = resources.iter().map(aggregated).collect();
                        json!({"version": version, "resources": resources, "freshness": "Current"})
                    })
                    .collect();
                json!({"metadata": metadata, "versions": versions})
            })
            .collect();
        json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        })
    }

    fn named(&self) -> impl Iterator<Item = (&String, &Vec<(String, Vec<Resource>)>)> {
        self.groups.iter().filter(|(group, _)| !group.is_empty())
    }
}

/// `/version`: the release whose behaviour is followed.
pub(crate) fn version() -> Value {
    json!({
        "major": "1",
        "minor": "37",
        "emulationMajor": "1",
        "emulationMinor": "37",
        "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "36",
        "gitVersion": "v1.37.2+flyball",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": "linux/amd64",
    })
}

/// The OpenAPI documents of the kinds.
pub(crate) fn documents(kinds: &Kinds) -> Documents {
    let mut resources = Vec::new();
    for kind in kinds.iter() {
        let subresources: &[Subresource] = match (kind.has_status, kind.scale.is_some()) {
            (true, true) => &[Subresource::Status, Subresource::Scale],
            (true, false) => &[Subresource::Status],
            (false, true) => &[Subresource::Scale],
            (false, false) => &[],
        };
        for version in &kind.versions {
            resources.push(openapi::Resource {
                gvk: Gvk::new(&kind.group, &version.name, &kind.kind),
                plural: &kind.plural,
                reach: if kind.is_namespaced() {
                    Reach::Namespaced
                } else {
                    Reach::Cluster
                },
                access: Access::ReadWrite,
                subresources,
                custom: kind
                    .custom
                    .as_ref()
                    .and_then(|custom| custom.schemas.get(&version.name)),
            });
        }
    }
    for (plural, kind, reach) in [
        ("nodes", "NodeMetrics", Reach::Cluster),
        ("pods", "PodMetrics", Reach::Namespaced),
    ] {
        resources.push(openapi::Resource {
            gvk: Gvk::new("metrics.k8s.io", "v1beta1", kind),
            plural,
            reach,
            access: Access::ReadOnly,
            subresources: &[],
            custom: None,
        });
    }
    Documents::new(Schema::builtin(), &resources)
}

fn resource(kind: &Kind, version: &str) -> Resource {
    let response = (
        kind.group.to_string(),
        version.to_owned(),
        kind.kind.to_string(),
    );
    let mut subresources = Vec::new();
    if kind.scale.is_some() {
        subresources.push((
            "scale",
            (
                "autoscaling".to_owned(),
                "v1".to_owned(),
                "Scale".to_owned(),
            ),
        ));
    }
    if kind.has_status {
        subresources.push(("status", response.clone()));
    }
    if kind.custom.is_some() {
        subresources.reverse();
    }
    Resource {
        name: kind.plural.to_string(),
        singular: kind.singular.to_string(),
        namespaced: kind.scope == Scope::Namespaced,
        response,
        verbs: if kind.custom.is_some() {
            CUSTOM_VERBS.to_vec()
        } else {
            VERBS.to_vec()
        },
        short_names: kind.short_names.iter().map(ToString::to_string).collect(),
        categories: kind.categories.iter().map(ToString::to_string).collect(),
        subresources,
    }
}

fn read_only(name: &str, response: (&str, &str, &str)) -> Resource {
    Resource {
        namespaced: name == "pods",
        singular: String::new(),
        verbs: vec!["get", "list"],
        ..created_only(name, response)
    }
}

fn created_only(name: &str, (group, version, kind): (&str, &str, &str)) -> Resource {
    Resource {
        name: name.to_owned(),
        singular: kind.to_lowercase(),
        namespaced: false,
        response: (group.to_owned(), version.to_owned(), kind.to_owned()),
        verbs: vec!["create"],
        short_names: Vec::new(),
        categories: Vec::new(),
        subresources: Vec::new(),
    }
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

fn group_fields(group: &str, versions: &[(String, Vec<Resource>)]) -> Value {
    let list: Vec<Value> = versions
        .iter()
        .map(|(version, _)| json!({"groupVersion": group_version(group, version), "version": version}))
        .collect();
    json!({"name": group, "versions": list, "preferredVersion": list.first()})
}

/// The entries of a plain list: the resource, then its subresources.
fn plain(resource: &Resource) -> Vec<Value> {
    let mut entry = json!({
        "name": resource.name,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.response.2,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = resource.short_names.clone().into();
    }
    if !resource.categories.is_empty() {
        entry["categories"] = resource.categories.clone().into();
    }
    let mut entries = vec![entry];
    for (name, response) in &resource.subresources {
        let mut entry = json!({
            "name": format!("{}/{name}", resource.name),
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": response.2,
            "verbs": SUBRESOURCE_VERBS,
        });
        if (&response.0, &response.1) != (&resource.response.0, &resource.response.1) {
            entry["group"] = response.0.as_str().into();
            entry["version"] = response.1.as_str().into();
        }
        entries.push(entry);
    }
    entries
}

fn aggregated(resource: &Resource) -> Value {
    let kind = |(group, version, kind): &(String, String, String)| json!({"group": group, "version": version, "kind": kind});
    let mut entry = json!({
        "resource": resource.name,
        "responseKind": kind(&resource.response),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        entry["shortNames"] = resource.short_names.clone().into();
    }
    if !resource.categories.is_empty() {
        entry["categories"] = resource.categories.clone().into();
    }
    if !resource.subresources.is_empty() {
        let list: Vec<Value> = resource
            .subresources
            .iter()
            .map(|(name, response)| {
                json!({"subresource": name, "responseKind": kind(response), "verbs": SUBRESOURCE_VERBS})
            })
            .collect();
        entry["subresources"] = list.into();
    }
    entry
}
