//! A small world for the core's tests: an autoscaler, its pods and figures, one sync at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_core::failure::{ComputeError, ScaleProblem};
use flyball_core::groups::{GroupRule, Groups};
use flyball_core::metric::{Metric, Source, Target, TargetKind};
use flyball_core::pod::{Phase, PodFacts, Readiness, ReadyState, Sample};
use flyball_core::policy::{Policy, Settings, TargetRef, Text};
use flyball_core::request::{Container, PodRequests};
use flyball_core::snapshot::{Previous, Reading};
use flyball_core::step::Steps;
use flyball_core::time::{Instant, Span};
use flyball_core::{
    Decider, History, Outcome, ScaleView, Snapshot, WriteResult, conclude, decide_with,
};

/// The instant of every test sync.
pub(crate) const NOW: Instant = Instant(1_000_000_000);

/// An answer of a metrics source, before pods are sorted.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Samples by pod name.
    Samples(BTreeMap<Text, Sample>),
    /// One figure.
    Value(i64),
    /// Series.
    Series(Vec<i64>),
    /// No answer.
    Unavailable(&'static str),
    /// A selector that cannot be used.
    BadSelector(&'static str),
}

/// An autoscaler and what it sees.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) policy: Policy,
    pub(crate) scale: Result<ScaleView, ScaleProblem>,
    pub(crate) previous: Previous,
    pub(crate) selection: Result<(), ComputeError>,
    pub(crate) pods: Vec<PodFacts>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) history: History,
    pub(crate) write: WriteResult,
    pub(crate) now: Instant,
}

impl World {
    /// `replicas` pods of 1000m, all counted, each using `usage` of cpu, with a target of 80 %.
    pub(crate) fn cpu(replicas: i32, usage: i64) -> Self {
        let mut world = Self::new(replicas, vec![cpu_metric(80)]);
        world.pods = (0..replicas).map(|i| pod(&format!("web-{i:03}"))).collect();
        world.answers = vec![samples(&world.pods, usage)];
        world
    }

    /// `replicas` without pods or answers.
    pub(crate) fn new(replicas: i32, metrics: Vec<Metric>) -> Self {
        let target = TargetRef {
            kind: "Deployment".into(),
            namespace: "default".into(),
            name: "web".into(),
            autoscaler: "web".into(),
        };
        Self {
            policy: Policy {
                target,
                replicas_min: Some(1),
                replicas_max: 100,
                metrics: metrics.into_iter().map(Arc::new).collect(),
                behavior: None,
                settings: Settings::default(),
            },
            scale: Ok(ScaleView {
                spec: replicas,
                status: replicas,
            }),
            previous: Previous {
                current: replicas,
                desired: replicas,
                ..Previous::default()
            },
            selection: Ok(()),
            pods: Vec::new(),
            answers: Vec::new(),
            history: History::default(),
            write: WriteResult::Written,
            now: NOW,
        }
    }

    /// One sync, with its steps.
    pub(crate) fn sync(&self) -> (Outcome, Steps) {
        let groups: Vec<Groups> = self
            .policy
            .metrics
            .iter()
            .zip(&self.answers)
            .map(|(metric, answer)| {
                let rule = GroupRule::new(metric, &self.policy.settings);
                let none = BTreeMap::new();
                let samples = if let Answer::Samples(samples) = answer {
                    samples
                } else {
                    &none
                };
                Groups::fold(rule, &self.pods, samples, self.now)
            })
            .collect();
        let readings: Vec<Reading<'_>> = self
            .answers
            .iter()
            .zip(&groups)
            .map(|(answer, groups)| read(answer, groups))
            .collect();
        let snapshot = Snapshot {
            now: self.now,
            scale: self.scale.clone(),
            previous: &self.previous,
            generation: 3,
            selection: self.selection.clone(),
            readings: &readings,
        };
        let mut steps = Steps::default();
        let mut decider = Decider::default();
        let decision = decide_with(
            &mut decider,
            &mut steps,
            &self.policy,
            &snapshot,
            &self.history,
        );
        (conclude(decision, &self.write, self.now), steps)
    }

    /// The size after one sync.
    pub(crate) fn size(&self) -> i32 {
        self.sync().0.status.desired
    }
}

fn read<'a>(answer: &'a Answer, groups: &'a Groups) -> Reading<'a> {
    match answer {
        Answer::Samples(_) => Reading::PerPod(groups),
        Answer::Value(value) => Reading::Object {
            value: *value,
            groups,
        },
        Answer::Series(values) => Reading::External { values, groups },
        Answer::Unavailable(text) => Reading::Unavailable((*text).into()),
        Answer::BadSelector(text) => Reading::BadSelector((*text).into()),
    }
}

/// cpu with a utilization target.
pub(crate) fn cpu_metric(percent: i32) -> Metric {
    Metric {
        source: Source::Resource {
            resource: "cpu".into(),
        },
        target: Target {
            average_utilization: Some(percent),
            ..no_target(TargetKind::Utilization)
        },
    }
}

/// An external metric with an average target in thousandths.
pub(crate) fn external(name: &str, average: i64) -> Metric {
    Metric {
        source: Source::External {
            name: name.into(),
            selector: "nil".into(),
        },
        target: Target {
            average_value: Some(average),
            ..no_target(TargetKind::AverageValue)
        },
    }
}

/// An object metric with a target of either kind in thousandths.
pub(crate) fn object(kind: TargetKind, target: i64) -> Metric {
    Metric {
        source: Source::Object {
            kind: "Ingress".into(),
            object: "front".into(),
            name: "hits".into(),
            selector: "nil".into(),
        },
        target: Target {
            value: Some(target),
            average_value: Some(target),
            ..no_target(kind)
        },
    }
}

/// A target without any field.
pub(crate) fn no_target(kind: TargetKind) -> Target {
    Target {
        kind,
        value: None,
        average_value: None,
        average_utilization: None,
    }
}

/// A pod that has been ready for an hour and asks for 1000m of cpu.
pub(crate) fn pod(name: &str) -> PodFacts {
    let requests = vec![("cpu".into(), 1000)];
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
            containers: vec![Container {
                name: "app".into(),
                requests,
            }],
            ..PodRequests::default()
        }),
    }
}

/// The same sample for every pod.
pub(crate) fn samples(pods: &[PodFacts], value: i64) -> Answer {
    Answer::Samples(
        pods.iter()
            .map(|p| (p.name.clone(), sample(value)))
            .collect(),
    )
}

/// A fresh sample.
pub(crate) fn sample(value: i64) -> Sample {
    Sample {
        timestamp: NOW,
        window: Span::seconds(30),
        value,
    }
}
