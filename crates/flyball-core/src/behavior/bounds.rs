//! `minReplicas`, `maxReplicas` and the growth limit that is built in where no behavior is set.

use crate::go_amd64;
use crate::message::{Message, Reason};

/// The bounds of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Lower bound.
    pub min: i32,
    /// Upper bound.
    pub max: i32,
}

/// The built-in growth limit per sync: `max(factor x size, minimum)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowthLimit {
    /// Multiple of the present size.
    pub factor: f64,
    /// What small sizes may grow to at once.
    pub minimum: f64,
}

impl Default for GrowthLimit {
    /// Upstream: horizontal.go `scaleUpLimitFactor` and `scaleUpLimitMinimum`, 1.37.2.
    fn default() -> Self {
        Self {
            factor: 2.0,
            minimum: 4.0,
        }
    }
}

/// A size after rate policies and bounds, and what cut it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    /// The allowed size.
    pub replicas: i32,
    /// What cut it.
    pub by: Limit,
}

/// What cut a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl Limit {
    /// Reason and message of `ScalingLimited`.
    pub const fn say(self) -> (Reason, Message) {
        match self {
            Self::Nothing => (Reason::DesiredWithinRange, Message::DesiredWithinRange),
            Self::UpRate => (Reason::ScaleUpLimit, Message::ScaleUpLimit),
            Self::DownRate => (Reason::ScaleDownLimit, Message::ScaleDownLimit),
            Self::Max => (Reason::TooManyReplicas, Message::TooManyReplicas),
            Self::Min => (Reason::TooFewReplicas, Message::TooFewReplicas),
        }
    }
}

/// Bounds and growth limit on every pass; no limit on shrinking and no memory of earlier steps.
/// Upstream: horizontal.go `convertDesiredReplicasWithRules`, 1.37.2.
pub fn without_behavior(range: Range, limit: GrowthLimit, current: i32, desired: i32) -> Limited {
    let growth = go_amd64::f64_to_i32((limit.factor * f64::from(current)).max(limit.minimum));
    let (highest, by) = if range.max > growth {
        (growth, Limit::UpRate)
    } else {
        (range.max, Limit::Max)
    };
    if desired < range.min {
        Limited {
            replicas: range.min,
            by: Limit::Min,
        }
    } else if desired > highest {
        Limited {
            replicas: highest,
            by,
        }
    } else {
        Limited {
            replicas: desired,
            by: Limit::Nothing,
        }
    }
}
