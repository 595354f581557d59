//! The three metrics APIs: resource, custom and external. Answers in thousandths, failures in upstream's words.
//! Not here: what the figures mean.
//!
//! Source: pkg/controller/podautoscaler/metrics/client.go, v1.37.2, and the clients of k8s.io/metrics it uses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use flyball_core::pod::Sample;
use thiserror::Error;

use crate::api_client::{ApiClient, Call};
use crate::api_error::{ApiError, Asked};
use crate::metrics_wire::{ExternalList, MetricList, PodMetricsList};
use crate::path;
use crate::rest_mapper::{MapError, Mapping, RestMapper, discover_group};

const CUSTOM: &str = "custom.metrics.k8s.io";
/// Versions of the custom metrics API that this client reads.
const CUSTOM_VERSIONS: [&str; 2] = ["v1beta2", "v1beta1"];

/// One sample a pod, by pod name.
pub type Samples = BTreeMap<Arc<str>, Sample>;

/// Why there are no figures. The texts are upstream's, down to the source in front.
#[derive(Debug, Error)]
pub enum MetricsError {
    /// An API did not answer.
    #[error("unable to fetch metrics from {source_name} metrics API: {cause}")]
    Fetch {
        /// `resource`, `custom` or `external`.
        source_name: &'static str,
        /// What happened.
        cause: FetchError,
    },
    /// An API answered with an empty list.
    #[error("no metrics returned from {0} metrics API")]
    Empty(&'static str),
}

/// Why an API gave no list.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The call failed.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// No custom metrics API is registered.
    #[error("no custom metrics API (custom.metrics.k8s.io) registered")]
    NotRegistered,
    /// Only unknown versions of it are.
    #[error("no known available metric versions found")]
    NoKnownVersion,
    /// The kind of the described object is not known.
    #[error("unable to map kind {kind} to resource: {cause}")]
    NoMapping {
        /// `Kind` or `Kind.group`.
        kind: String,
        /// What the mapper reported.
        cause: MapError,
    },
    /// Not one figure, but none or several.
    #[error("the custom metrics API server returned {0} results when we asked for exactly one")]
    NotOne(usize),
}

/// Which pods and which series are meant, both as printed selectors; empty ones do not restrict.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Namespace of the autoscaler.
    pub namespace: &'a str,
    /// Metric or resource name.
    pub name: &'a str,
    /// Selector of the pods.
    pub pods: &'a str,
    /// Selector of the metric.
    pub metric: &'a str,
}

/// The object an Object metric describes.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// API group; its version does not matter.
    pub group: &'a str,
    /// Kind.
    pub kind: &'a str,
    /// Name.
    pub name: &'a str,
}

/// The client of the three APIs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct MetricsClient {
    client: ApiClient,
    mapper: RestMapper,
    custom_version: Arc<Mutex<Option<&'static str>>>,
}

impl MetricsClient {
    /// A client with the rate limit of `client`.
    pub fn new(client: ApiClient, mapper: RestMapper) -> Self {
        Self {
            client,
            mapper,
            custom_version: Arc::default(),
        }
    }

    /// Forgets which version of the custom metrics API is served.
    pub fn invalidate(&self) {
        *self
            .custom_version
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Usage of a resource per pod, of one container or summed over all.
    pub async fn resource(
        &self,
        query: Query<'_>,
        container: Option<&str>,
    ) -> Result<Samples, MetricsError> {
        let pods = path::collection("metrics.k8s.io", "v1beta1", query.namespace, "pods");
        let path = path::with_query(pods, &[("labelSelector", query.pods)]);
        let asked = Asked {
            resource: "pods.metrics.k8s.io",
            name: "",
        };
        let answer = self.client.call(Call::get(&path, asked)).await;
        let list = answer.and_then(|body| {
            PodMetricsList::parse(&body).map_err(|cause| unreadable(&path, cause))
        });
        let list = list.map_err(|cause| fetch("resource", cause))?;
        if list.is_empty() {
            return Err(MetricsError::Empty("resource"));
        }
        Ok(list.samples(query.name, container))
    }

    /// A metric per pod.
    pub async fn pods(&self, query: Query<'_>) -> Result<Samples, MetricsError> {
        let place = ["pods", "*", query.name];
        let list = self
            .custom(query, &place)
            .await
            .map_err(|cause| fetch("custom", cause))?;
        if list.is_empty() {
            return Err(MetricsError::Empty("custom"));
        }
        Ok(list.samples())
    }

    /// One figure of one object.
    pub async fn object(
        &self,
        query: Query<'_>,
        described: Described<'_>,
    ) -> Result<i64, MetricsError> {
        let value = self.object_value(query, described).await;
        value.map_err(|cause| fetch("custom", cause))
    }

    /// Every series of an external metric.
    pub async fn external(&self, query: Query<'_>) -> Result<Vec<i64>, MetricsError> {
        let group = "external.metrics.k8s.io";
        let all = path::collection(group, "v1beta1", query.namespace, query.name);
        let path = path::with_query(all, &[("labelSelector", query.metric)]);
        let resource = format!("{}.{group}", query.name);
        let asked = Asked {
            resource: &resource,
            name: "",
        };
        let list: ExternalList = self
            .client
            .object(Call::get(&path, asked))
            .await
            .map_err(|cause| fetch("external", cause))?;
        if list.items.is_empty() {
            return Err(MetricsError::Empty("external"));
        }
        Ok(list
            .items
            .iter()
            .map(|item| item.value.milli_value())
            .collect())
    }

    async fn object_value(
        &self,
        query: Query<'_>,
        described: Described<'_>,
    ) -> Result<i64, FetchError> {
        let Described { group, kind, name } = described;
        let list = if kind == "Namespace" && group.is_empty() {
            // The namespace is always that of the autoscaler, whatever the object is called.
            self.custom(query, &["metrics", query.name]).await?
        } else {
            let mappings = self.mapper.mappings(group, kind).await.map_err(|cause| {
                let kind = if group.is_empty() {
                    kind.to_owned()
                } else {
                    format!("{kind}.{group}")
                };
                FetchError::NoMapping { kind, cause }
            })?;
            let resource = mappings.first().map(Mapping::group_resource);
            self.custom(query, &[&resource.unwrap_or_default(), name, query.name])
                .await?
        };
        list.single().ok_or(FetchError::NotOne(list.len()))
    }

    /// A list of the custom metrics API at a place below the namespace.
    async fn custom(&self, query: Query<'_>, place: &[&str]) -> Result<MetricList, FetchError> {
        let version = self.custom_version().await?;
        let [first, rest @ ..] = place else {
            return Err(FetchError::NotRegistered);
        };
        let mut path = path::collection(CUSTOM, version, query.namespace, first);
        for part in rest {
            path.push('/');
            path.push_str(&path::segment(part));
        }
        let path = path::with_query(
            path,
            &[
                ("labelSelector", query.pods),
                ("metricLabelSelector", query.metric),
            ],
        );
        let resource = format!("{first}.{CUSTOM}");
        let asked = Asked {
            resource: &resource,
            name: rest.first().copied().unwrap_or_default(),
        };
        Ok(self.client.object(Call::get(&path, asked)).await?)
    }

    /// The preferred version if it is known here, else the first known one the server lists.
    async fn custom_version(&self) -> Result<&'static str, FetchError> {
        let known = *self
            .custom_version
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = known {
            return Ok(version);
        }
        let group = discover_group(&self.client, CUSTOM)
            .await?
            .ok_or(FetchError::NotRegistered)?;
        let mut served = group.preferred_version.iter().chain(&group.versions);
        let version = served
            .find_map(|served| {
                CUSTOM_VERSIONS
                    .iter()
                    .find(|known| **known == served.version)
            })
            .ok_or(FetchError::NoKnownVersion)?;
        *self
            .custom_version
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(version);
        Ok(version)
    }
}

fn fetch(source_name: &'static str, cause: impl Into<FetchError>) -> MetricsError {
    MetricsError::Fetch {
        source_name,
        cause: cause.into(),
    }
}

fn unreadable(path: &str, cause: serde_json::Error) -> ApiError {
    ApiError::Unreadable {
        method: http::Method::GET,
        path: path.to_owned(),
        cause,
    }
}

#[cfg(test)]
mod tests;
