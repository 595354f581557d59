//! The end of a sync: what the answer to the write makes of the decision.

use crate::condition::{self, ConditionKind, Statement};
use crate::decide::{Decision, Pending, Rescale, Zero};
use crate::failure::SyncError;
use crate::history::store_event;
use crate::message::{Event, Message, Reason};
use crate::outcome::{Action, Effect, OnFailure, Outcome, Status, WriteResult};
use crate::policy::Text;
use crate::time::Instant;

/// The outcome of a decision whose write has answered; `now` is the time of the answer.
///
/// A result that does not fit the decision is read as it must be: a size that was to be written and was not
/// asked for counts as not written.
/// Upstream: horizontal.go `reconcileAutoscaler`, 1.37.2, from its write on.
pub fn conclude(decision: Decision, write: &WriteResult, now: Instant) -> Outcome {
    let Decision {
        recommendation,
        hold,
        status,
        effects,
        history,
        error,
        computations,
        ..
    } = decision;
    let mut outcome = Outcome {
        status,
        effects,
        history,
        error,
        action: Action::None,
        computations,
        recommendation,
        hold,
        settled: false,
    };
    match (decision.pending, write) {
        (Pending::Nothing, _) => return outcome,
        (Pending::Settle, _) => {}
        (Pending::Rescale(change), WriteResult::Written) => written(&mut outcome, *change, now),
        (Pending::Rescale(change), WriteResult::Failed(text)) => {
            return unwritten(outcome, *change, text.clone(), now);
        }
        (Pending::Rescale(change), WriteResult::NotAsked) => {
            return unwritten(outcome, *change, "the write was not tried".into(), now);
        }
    }
    outcome.settled = true;
    outcome.effects.push(Effect::PatchStatus(OnFailure::Return));
    outcome
}

fn written(outcome: &mut Outcome, change: Rescale, now: Instant) {
    let Rescale {
        from,
        to,
        why,
        remember,
        zero,
        ..
    } = change;
    let Status {
        conditions,
        desired,
        last_scale,
        ..
    } = &mut outcome.status;
    let updated = Message::UpdatedScale(to);
    let able = Statement::holds(
        ConditionKind::AbleToScale,
        Reason::SucceededRescale,
        updated,
    );
    condition::set(conditions, able, now);
    let (kind, message) = (
        ConditionKind::ScaledToZero,
        Message::Rescaled { replicas: to, why },
    );
    outcome.effects.push(Effect::Emit(Event::normal(
        Reason::SuccessfulRescale,
        message,
    )));
    match zero {
        Zero::Removed => conditions.retain(|c| c.kind != kind),
        Zero::Asleep => {
            let (reason, message) = (Reason::ScaledToZero, Message::ScaledToZero);
            condition::set(conditions, Statement::holds(kind, reason, message), now);
        }
        Zero::Awake => {
            let (reason, message) = (Reason::NotScaledToZero, Message::NotScaledToZero);
            condition::set(conditions, Statement::fails(kind, reason, message), now);
        }
    }
    *desired = to;
    *last_scale = Some(now);
    outcome.action = Action::between(from, to);
    if let Some(longest) = remember {
        let history = &mut outcome.history;
        let events = if to > from {
            &mut history.ups
        } else {
            &mut history.downs
        };
        let change = if to > from {
            to.wrapping_sub(from)
        } else {
            from.wrapping_sub(to)
        };
        store_event(events, longest, change, now);
    }
}

fn unwritten(mut outcome: Outcome, change: Rescale, error: Text, now: Instant) -> Outcome {
    let Rescale {
        to, why, target, ..
    } = change;
    let message = Message::RescaleFailed {
        replicas: to,
        why,
        error: error.clone(),
    };
    outcome
        .effects
        .push(Effect::Emit(Event::warning(Reason::FailedRescale, message)));
    let failed = Statement::fails(
        ConditionKind::AbleToScale,
        Reason::FailedUpdateScale,
        Message::UpdateScaleFailed(error.clone()),
    );
    condition::set(&mut outcome.status.conditions, failed, now);
    outcome.effects.push(Effect::PatchStatus(OnFailure::Report));
    outcome.error = Some(SyncError::Rescale { target, error });
    outcome
}
