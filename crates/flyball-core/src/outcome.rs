//! What a sync comes to: the next status, what to write and say in which order, and the next history.

use std::sync::Arc;

use crate::condition::Condition;
use crate::failure::SyncError;
use crate::history::History;
use crate::message::Event;
use crate::metric::Metric;
use crate::policy::Text;
use crate::step::Hold;
use crate::time::Instant;

/// Everything a sync comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The next status.
    pub status: Status,
    /// What to do, in order. The scale was written before.
    pub effects: Vec<Effect>,
    /// What to remember.
    pub history: History,
    /// What the sync ends with when not everything went well; a failing status write can replace it.
    pub error: Option<SyncError>,
    /// What was done to the size.
    pub action: Action,
    /// One entry a metric that was computed.
    pub computations: Vec<Computation>,
    /// The largest proposal, if any metric gave one.
    pub recommendation: Option<Recommended>,
    /// Why the size is unchanged, if it is.
    pub hold: Option<Hold>,
    /// Whether the sync came far enough to report the desired size as a gauge.
    pub settled: bool,
}

/// The next status, except for quantities, which `bridge` prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// `currentReplicas`: the spec replicas before the write.
    pub current: i32,
    /// `desiredReplicas`.
    pub desired: i32,
    /// `currentMetrics`.
    pub metrics: Metrics,
    /// `lastScaleTime`.
    pub last_scale: Option<Instant>,
    /// `observedGeneration`.
    pub observed_generation: Option<i64>,
    /// `conditions`.
    pub conditions: Vec<Condition>,
}

/// `currentMetrics` of the next status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Metrics {
    /// As they were.
    Kept,
    /// None were computed.
    None,
    /// One slot a metric of the specification.
    Slots(Vec<Slot>),
}

/// The current figures of one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The metric failed: the slot stays empty.
    Empty,
    /// Percent of the request, and thousandths per pod.
    Utilization {
        /// Percent, truncated.
        percent: i32,
        /// Thousandths per pod.
        average: i64,
    },
    /// Thousandths per pod.
    Average(i64),
    /// Thousandths in total.
    Value(i64),
}

/// Something to do after the scale was written, or was not.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send an event.
    Emit(Event),
    /// Write the status if it differs.
    PatchStatus(OnFailure),
}

/// What a failing status write comes to, beside its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// It is reported; the sync ends as it would have.
    Report,
    /// It is what the sync ends with.
    Return,
}

/// What was done to the size. The names are label values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It grew.
    ScaleUp,
    /// It shrank.
    ScaleDown,
    /// Nothing.
    None,
}

impl Action {
    /// The label value. Upstream: monitor/metrics.go, 1.37.2.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ScaleUp => "scale_up",
            Self::ScaleDown => "scale_down",
            Self::None => "none",
        }
    }

    /// What going from one size to another is.
    pub const fn between(from: i32, to: i32) -> Self {
        if to > from {
            Self::ScaleUp
        } else if to < from {
            Self::ScaleDown
        } else {
            Self::None
        }
    }
}

/// Who is at fault, as the error label counts it. The names are label values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The specification.
    Spec,
    /// Anything else.
    Internal,
    /// Nobody.
    None,
}

impl Fault {
    /// The label value. Upstream: monitor/metrics.go, 1.37.2.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Internal => "internal",
            Self::None => "none",
        }
    }
}

/// How the computation of one metric counts. The action compares with the previous status, not with the scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computation {
    /// Index of the metric.
    pub metric: usize,
    /// What the proposal would do.
    pub action: Action,
    /// Who is at fault, if it failed.
    pub fault: Fault,
}

/// The largest proposal. It can be negative: a proposal below zero reads as zero later on.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommended {
    /// Replicas.
    pub replicas: i32,
    /// The metric that asks for them; `None` when the size comes from no metric.
    pub metric: Option<Arc<Metric>>,
}

/// How the write of the scale went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// The decision asked for none.
    NotAsked,
    /// Written.
    Written,
    /// Not written; the client's text.
    Failed(Text),
}
