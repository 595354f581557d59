//! From the core's values to a record. The only place that knows both; it renames and copies, and computes nothing
//! but the edges of a tolerance band.

use std::sync::Arc;

use flyball_core::behavior::{bounds, stabilize};
use flyball_core::outcome::{self, Effect, Outcome};
use flyball_core::policy::Policy;
use flyball_core::time::Instant;
use flyball_core::{condition, failure, message, metric, needs, ratio, step as core};

use crate::real::Real;
use crate::record::{
    Action, Aim, Autoscaler, Condition, DecisionRecord, Event, Metric, Recommendation, SCHEMA,
    Target,
};
use crate::step::{
    Band, Compared, ComputeProblem, Failure, Held, Limit, Measure, PodCounts, Remembered,
    ScaleProblem, Step, Verdict,
};

/// The record of a sync: what was wanted, when the snapshot was taken, what came of it, and the steps if they were recorded.
///
/// A status write that fails afterwards is the caller's to put into `error`.
pub fn record(
    policy: &Policy,
    at: Instant,
    outcome: &Outcome,
    steps: &core::Steps,
) -> DecisionRecord {
    let from =
        (outcome.hold != Some(core::Hold::ScaleUnreadable)).then_some(outcome.status.current);
    let to = match outcome.action {
        outcome::Action::None => from,
        outcome::Action::ScaleUp | outcome::Action::ScaleDown => Some(outcome.status.desired),
    };
    let recommendation = outcome.recommendation.as_ref().map(|found| Recommendation {
        replicas: found.replicas,
        metric: found.metric.as_ref().and_then(|m| index_of(policy, m)),
    });
    DecisionRecord {
        schema: SCHEMA,
        at_ms: at.0,
        autoscaler: Autoscaler {
            namespace: policy.target.namespace.to_string(),
            name: policy.target.autoscaler.to_string(),
        },
        target: Target {
            kind: policy.target.kind.to_string(),
            name: policy.target.name.to_string(),
        },
        profile: policy.settings.profile.name().to_owned(),
        metrics: policy.metrics.iter().map(|m| metric_of(m)).collect(),
        from,
        to,
        recommendation,
        hold: hold_of(outcome.hold),
        action: action_of(outcome.action),
        conditions: outcome.status.conditions.iter().map(condition_of).collect(),
        events: outcome.effects.iter().filter_map(event_of).collect(),
        error: outcome.error.as_ref().map(ToString::to_string),
        steps: steps.0.iter().map(|s| step(policy, s)).collect(),
    }
}

/// One step of the core as a step of a record.
#[expect(clippy::too_many_lines, reason = "a table, one arm a step")]
pub fn step(policy: &Policy, step: &core::Step) -> Step {
    match step {
        core::Step::Scale(scale) => Step::Scale {
            spec_replicas: scale.spec,
            status_replicas: scale.status,
        },
        core::Step::NoScale(problem) => Step::NoScale {
            problem: scale_problem_of(problem),
            text: problem.text().to_string(),
        },
        core::Step::Needs(needs) => Step::Needs {
            verdict: verdict_of(*needs),
        },
        core::Step::Unselectable(error) => Step::Unselectable {
            problem: compute_problem_of(error),
            text: error.to_string(),
        },
        core::Step::NoProposal(error) => Step::NoProposal {
            problem: compute_problem_of(error),
            text: error.to_string(),
        },
        core::Step::Recommended { replicas, metric } => Step::Recommended {
            replicas: *replicas,
            metric: metric.as_ref().and_then(|m| index_of(policy, m)),
        },
        core::Step::RaisedToMin(replicas) => Step::RaisedToMin {
            replicas: *replicas,
        },
        core::Step::Decided { from, to, hold } => Step::Decided {
            from: *from,
            to: *to,
            hold: hold_of(*hold),
        },
        core::Step::Stabilized {
            proposed,
            stabilized,
        } => stabilized_step(*proposed, stabilized),
        core::Step::Limited {
            stabilized,
            limited,
        } => Step::Limited {
            stabilized: *stabilized,
            replicas: limited.replicas,
            by: limit_of(limited.by),
        },
        core::Step::Sorted { metric, pods } => Step::Sorted {
            metric: *metric,
            pods: counts_of(*pods),
        },
        core::Step::Ratio {
            metric,
            measure,
            band,
            inside,
        } => Step::Ratio {
            metric: *metric,
            measure: measure_of(policy, *metric, measure),
            band: band_of(band),
            inside: *inside,
        },
        core::Step::Refilled {
            metric,
            missing,
            missing_usage,
            unready,
            measure,
        } => Step::Refilled {
            metric: *metric,
            missing_pods: *missing,
            missing_usage_milli: *missing_usage,
            unready_pods: *unready,
            measure: measure_of(policy, *metric, measure),
        },
        core::Step::Proposed {
            metric,
            replicas,
            exact,
            hold,
        } => Step::Proposed {
            metric: *metric,
            replicas: *replicas,
            exact: exact.map(Real),
            hold: hold_of(*hold),
        },
        core::Step::Failed { metric, failure } => Step::Failed {
            metric: *metric,
            failure: failure_of(&failure.failure),
            reason: failure.reason().name().to_owned(),
            text: failure.event_text().to_string(),
        },
    }
}

/// On ties the earlier of two equal metrics gave the size, so the first match is the right one.
fn index_of(policy: &Policy, metric: &Arc<metric::Metric>) -> Option<usize> {
    policy.metrics.iter().position(|m| m == metric)
}

fn hold_of(hold: Option<core::Hold>) -> Option<String> {
    hold.map(|h| h.id().to_owned())
}

const fn action_of(action: outcome::Action) -> Action {
    match action {
        outcome::Action::ScaleUp => Action::ScaleUp,
        outcome::Action::ScaleDown => Action::ScaleDown,
        outcome::Action::None => Action::None,
    }
}

fn metric_of(metric: &metric::Metric) -> Metric {
    let (name, container, object) = match &metric.source {
        metric::Source::Object {
            kind, object, name, ..
        } => (name.to_string(), None, Some(format!("{kind}/{object}"))),
        metric::Source::Pods { name } | metric::Source::External { name, .. } => {
            (name.to_string(), None, None)
        }
        metric::Source::Resource { resource } => (resource.to_string(), None, None),
        metric::Source::ContainerResource {
            resource,
            container,
        } => (resource.to_string(), Some(container.to_string()), None),
        metric::Source::Unknown { .. } => (String::new(), None, None),
    };
    let aim = match metric.aim() {
        metric::Aim::Utilization(percent) => Some(Aim::UtilizationPercent(percent)),
        metric::Aim::AverageValue(milli) => Some(Aim::AverageValueMilli(milli)),
        metric::Aim::Value(milli) => Some(Aim::ValueMilli(milli)),
        metric::Aim::Nothing => None,
    };
    Metric {
        kind: metric.type_name().to_owned(),
        name,
        container,
        object,
        aim,
    }
}

fn condition_of(condition: &condition::Condition) -> Condition {
    Condition {
        kind: condition.kind.name().to_owned(),
        status: condition.state.name().to_owned(),
        reason: condition.reason.to_string(),
        message: condition.message.to_string(),
        since_ms: condition.since.map(|at| at.0),
    }
}

fn event_of(effect: &Effect) -> Option<Event> {
    let Effect::Emit(event) = effect else {
        return None;
    };
    let message::Event {
        kind,
        reason,
        message,
    } = event;
    Some(Event {
        kind: kind.name().to_owned(),
        reason: reason.name().to_owned(),
        message: message.to_string(),
    })
}

const fn verdict_of(needs: needs::Needs) -> Verdict {
    match needs {
        needs::Needs::Metrics => Verdict::ReadMetrics,
        needs::Needs::NothingPaused => Verdict::Paused,
        needs::Needs::NothingAboveMax => Verdict::AboveMax,
        needs::Needs::NothingBelowMin => Verdict::BelowMin,
    }
}

const fn scale_problem_of(problem: &failure::ScaleProblem) -> ScaleProblem {
    match problem {
        failure::ScaleProblem::ApiVersion(_) => ScaleProblem::ApiVersion,
        failure::ScaleProblem::NoMapping(_) => ScaleProblem::NoMapping,
        failure::ScaleProblem::Unreadable(_) => ScaleProblem::Unreadable,
    }
}

const fn compute_problem_of(error: &failure::ComputeError) -> ComputeProblem {
    match error {
        failure::ComputeError::SelectorMissing => ComputeProblem::SelectorMissing,
        failure::ComputeError::SelectorInvalid(_) => ComputeProblem::SelectorInvalid,
        failure::ComputeError::Deleted { .. } => ComputeProblem::Deleted,
        failure::ComputeError::ListFailed(_) => ComputeProblem::ListFailed,
        failure::ComputeError::Ambiguous { .. } => ComputeProblem::Ambiguous,
        failure::ComputeError::Metrics { .. } => ComputeProblem::Metrics,
    }
}

const fn failure_of(failure: &failure::Failure) -> Failure {
    match failure {
        failure::Failure::Selector(_) => Failure::Selector,
        failure::Failure::Fetch { .. } => Failure::Fetch,
        failure::Failure::NoPods => Failure::NoPods,
        failure::Failure::NoSamples => Failure::NoSamples,
        failure::Failure::NoRequests => Failure::NoRequests,
        failure::Failure::Request(_) => Failure::Request,
        failure::Failure::NoReadyPods => Failure::NoReadyPods,
        failure::Failure::NoTarget => Failure::NoTarget,
        failure::Failure::UnknownSource => Failure::UnknownSource,
    }
}

const fn counts_of(pods: core::PodCounts) -> PodCounts {
    PodCounts {
        selected: pods.selected,
        counted: pods.counted,
        unready: pods.unready,
        missing: pods.missing,
        ignored: pods.ignored,
        extraneous: pods.extraneous,
    }
}

fn measure_of(policy: &Policy, metric: usize, measure: &core::Measure) -> Measure {
    let (value, target) = (Real(measure.value), measure.target);
    let aim = policy.metrics.get(metric).map(|m| m.aim());
    let compared = match aim {
        Some(metric::Aim::Utilization(_)) => Compared::Percent { value, target },
        _ => Compared::Milli { value, target },
    };
    Measure {
        usage_milli: measure.usage,
        request_milli: measure.request,
        entries: measure.entries,
        compared,
        ratio: Real(measure.ratio),
    }
}

fn band_of(band: &ratio::Band) -> Band {
    Band {
        tolerance_down: Real(band.down),
        tolerance_up: Real(band.up),
        lowest: Real(1.0 - band.down),
        highest: Real(1.0 + band.up),
        profile: band.profile.name().to_owned(),
    }
}

fn stabilized_step(proposed: i32, stabilized: &stabilize::Stabilized) -> Step {
    Step::Stabilized {
        proposed,
        replicas: stabilized.replicas,
        held: stabilized.held.map(|held| match held {
            stabilize::Held::Up => Held::Up,
            stabilize::Held::Down => Held::Down,
        }),
        by: stabilized.by.map(|entry| Remembered {
            replicas: entry.replicas,
            at_ms: entry.at.0,
        }),
    }
}

const fn limit_of(by: bounds::Limit) -> Limit {
    match by {
        bounds::Limit::Nothing => Limit::Nothing,
        bounds::Limit::UpRate => Limit::UpRate,
        bounds::Limit::DownRate => Limit::DownRate,
        bounds::Limit::Max => Limit::Max,
        bounds::Limit::Min => Limit::Min,
    }
}
