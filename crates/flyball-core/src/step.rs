//! The explanation: one step for each thing a decision looked at, from the same pass that decides.
//! A recorder that is off is no code at all.

use std::sync::Arc;

use crate::behavior::bounds::Limited;
use crate::behavior::stabilize::Stabilized;
use crate::failure::{ComputeError, MetricFailure, ScaleProblem};
use crate::metric::Metric;
use crate::needs::Needs;
use crate::ratio::Band;
use crate::snapshot::ScaleView;

/// Tells a recorder one step.
///
/// Every step goes through here, so that a build with `--cfg flyball_recorder_removed` has none of it: the measure
/// that a silent recorder costs nothing.
macro_rules! record {
    ($recorder:expr, $step:expr) => {
        #[cfg(not(flyball_recorder_removed))]
        $crate::step::Recorder::step($recorder, || $step);
    };
}
pub(crate) use record;

/// Takes the steps of a decision.
pub trait Recorder {
    /// Whether steps are wanted. `false` removes the code that makes them.
    const ON: bool;

    /// Takes one step; `make` runs only when steps are wanted.
    fn step(&mut self, make: impl FnOnce() -> Step);
}

/// Wants no steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Recorder for Silent {
    const ON: bool = false;

    #[inline(always)]
    fn step(&mut self, _make: impl FnOnce() -> Step) {}
}

/// Keeps the steps in order. Bound: a handful a metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps(pub Vec<Step>);

impl Recorder for Steps {
    const ON: bool = true;

    fn step(&mut self, make: impl FnOnce() -> Step) {
        self.0.push(make());
    }
}

/// One thing a decision looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The scale as read.
    Scale(ScaleView),
    /// There is no scale.
    NoScale(ScaleProblem),
    /// Whether metrics are needed, and if not, why.
    Needs(Needs),
    /// The pods cannot be told apart.
    Unselectable(ComputeError),
    /// How the pods of one metric were sorted.
    Sorted {
        /// Index of the metric.
        metric: usize,
        /// The counts.
        pods: PodCounts,
    },
    /// The first average of a per-pod metric, or the ratio of a total.
    Ratio {
        /// Index of the metric.
        metric: usize,
        /// What was compared with what.
        measure: Measure,
        /// The tolerance band in force.
        band: Band,
        /// Whether the ratio lies inside.
        inside: bool,
    },
    /// The average again, with the pods that were left out put back.
    Refilled {
        /// Index of the metric.
        metric: usize,
        /// Pods put back with an assumed figure.
        missing: i64,
        /// What they are assumed to use together, in thousandths.
        missing_usage: i64,
        /// Unready pods put back at zero.
        unready: i64,
        /// The second average.
        measure: Measure,
    },
    /// What one metric asks for, and why it is the present size if it is.
    Proposed {
        /// Index of the metric.
        metric: usize,
        /// Replicas.
        replicas: i32,
        /// The product before it was rounded up, where one was rounded.
        exact: Option<f64>,
        /// Why the size was kept, if it was.
        hold: Option<Hold>,
    },
    /// One metric gave no size.
    Failed {
        /// Index of the metric.
        metric: usize,
        /// Why.
        failure: MetricFailure,
    },
    /// No size could be computed.
    NoProposal(ComputeError),
    /// The largest proposal; below zero reads as zero.
    Recommended {
        /// Replicas.
        replicas: i32,
        /// The metric that asks for them.
        metric: Option<Arc<Metric>>,
    },
    /// After the windows.
    Stabilized {
        /// Before.
        proposed: i32,
        /// After.
        stabilized: Stabilized,
    },
    /// After policies and bounds.
    Limited {
        /// Before.
        stabilized: i32,
        /// After.
        limited: Limited,
    },
    /// Waking from zero, the lower bound was enforced.
    RaisedToMin(i32),
    /// The end.
    Decided {
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
        /// Why they are equal, if they are.
        hold: Option<Hold>,
    },
}

impl Step {
    /// The stable name of the step in records.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::Scale(_) => "scale",
            Self::NoScale(_) => "no-scale",
            Self::Needs(_) => "needs",
            Self::Unselectable(_) => "unselectable",
            Self::Sorted { .. } => "sorted",
            Self::Ratio { .. } => "ratio",
            Self::Refilled { .. } => "refilled",
            Self::Proposed { .. } => "proposed",
            Self::Failed { .. } => "failed",
            Self::NoProposal(_) => "no-proposal",
            Self::Recommended { .. } => "recommended",
            Self::Stabilized { .. } => "stabilized",
            Self::Limited { .. } => "limited",
            Self::RaisedToMin(_) => "raised-to-min",
            Self::Decided { .. } => "decided",
        }
    }
}

/// How many pods a selector finds, by what they count as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodCounts {
    /// All of them.
    pub selected: i64,
    /// With a sample that is averaged.
    pub counted: i64,
    /// Set aside.
    pub unready: i64,
    /// Without a sample.
    pub missing: i64,
    /// Going or gone.
    pub ignored: i64,
    /// Samples without a pod.
    pub extraneous: i64,
}

/// A usage, what it is measured against, and their ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Total usage in thousandths.
    pub usage: i64,
    /// Total request in thousandths; zero where none is read.
    pub request: i64,
    /// How many figures were averaged; the number of replicas for an average target of a total.
    pub entries: i64,
    /// Percent of the request, or thousandths, as it was compared.
    pub value: f64,
    /// The target in the same unit.
    pub target: i64,
    /// `value / target`.
    pub ratio: f64,
}

/// Why a sync changed nothing: the first cause, in the order of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hold {
    /// The rounded result is the present size.
    SameCount,
    /// The first ratio is inside the band.
    InsideTolerance,
    /// The ratio recomputed with assumed figures is inside the band.
    InsideToleranceAfterRefill,
    /// The recomputed ratio is on the other side of 1.
    DirectionFlip,
    /// The recomputed count moves against the ratio.
    CountGuard,
    /// A recommendation in the window.
    StabilizationWindow,
    /// The built-in limit or a policy.
    RateLimit,
    /// `minReplicas`.
    BoundMin,
    /// `maxReplicas`.
    BoundMax,
    /// No metric works.
    MetricsFailed,
    /// A metric fails and the others ask for less.
    PartialFailure,
    /// The selector is missing, invalid or ambiguous.
    Selector,
    /// The scale cannot be read.
    ScaleUnreadable,
    /// Zero replicas, set by somebody else.
    Paused,
}

impl Hold {
    /// Every hold, in the order of the enum.
    pub const ALL: [Self; 14] = [
        Self::SameCount,
        Self::InsideTolerance,
        Self::InsideToleranceAfterRefill,
        Self::DirectionFlip,
        Self::CountGuard,
        Self::StabilizationWindow,
        Self::RateLimit,
        Self::BoundMin,
        Self::BoundMax,
        Self::MetricsFailed,
        Self::PartialFailure,
        Self::Selector,
        Self::ScaleUnreadable,
        Self::Paused,
    ];

    /// The stable name in records and explanations.
    pub const fn id(self) -> &'static str {
        match self {
            Self::SameCount => "same-count",
            Self::InsideTolerance => "inside-tolerance",
            Self::InsideToleranceAfterRefill => "inside-tolerance-after-refill",
            Self::DirectionFlip => "direction-flip",
            Self::CountGuard => "count-guard",
            Self::StabilizationWindow => "stabilization-window",
            Self::RateLimit => "rate-limit",
            Self::BoundMin => "bound-min",
            Self::BoundMax => "bound-max",
            Self::MetricsFailed => "metrics-failed",
            Self::PartialFailure => "partial-failure",
            Self::Selector => "selector",
            Self::ScaleUnreadable => "scale-unreadable",
            Self::Paused => "paused",
        }
    }
}
