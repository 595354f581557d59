//! From one total to a replica count: Object and External. No readiness, no missing pods, no warm-up here.

use crate::failure::Failure;
use crate::go_amd64;
use crate::groups::Groups;
use crate::metric::per_pod::Proposal;
use crate::outcome::Slot;
use crate::ratio::Band;
use crate::snapshot::ScaleView;
use crate::step::{Hold, Measure, Recorder, Step, record};

/// Which source the total comes from; they differ at the ends of the number range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An object's figure, as it is.
    Object,
    /// The sum of an external metric's series.
    External,
}

/// One total at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Aggregate {
    /// Index of the metric, for steps.
    pub index: usize,
    /// Where the total comes from.
    pub origin: Origin,
    /// The total in thousandths.
    pub usage: i64,
    /// The target in thousandths.
    pub target: i64,
    /// The tolerance band.
    pub band: Band,
}

/// Sum of external series for a Value target: a positive overflow ends at the largest number, a negative sum stays.
/// Upstream: replica_calculator.go `GetExternalMetricReplicas`, 1.37.2.
pub fn sum_for_value(values: &[i64]) -> i64 {
    let mut sum = 0_i64;
    for &value in values {
        if value > 0 && sum > i64::MAX.wrapping_sub(value) {
            return i64::MAX;
        }
        sum = sum.wrapping_add(value);
    }
    sum
}

/// Sum of external series for an average: any negative running sum reads as an overflow.
/// Upstream: replica_calculator.go `GetExternalPerPodMetricReplicas`, 1.37.2.
pub fn sum_for_average(values: &[i64]) -> i64 {
    let mut sum = 0_i64;
    for &value in values {
        sum = sum.wrapping_add(value);
        if sum < 0 {
            return i64::MAX;
        }
    }
    sum
}

impl Aggregate {
    /// The replica count for a total against a total: the ratio times the ready pods, or the ratio itself from zero.
    ///
    /// Upstream: replica_calculator.go `getUsageRatioReplicaCount`, 1.37.2.
    pub fn propose_value(
        &self,
        scale: ScaleView,
        groups: &Groups,
        recorder: &mut impl Recorder,
    ) -> Result<Proposal, Failure> {
        let ratio = self.usage as f64 / self.target as f64;
        let from_zero = scale.spec == 0;
        let inside = !from_zero && self.band.contains(ratio);
        self.record_ratio((1, self.usage as f64), (ratio, inside), recorder);
        let slot = Slot::Value(self.usage);
        if inside {
            return Ok(self.keep(scale.spec, slot, recorder));
        }
        if from_zero {
            return Ok(self.proposal((go_amd64::ceil_to_i32(ratio), ratio), slot, scale, recorder));
        }
        if groups.listed() == 0 {
            return Err(Failure::NoReadyPods);
        }
        let exact = ratio * groups.running_and_ready() as f64;
        Ok(self.proposal(
            (go_amd64::ceil_to_i32_capped(exact), exact),
            slot,
            scale,
            recorder,
        ))
    }

    /// The replica count for a total against an average: the total divided by the target.
    /// Inside the band the answer is the status count, surge pods included.
    ///
    /// Upstream: replica_calculator.go `GetObjectPerPodMetricReplicas` and `GetExternalPerPodMetricReplicas`, 1.37.2.
    pub fn propose_average(&self, scale: ScaleView, recorder: &mut impl Recorder) -> Proposal {
        let (usage, target) = (self.usage as f64, self.target as f64);
        let ratio = usage / (target * f64::from(scale.status));
        let inside = self.band.contains(ratio);
        let per_pod = usage / f64::from(scale.status);
        self.record_ratio(
            (i64::from(scale.status), per_pod),
            (ratio, inside),
            recorder,
        );
        let slot = Slot::Average(self.usage_per_pod(scale.status));
        if inside {
            return self.keep(scale.status, slot, recorder);
        }
        let exact = usage / target;
        let replicas = match self.origin {
            Origin::Object => go_amd64::ceil_to_i32(exact),
            Origin::External => go_amd64::ceil_to_i32_capped(exact),
        };
        self.proposal((replicas, exact), slot, scale, recorder)
    }

    /// The per-pod figure for the status. With no replicas the quotient is no number, and amd64 makes it the smallest integer.
    /// Upstream: replica_calculator.go, the `usagePerPod` of both per-pod forms, 1.37.2; External alone saturates.
    fn usage_per_pod(&self, replicas: i32) -> i64 {
        let usage = self.usage as f64;
        if self.origin == Origin::External && usage >= 9_223_372_036_854_775_808.0 {
            return i64::MAX;
        }
        go_amd64::f64_to_i64((usage / f64::from(replicas)).ceil())
    }

    fn record_ratio(
        &self,
        (entries, value): (i64, f64),
        (ratio, inside): (f64, bool),
        recorder: &mut impl Recorder,
    ) {
        let measure = Measure {
            usage: self.usage,
            request: 0,
            entries,
            value,
            target: self.target,
            ratio,
        };
        let (metric, band) = (self.index, self.band);
        record!(
            recorder,
            Step::Ratio {
                metric,
                measure,
                band,
                inside,
            }
        );
    }

    fn keep(&self, replicas: i32, slot: Slot, recorder: &mut impl Recorder) -> Proposal {
        let (metric, hold) = (self.index, Some(Hold::InsideTolerance));
        record!(
            recorder,
            Step::Proposed {
                metric,
                replicas,
                exact: None,
                hold,
            }
        );
        Proposal {
            replicas,
            slot,
            hold,
        }
    }

    fn proposal(
        &self,
        (replicas, exact): (i32, f64),
        slot: Slot,
        scale: ScaleView,
        recorder: &mut impl Recorder,
    ) -> Proposal {
        let hold = (replicas == scale.spec).then_some(Hold::SameCount);
        let metric = self.index;
        record!(
            recorder,
            Step::Proposed {
                metric,
                replicas,
                exact: Some(exact),
                hold,
            }
        );
        Proposal {
            replicas,
            slot,
            hold,
        }
    }
}
