//! From figures per pod to a replica count: Pods, Resource and ContainerResource.

use std::cmp::Ordering;

use crate::failure::Failure;
use crate::go_amd64;
use crate::groups::Groups;
use crate::metric::Aim;
use crate::outcome::Slot;
use crate::policy::{MissingPods, Profile};
use crate::ratio::Band;
use crate::step::{Hold, Measure, PodCounts, Recorder, Step, record};

/// What one metric asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proposal {
    /// Replicas; can be negative, see `go_amd64`.
    pub replicas: i32,
    /// The figures for the status.
    pub slot: Slot,
    /// Why the size was kept, if it was.
    pub hold: Option<Hold>,
}

/// One per-pod metric at one instant.
#[derive(Clone, Copy, Debug)]
pub struct PerPod<'a> {
    /// Index of the metric, for steps.
    pub index: usize,
    /// The pods.
    pub groups: &'a Groups,
    /// The target: a utilization or an average.
    pub aim: Aim,
    /// The tolerance band.
    pub band: Band,
    /// What a pod without a sample counts as.
    pub missing: MissingPods,
}

/// The figures one average is made of.
#[derive(Clone, Copy, Debug)]
struct Figures {
    /// Sum of usage in thousandths.
    usage: i64,
    /// Sum of requests in thousandths.
    request: i64,
    /// Figures that have a request.
    requested: i64,
    /// Figures in all; those without a pod count here.
    entries: i64,
}

/// One average, and its ratio to the target.
#[derive(Clone, Copy, Debug)]
struct Pass {
    measure: Measure,
    slot: Slot,
}

impl PerPod<'_> {
    /// The replica count this metric asks for at a size of `current`.
    ///
    /// Upstream: replica_calculator.go `GetResourceReplicas` and `calcPlainMetricReplicas`, 1.37.2.
    pub fn propose(&self, current: i32, recorder: &mut impl Recorder) -> Result<Proposal, Failure> {
        let groups = self.groups;
        if groups.listed() == 0 {
            return Err(Failure::NoPods);
        }
        let (metric, pods) = (self.index, counts(groups));
        record!(recorder, Step::Sorted { metric, pods });
        let first = self.first()?;
        if self.measures_utilization()
            && let Some(problem) = groups.request_problem()
        {
            return Err(Failure::Request(problem));
        }
        let first_pass = self.pass(first)?;
        let Pass { measure, slot } = first_pass;
        let inside = self.band.contains(measure.ratio);
        let band = self.band;
        record!(
            recorder,
            Step::Ratio {
                metric,
                measure,
                band,
                inside,
            }
        );

        let refill_unready = groups.unready().count > 0 && measure.ratio > 1.0;
        let refill_missing = groups.missing().count > 0 && self.missing == MissingPods::Count;
        if refill_unready || refill_missing {
            return self.refilled(current, first, (measure.ratio, slot), recorder);
        }
        if inside {
            let hold = Some(Hold::InsideTolerance);
            return Ok(self.proposal(current, slot, (None, hold), recorder));
        }
        let exact = measure.ratio * groups.counted().count as f64;
        let replicas = go_amd64::ceil_to_i32(exact);
        let hold = (replicas == current).then_some(Hold::SameCount);
        Ok(self.proposal(replicas, slot, (Some(exact), hold), recorder))
    }

    /// The samples that count, before anything is assumed.
    fn first(&self) -> Result<Figures, Failure> {
        let (counted, stray) = (self.groups.counted(), self.groups.stray());
        let entries = counted.count.wrapping_add(stray.count);
        if entries == 0 {
            return Err(Failure::NoSamples);
        }
        // A sample without a pod has no request, so it is no part of a utilization; a plain average takes it in.
        let stray_usage = if self.measures_utilization() {
            0
        } else {
            stray.usage
        };
        Ok(Figures {
            usage: counted.usage.wrapping_add(stray_usage),
            request: counted.request,
            requested: counted.count,
            entries,
        })
    }

    /// The second average, with pods put back, and the guards against turning round.
    fn refilled(
        &self,
        current: i32,
        first: Figures,
        (ratio, slot): (f64, Slot),
        recorder: &mut impl Recorder,
    ) -> Result<Proposal, Failure> {
        let (figures, put_back) = self.refill(first, ratio);
        let measure = self.pass(figures)?.measure;
        let again = measure.ratio;
        let metric = self.index;
        record!(
            recorder,
            Step::Refilled {
                metric,
                missing: put_back.missing,
                missing_usage: put_back.missing_usage,
                unready: put_back.unready,
                measure,
            }
        );
        if self.band.contains(again) {
            let hold = Some(Hold::InsideToleranceAfterRefill);
            return Ok(self.proposal(current, slot, (None, hold), recorder));
        }
        if (ratio < 1.0 && again > 1.0) || (ratio > 1.0 && again < 1.0) {
            let hold = Some(Hold::DirectionFlip);
            return Ok(self.proposal(current, slot, (None, hold), recorder));
        }
        let exact = again * figures.entries as f64;
        let replicas = go_amd64::ceil_to_i32(exact);
        if (again < 1.0 && replicas > current) || (again > 1.0 && replicas < current) {
            let hold = Some(Hold::CountGuard);
            return Ok(self.proposal(current, slot, (Some(exact), hold), recorder));
        }
        let hold = (replicas == current).then_some(Hold::SameCount);
        Ok(self.proposal(replicas, slot, (Some(exact), hold), recorder))
    }

    /// Missing pods return with what they are assumed to use, unready ones at zero when the ratio asks for growth.
    fn refill(&self, first: Figures, ratio: f64) -> (Figures, PutBack) {
        let (missing, unready) = (self.groups.missing(), self.groups.unready());
        let mut put_back = PutBack::default();
        let mut figures = first;
        let mut put = |count: i64, usage: i64, request: i64| {
            figures.usage = figures.usage.wrapping_add(usage);
            figures.request = figures.request.wrapping_add(request);
            figures.requested = figures.requested.wrapping_add(count);
            figures.entries = figures.entries.wrapping_add(count);
        };
        let side = ratio.partial_cmp(&1.0);
        // At a ratio of exactly 1, or none at all, upstream leaves them out.
        if self.missing == MissingPods::Count
            && let Some(side @ (Ordering::Less | Ordering::Greater)) = side
        {
            let usage = if side == Ordering::Less {
                self.assumed_usage()
            } else {
                0
            };
            put(missing.count, usage, missing.request);
            put_back.missing = missing.count;
            put_back.missing_usage = usage;
        }
        if side == Some(Ordering::Greater) {
            put(unready.count, 0, unready.request);
            put_back.unready = unready.count;
        }
        (figures, put_back)
    }

    /// What the missing pods are assumed to use when shrinking: `max(100, target)` percent of their request, or the target.
    fn assumed_usage(&self) -> i64 {
        match self.aim {
            Aim::AverageValue(target) => self.groups.missing().count.wrapping_mul(target),
            _ => self.groups.missing().assumed,
        }
    }

    /// Upstream: metrics/utilization.go `GetResourceUtilizationRatio` and `GetMetricUsageRatio`, 1.37.2.
    fn pass(&self, figures: Figures) -> Result<Pass, Failure> {
        let Figures {
            usage,
            request,
            requested,
            entries,
        } = figures;
        let (measure, slot) = match self.aim {
            Aim::Utilization(target) => {
                let cut = go_amd64::divide(usage.wrapping_mul(100), request)
                    .ok_or(Failure::NoRequests)?;
                let average = go_amd64::divide(usage, requested).ok_or(Failure::NoRequests)?;
                let percent = go_amd64::i64_to_i32(cut);
                let (value, ratio) = match self.band.profile {
                    Profile::Upstream | Profile::Upstream132 => {
                        (f64::from(percent), f64::from(percent) / f64::from(target))
                    }
                    // Whole units over whole units, a fraction over a fraction: thousandths or percent would round
                    // differently at the edge of the band.
                    Profile::Fraction => {
                        let fraction = (usage as f64 / 1000.0) / (request as f64 / 1000.0);
                        (fraction * 100.0, fraction / (f64::from(target) / 100.0))
                    }
                };
                let target = i64::from(target);
                let measure = Measure {
                    usage,
                    request,
                    entries: requested,
                    value,
                    target,
                    ratio,
                };
                (measure, Slot::Utilization { percent, average })
            }
            Aim::AverageValue(target) | Aim::Value(target) => {
                let average = go_amd64::divide(usage, entries).ok_or(Failure::NoSamples)?;
                let value = average as f64;
                let ratio = value / target as f64;
                (
                    Measure {
                        usage,
                        request,
                        entries,
                        value,
                        target,
                        ratio,
                    },
                    Slot::Average(average),
                )
            }
            Aim::Nothing => return Err(Failure::NoTarget),
        };
        Ok(Pass { measure, slot })
    }

    const fn measures_utilization(&self) -> bool {
        matches!(self.aim, Aim::Utilization(_))
    }

    fn proposal(
        &self,
        replicas: i32,
        slot: Slot,
        (exact, hold): (Option<f64>, Option<Hold>),
        recorder: &mut impl Recorder,
    ) -> Proposal {
        let metric = self.index;
        record!(
            recorder,
            Step::Proposed {
                metric,
                replicas,
                exact,
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

/// What was put back for the second average.
#[derive(Clone, Copy, Debug, Default)]
struct PutBack {
    missing: i64,
    missing_usage: i64,
    unready: i64,
}

fn counts(groups: &Groups) -> PodCounts {
    PodCounts {
        selected: groups.listed(),
        counted: groups.counted().count,
        unready: groups.unready().count,
        missing: groups.missing().count,
        ignored: groups.ignored().count,
        extraneous: groups.stray().count,
    }
}
