//! `external.metrics.k8s.io/v1beta1`: metrics from outside the cluster. Upstream: k8s.io/metrics external_metrics/v1beta1/types.go.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::meta::ListMeta;
use crate::quantity::Quantity;
use crate::time::Time;
use crate::wire::nullable;

/// `apiVersion` of the objects here.
pub const API_VERSION: &str = "external.metrics.k8s.io/v1beta1";

/// The series of one metric that match a selector.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExternalMetricValueList {
    /// `external.metrics.k8s.io/v1beta1`
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub api_version: String,
    /// `ExternalMetricValueList`
    #[serde(
        deserialize_with = "nullable",
        skip_serializing_if = "String::is_empty"
    )]
    pub kind: String,
    /// Version of the list.
    #[serde(deserialize_with = "nullable")]
    pub metadata: ListMeta,
    /// One value for each series.
    #[serde(deserialize_with = "nullable")]
    pub items: Vec<ExternalMetricValue>,
}

/// The value of one series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ExternalMetricValue {
    /// The metric's name.
    #[serde(deserialize_with = "nullable")]
    pub metric_name: String,
    /// What tells the series from others.
    #[serde(deserialize_with = "nullable")]
    pub metric_labels: BTreeMap<String, String>,
    /// When the value was taken.
    pub timestamp: Option<Time>,
    /// Seconds over which it was taken.
    #[serde(rename = "window", skip_serializing_if = "Option::is_none")]
    pub window_seconds: Option<i64>,
    /// The value.
    #[serde(deserialize_with = "nullable")]
    pub value: Quantity,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_survives_a_round_trip() {
        let json = json!({
            "apiVersion": API_VERSION,
            "kind": "ExternalMetricValueList",
            "metadata": {},
            "items": [
                {"metricName": "queue", "metricLabels": {"q": "a"}, "timestamp": "2000-01-01T00:00:00Z", "window": 60, "value": "8"},
                {"metricName": "queue", "metricLabels": {}, "timestamp": null, "value": "0"},
            ],
        });
        let list: ExternalMetricValueList = serde_json::from_value(json.clone()).expect("sound");
        assert_eq!(serde_json::to_value(&list).expect("serialises"), json);
    }
}
