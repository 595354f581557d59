//! From readings to the largest proposal: each metric in turn, and what a failing one means for the others.
//! Not the windows and bounds that follow (`behavior`).

use std::sync::Arc;

use crate::condition::{ConditionKind, ConditionState, Statement};
use crate::decide::Pass;
use crate::failure::{ComputeError, Failure, MetricFailure};
use crate::groups::Groups;
use crate::message::{Event, Message, Reason};
use crate::metric::per_pod::{PerPod, Proposal};
use crate::metric::{Aim, Metric, Source, aggregate, aggregate::Aggregate, aggregate::Origin};
use crate::outcome::{Action, Computation, Fault, Metrics, Slot};
use crate::policy::Text;
use crate::ratio::Band;
use crate::snapshot::{Reading, ScaleView};
use crate::step::{Hold, Recorder, Step, record};

/// The running result over the metrics.
pub(crate) struct Best {
    pub(crate) replicas: i32,
    pub(crate) metric: Option<Arc<Metric>>,
    pub(crate) hold: Option<Hold>,
    pub(crate) invalid: usize,
    pub(crate) first: Option<MetricFailure>,
}

impl<R: Recorder> Pass<'_, R> {
    /// Upstream: horizontal.go `computeReplicasForMetrics`, 1.37.2.
    pub(crate) fn compute(&mut self, scale: ScaleView) -> Result<Best, ComputeError> {
        if let Err(error) = &self.snapshot.selection {
            return Err(self.unselectable(error));
        }
        let policy = self.policy;
        let mut best = Best {
            replicas: 0,
            metric: None,
            hold: None,
            invalid: 0,
            first: None,
        };
        for (index, metric) in policy.metrics.iter().enumerate() {
            match self.propose(index, metric, scale) {
                Ok(proposal) => self.take(index, metric, proposal, &mut best),
                Err(failure) => self.fail(index, metric, failure, &mut best),
            }
        }
        self.decision.status.metrics = Metrics::Slots(std::mem::take(&mut self.slots));
        self.judge(scale, best)
    }

    fn unselectable(&mut self, error: &ComputeError) -> ComputeError {
        record!(self.recorder, Step::Unselectable(error.clone()));
        self.decision.status.metrics = Metrics::None;
        self.decision.hold = Some(Hold::Selector);
        let text = || Message::Unselectable(error.clone());
        let said = match error {
            ComputeError::SelectorMissing => Some((
                Reason::SelectorRequired,
                Reason::InvalidSelector,
                Message::SelectorMissing,
            )),
            ComputeError::SelectorInvalid(_) => {
                Some((Reason::InvalidSelector, Reason::InvalidSelector, text()))
            }
            ComputeError::Ambiguous { .. } => {
                Some((Reason::AmbiguousSelector, Reason::AmbiguousSelector, text()))
            }
            // Upstream returns these two bare: no event, no condition.
            ComputeError::Deleted { .. }
            | ComputeError::ListFailed(_)
            | ComputeError::Metrics { .. } => None,
        };
        if let Some((event, reason, message)) = said {
            self.emit(Event::warning(event, text()));
            self.say(Statement::fails(
                ConditionKind::ScalingActive,
                reason,
                message,
            ));
        }
        error.clone()
    }

    /// What one metric asks for. Upstream: horizontal.go `computeReplicasForMetric`, 1.37.2.
    fn propose(
        &mut self,
        index: usize,
        metric: &Metric,
        scale: ScaleView,
    ) -> Result<Proposal, Failure> {
        if matches!(metric.source, Source::Unknown { .. }) {
            return Err(Failure::UnknownSource);
        }
        let reading = self.snapshot.readings.get(index);
        let aim = metric.aim();
        match (reading, aim) {
            // Object and Pods convert their selector before anything else; External only for a target it can use.
            (Some(Reading::BadSelector(text)), _) if !metric.is_external() => {
                Err(Failure::Selector(text.clone()))
            }
            (_, Aim::Nothing) => Err(Failure::NoTarget),
            (Some(Reading::BadSelector(text)), _) => Err(Failure::Selector(text.clone())),
            (Some(Reading::Unavailable(error)), _) => Err(self.fetch_failed(error.clone())),
            (Some(Reading::PerPod(groups)), _) => {
                let (band, missing) = (
                    Band::of(self.policy),
                    self.policy.settings.options.missing_pods,
                );
                PerPod {
                    index,
                    groups,
                    aim,
                    band,
                    missing,
                }
                .propose(scale.spec, self.recorder)
            }
            (Some(Reading::Object { value, groups }), _) => {
                let total = self.total(index, (Origin::Object, *value), aim);
                self.propose_total(total, aim, scale, groups)
            }
            (Some(Reading::External { values, groups }), _) => {
                let usage = match aim {
                    Aim::AverageValue(_) => aggregate::sum_for_average(values),
                    _ => aggregate::sum_for_value(values),
                };
                let total = self.total(index, (Origin::External, usage), aim);
                self.propose_total(total, aim, scale, groups)
            }
            (None, _) => Err(self.fetch_failed("no reading was taken".into())),
        }
    }

    fn fetch_failed(&self, error: Text) -> Failure {
        Failure::Fetch {
            namespace: self.policy.target.namespace.clone(),
            error,
        }
    }

    fn total(&self, index: usize, (origin, usage): (Origin, i64), aim: Aim) -> Aggregate {
        let target = match aim {
            Aim::Value(target) | Aim::AverageValue(target) => target,
            Aim::Utilization(percent) => i64::from(percent),
            Aim::Nothing => 0,
        };
        Aggregate {
            index,
            origin,
            usage,
            target,
            band: Band::of(self.policy),
        }
    }

    fn propose_total(
        &mut self,
        total: Aggregate,
        aim: Aim,
        scale: ScaleView,
        groups: &Groups,
    ) -> Result<Proposal, Failure> {
        match aim {
            Aim::AverageValue(_) => Ok(total.propose_average(scale, self.recorder)),
            _ => total.propose_value(scale, groups, self.recorder),
        }
    }

    /// On ties the earlier metric keeps the name; while the result is zero the next proposal, even a negative one, takes its place.
    fn take(&mut self, index: usize, metric: &Arc<Metric>, proposal: Proposal, best: &mut Best) {
        self.slots.push(proposal.slot);
        let action = Action::between(self.snapshot.previous.current, proposal.replicas);
        let fault = Fault::None;
        self.decision.computations.push(Computation {
            metric: index,
            action,
            fault,
        });
        if best.replicas == 0 || proposal.replicas > best.replicas {
            best.replicas = proposal.replicas;
            best.metric = Some(metric.clone());
            best.hold = proposal.hold;
        }
    }

    fn fail(&mut self, index: usize, metric: &Arc<Metric>, failure: Failure, best: &mut Best) {
        let failure = MetricFailure {
            metric: metric.clone(),
            failure,
        };
        record!(
            self.recorder,
            Step::Failed {
                metric: index,
                failure: failure.clone(),
            }
        );
        self.slots.push(Slot::Empty);
        let fault = if failure.is_spec_error() {
            Fault::Spec
        } else {
            Fault::Internal
        };
        let action = Action::None;
        self.decision.computations.push(Computation {
            metric: index,
            action,
            fault,
        });
        self.emit(Event::warning(
            failure.reason(),
            Message::MetricFailedEvent(failure.clone()),
        ));
        best.invalid = best.invalid.saturating_add(1);
        best.first.get_or_insert(failure);
    }

    /// Whether the result stands: with a failing metric growing and staying do, shrinking does not.
    fn judge(&mut self, scale: ScaleView, best: Best) -> Result<Best, ComputeError> {
        let total = self.policy.metrics.len();
        let all_failed = best.invalid >= total;
        let blocked = best.invalid > 0 && best.replicas < scale.spec;
        match &best.first {
            Some(first) if all_failed || blocked => {
                self.say(Statement::fails(
                    ConditionKind::ScalingActive,
                    first.reason(),
                    Message::MetricFailed(first.clone()),
                ));
                let hold = if all_failed {
                    Hold::MetricsFailed
                } else {
                    Hold::PartialFailure
                };
                self.decision.hold = Some(hold);
                let first = first.clone();
                Err(ComputeError::Metrics {
                    invalid: best.invalid,
                    total,
                    first,
                })
            }
            None if all_failed => {
                // An empty list, which the API never stores: upstream sets an empty condition and goes on with -1.
                self.say(Statement {
                    kind: ConditionKind::Other("".into()),
                    state: ConditionState::Other("".into()),
                    reason: Reason::Nothing,
                    message: Message::Nothing,
                });
                Ok(Best {
                    replicas: -1,
                    ..best
                })
            }
            _ => {
                if let Some(metric) = &best.metric {
                    let message = Message::ValidMetric(metric.clone());
                    let reason = Reason::ValidMetricFound;
                    self.say(Statement::holds(
                        ConditionKind::ScalingActive,
                        reason,
                        message,
                    ));
                }
                Ok(best)
            }
        }
    }
}
