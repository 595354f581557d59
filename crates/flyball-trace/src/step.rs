//! The steps of an explanation: one variant for each step of the core, tagged by the core's stable id.
//! Units are in the names: `_milli` is thousandths, `_ms` milliseconds, `_percent` percent.

use serde::{Deserialize, Serialize};

use crate::real::Real;

/// The ids of all steps this version writes, in the order of a sync.
pub const IDS: [&str; 15] = [
    "scale",
    "no-scale",
    "needs",
    "unselectable",
    "sorted",
    "ratio",
    "refilled",
    "proposed",
    "failed",
    "no-proposal",
    "recommended",
    "stabilized",
    "limited",
    "raised-to-min",
    "decided",
];

/// One thing a decision looked at. `metric` is always an index into the record's `metrics`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    /// The scale as read.
    Scale {
        /// `spec.replicas`.
        spec_replicas: i32,
        /// `status.replicas`.
        status_replicas: i32,
    },
    /// There is no scale.
    NoScale {
        /// What kind of problem.
        problem: ScaleProblem,
        /// The text of the client or parser.
        text: String,
    },
    /// Whether metrics are needed.
    Needs {
        /// The verdict.
        verdict: Verdict,
    },
    /// The pods cannot be told apart.
    Unselectable {
        /// What kind of problem.
        problem: ComputeProblem,
        /// The text upstream gives it.
        text: String,
    },
    /// How the pods of one metric were sorted.
    Sorted {
        /// Which metric.
        metric: usize,
        /// The counts.
        pods: PodCounts,
    },
    /// The first average of a per-pod metric, or the ratio of a total.
    Ratio {
        /// Which metric.
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
        /// Which metric.
        metric: usize,
        /// Pods put back with an assumed figure.
        missing_pods: i64,
        /// What they are assumed to use together.
        missing_usage_milli: i64,
        /// Unready pods put back at zero.
        unready_pods: i64,
        /// The second average.
        measure: Measure,
    },
    /// What one metric asks for.
    Proposed {
        /// Which metric.
        metric: usize,
        /// Replicas.
        replicas: i32,
        /// The product before it was rounded up, where one was rounded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exact: Option<Real>,
        /// The id of why the size was kept, if it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold: Option<String>,
    },
    /// One metric gave no size.
    Failed {
        /// Which metric.
        metric: usize,
        /// What kind of failure.
        failure: Failure,
        /// The reason of event and condition.
        reason: String,
        /// The text of the event.
        text: String,
    },
    /// No size could be computed.
    NoProposal {
        /// What kind of problem.
        problem: ComputeProblem,
        /// The text upstream gives it.
        text: String,
    },
    /// The largest proposal.
    Recommended {
        /// Replicas; below zero reads as zero later on.
        replicas: i32,
        /// The metric that asks for them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metric: Option<usize>,
    },
    /// After the windows.
    Stabilized {
        /// Before.
        proposed: i32,
        /// After.
        replicas: i32,
        /// Which window replaced the recommendation, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held: Option<Held>,
        /// The remembered recommendation that stands in, if one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Remembered>,
    },
    /// After policies and bounds.
    Limited {
        /// Before.
        stabilized: i32,
        /// After.
        replicas: i32,
        /// What cut it.
        by: Limit,
    },
    /// Waking from zero, the lower bound was enforced.
    RaisedToMin {
        /// Replicas.
        replicas: i32,
    },
    /// The end.
    Decided {
        /// Size before.
        from: i32,
        /// Size after.
        to: i32,
        /// The id of why they are equal, if they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hold: Option<String>,
    },
    /// A step of a later program. Never written by this one; its arguments are not kept.
    #[serde(other)]
    Unknown,
}

/// How many pods a selector finds, by what they count as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Total usage.
    pub usage_milli: i64,
    /// Total request; zero where none is read.
    pub request_milli: i64,
    /// How many figures were averaged; the number of replicas for an average target of a total.
    pub entries: i64,
    /// What was compared with what, in one unit.
    pub compared: Compared,
    /// `value / target`.
    pub ratio: Real,
}

/// A value and its target in the same unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// Percent of the request.
    Percent {
        /// As measured.
        value: Real,
        /// As wanted.
        target: i64,
    },
    /// Thousandths.
    Milli {
        /// As measured.
        value: Real,
        /// As wanted.
        target: i64,
    },
}

/// The tolerance band.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// Tolerance below 1, a fraction.
    pub tolerance_down: Real,
    /// Tolerance above 1, a fraction.
    pub tolerance_up: Real,
    /// `1 - tolerance_down`.
    pub lowest: Real,
    /// `1 + tolerance_up`.
    pub highest: Real,
    /// The profile whose test is in force; the edges of the band differ between them.
    pub profile: String,
}

/// Whether metrics are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// They are.
    ReadMetrics,
    /// No: the size is zero by somebody else's hand.
    Paused,
    /// No: the size is above the upper bound and goes there.
    AboveMax,
    /// No: the size is below the lower bound and goes there.
    BelowMin,
}

/// Why there is no scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleProblem {
    /// `scaleTargetRef.apiVersion` is no group and version.
    ApiVersion,
    /// The cluster does not know the kind.
    NoMapping,
    /// The scale subresource did not answer.
    Unreadable,
}

/// Why no size could be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComputeProblem {
    /// The scale has no selector.
    SelectorMissing,
    /// The scale's selector cannot be parsed.
    SelectorInvalid,
    /// The autoscaler was deleted while this sync ran.
    Deleted,
    /// The pods could not be listed.
    ListFailed,
    /// Several autoscalers find the same pods.
    Ambiguous,
    /// Metrics failed.
    Metrics,
}

/// Why one metric gave no size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The metric's selector cannot be used.
    Selector,
    /// The metrics API did not answer, or with nothing.
    Fetch,
    /// The selector finds no pods.
    NoPods,
    /// No pod has a sample that counts.
    NoSamples,
    /// No sample belongs to a pod with a request.
    NoRequests,
    /// A pod has no request.
    Request,
    /// The ready pods could not be counted.
    NoReadyPods,
    /// No target that the source can use is set.
    NoTarget,
    /// The type of the source is unknown.
    UnknownSource,
}

/// The direction whose window replaced the recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// A recent recommendation was lower.
    Up,
    /// A recent recommendation was higher.
    Down,
}

/// A recommendation of an earlier sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// Replicas.
    pub replicas: i32,
    /// When it was made, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

/// What cut a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Nothing: the size is allowed.
    Nothing,
    /// The built-in limit or a policy, growing.
    UpRate,
    /// A policy, shrinking.
    DownRate,
    /// `maxReplicas`.
    Max,
    /// `minReplicas`.
    Min,
}
