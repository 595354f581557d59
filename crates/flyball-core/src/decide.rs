//! The decision: from policy, snapshot and history to a size, and why. Start reading here.
//! The write of the size is not here, nor what follows from it: `conclude` needs to know how the write went.

use crate::behavior::{self, Normalized, bounds::Limit};
use crate::compute::Best;
use crate::condition::{self, Condition, ConditionKind, ConditionState, Statement};
use crate::failure::{ComputeError, ScaleProblem, SyncError};
use crate::history::History;
use crate::message::{Event, Message, Reason, RescaleReason};
use crate::needs::{Needs, is_asleep, needs};
use crate::outcome::{Computation, Effect, Metrics, OnFailure, Outcome, Recommended, Slot, Status};
use crate::policy::{Gate, Policy, TargetRef};
use crate::snapshot::{Previous, ScaleView, Snapshot};
use crate::step::{Hold, Recorder, Silent, Step, record};
use crate::time::{Instant, Span};

/// A decision that still waits for its write: the size to write, if any, and everything `conclude` needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The size to write to the scale; `None` writes none.
    pub scale_to: Option<i32>,
    /// The largest proposal, if any metric gave one.
    pub recommendation: Option<Recommended>,
    /// Why the size is unchanged, if it is.
    pub hold: Option<Hold>,
    pub(crate) status: Status,
    pub(crate) effects: Vec<Effect>,
    pub(crate) history: History,
    pub(crate) error: Option<SyncError>,
    pub(crate) computations: Vec<Computation>,
    pub(crate) pending: Pending,
}

/// What is left to do when the write has answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pending {
    /// Nothing: the sync ended early.
    Nothing,
    /// The status of a sync that keeps the size.
    Settle,
    /// The status of a sync that changes the size.
    Rescale(Box<Rescale>),
}

/// A change of size that waits for its write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rescale {
    pub(crate) from: i32,
    pub(crate) to: i32,
    pub(crate) why: RescaleReason,
    /// The longest policy period of the direction, where a behavior remembers its steps.
    pub(crate) remember: Option<Span>,
    pub(crate) zero: Zero,
    pub(crate) target: TargetRef,
}

/// What the condition `ScaledToZero` becomes on a successful write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    /// Its gate is off: it goes.
    Removed,
    /// The autoscaler made the size zero.
    Asleep,
    /// It did not.
    Awake,
}

/// Buffers that outlive one decision, so that a controller with many autoscalers allocates little.
#[derive(Clone, Debug, Default)]
pub struct Decider {
    conditions: Vec<Condition>,
    slots: Vec<Slot>,
    computations: Vec<Computation>,
    effects: Vec<Effect>,
}

impl Decider {
    /// Takes back the buffers of an outcome that is done with.
    pub fn recycle(&mut self, outcome: Outcome) {
        self.conditions = outcome.status.conditions;
        self.computations = outcome.computations;
        self.effects = outcome.effects;
        if let Metrics::Slots(slots) = outcome.status.metrics {
            self.slots = slots;
        }
        self.conditions.clear();
        self.slots.clear();
        self.computations.clear();
        self.effects.clear();
    }
}

/// The decision of one sync. Never fails: what is missing becomes a condition, an event and a hold.
pub fn decide(policy: &Policy, snapshot: &Snapshot<'_>, history: &History) -> Decision {
    decide_with(
        &mut Decider::default(),
        &mut Silent,
        policy,
        snapshot,
        history,
    )
}

/// The same pass with reusable buffers, telling `recorder` each step.
/// Upstream: horizontal.go `reconcileAutoscaler`, 1.37.2.
pub fn decide_with(
    decider: &mut Decider,
    recorder: &mut impl Recorder,
    policy: &Policy,
    snapshot: &Snapshot<'_>,
    history: &History,
) -> Decision {
    let mut pass = Pass::new(decider, recorder, policy, snapshot, history);
    match &snapshot.scale {
        Err(problem) => pass.without_scale(problem),
        Ok(scale) => pass.with_scale(*scale),
    }
    pass.decision
}

/// One pass of the rules over one snapshot.
pub(crate) struct Pass<'a, R> {
    pub(crate) policy: &'a Policy,
    pub(crate) snapshot: &'a Snapshot<'a>,
    pub(crate) recorder: &'a mut R,
    pub(crate) decision: Decision,
    pub(crate) slots: Vec<Slot>,
}

impl<'a, R: Recorder> Pass<'a, R> {
    fn new(
        decider: &mut Decider,
        recorder: &'a mut R,
        policy: &'a Policy,
        snapshot: &'a Snapshot<'a>,
        history: &History,
    ) -> Self {
        let Previous {
            current,
            desired,
            last_scale,
            observed_generation,
            conditions,
        } = snapshot.previous;
        let mut kept = std::mem::take(&mut decider.conditions);
        kept.extend_from_slice(conditions);
        let decision = Decision {
            scale_to: None,
            recommendation: None,
            hold: None,
            status: Status {
                current: *current,
                desired: *desired,
                metrics: Metrics::Kept,
                last_scale: *last_scale,
                observed_generation: *observed_generation,
                conditions: kept,
            },
            effects: std::mem::take(&mut decider.effects),
            history: history.clone(),
            error: None,
            computations: std::mem::take(&mut decider.computations),
            pending: Pending::Nothing,
        };
        let slots = std::mem::take(&mut decider.slots);
        Self {
            policy,
            snapshot,
            recorder,
            decision,
            slots,
        }
    }

    const fn now(&self) -> Instant {
        self.snapshot.now
    }

    pub(crate) fn say(&mut self, statement: Statement) {
        condition::set(
            &mut self.decision.status.conditions,
            statement,
            self.snapshot.now,
        );
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.decision.effects.push(Effect::Emit(event));
    }

    /// Upstream: horizontal.go `reconcileAutoscaler`, 1.37.2, its first three error returns.
    fn without_scale(&mut self, problem: &ScaleProblem) {
        record!(self.recorder, Step::NoScale(problem.clone()));
        let text = problem.text();
        self.emit(Event::warning(
            Reason::FailedGetScale,
            Message::Verbatim(text.clone()),
        ));
        self.say(Statement::fails(
            ConditionKind::AbleToScale,
            Reason::FailedGetScale,
            Message::GetScaleFailed(text.clone()),
        ));
        self.decision
            .effects
            .push(Effect::PatchStatus(OnFailure::Report));
        let target = self.policy.target.clone();
        self.decision.error = Some(SyncError::Scale {
            target,
            problem: problem.clone(),
        });
        self.decision.hold = Some(Hold::ScaleUnreadable);
    }

    fn with_scale(&mut self, scale: ScaleView) {
        record!(self.recorder, Step::Scale(scale));
        self.say(Statement::holds(
            ConditionKind::AbleToScale,
            Reason::SucceededGetScale,
            Message::GotScale,
        ));
        self.decision.history.seed(scale.spec, self.snapshot.now);
        let needs = needs(self.policy, &scale, self.snapshot.previous);
        record!(self.recorder, Step::Needs(needs));
        match needs {
            Needs::Metrics => self.with_metrics(scale),
            Needs::NothingPaused => self.paused(),
            Needs::NothingAboveMax => {
                self.settle(scale, self.policy.replicas_max, RescaleReason::AboveMax);
            }
            Needs::NothingBelowMin => {
                self.settle(scale, self.policy.min(), RescaleReason::BelowMin);
            }
        }
    }

    fn paused(&mut self) {
        self.say(Statement::fails(
            ConditionKind::ScalingActive,
            Reason::ScalingDisabled,
            Message::ScalingDisabled,
        ));
        if !self.policy.settings.gates.has(Gate::ScaleToZero) {
            let conditions = &mut self.decision.status.conditions;
            conditions.retain(|c| c.kind != ConditionKind::ScaledToZero);
        }
        self.decision.hold = Some(Hold::Paused);
        self.settle(ScaleView { spec: 0, status: 0 }, 0, RescaleReason::Nothing);
    }

    fn with_metrics(&mut self, scale: ScaleView) {
        match self.compute(scale) {
            Ok(best) => self.normalize(scale, &best),
            Err(error) => self.uncomputed(scale, error),
        }
    }

    fn uncomputed(&mut self, scale: ScaleView, cause: ComputeError) {
        record!(self.recorder, Step::NoProposal(cause.clone()));
        self.decision.status.current = scale.spec;
        self.observe_generation();
        self.decision
            .effects
            .push(Effect::PatchStatus(OnFailure::Report));
        let message = Message::ComputeFailed(cause.clone());
        self.emit(Event::warning(
            Reason::FailedComputeMetricsReplicas,
            message,
        ));
        let target = self.policy.target.clone();
        self.decision.error = Some(SyncError::Compute { target, cause });
    }

    /// Windows, policies and bounds. Upstream: horizontal.go `reconcileAutoscaler`, 1.37.2, the metric path.
    fn normalize(&mut self, scale: ScaleView, best: &Best) {
        if let Some(first) = &best.first {
            let (invalid, total) = (best.invalid, self.policy.metrics.len());
            let cause = ComputeError::Metrics {
                invalid,
                total,
                first: first.clone(),
            };
            self.decision.error = Some(SyncError::Partial(cause));
        }
        let proposed = best.replicas.max(0);
        let metric = best.metric.as_ref().filter(|_| best.replicas > 0);
        let recommended = Recommended {
            replicas: best.replicas,
            metric: best.metric.clone(),
        };
        record!(
            self.recorder,
            Step::Recommended {
                replicas: recommended.replicas,
                metric: recommended.metric.clone(),
            }
        );
        let mut why = match metric {
            Some(metric) if proposed > scale.spec => RescaleReason::AboveTarget(metric.clone()),
            _ if proposed < scale.spec => RescaleReason::BelowTarget,
            _ => RescaleReason::Nothing,
        };
        self.decision.recommendation = Some(recommended);
        let at = (self.now(), &mut *self.recorder);
        let history = &mut self.decision.history;
        let normal = behavior::normalize(self.policy, history, scale.spec, proposed, at);
        for (kind, holds, reason, message) in [normal.able_to_scale(), normal.scaling_limited()] {
            let state = if holds {
                ConditionState::True
            } else {
                ConditionState::False
            };
            self.say(Statement {
                kind,
                state,
                reason,
                message,
            });
        }
        let mut desired = normal.replicas;
        if self.must_wake(scale, desired) {
            desired = self.policy.min();
            record!(self.recorder, Step::RaisedToMin(desired));
            if why == RescaleReason::Nothing {
                why = RescaleReason::BelowMin;
            }
        }
        if desired == scale.spec {
            self.decision.hold = Some(hold_of(scale.spec, proposed, &normal, best.hold));
        }
        self.settle(scale, desired, why);
    }

    /// Asleep, with a lower bound above zero again: metrics that work raise the size to it.
    fn must_wake(&self, scale: ScaleView, desired: i32) -> bool {
        let min = self.policy.min();
        scale.spec == 0
            && min != 0
            && desired < min
            && is_asleep(self.policy, self.snapshot.previous)
    }

    fn observe_generation(&mut self) {
        let on = self.policy.settings.gates.has(Gate::Generation);
        self.decision.status.observed_generation = on.then_some(self.snapshot.generation);
    }

    /// The status of a sync that got to a size; what follows from the write is left to `conclude`.
    fn settle(&mut self, scale: ScaleView, desired: i32, why: RescaleReason) {
        let from = scale.spec;
        let hold = self.decision.hold;
        record!(
            self.recorder,
            Step::Decided {
                from,
                to: desired,
                hold,
            }
        );
        self.observe_generation();
        let status = &mut self.decision.status;
        status.current = from;
        if status.metrics == Metrics::Kept {
            status.metrics = Metrics::None;
        }
        if desired == from {
            status.desired = from;
            self.decision.pending = Pending::Settle;
            return;
        }
        self.decision.scale_to = Some(desired);
        self.decision.pending = Pending::Rescale(Box::new(Rescale {
            from,
            to: desired,
            why,
            remember: self.policy.behavior.as_ref().map(|b| {
                if desired > from {
                    b.up.longest_period()
                } else {
                    b.down.longest_period()
                }
            }),
            zero: self.zero(from, desired),
            target: self.policy.target.clone(),
        }));
    }

    fn zero(&self, from: i32, to: i32) -> Zero {
        if !self.policy.settings.gates.has(Gate::ScaleToZero) {
            return Zero::Removed;
        }
        let slept = from > 0 && to == 0 && self.policy.min() == 0;
        if slept && self.policy.has_object_or_external() {
            Zero::Asleep
        } else {
            Zero::Awake
        }
    }
}

/// The first cause, in the order of a sync, why a size that metrics were read for did not change.
fn hold_of(current: i32, proposed: i32, normal: &Normalized, calculator: Option<Hold>) -> Hold {
    if proposed == current {
        return calculator.unwrap_or(Hold::SameCount);
    }
    if normal.stabilized.replicas == current {
        return Hold::StabilizationWindow;
    }
    match normal.limited.by {
        Limit::UpRate | Limit::DownRate => Hold::RateLimit,
        Limit::Max => Hold::BoundMax,
        Limit::Min => Hold::BoundMin,
        Limit::Nothing => calculator.unwrap_or(Hold::SameCount),
    }
}
