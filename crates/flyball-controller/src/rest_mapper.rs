//! From a kind to its resource: discovery, read per group when a kind is asked for, and remembered.
//! Not here: calls to the resource.
//!
//! Source: client-go restmapper (deferred discovery), apimachinery meta.NoKindMatchError, v0.37.2. Only the groups that
//! are asked for are discovered. **Bound:** one entry per group that scale targets or described objects name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use thiserror::Error;

use crate::api_client::{ApiClient, Call};
use crate::api_error::{ApiError, Asked};
use crate::path;

/// Where the objects of a kind are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// API group; empty for core.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural resource name.
    pub resource: String,
    /// Kind.
    pub kind: String,
}

impl Mapping {
    /// `resource` or `resource.group`.
    pub fn group_resource(&self) -> String {
        if self.group.is_empty() {
            self.resource.clone()
        } else {
            format!("{}.{}", self.resource, self.group)
        }
    }
}

/// Why a kind has no resource.
#[derive(Debug, Error)]
pub enum MapError {
    /// The server knows no such kind.
    #[error("no matches for kind {kind:?} in group {group:?}")]
    NoKind {
        /// The kind.
        kind: String,
        /// The group.
        group: String,
    },
    /// Discovery did not answer.
    #[error(transparent)]
    Discovery(#[from] ApiError),
}

/// The mapper. Cheap to clone; clones share what they learned.
#[derive(Clone, Debug)]
pub struct RestMapper {
    client: ApiClient,
    groups: Arc<Mutex<BTreeMap<String, Arc<[Mapping]>>>>,
}

impl RestMapper {
    /// A mapper that knows nothing yet.
    pub fn new(client: ApiClient) -> Self {
        Self {
            client,
            groups: Arc::default(),
        }
    }

    /// Every mapping of a kind, of the preferred version first. A kind that is not known is looked for once more.
    pub async fn mappings(&self, group: &str, kind: &str) -> Result<Vec<Mapping>, MapError> {
        let known = self.groups().get(group).cloned();
        if let Some(known) = known {
            let found = of_kind(&known, kind);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let discovered: Arc<[Mapping]> = self.discover(group).await?.into();
        let found = of_kind(&discovered, kind);
        if found.is_empty() {
            return Err(MapError::NoKind {
                kind: kind.to_owned(),
                group: group.to_owned(),
            });
        }
        self.groups().insert(group.to_owned(), discovered);
        Ok(found)
    }

    /// Forgets everything, so that changes of the server are seen.
    pub fn reset(&self) {
        self.groups().clear();
    }

    async fn discover(&self, group: &str) -> Result<Vec<Mapping>, ApiError> {
        let mut mappings = Vec::new();
        for version in self.versions(group).await? {
            let path = path::group_version(group, &version);
            let asked = Asked {
                resource: "",
                name: "",
            };
            let list: ResourceList = match self.client.object(Call::get(&path, asked)).await {
                // A version can go between the two calls.
                Err(error) if error.is_not_found() => continue,
                answer => answer?,
            };
            let resources = list
                .resources
                .into_iter()
                .filter(|entry| !entry.name.contains('/'));
            mappings.extend(resources.map(|entry| Mapping {
                group: group.to_owned(),
                version: version.clone(),
                resource: entry.name,
                kind: entry.kind,
            }));
        }
        Ok(mappings)
    }

    async fn versions(&self, group: &str) -> Result<Vec<String>, ApiError> {
        if group.is_empty() {
            return Ok(vec!["v1".to_owned()]);
        }
        let found = discover_group(&self.client, group).await?;
        Ok(found.map(ApiGroup::into_versions).unwrap_or_default())
    }

    fn groups(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<[Mapping]>>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_kind(mappings: &[Mapping], kind: &str) -> Vec<Mapping> {
    mappings
        .iter()
        .filter(|mapping| mapping.kind == kind)
        .cloned()
        .collect()
}

/// A group as discovery shows it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiGroup {
    #[serde(default)]
    pub(crate) versions: Vec<GroupVersion>,
    #[serde(default)]
    pub(crate) preferred_version: Option<GroupVersion>,
}

/// One served version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupVersion {
    pub(crate) version: String,
}

impl ApiGroup {
    /// The preferred version, then the others as listed.
    fn into_versions(self) -> Vec<String> {
        let mut versions: Vec<_> = self
            .preferred_version
            .into_iter()
            .map(|v| v.version)
            .collect();
        for GroupVersion { version } in self.versions {
            if !versions.contains(&version) {
                versions.push(version);
            }
        }
        versions
    }
}

#[derive(Deserialize)]
struct ResourceList {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    name: String,
    kind: String,
}

/// The group `name`, or `None` if the server has none of that name.
pub(crate) async fn discover_group(
    client: &ApiClient,
    name: &str,
) -> Result<Option<ApiGroup>, ApiError> {
    let path = format!("/apis/{}", path::segment(name));
    match client
        .object(Call::get(
            &path,
            Asked {
                resource: "",
                name: "",
            },
        ))
        .await
    {
        Ok(group) => Ok(Some(group)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::Scripted;
    use flyball_clock::Clock;
    use serde_json::json;

    fn cluster() -> (Scripted, RestMapper) {
        let server = Scripted::default();
        server.serve(
            "GET /apis/apps",
            json!({"versions": [{"version": "v1beta1"}, {"version": "v1"}], "preferredVersion": {"version": "v1"}}),
        );
        let deployments = json!({"resources": [
            {"name": "deployments", "kind": "Deployment"},
            {"name": "deployments/scale", "kind": "Scale"}]});
        server.serve("GET /apis/apps/v1", deployments.clone());
        server.serve("GET /apis/apps/v1beta1", deployments);
        let mapper = RestMapper::new(server.client(&Clock::starting_at(0)));
        (server, mapper)
    }

    #[tokio::test(start_paused = true)]
    async fn the_preferred_version_comes_first_and_discovery_is_remembered() {
        let (server, mapper) = cluster();
        for _ in 0..2 {
            let found = mapper.mappings("apps", "Deployment").await.expect("known");
            let versions: Vec<_> = found
                .iter()
                .map(|mapping| mapping.version.as_str())
                .collect();
            assert_eq!(versions, ["v1", "v1beta1"]);
        }
        assert_eq!(server.requests().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unknown_kind_is_looked_for_again_each_time() {
        let (server, mapper) = cluster();
        for _ in 0..2 {
            let error = mapper
                .mappings("apps", "Rocket")
                .await
                .expect_err("unknown");
            assert_eq!(
                error.to_string(),
                "no matches for kind \"Rocket\" in group \"apps\""
            );
        }
        assert_eq!(server.requests().len(), 6);
        let error = mapper
            .mappings("space", "Rocket")
            .await
            .expect_err("unknown");
        assert_eq!(
            error.to_string(),
            "no matches for kind \"Rocket\" in group \"space\""
        );
    }
}
