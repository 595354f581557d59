//! What was observed at one instant. Missing data is a value here; the outcome explains it.

use crate::condition::Condition;
use crate::failure::{ComputeError, ScaleProblem};
use crate::groups::Groups;
use crate::policy::Text;
use crate::time::Instant;

/// One instant, as the cluster showed it.
#[derive(Clone, Debug)]
pub struct Snapshot<'a> {
    /// The instant.
    pub now: Instant,
    /// The scale, or why there is none.
    pub scale: Result<ScaleView, ScaleProblem>,
    /// The status the last sync left.
    pub previous: &'a Previous,
    /// `metadata.generation`.
    pub generation: i64,
    /// Why the pods cannot be told apart, if so. Read only when metrics are needed; never `ComputeError::Metrics`.
    pub selection: Result<(), ComputeError>,
    /// One reading a metric, in the order of the policy. Empty when no metrics are needed.
    pub readings: &'a [Reading<'a>],
}

/// The two counts of a Scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleView {
    /// `spec.replicas`.
    pub spec: i32,
    /// `status.replicas`.
    pub status: i32,
}

/// What the rules read of the previous status, and what stays in it untouched.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Previous {
    /// `status.currentReplicas`.
    pub current: i32,
    /// `status.desiredReplicas`.
    pub desired: i32,
    /// `status.lastScaleTime`.
    pub last_scale: Option<Instant>,
    /// `status.observedGeneration`.
    pub observed_generation: Option<i64>,
    /// `status.conditions`, in order.
    pub conditions: Vec<Condition>,
}

/// One metric, as its source answered.
#[derive(Clone, Debug)]
pub enum Reading<'a> {
    /// Samples per pod, sorted and summed: Pods, Resource, ContainerResource.
    PerPod(&'a Groups),
    /// One figure of an object, in thousandths, and the pods the selector finds.
    Object {
        /// The figure.
        value: i64,
        /// The pods, for a Value target.
        groups: &'a Groups,
    },
    /// The series of an external metric, in thousandths, and the pods the selector finds.
    External {
        /// One figure a series.
        values: &'a [i64],
        /// The pods, for a Value target.
        groups: &'a Groups,
    },
    /// The metric's own selector cannot be used; the conversion's text.
    BadSelector(Text),
    /// The source did not answer, or with nothing; the client's text.
    Unavailable(Text),
}
