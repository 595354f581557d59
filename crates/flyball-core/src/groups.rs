//! The one rule that sorts pods, and the accumulator a decision reads instead of the pods.
//! Invariant: a `Groups` equals the fold of its members, whatever was added and removed in between.

use std::collections::BTreeMap;

use crate::metric::{Aim, Metric};
use crate::pod::{Phase, PodFacts, ReadyState, Sample};
use crate::policy::{Gate, Settings, Text};
use crate::request::{PodLevel, PodRequestProblem, RequestProblem};
use crate::time::{Instant, Span};

/// What a pod counts as for one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Its sample is averaged.
    Counted,
    /// Its sample is set aside; it returns as a pod at zero when the ratio asks for growth.
    Unready,
    /// It has no sample; it returns with an assumed one, whichever way the ratio points.
    Missing,
    /// It is going or gone.
    Ignored,
}

impl Class {
    /// Every class, in the order of the enum.
    pub const ALL: [Self; 4] = [Self::Counted, Self::Unready, Self::Missing, Self::Ignored];

    /// The name in records and explanations.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counted => "counted",
            Self::Unready => "unready",
            Self::Missing => "missing",
            Self::Ignored => "ignored",
        }
    }
}

/// What `classify` and the sums need to know of a metric and of the controller's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRule {
    /// Resource with container (`None`: whole pod); `None` for metrics that read no requests.
    pub request: Option<RequestRule>,
    /// Whether readiness and warm-up matter, which is so for exactly `cpu`.
    pub readiness: bool,
    /// `--horizontal-pod-autoscaler-cpu-initialization-period`.
    pub cpu_initialization: Span,
    /// `--horizontal-pod-autoscaler-initial-readiness-delay`.
    pub readiness_delay: Span,
}

/// Which request of a pod utilization is divided by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRule {
    /// Resource name.
    pub resource: Text,
    /// Container name; `None` means the whole pod.
    pub container: Option<Text>,
    /// Whether pod-level requests are honoured.
    pub pod_level: PodLevel,
    /// What a pod without a sample is assumed to use when shrinking, in percent of its request.
    pub assumed_percent: i64,
}

impl GroupRule {
    /// The rule for `metric` under `settings`.
    pub fn new(metric: &Metric, settings: &Settings) -> Self {
        let request = match (metric.aim(), metric.resource()) {
            (Aim::Utilization(target), Some(resource)) => Some(RequestRule {
                resource: resource.clone(),
                container: metric.container().cloned(),
                pod_level: if settings.gates.has(Gate::PodLevelResources) {
                    PodLevel::Honoured
                } else {
                    PodLevel::Ignored
                },
                assumed_percent: i64::from(target.max(100)),
            }),
            _ => None,
        };
        Self {
            request,
            readiness: metric.resource().is_some_and(|r| **r == *"cpu"),
            cpu_initialization: settings.cpu_initialization,
            readiness_delay: settings.readiness_delay,
        }
    }

    /// Sorts one pod. The second value is the first instant at which the answer may change by time alone.
    ///
    /// Upstream: replica_calculator.go `groupPods`, 1.37.2. Every comparison is strict, so equality falls on the counted side.
    pub fn classify(
        &self,
        pod: &PodFacts,
        sample: Option<&Sample>,
        now: Instant,
    ) -> (Class, Option<Instant>) {
        if pod.terminating || pod.phase == Phase::Failed {
            return (Class::Ignored, None);
        }
        if pod.phase == Phase::Pending {
            return (Class::Unready, None);
        }
        let Some(sample) = sample else {
            return (Class::Missing, None);
        };
        if !self.readiness {
            return (Class::Counted, None);
        }
        let (Some(ready), Some(start)) = (pod.ready, pod.start) else {
            return (Class::Unready, None);
        };
        let not_ready = ready.state == ReadyState::False;
        let warm_at = start.plus(self.cpu_initialization);
        let (unready, until) = if warm_at > now {
            let sampled_too_early = sample.timestamp < ready.since.plus(sample.window);
            (not_ready || sampled_too_early, Some(warm_at))
        } else {
            let never_ready = start.plus(self.readiness_delay) > ready.since;
            (not_ready && never_ready, None)
        };
        let class = if unready {
            Class::Unready
        } else {
            Class::Counted
        };
        (class, until)
    }
}

/// One pod as it was counted: what `add` put in and `remove` must take out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Pod name.
    pub name: Text,
    /// What it counts as.
    pub class: Class,
    /// The first instant at which the class may change by time alone.
    pub valid_until: Option<Instant>,
    /// Its sample in thousandths, if it has one.
    pub usage: Option<i64>,
    /// Its request in thousandths; zero where the metric reads none.
    pub request: Result<i64, RequestProblem>,
    /// Whether it is running and ready.
    pub running_and_ready: bool,
}

impl Member {
    /// Sorts a pod and notes what it brings.
    pub fn new(rule: &GroupRule, pod: &PodFacts, sample: Option<&Sample>, now: Instant) -> Self {
        let (class, valid_until) = rule.classify(pod, sample, now);
        let request = rule.request.as_ref().map_or(Ok(0), |r| {
            pod.requests
                .of(&r.resource, r.container.as_ref(), r.pod_level)
        });
        Self {
            name: pod.name.clone(),
            class,
            valid_until,
            usage: sample.map(|s| s.value),
            request,
            running_and_ready: pod.is_running_and_ready(),
        }
    }
}

/// Sums over the pods of one class. Totals wrap, as upstream's do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: i64,
    /// Sum of samples in thousandths.
    pub usage: i64,
    /// Sum of requests in thousandths.
    pub request: i64,
    /// Sum of what each would be assumed to use when shrinking, in thousandths; cut per pod, as upstream does.
    pub assumed: i64,
}

impl Tally {
    fn put(&mut self, one: Self) {
        self.count = self.count.wrapping_add(one.count);
        self.usage = self.usage.wrapping_add(one.usage);
        self.request = self.request.wrapping_add(one.request);
        self.assumed = self.assumed.wrapping_add(one.assumed);
    }

    fn take(&mut self, one: Self) {
        self.count = self.count.wrapping_sub(one.count);
        self.usage = self.usage.wrapping_sub(one.usage);
        self.request = self.request.wrapping_sub(one.request);
        self.assumed = self.assumed.wrapping_sub(one.assumed);
    }
}

/// The pods a selector finds, sorted and summed for one metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    rule: GroupRule,
    counted: Tally,
    unready: Tally,
    missing: Tally,
    ignored: Tally,
    stray: Tally,
    running_and_ready: i64,
    /// Pods without a request, by name. Bound: one entry a listed pod.
    problems: BTreeMap<Text, RequestProblem>,
}

impl Groups {
    /// No pods yet.
    pub fn new(rule: GroupRule) -> Self {
        Self {
            rule,
            counted: Tally::default(),
            unready: Tally::default(),
            missing: Tally::default(),
            ignored: Tally::default(),
            stray: Tally::default(),
            running_and_ready: 0,
            problems: BTreeMap::new(),
        }
    }

    /// The fold over pods and samples: members for every pod, strays for samples without a pod.
    pub fn fold<'a>(
        rule: GroupRule,
        pods: impl IntoIterator<Item = &'a PodFacts>,
        samples: &BTreeMap<Text, Sample>,
        now: Instant,
    ) -> Self {
        let mut groups = Self::new(rule);
        let mut unclaimed: BTreeMap<&str, &Sample> = samples
            .iter()
            .map(|(name, sample)| (&**name, sample))
            .collect();
        for pod in pods {
            unclaimed.remove(&*pod.name);
            let member = Member::new(&groups.rule, pod, samples.get(&pod.name), now);
            groups.add(&member);
        }
        for sample in unclaimed.values() {
            groups.add_stray(sample.value);
        }
        groups
    }

    /// The rule in force.
    pub const fn rule(&self) -> &GroupRule {
        &self.rule
    }

    /// Counts a pod in.
    pub fn add(&mut self, member: &Member) {
        let one = self.tally_of(member);
        self.class_mut(member.class).put(one);
        self.running_and_ready = self
            .running_and_ready
            .wrapping_add(i64::from(member.running_and_ready));
        if let Err(problem) = &member.request {
            self.problems.insert(member.name.clone(), problem.clone());
        }
    }

    /// Takes out a pod that was counted in as exactly this member.
    pub fn remove(&mut self, member: &Member) {
        let one = self.tally_of(member);
        self.class_mut(member.class).take(one);
        self.running_and_ready = self
            .running_and_ready
            .wrapping_sub(i64::from(member.running_and_ready));
        if member.request.is_err() {
            self.problems.remove(&member.name);
        }
    }

    /// Counts in a sample whose pod does not exist.
    pub fn add_stray(&mut self, usage: i64) {
        self.stray.put(Tally {
            count: 1,
            usage,
            ..Tally::default()
        });
    }

    /// Takes out such a sample.
    pub fn remove_stray(&mut self, usage: i64) {
        self.stray.take(Tally {
            count: 1,
            usage,
            ..Tally::default()
        });
    }

    /// How many pods the selector finds, whatever they count as.
    pub const fn listed(&self) -> i64 {
        self.counted
            .count
            .wrapping_add(self.unready.count)
            .wrapping_add(self.missing.count)
            .wrapping_add(self.ignored.count)
    }

    /// Pods whose sample is averaged.
    pub const fn counted(&self) -> &Tally {
        &self.counted
    }

    /// Pods set aside.
    pub const fn unready(&self) -> &Tally {
        &self.unready
    }

    /// Pods without a sample.
    pub const fn missing(&self) -> &Tally {
        &self.missing
    }

    /// Pods going or gone.
    pub const fn ignored(&self) -> &Tally {
        &self.ignored
    }

    /// Samples whose pod does not exist.
    pub const fn stray(&self) -> &Tally {
        &self.stray
    }

    /// Pods that are running and ready, terminating or not.
    pub const fn running_and_ready(&self) -> i64 {
        self.running_and_ready
    }

    /// The first pod, by name, that has no request. Upstream names a random one.
    pub fn request_problem(&self) -> Option<PodRequestProblem> {
        let (pod, problem) = self.problems.first_key_value()?;
        Some(PodRequestProblem {
            pod: pod.clone(),
            problem: problem.clone(),
        })
    }

    fn tally_of(&self, member: &Member) -> Tally {
        let request = *member.request.as_ref().unwrap_or(&0);
        let percent = self.rule.request.as_ref().map_or(0, |r| r.assumed_percent);
        Tally {
            count: 1,
            usage: member.usage.unwrap_or(0),
            request,
            assumed: request.wrapping_mul(percent) / 100,
        }
    }

    const fn class_mut(&mut self, class: Class) -> &mut Tally {
        match class {
            Class::Counted => &mut self.counted,
            Class::Unready => &mut self.unready,
            Class::Missing => &mut self.missing,
            Class::Ignored => &mut self.ignored,
        }
    }
}
