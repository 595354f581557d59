//! `utilization`: the ratio of one set of figures to its target, and figures as the status prints them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use flyball_bridge::raise;
use flyball_core::failure::MetricFailure;
use flyball_core::groups::{Class, GroupRule, Groups, Member};
use flyball_core::metric::per_pod::PerPod;
use flyball_core::metric::{Aim, Metric, Source, Target, TargetKind};
use flyball_core::outcome::Slot;
use flyball_core::policy::{MissingPods, Profile, Settings};
use flyball_core::ratio::Band;
use flyball_core::step::{Step, Steps};
use serde::Deserialize;
use serde_json::{Value, json};

use super::List;
use super::expected::ExpectedError;
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[
    List {
        key: "utilizationRatioCases",
        check: check_utilization,
    },
    List {
        key: "usageRatioCases",
        check: check_usage,
    },
    List {
        key: "statusQuantityCases",
        check: check_quantity,
    },
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UtilizationCase {
    samples_milli: BTreeMap<String, i64>,
    requests_milli: BTreeMap<String, i64>,
    target_utilization_percent: i32,
    expected: Value,
}

fn check_utilization(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: UtilizationCase| {
        let ratio = Ratio {
            samples: &case.samples_milli,
            requests: &case.requests_milli,
            aim: Aim::Utilization(case.target_utilization_percent),
        };
        ratio.check(&case.expected)
    })
    .into()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageCase {
    samples_milli: BTreeMap<String, i64>,
    target_usage_milli: i64,
    expected: Value,
}

fn check_usage(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: UsageCase| {
        let every = case
            .samples_milli
            .keys()
            .map(|name| (name.clone(), 0))
            .collect();
        let ratio = Ratio {
            samples: &case.samples_milli,
            requests: &every,
            aim: Aim::AverageValue(case.target_usage_milli),
        };
        ratio.check(&case.expected)
    })
    .into()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuantityCase {
    resource: String,
    raw_value_milli: i64,
    expected: Value,
}

fn check_quantity(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: QuantityCase| {
        let quantity = raise::quantity(case.raw_value_milli, &case.resource);
        let actual = json!({"quantity": quantity.to_string(), "format": quantity.format().name()});
        Verdict::equal(&case.expected, &actual)
    })
    .into()
}

/// Figures and requests by pod. A figure without a request belongs to no pod.
struct Ratio<'a> {
    samples: &'a BTreeMap<String, i64>,
    requests: &'a BTreeMap<String, i64>,
    aim: Aim,
}

impl Ratio<'_> {
    fn check(&self, expected: &Value) -> Verdict {
        let mut steps = Steps::default();
        let band = Band {
            down: 0.1,
            up: 0.1,
            profile: Profile::Upstream,
        };
        let groups = self.groups();
        let metric = PerPod {
            index: 0,
            groups: &groups,
            aim: self.aim,
            band,
            missing: MissingPods::Count,
        };
        let proposal = metric.propose(1, &mut steps);
        let failed = proposal.as_ref().err().map(|failure| {
            let failure = failure.clone();
            MetricFailure {
                metric: Arc::new(self.metric()),
                failure,
            }
            .event_text()
            .to_string()
        });
        if let Ok(error) = ExpectedError::deserialize(&expected["error"]) {
            return error.check(failed.as_deref());
        }
        let ratio = steps.0.iter().find_map(|step| match step {
            Step::Ratio { measure, .. } => Some(measure.ratio),
            _ => None,
        });
        let actual = match proposal.map(|proposal| proposal.slot) {
            Ok(Slot::Utilization { percent, average }) => {
                json!({"ratio": ratio, "utilizationPercent": percent, "rawValueMilli": average})
            }
            Ok(Slot::Average(milli)) => json!({"ratio": ratio, "usageMilli": milli}),
            _ => json!({"error": failed}),
        };
        Verdict::equal(expected, &actual)
    }

    fn metric(&self) -> Metric {
        let (average_utilization, average_value) = match self.aim {
            Aim::Utilization(percent) => (Some(percent), None),
            Aim::AverageValue(milli) => (None, Some(milli)),
            Aim::Value(_) | Aim::Nothing => (None, None),
        };
        let target = Target {
            kind: TargetKind::Other,
            value: None,
            average_value,
            average_utilization,
        };
        Metric {
            source: Source::Resource {
                resource: "memory".into(),
            },
            target,
        }
    }

    fn groups(&self) -> Groups {
        let mut groups = Groups::new(GroupRule::new(&self.metric(), &Settings::default()));
        let names: BTreeSet<&String> = self.samples.keys().chain(self.requests.keys()).collect();
        for name in names {
            let usage = self.samples.get(name).copied();
            match (usage, self.requests.get(name)) {
                (Some(usage), None) => groups.add_stray(usage),
                (_, request) => groups.add(&member(name, usage, request.copied().unwrap_or(0))),
            }
        }
        // A pod that is going adds nothing, but without any pod there would be nothing to ask.
        groups.add(&Member {
            class: Class::Ignored,
            ..member("going", None, 0)
        });
        groups
    }
}

/// A pod with its figure; without one it is left out of the first average.
fn member(name: &str, usage: Option<i64>, request: i64) -> Member {
    Member {
        name: name.into(),
        class: if usage.is_some() {
            Class::Counted
        } else {
            Class::Missing
        },
        valid_until: None,
        usage,
        request: Ok(request),
        running_and_ready: true,
    }
}
