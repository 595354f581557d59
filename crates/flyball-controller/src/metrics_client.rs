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
mod tests {
    use super::*;
    use crate::scripted::{Scripted, failure};
    use flyball_clock::Clock;
    use serde_json::json;

    const QUERY: Query<'_> = Query {
        namespace: "shop",
        name: "rps",
        pods: "app=web",
        metric: "verb in (GET,PUT)",
    };
    const CUSTOM_PODS: &str = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/%2A/rps";

    fn cluster() -> (Scripted, MetricsClient) {
        let server = Scripted::default();
        let client = server.client(&Clock::starting_at(0));
        let mapper = RestMapper::new(client.clone());
        (server, MetricsClient::new(client, mapper))
    }

    fn custom_group(server: &Scripted, preferred: &str, versions: &[&str]) {
        let versions: Vec<_> = versions
            .iter()
            .map(|version| json!({"version": version}))
            .collect();
        let group = json!({"versions": versions, "preferredVersion": {"version": preferred}});
        server.serve("GET /apis/custom.metrics.k8s.io", group);
    }

    #[tokio::test(start_paused = true)]
    async fn resource_metrics_are_asked_for_by_selector_in_one_fixed_version() {
        let (server, client) = cluster();
        let query = Query {
            name: "cpu",
            metric: "",
            ..QUERY
        };
        let path = "/apis/metrics.k8s.io/v1beta1/namespaces/shop/pods";
        server.serve(&format!("GET {path}"), json!({"items": []}));
        let error = client
            .resource(query, None)
            .await
            .expect_err("empty")
            .to_string();
        assert_eq!(error, "no metrics returned from resource metrics API");
        assert_eq!(
            server.requests(),
            [format!("GET {path}?labelSelector=app%3Dweb")]
        );

        server.answer(
            &format!("GET {path}"),
            503,
            json!("error trying to reach service"),
        );
        let error = client
            .resource(query, None)
            .await
            .expect_err("down")
            .to_string();
        let text = "unable to fetch metrics from resource metrics API: \
                    the server is currently unable to handle the request (get pods.metrics.k8s.io)";
        assert_eq!(error, text);
    }

    #[tokio::test(start_paused = true)]
    async fn pods_metrics_carry_both_selectors_and_the_served_version() {
        let (server, client) = cluster();
        custom_group(&server, "v1", &["v1", "v1beta2", "v1beta1"]);
        let item = json!({"describedObject": {"name": "web-1"}, "timestamp": "2000-01-01T00:00:00Z", "value": "7"});
        server.serve(&format!("GET {CUSTOM_PODS}"), json!({"items": [item]}));
        for _ in 0..2 {
            let samples = client.pods(QUERY).await.expect("served");
            assert_eq!(
                samples
                    .values()
                    .map(|sample| sample.value)
                    .collect::<Vec<_>>(),
                [7_000]
            );
        }
        let list = format!(
            "GET {CUSTOM_PODS}?labelSelector=app%3Dweb&metricLabelSelector=verb%20in%20%28GET%2CPUT%29"
        );
        let discovery = "GET /apis/custom.metrics.k8s.io".to_owned();
        assert_eq!(
            server.requests(),
            [discovery.clone(), list.clone(), list.clone()]
        );
        client.invalidate();
        client.pods(QUERY).await.expect("served");
        assert_eq!(server.requests(), [discovery, list]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_is_asked_for_by_its_resource_and_a_namespace_by_itself() {
        let (server, client) = cluster();
        custom_group(&server, "v1beta1", &["v1beta1"]);
        server.serve(
            "GET /apis/networking.k8s.io",
            json!({"versions": [{"version": "v1"}], "preferredVersion": {"version": "v1"}}),
        );
        let ingresses = json!({"resources": [{"name": "ingresses", "kind": "Ingress"}]});
        server.serve("GET /apis/networking.k8s.io/v1", ingresses);
        let prefix = "GET /apis/custom.metrics.k8s.io/v1beta1/namespaces/shop";
        let one = json!({"items": [{"describedObject": {"name": "x"}, "value": "1500m"}]});
        server.serve(
            &format!("{prefix}/ingresses.networking.k8s.io/front/rps"),
            one.clone(),
        );
        server.serve(&format!("{prefix}/metrics/rps"), one);
        let query = Query {
            pods: "",
            metric: "",
            ..QUERY
        };
        let front = Described {
            group: "networking.k8s.io",
            kind: "Ingress",
            name: "front",
        };
        assert_eq!(client.object(query, front).await.expect("served"), 1_500);
        let namespace = Described {
            group: "",
            kind: "Namespace",
            name: "ignored",
        };
        assert_eq!(
            client.object(query, namespace).await.expect("served"),
            1_500
        );
        let rocket = Described {
            group: "space",
            kind: "Rocket",
            name: "r",
        };
        let error = client
            .object(query, rocket)
            .await
            .expect_err("unknown")
            .to_string();
        let text = "unable to fetch metrics from custom metrics API: unable to map kind Rocket.space to resource: \
                    no matches for kind \"Rocket\" in group \"space\"";
        assert_eq!(error, text);
    }

    #[tokio::test(start_paused = true)]
    async fn external_metrics_are_summed_by_nobody_here() {
        let (server, client) = cluster();
        let path = "/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/rps";
        server.serve(
            &format!("GET {path}"),
            json!({"items": [{"value": "1"}, {"value": "20m"}]}),
        );
        assert_eq!(client.external(QUERY).await.expect("served"), [1_000, 20]);
        assert_eq!(
            server.requests(),
            [format!(
                "GET {path}?labelSelector=verb%20in%20%28GET%2CPUT%29"
            )]
        );
        let error = failure(500, "InternalError", "queue is down");
        server.answer(&format!("GET {path}"), 500, error);
        let error = client.external(QUERY).await.expect_err("down").to_string();
        assert_eq!(
            error,
            "unable to fetch metrics from external metrics API: queue is down"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_custom_api_that_is_absent_or_too_new_is_named() {
        let (server, client) = cluster();
        let error = client.pods(QUERY).await.expect_err("absent").to_string();
        let text = "unable to fetch metrics from custom metrics API: \
                    no custom metrics API (custom.metrics.k8s.io) registered";
        assert_eq!(error, text);
        custom_group(&server, "v9", &["v9"]);
        let error = client.pods(QUERY).await.expect_err("too new").to_string();
        let text = "unable to fetch metrics from custom metrics API: no known available metric versions found";
        assert_eq!(error, text);
    }
}
