//! Decisions of every kind, and one step of each kind with every argument filled.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_core::behavior::{bounds, stabilize};
use flyball_core::failure::{ComputeError, Failure, MetricFailure, ScaleProblem};
use flyball_core::groups::{GroupRule, Groups};
use flyball_core::history::Recommendation;
use flyball_core::metric::{Metric, Source, Target, TargetKind};
use flyball_core::pod::{Phase, PodFacts, Readiness, ReadyState, Sample};
use flyball_core::policy::{Policy, Profile, Settings, TargetRef};
use flyball_core::ratio::Band;
use flyball_core::request::{Container, PodRequests};
use flyball_core::snapshot::{Previous, Reading};
use flyball_core::step::{Hold, Measure, PodCounts, Step, Steps};
use flyball_core::time::{Instant, Span};
use flyball_core::{
    Decider, History, Needs, ScaleView, Snapshot, WriteResult, conclude, decide_with,
};
use flyball_trace::{DecisionRecord, convert};

pub(crate) const NOW: Instant = Instant(1_700_000_000_000);

pub(crate) fn cpu() -> Metric {
    let source = Source::Resource {
        resource: "cpu".into(),
    };
    metric(source, TargetKind::Utilization)
}

fn queue() -> Metric {
    let source = Source::External {
        name: "queue".into(),
        selector: "nil".into(),
    };
    metric(source, TargetKind::AverageValue)
}

/// Utilization of 80 %, or an average of 1500m.
fn metric(source: Source, kind: TargetKind) -> Metric {
    let utilization = kind == TargetKind::Utilization;
    let target = Target {
        kind,
        value: None,
        average_value: (!utilization).then_some(1500),
        average_utilization: utilization.then_some(80),
    };
    Metric { source, target }
}

pub(crate) fn policy(metrics: Vec<Metric>) -> Policy {
    let target = TargetRef {
        kind: "Deployment".into(),
        namespace: "default".into(),
        name: "web".into(),
        autoscaler: "web".into(),
    };
    Policy {
        target,
        replicas_min: Some(1),
        replicas_max: 10,
        metrics: metrics.into_iter().map(Arc::new).collect(),
        behavior: None,
        settings: Settings::default(),
    }
}

/// A deployment of 4 with a cpu target of 80 % and as many pods with this usage, in thousandths of one cpu, as there are figures.
pub(crate) fn measured(replicas: i32, usage: &[i64]) -> Sync {
    let facts: Vec<PodFacts> = (0..usage.len()).map(|i| pod(&format!("web-{i}"))).collect();
    let samples = facts.iter().zip(usage).filter(|(_, value)| **value >= 0);
    let samples = samples.map(|(pod, value)| {
        let sample = Sample {
            timestamp: NOW,
            window: Span::seconds(30),
            value: *value,
        };
        (pod.name.clone(), sample)
    });
    let samples: BTreeMap<_, _> = samples.collect();
    let policy = policy(vec![cpu()]);
    let rule = GroupRule::new(&policy.metrics[0], &policy.settings);
    let groups = Groups::fold(rule, &facts, &samples, NOW);
    Sync {
        replicas: Ok(replicas),
        policy,
        groups,
        answer: Answer::Pods,
        write: WriteResult::Written,
    }
}

pub(crate) enum Answer {
    Pods,
    Unavailable,
    Unselectable,
}

/// One sync to be recorded.
pub(crate) struct Sync {
    pub(crate) replicas: Result<i32, ScaleProblem>,
    pub(crate) policy: Policy,
    groups: Groups,
    pub(crate) answer: Answer,
    pub(crate) write: WriteResult,
}

impl Sync {
    pub(crate) fn record(&self) -> DecisionRecord {
        let reading = match self.answer {
            Answer::Unavailable => Reading::Unavailable("no metrics returned".into()),
            Answer::Pods | Answer::Unselectable => Reading::PerPod(&self.groups),
        };
        let selection = match self.answer {
            Answer::Unselectable => Err(ComputeError::SelectorMissing),
            Answer::Pods | Answer::Unavailable => Ok(()),
        };
        let scale = self.replicas.clone();
        let snapshot = Snapshot {
            now: NOW,
            scale: scale.map(|replicas| ScaleView {
                spec: replicas,
                status: replicas,
            }),
            previous: &Previous::default(),
            generation: 1,
            selection,
            readings: &[reading],
        };
        let mut steps = Steps::default();
        let (mut decider, history) = (Decider::default(), History::default());
        let decision = decide_with(&mut decider, &mut steps, &self.policy, &snapshot, &history);
        let outcome = conclude(decision, &self.write, NOW);
        convert::record(&self.policy, NOW, &outcome, &steps)
    }
}

fn pod(name: &str) -> PodFacts {
    let requests = vec![("cpu".into(), 1000)];
    let container = Container {
        name: "app".into(),
        requests,
    };
    PodFacts {
        name: name.into(),
        phase: Phase::Running,
        terminating: false,
        ready: Some(Readiness {
            state: ReadyState::True,
            since: NOW.minus(Span::seconds(3600)),
        }),
        start: Some(NOW.minus(Span::seconds(3610))),
        requests: Arc::new(PodRequests {
            containers: vec![container],
            ..PodRequests::default()
        }),
    }
}

/// The policy that [`every_step`] refers to.
pub(crate) fn two_metrics() -> Policy {
    policy(vec![cpu(), queue()])
}

/// One step of each kind, in the order of the core's enum.
#[expect(clippy::too_many_lines, reason = "a table, one entry a step")]
pub(crate) fn every_step() -> Vec<Step> {
    let measure = Measure {
        usage: 3840,
        request: 4000,
        entries: 4,
        value: 96.0,
        target: 80,
        ratio: 1.2,
    };
    let band = Band {
        down: 0.1,
        up: 0.1,
        profile: Profile::Upstream,
    };
    let failure = MetricFailure {
        metric: Arc::new(queue()),
        failure: Failure::NoSamples,
    };
    let first = failure.clone();
    let remembered = Recommendation {
        replicas: 7,
        at: NOW.minus(Span::seconds(45)),
    };
    let pods = PodCounts {
        selected: 6,
        counted: 4,
        unready: 1,
        missing: 1,
        ignored: 0,
        extraneous: 2,
    };
    vec![
        Step::Scale(ScaleView { spec: 4, status: 5 }),
        Step::NoScale(ScaleProblem::NoMapping("no matches for kind".into())),
        Step::Needs(Needs::Metrics),
        Step::Unselectable(ComputeError::SelectorMissing),
        Step::Sorted { metric: 0, pods },
        Step::Ratio {
            metric: 0,
            measure,
            band,
            inside: false,
        },
        Step::Refilled {
            metric: 0,
            missing: 1,
            missing_usage: 0,
            unready: 1,
            measure: Measure {
                ratio: f64::INFINITY,
                ..measure
            },
        },
        Step::Proposed {
            metric: 0,
            replicas: 5,
            exact: Some(1.2 * 4.0),
            hold: Some(Hold::SameCount),
        },
        Step::Failed { metric: 1, failure },
        Step::NoProposal(ComputeError::Metrics {
            invalid: 1,
            total: 2,
            first,
        }),
        Step::Recommended {
            replicas: 5,
            metric: Some(Arc::new(cpu())),
        },
        Step::Stabilized {
            proposed: 5,
            stabilized: stabilize::Stabilized {
                replicas: 7,
                held: Some(stabilize::Held::Down),
                by: Some(remembered),
            },
        },
        Step::Limited {
            stabilized: 12,
            limited: bounds::Limited {
                replicas: 8,
                by: bounds::Limit::UpRate,
            },
        },
        Step::RaisedToMin(2),
        Step::Decided {
            from: 4,
            to: 4,
            hold: Some(Hold::RateLimit),
        },
    ]
}
