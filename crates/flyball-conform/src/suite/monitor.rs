//! `monitor`: names, kinds, stability, labels and buckets of the controller's own metrics.

use std::collections::BTreeMap;
use std::time::Duration;

use flyball_controller::key::ObjectKey;
use flyball_controller::monitor::{Action, Fault, Monitor};
use prometheus::Registry;
use prometheus::proto::{Metric, MetricFamily, MetricType};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::List;
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[List {
    key: "cases",
    check,
}];

#[derive(Deserialize)]
struct Case {
    observe: Vec<Observation>,
    expected: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Observation {
    kind: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    error: String,
    #[serde(default)]
    seconds: f64,
    #[serde(default)]
    metric_type: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    hpa_name: String,
    #[serde(default)]
    value: i32,
}

#[derive(Deserialize)]
struct Expected {
    metric: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(flatten)]
    figures: Map<String, Value>,
}

fn check(file: &Value, case: &Value) -> Outcome {
    checked(case, |case: Case| {
        let facts = ["prefix", "types", "stability", "bucketsSeconds"];
        let mut expected: Map<String, Value> = facts
            .iter()
            .map(|key| ((*key).to_owned(), file[*key].clone()))
            .collect();
        let figures: Vec<_> = case.expected.iter().map(|sample| &sample.figures).collect();
        expected.insert("figures".to_owned(), json!(figures));
        match case.run(&file["prefix"]) {
            Ok(actual) => Verdict::equal(&Value::Object(expected), &actual),
            Err(error) => Verdict::unreadable(error),
        }
    })
    .into()
}

impl Case {
    /// What the registry shows after the observations, and what it holds at all.
    fn run(&self, prefix: &Value) -> prometheus::Result<Value> {
        let prefix = prefix.as_str().unwrap_or_default();
        let registry = Registry::new();
        let monitor = Monitor::register(&registry)?;
        for observation in &self.observe {
            observation.put(&monitor)?;
        }
        let families = registry.gather();
        let figures: Vec<Value> = self
            .expected
            .iter()
            .map(|sample| sample.figures_of(prefix, &families))
            .collect();
        let mut facts = inventory(prefix)?;
        facts["figures"] = json!(figures);
        Ok(facts)
    }
}

impl Observation {
    fn put(&self, monitor: &Monitor) -> prometheus::Result<()> {
        let outcome = (action(&self.action), fault(&self.error));
        let took = Duration::from_secs_f64(self.seconds);
        match self.kind.as_str() {
            "reconciliation" => monitor.observe_reconciliation(outcome.0, outcome.1, took),
            "metric_computation" => monitor.observe_computation(&self.metric_type, outcome, took),
            "desired_replicas" => {
                let key = ObjectKey::new(&self.namespace, &self.hpa_name);
                monitor.observe_desired_replicas(&key, self.value);
            }
            kind if kind.contains("addition") => monitor.observe_addition(),
            kind if kind.contains("deletion") => monitor.observe_deletion(),
            kind if kind.contains("stale") => monitor.observe_stale_skip(),
            kind => return Err(prometheus::Error::Msg(format!("observation {kind}"))),
        }
        Ok(())
    }
}

fn action(label: &str) -> Action {
    match label {
        "scale_up" => Action::ScaleUp,
        "scale_down" => Action::ScaleDown,
        _ => Action::None,
    }
}

fn fault(label: &str) -> Fault {
    match label {
        "spec" => Fault::Spec,
        "internal" => Fault::Internal,
        _ => Fault::None,
    }
}

impl Expected {
    /// The figures of the series this speaks about, those it names and no others.
    fn figures_of(&self, prefix: &str, families: &[MetricFamily]) -> Value {
        let name = format!("{prefix}{}", self.metric);
        let family = families.iter().find(|family| family.name() == name);
        let mut series = family.into_iter().flat_map(MetricFamily::get_metric);
        let Some(found) = series.find(|metric| self.has_labels(metric)) else {
            return json!("no such series");
        };
        let kind = family.map(MetricFamily::get_field_type);
        let histogram = found.get_histogram();
        let mut figures = Map::new();
        for key in self.figures.keys() {
            let figure = match (key.as_str(), kind) {
                ("value", Some(MetricType::GAUGE)) => json!(found.get_gauge().get_value() as i64),
                ("value", _) => json!(found.get_counter().get_value() as i64),
                ("sum", _) => json!(histogram.get_sample_sum()),
                ("count", _) => json!(histogram.get_sample_count()),
                ("firstBucketHit", _) => {
                    let mut buckets = histogram.get_bucket().iter();
                    let hit = buckets.find(|bucket| bucket.cumulative_count() == 1);
                    json!(hit.map(prometheus::proto::Bucket::upper_bound))
                }
                _ => Value::Null,
            };
            figures.insert(key.clone(), figure);
        }
        Value::Object(figures)
    }

    fn has_labels(&self, metric: &Metric) -> bool {
        let labels = metric.get_label();
        labels.len() == self.labels.len()
            && labels.iter().all(|label| {
                self.labels
                    .get(label.name())
                    .is_some_and(|value| value == label.value())
            })
    }
}

/// Every metric with its kind and stability, and the buckets of the histograms.
fn inventory(prefix: &str) -> prometheus::Result<Value> {
    let registry = Registry::new();
    let monitor = Monitor::register(&registry)?;
    monitor.observe_reconciliation(Action::None, Fault::None, Duration::ZERO);
    monitor.observe_computation("Pods", (Action::None, Fault::None), Duration::ZERO);
    monitor.observe_desired_replicas(&ObjectKey::new("default", "web"), 1);
    monitor.observe_addition();
    monitor.observe_stale_skip();
    let (mut types, mut stability, mut buckets) = (Map::new(), Map::new(), Value::Null);
    for family in registry.gather() {
        let Some(name) = family.name().strip_prefix(prefix) else {
            continue;
        };
        let kind = match family.get_field_type() {
            MetricType::COUNTER => "counter",
            MetricType::GAUGE => "gauge",
            MetricType::HISTOGRAM => "histogram",
            _ => "other",
        };
        types.insert(name.to_owned(), json!(kind));
        let level = family.help().trim_start_matches('[').split(']').next();
        stability.insert(name.to_owned(), json!(level));
        if kind == "histogram" {
            let bounds = family.get_metric()[0].get_histogram().get_bucket().iter();
            buckets = bounds
                .map(prometheus::proto::Bucket::upper_bound)
                .filter(|bound| bound.is_finite())
                .collect();
        }
    }
    Ok(json!({"prefix": prefix, "types": types, "stability": stability, "bucketsSeconds": buckets}))
}
