//! `replica_calculator`: one metric, pods and samples to a replica count; how pods are sorted; requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_controller::metrics_client::{FetchError, MetricsError};
use flyball_core::failure::{Failure, MetricFailure};
use flyball_core::groups::{Class, GroupRule, Groups};
use flyball_core::metric::aggregate::{Aggregate, Origin, sum_for_average, sum_for_value};
use flyball_core::metric::per_pod::{PerPod, Proposal};
use flyball_core::metric::{Aim, Metric, Source, Target, TargetKind};
use flyball_core::outcome::Slot;
use flyball_core::policy::{MissingPods, Profile, Settings};
use flyball_core::ratio::Band;
use flyball_core::request::{PodLevel, PodRequestProblem};
use flyball_core::snapshot::ScaleView;
use flyball_core::step::Silent;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::List;
use super::expected::{ExpectedError, NOW, span};
use super::pods::{PodCase, SampleCase, samples};
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[
    List {
        key: "cases",
        check: check_count,
    },
    List {
        key: "derivedCases",
        check: check_count,
    },
    List {
        key: "groupPodsCases",
        check: check_groups,
    },
    List {
        key: "derivedGroupPodsCases",
        check: check_groups,
    },
    List {
        key: "podRequestCases",
        check: check_requests,
    },
    List {
        key: "perPodUsageCases",
        check: check_per_pod_usage,
    },
];

/// The two periods of a file that the sorting of pods depends on.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Constants {
    cpu_initialization_period_seconds: f64,
    initial_readiness_delay_seconds: f64,
}

fn settings(file: &Value) -> Result<Settings, serde_json::Error> {
    let constants = Constants::deserialize(&file["constants"])?;
    Ok(Settings {
        cpu_initialization: span(constants.cpu_initialization_period_seconds),
        readiness_delay: span(constants.initial_readiness_delay_seconds),
        ..Settings::default()
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CountCase {
    metric: MetricCase,
    tolerances: Tolerances,
    current_replicas: i32,
    pods: Vec<PodCase>,
    samples: Vec<SampleCase>,
    target: TargetCase,
    expected: CountExpected,
}

#[derive(Deserialize)]
struct MetricCase {
    kind: String,
    #[serde(default)]
    resource: String,
    #[serde(default)]
    container: String,
}

#[derive(Deserialize)]
struct Tolerances {
    up: f64,
    down: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetCase {
    value: Option<i32>,
    value_milli: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CountExpected {
    error: Option<ExpectedError>,
    replicas: Option<i64>,
    utilization_percent: Option<i64>,
    raw_value_milli: Option<i64>,
    usage_milli: Option<i64>,
}

fn check_count(file: &Value, case: &Value) -> Outcome {
    checked(case, |case: CountCase| match settings(file) {
        Ok(settings) => count(&case, &settings),
        Err(error) => Verdict::unreadable(error),
    })
    .into()
}

fn count(case: &CountCase, settings: &Settings) -> Verdict {
    let Some(metric) = case.metric() else {
        return Verdict::unreadable(format!("metric kind {}", case.metric.kind));
    };
    let result = case.propose(&metric, settings);
    match (&case.expected.error, result) {
        (Some(error), result) => error.check(result.err().as_deref()),
        (None, Err(text)) => Verdict::equal(&case.expected.numbers(), &json!({"error": text})),
        (None, Ok(proposal)) => {
            let mut actual = CountExpected {
                error: None,
                replicas: Some(proposal.replicas.into()),
                utilization_percent: None,
                raw_value_milli: None,
                usage_milli: None,
            };
            match proposal.slot {
                Slot::Utilization { percent, average } => {
                    actual.utilization_percent = Some(percent.into());
                    actual.raw_value_milli = Some(average);
                }
                Slot::Average(milli) | Slot::Value(milli) => actual.usage_milli = Some(milli),
                Slot::Empty => {}
            }
            Verdict::equal(&case.expected.numbers(), &actual.numbers())
        }
    }
}

impl CountExpected {
    /// The figures that are set. The sample's time is left out: it is logged and decides nothing.
    fn numbers(&self) -> Value {
        let mut numbers = Map::new();
        for (key, value) in [
            ("replicas", self.replicas),
            ("utilizationPercent", self.utilization_percent),
            ("rawValueMilli", self.raw_value_milli),
            ("usageMilli", self.usage_milli),
        ] {
            if let Some(value) = value {
                numbers.insert(key.to_owned(), value.into());
            }
        }
        Value::Object(numbers)
    }
}

impl CountCase {
    fn metric(&self) -> Option<Metric> {
        let resource = self.metric.resource.as_str().into();
        let (source, kind) = match self.metric.kind.as_str() {
            "resource" => (Source::Resource { resource }, TargetKind::Other),
            "container_resource" => {
                let container = self.metric.container.as_str().into();
                (
                    Source::ContainerResource {
                        resource,
                        container,
                    },
                    TargetKind::Other,
                )
            }
            "pods" => (Source::Pods { name: "m".into() }, TargetKind::AverageValue),
            "object" => (object(), TargetKind::Value),
            "object_per_pod" => (object(), TargetKind::AverageValue),
            "external" => (external(), TargetKind::Value),
            "external_per_pod" => (external(), TargetKind::AverageValue),
            _ => return None,
        };
        let total = kind == TargetKind::Value;
        let milli = self.target.value_milli;
        let target = Target {
            kind,
            value: milli.filter(|_| total),
            average_value: milli.filter(|_| !total),
            average_utilization: self.target.value,
        };
        Some(Metric { source, target })
    }

    /// The proposal, or the calculator's error text.
    fn propose(&self, metric: &Metric, settings: &Settings) -> Result<Proposal, String> {
        let facts: Vec<_> = self
            .pods
            .iter()
            .map(|pod| pod.facts(&self.metric.resource))
            .collect();
        let container = metric.container().map(|name| &**name);
        let samples = samples(&self.samples, container);
        let groups = Groups::fold(GroupRule::new(metric, settings), &facts, &samples, NOW);
        let (down, up) = (self.tolerances.down, self.tolerances.up);
        let band = Band {
            down,
            up,
            profile: Profile::Upstream,
        };
        let scale = ScaleView {
            spec: self.current_replicas,
            status: self.current_replicas,
        };
        let aim = metric.aim();
        let total = match (&metric.source, aim) {
            (Source::Object { .. }, _) => Some((Origin::Object, self.totals().next().unwrap_or(0))),
            (Source::External { .. }, Aim::Value(_)) => {
                Some((Origin::External, self.sum(sum_for_value)))
            }
            (Source::External { .. }, _) => Some((Origin::External, self.sum(sum_for_average))),
            _ => None,
        };
        if let Some(error) = self.fetch_error(&metric.source) {
            let namespace = "default".into();
            return Err(text(
                metric,
                Failure::Fetch {
                    namespace,
                    error: error.to_string().into(),
                },
            ));
        }
        let proposal = match (total, aim) {
            (Some((origin, usage)), Aim::Value(target)) => Aggregate {
                index: 0,
                origin,
                usage,
                target,
                band,
            }
            .propose_value(scale, &groups, &mut Silent),
            (Some((origin, usage)), Aim::AverageValue(target)) => Ok(Aggregate {
                index: 0,
                origin,
                usage,
                target,
                band,
            }
            .propose_average(scale, &mut Silent)),
            _ => PerPod {
                index: 0,
                groups: &groups,
                aim,
                band,
                missing: MissingPods::Count,
            }
            .propose(scale.spec, &mut Silent),
        };
        proposal.map_err(|failure| text(metric, failure))
    }

    /// What the metrics client makes of an answer without the samples it asked for.
    fn fetch_error(&self, source: &Source) -> Option<MetricsError> {
        let count = self.samples.len();
        match source {
            Source::Object { .. } if count != 1 => Some(MetricsError::Fetch {
                source_name: "custom",
                cause: FetchError::NotOne(count),
            }),
            Source::Pods { .. } if count == 0 => Some(MetricsError::Empty("custom")),
            Source::External { .. } if count == 0 => Some(MetricsError::Empty("external")),
            Source::Resource { .. } | Source::ContainerResource { .. } if count == 0 => {
                Some(MetricsError::Empty("resource"))
            }
            _ => None,
        }
    }

    fn totals(&self) -> impl Iterator<Item = i64> {
        self.samples.iter().filter_map(|sample| sample.value_milli)
    }

    fn sum(&self, sum: fn(&[i64]) -> i64) -> i64 {
        sum(&self.totals().collect::<Vec<_>>())
    }
}

/// The calculator's own text, without the prefix that a resource metric puts before it.
fn text(metric: &Metric, failure: Failure) -> String {
    let metric = Arc::new(metric.clone());
    let text = MetricFailure { metric, failure }.event_text().to_string();
    let prefix = text
        .strip_prefix("failed to get ")
        .and_then(|rest| rest.split_once(": "));
    prefix.map_or_else(|| text.clone(), |(_, own)| own.to_owned())
}

fn object() -> Source {
    Source::Object {
        kind: "Deployment".into(),
        object: "web".into(),
        name: "m".into(),
        selector: "nil".into(),
    }
}

fn external() -> Source {
    Source::External {
        name: "m".into(),
        selector: "nil".into(),
    }
}

#[derive(Deserialize)]
struct GroupCase {
    resource: String,
    pods: Vec<PodCase>,
    samples: Vec<SampleCase>,
    expected: Value,
}

fn check_groups(file: &Value, case: &Value) -> Outcome {
    checked(case, |case: GroupCase| match settings(file) {
        Ok(settings) => Verdict::equal(&sorted(&case.expected), &case.groups(&settings)),
        Err(error) => Verdict::unreadable(error),
    })
    .into()
}

impl GroupCase {
    fn groups(&self, settings: &Settings) -> Value {
        let target = Target {
            kind: TargetKind::AverageValue,
            value: None,
            average_value: Some(1),
            average_utilization: None,
        };
        let source = Source::Resource {
            resource: self.resource.as_str().into(),
        };
        let rule = GroupRule::new(&Metric { source, target }, settings);
        let samples = samples(&self.samples, None);
        let mut by_class: BTreeMap<Class, Vec<&str>> = BTreeMap::new();
        for pod in &self.pods {
            let facts = pod.facts(&self.resource);
            let (class, _) = rule.classify(&facts, samples.get(&facts.name), NOW);
            by_class.entry(class).or_default().push(&pod.name);
        }
        let names = |class| by_class.get(&class).cloned().unwrap_or_default();
        sorted(&json!({
            "readyPodCount": names(Class::Counted).len(),
            "unready": names(Class::Unready),
            "missing": names(Class::Missing),
            "ignored": names(Class::Ignored),
        }))
    }
}

/// The same with every list of names in order: they are sets.
fn sorted(groups: &Value) -> Value {
    let mut groups = groups.clone();
    for list in groups.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(names) = list.as_array_mut() {
            names.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
        }
    }
    groups
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestCase {
    resource: String,
    container: Option<String>,
    pod_level_resources_enabled: bool,
    pods: Vec<PodCase>,
    expected: RequestExpected,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestExpected {
    error: Option<ExpectedError>,
    requests_milli: Option<BTreeMap<String, i64>>,
}

fn check_requests(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: RequestCase| {
        match (&case.expected.error, case.requests()) {
            (Some(error), result) => error.check(result.err().as_deref()),
            (None, result) => {
                Verdict::equal(&json!({"Ok": case.expected.requests_milli}), &json!(result))
            }
        }
    })
    .into()
}

impl RequestCase {
    fn requests(&self) -> Result<BTreeMap<String, i64>, String> {
        let pod_level = if self.pod_level_resources_enabled {
            PodLevel::Honoured
        } else {
            PodLevel::Ignored
        };
        let container = self.container.as_deref().map(Into::into);
        let one = |pod: &PodCase| {
            let requests = pod.requests(&self.resource);
            let request = requests.of(
                &self.resource.as_str().into(),
                container.as_ref(),
                pod_level,
            );
            let named = |problem| {
                PodRequestProblem {
                    pod: pod.name.as_str().into(),
                    problem,
                }
                .to_string()
            };
            Ok((pod.name.clone(), request.map_err(named)?))
        };
        self.pods.iter().map(one).collect()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PerPodUsageCase {
    usage_milli: i64,
    status_replicas: i32,
    expected: i64,
}

/// What External reports per pod; Object is the same but for the upper end.
fn check_per_pod_usage(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: PerPodUsageCase| {
        let band = Band {
            down: 0.1,
            up: 0.1,
            profile: Profile::Upstream,
        };
        let total = Aggregate {
            index: 0,
            origin: Origin::External,
            usage: case.usage_milli,
            target: 1,
            band,
        };
        let scale = ScaleView {
            spec: 1,
            status: case.status_replicas,
        };
        let actual = match total.propose_average(scale, &mut Silent).slot {
            Slot::Average(milli) => json!(milli),
            _ => Value::Null,
        };
        Verdict::equal(&json!(case.expected), &actual)
    })
    .into()
}
