//! What is read of the lists of the metrics APIs, and how it becomes samples in thousandths.
//! Not here: calls, and the whole types (`flyball-api`): what a decision does not read of thousands of pods is skipped.
//!
//! Source: k8s.io/metrics/pkg/apis, v0.37.2; pkg/controller/podautoscaler/metrics/client.go, v1.37.2.

use std::collections::BTreeMap;

use flyball_api::{Quantity, duration, time::Time};
use flyball_core::pod::Sample;
use flyball_core::time::{Instant, Span};
use serde::Deserialize;

use crate::metrics_client::Samples;

/// Window of a custom metric that states none (metricServerDefaultMetricWindow).
const DEFAULT_WINDOW: Span = Span(60_000);

/// `PodMetricsList` of metrics.k8s.io/v1beta1.
#[derive(Debug, Deserialize)]
pub(crate) struct PodMetricsList {
    #[serde(default)]
    items: Vec<PodMetrics>,
}

#[derive(Debug, Deserialize)]
struct PodMetrics {
    metadata: Named,
    #[serde(default)]
    timestamp: Option<Time>,
    #[serde(default)]
    window: String,
    #[serde(default)]
    containers: Vec<ContainerMetrics>,
}

#[derive(Debug, Deserialize)]
struct ContainerMetrics {
    #[serde(default)]
    name: String,
    #[serde(default)]
    usage: BTreeMap<String, Quantity>,
}

#[derive(Debug, Deserialize)]
struct Named {
    #[serde(default)]
    name: String,
}

impl PodMetricsList {
    pub(crate) fn parse(body: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(body)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// One sample a pod that reports `resource`, of one container or of all together.
    pub(crate) fn samples(&self, resource: &str, container: Option<&str>) -> Samples {
        let mut samples = Samples::new();
        for item in &self.items {
            let value = match container {
                None => item.of_pod(resource),
                Some(container) => item.of_container(resource, container),
            };
            if let Some(value) = value {
                let window = Span(duration::parse_millis(&item.window).unwrap_or_default());
                let sample = Sample {
                    timestamp: instant(item.timestamp),
                    window,
                    value,
                };
                samples.insert(item.metadata.name.as_str().into(), sample);
            }
        }
        samples
    }
}

impl PodMetrics {
    /// The sum over containers; none if one of them lacks the resource, or there are none.
    fn of_pod(&self, resource: &str) -> Option<i64> {
        let mut sum = 0_i64;
        for container in &self.containers {
            let Some(usage) = container.usage.get(resource) else {
                tracing::debug!(pod = %self.metadata.name, resource, "Missing resource metric");
                return None;
            };
            sum = sum.wrapping_add(usage.milli_value());
        }
        (!self.containers.is_empty()).then_some(sum)
    }

    fn of_container(&self, resource: &str, name: &str) -> Option<i64> {
        let Some(container) = self
            .containers
            .iter()
            .find(|container| container.name == name)
        else {
            tracing::debug!(pod = %self.metadata.name, container = name, "Missing container metric");
            return None;
        };
        container.usage.get(resource).map(Quantity::milli_value)
    }
}

/// `MetricValueList` of custom.metrics.k8s.io, v1beta1 or v1beta2.
#[derive(Debug, Deserialize)]
pub(crate) struct MetricList {
    #[serde(default)]
    items: Vec<MetricValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetricValue {
    described_object: Named,
    #[serde(default)]
    timestamp: Option<Time>,
    /// `window` in v1beta1.
    #[serde(default, alias = "window")]
    window_seconds: Option<i64>,
    #[serde(default)]
    value: Quantity,
}

impl MetricList {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The figure, if there is exactly one.
    pub(crate) fn single(&self) -> Option<i64> {
        match self.items.as_slice() {
            [one] => Some(one.value.milli_value()),
            _ => None,
        }
    }

    /// One sample an object; of several, the last.
    pub(crate) fn samples(&self) -> Samples {
        let sample = |item: &MetricValue| Sample {
            timestamp: instant(item.timestamp),
            window: item.window_seconds.map_or(DEFAULT_WINDOW, Span::seconds),
            value: item.value.milli_value(),
        };
        self.items
            .iter()
            .map(|item| (item.described_object.name.as_str().into(), sample(item)))
            .collect()
    }
}

/// `ExternalMetricValueList` of external.metrics.k8s.io/v1beta1.
#[derive(Debug, Deserialize)]
pub(crate) struct ExternalList {
    #[serde(default)]
    pub(crate) items: Vec<ExternalValue>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExternalValue {
    #[serde(default)]
    pub(crate) value: Quantity,
}

fn instant(timestamp: Option<Time>) -> Instant {
    timestamp.map_or(Instant::GO_ZERO, |timestamp| Instant(timestamp.millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"items":[
        {"metadata":{"name":"a"},"timestamp":"2000-01-01T00:00:05Z","window":"30s","containers":[
            {"name":"app","usage":{"cpu":"250m","memory":"1Mi"}},{"name":"log","usage":{"cpu":"1000000n"}}]},
        {"metadata":{"name":"b"},"timestamp":"2000-01-01T00:00:05Z","window":"1m0s","containers":[
            {"name":"app","usage":{"memory":"1Mi"}}]},
        {"metadata":{"name":"c"},"timestamp":null,"window":"","containers":[]}]}"#;

    fn values(container: Option<&str>, resource: &str) -> Vec<(String, i64)> {
        let list = PodMetricsList::parse(LIST.as_bytes()).expect("readable");
        let samples = list.samples(resource, container);
        samples
            .iter()
            .map(|(name, sample)| (name.to_string(), sample.value))
            .collect()
    }

    #[test]
    fn a_pod_is_the_sum_of_its_containers_or_has_no_sample() {
        assert_eq!(values(None, "cpu"), [("a".to_owned(), 251)]);
        assert_eq!(values(None, "memory"), [("b".to_owned(), 1_048_576_000)]);
    }

    #[test]
    fn a_container_without_the_resource_or_absent_gives_no_sample() {
        assert_eq!(values(Some("app"), "cpu"), [("a".to_owned(), 250)]);
        assert_eq!(values(Some("log"), "memory"), []);
    }

    #[test]
    fn both_versions_of_the_custom_api_are_read() {
        let text = r#"{"items":[
            {"describedObject":{"name":"a"},"metric":{"name":"m"},"timestamp":"2000-01-01T00:00:00Z","windowSeconds":5,"value":"1500m"},
            {"describedObject":{"name":"b"},"metricName":"m","timestamp":"2000-01-01T00:00:00Z","window":7,"value":"2"},
            {"describedObject":{"name":"c"},"timestamp":"2000-01-01T00:00:00Z","value":"2"}]}"#;
        let list: MetricList = serde_json::from_str(text).expect("readable");
        let samples = list.samples();
        let windows: Vec<_> = samples
            .values()
            .map(|sample| (sample.window.0, sample.value))
            .collect();
        assert_eq!(windows, [(5_000, 1_500), (7_000, 2_000), (60_000, 2_000)]);
        assert_eq!(list.single(), None);
    }
}
