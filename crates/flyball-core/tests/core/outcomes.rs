//! One row an outcome: what a sync says, holds and writes. Every reason and every hold has a row, or the last test fails.

use std::collections::BTreeSet;

use crate::support::{
    Answer, NOW, World, cpu_metric, external, no_target, object, pod, sample, samples,
};
use flyball_core::behavior::stabilize::Held;
use flyball_core::condition::{Condition, ConditionKind, ConditionState, Phrase};
use flyball_core::failure::{ComputeError, ScaleProblem};
use flyball_core::history::{Recommendation, ScaleEvent};
use flyball_core::message::Reason;
use flyball_core::metric::{Metric, Source, TargetKind};
use flyball_core::outcome::{Action, Effect, Metrics, Slot};
use flyball_core::pod::{Phase, ReadyState};
use flyball_core::policy::{Behavior, Gate, Rules, SelectPolicy};
use flyball_core::step::{Hold, Step};
use flyball_core::time::{Instant, Span};
use flyball_core::{Outcome, ScaleView, WriteResult};

/// What a row expects: size, hold, conditions (`Type=Status Reason`), events (`Reason`).
type Row = (&'static str, World, Expect);

#[derive(Debug)]
struct Expect {
    size: i32,
    hold: Option<Hold>,
    conditions: &'static [&'static str],
    events: &'static [&'static str],
}

const IN_RANGE: &str = "ScalingLimited=False DesiredWithinRange";
const READY: &str = "AbleToScale=True ReadyForNewScale";
const GOT: &str = "AbleToScale=True SucceededGetScale";
const WROTE: &str = "AbleToScale=True SucceededRescale";
const VALID: &str = "ScalingActive=True ValidMetricFound";
const AWAKE: &str = "ScaledToZero=False NotScaledToZero";
const RESCALED: &[&str] = &["SuccessfulRescale"];

fn with(world: World, change: impl FnOnce(&mut World)) -> World {
    let mut world = world;
    change(&mut world);
    world
}

fn behavior() -> Behavior {
    Behavior {
        up: Rules::default_up(),
        down: Rules::default_down(),
    }
}

fn remembered(replicas: i32, age_s: i64) -> Recommendation {
    Recommendation {
        replicas,
        at: NOW.minus(Span::seconds(age_s)),
    }
}

fn asleep() -> Condition {
    Condition {
        kind: ConditionKind::ScaledToZero,
        state: ConditionState::True,
        reason: Phrase::Kept("ScaledToZero".into()),
        message: Phrase::Kept("the HPA controller scaled the workload to zero".into()),
        since: Some(Instant(0)),
    }
}

fn failing(metric: Metric) -> World {
    with(World::new(3, vec![metric]), |w| {
        w.answers = vec![Answer::Unavailable("no metrics returned")];
    })
}

fn unselectable(error: ComputeError) -> World {
    with(World::cpu(3, 800), |w| w.selection = Err(error))
}

#[expect(clippy::too_many_lines, reason = "a table, one row an outcome")]
fn steady() -> Vec<Row> {
    let none: &[&str] = &[];
    let row = |size, hold, conditions, events| Expect {
        size,
        hold,
        conditions,
        events,
    };
    vec![
        (
            "inside the band",
            World::cpu(4, 850),
            row(
                4,
                Some(Hold::InsideTolerance),
                &[READY, VALID, IN_RANGE],
                none,
            ),
        ),
        (
            "growth",
            World::cpu(4, 960),
            row(5, None, &[WROTE, VALID, IN_RANGE, AWAKE], RESCALED),
        ),
        (
            "shrinking after a fresh start is held by the seed",
            World::cpu(4, 400),
            row(
                4,
                Some(Hold::StabilizationWindow),
                &["AbleToScale=True ScaleDownStabilized", VALID, IN_RANGE],
                none,
            ),
        ),
        (
            "the same count after rounding up",
            with(World::cpu(4, 700), |w| w.policy.settings.tolerance = 0.05),
            row(4, Some(Hold::SameCount), &[READY, VALID, IN_RANGE], none),
        ),
        (
            "missing pods at zero bring growth back into the band",
            with(World::cpu(4, 1000), |w| w.pods.push(pod("web-new"))),
            row(
                4,
                Some(Hold::InsideToleranceAfterRefill),
                &[READY, VALID, IN_RANGE],
                none,
            ),
        ),
        (
            "missing pods at their request turn a drop round",
            with(World::cpu(4, 600), |w| {
                w.policy.settings.tolerance = 0.01;
                w.pods.extend((0..8).map(|i| pod(&format!("silent-{i}"))));
                w.scale = Ok(ScaleView {
                    spec: 12,
                    status: 12,
                });
            }),
            row(
                12,
                Some(Hold::DirectionFlip),
                &[READY, VALID, IN_RANGE],
                none,
            ),
        ),
        (
            "a count that moves against its ratio is dropped",
            with(World::cpu(4, 2400), |w| {
                w.pods.push(pod("web-new"));
                w.scale = Ok(ScaleView {
                    spec: 40,
                    status: 40,
                });
            }),
            row(40, Some(Hold::CountGuard), &[READY, VALID, IN_RANGE], none),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table, one row an outcome")]
fn limits() -> Vec<Row> {
    let none: &[&str] = &[];
    let row = |size, hold, conditions, events| Expect {
        size,
        hold,
        conditions,
        events,
    };
    vec![
        (
            "growth is cut by the built-in limit",
            World::cpu(4, 8000),
            row(
                8,
                None,
                &[WROTE, VALID, "ScalingLimited=True ScaleUpLimit", AWAKE],
                RESCALED,
            ),
        ),
        (
            "growth is forbidden",
            with(World::cpu(4, 960), |w| {
                let up = Rules {
                    select: SelectPolicy::Disabled,
                    ..Rules::default_up()
                };
                w.policy.behavior = Some(Behavior { up, ..behavior() });
            }),
            row(
                4,
                Some(Hold::RateLimit),
                &[READY, VALID, "ScalingLimited=True ScaleUpLimit"],
                none,
            ),
        ),
        (
            "shrinking is cut by a policy",
            with(World::cpu(10, 80), |w| {
                let mut down = Rules {
                    window: Some(Span(0)),
                    ..Rules::default_down()
                };
                down.policies[0].value = 50;
                w.policy.behavior = Some(Behavior { down, ..behavior() });
            }),
            row(
                5,
                None,
                &[WROTE, VALID, "ScalingLimited=True ScaleDownLimit", AWAKE],
                RESCALED,
            ),
        ),
        (
            "at the maximum",
            with(World::cpu(4, 960), |w| w.policy.replicas_max = 4),
            row(
                4,
                Some(Hold::BoundMax),
                &[READY, VALID, "ScalingLimited=True TooManyReplicas"],
                none,
            ),
        ),
        (
            "at the minimum",
            with(World::cpu(2, 100), |w| {
                w.policy.replicas_min = Some(2);
                w.policy.settings.downscale_window = Span(0);
                w.history.recommendations = Some(Vec::new());
            }),
            row(
                2,
                Some(Hold::BoundMin),
                &[READY, VALID, "ScalingLimited=True TooFewReplicas"],
                none,
            ),
        ),
        (
            "a lower recent recommendation delays growth",
            with(World::cpu(4, 960), |w| {
                let up = Rules {
                    window: Some(Span::seconds(60)),
                    ..Rules::default_up()
                };
                w.policy.behavior = Some(Behavior { up, ..behavior() });
                w.history.recommendations = Some(vec![remembered(4, 30)]);
            }),
            row(
                4,
                Some(Hold::StabilizationWindow),
                &["AbleToScale=True ScaleUpStabilized", VALID, IN_RANGE],
                none,
            ),
        ),
        (
            "above the maximum",
            with(World::cpu(9, 1), |w| w.policy.replicas_max = 7),
            row(7, None, &[WROTE, AWAKE], RESCALED),
        ),
        (
            "below the minimum",
            with(World::cpu(1, 1), |w| w.policy.replicas_min = Some(3)),
            row(3, None, &[WROTE, AWAKE], RESCALED),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table, one row an outcome")]
fn failures() -> Vec<Row> {
    let row = |size, hold, conditions, events| Expect {
        size,
        hold,
        conditions,
        events,
    };
    let failed = Some(Hold::MetricsFailed);
    let raw = |source| Metric {
        source,
        target: no_target(TargetKind::Other),
    };
    vec![
        (
            "no scale",
            with(World::cpu(3, 800), |w| {
                w.scale = Err(ScaleProblem::Unreadable("boom".into()));
            }),
            row(
                3,
                Some(Hold::ScaleUnreadable),
                &["AbleToScale=False FailedGetScale"],
                &["FailedGetScale"],
            ),
        ),
        (
            "no selector",
            unselectable(ComputeError::SelectorMissing),
            row(
                3,
                Some(Hold::Selector),
                &[GOT, "ScalingActive=False InvalidSelector"],
                &["SelectorRequired", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "a selector that does not parse",
            unselectable(ComputeError::SelectorInvalid("bad".into())),
            row(
                3,
                Some(Hold::Selector),
                &[GOT, "ScalingActive=False InvalidSelector"],
                &["InvalidSelector", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "two autoscalers on the same pods",
            unselectable(ComputeError::Ambiguous {
                selector: "app=web".into(),
                autoscalers: vec!["default/api".into(), "default/web".into()],
            }),
            row(
                3,
                Some(Hold::Selector),
                &[GOT, "ScalingActive=False AmbiguousSelector"],
                &["AmbiguousSelector", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "no cpu samples",
            failing(cpu_metric(80)),
            row(
                3,
                failed,
                &[GOT, "ScalingActive=False FailedGetResourceMetric"],
                &["FailedGetResourceMetric", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "no container samples",
            failing(raw(Source::ContainerResource {
                resource: "cpu".into(),
                container: "app".into(),
            })),
            row(
                3,
                failed,
                &[GOT, "ScalingActive=False FailedGetContainerResourceMetric"],
                &[
                    "FailedGetContainerResourceMetric",
                    "FailedComputeMetricsReplicas",
                ],
            ),
        ),
        (
            "no pods metric",
            failing(raw(Source::Pods {
                name: "queue".into(),
            })),
            row(
                3,
                failed,
                &[GOT, "ScalingActive=False FailedGetPodsMetric"],
                &["FailedGetPodsMetric", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "no object metric",
            failing(object(TargetKind::Value, 1000)),
            row(
                3,
                failed,
                &[GOT, "ScalingActive=False FailedGetObjectMetric"],
                &["FailedGetObjectMetric", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "no external metric",
            failing(external("queue", 1000)),
            row(
                3,
                failed,
                &[GOT, "ScalingActive=False FailedGetExternalMetric"],
                &["FailedGetExternalMetric", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "an unknown type",
            failing(raw(Source::Unknown {
                kind: "Weather".into(),
            })),
            row(
                3,
                failed,
                &[GOT, "ScalingActive=False InvalidMetricSourceType"],
                &["InvalidMetricSourceType", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "one metric fails and the other asks for less",
            with(World::cpu(3, 100), |w| {
                w.policy.metrics.push(external("queue", 1000).into());
                w.answers.push(Answer::Unavailable("down"));
            }),
            row(
                3,
                Some(Hold::PartialFailure),
                &[GOT, "ScalingActive=False FailedGetExternalMetric"],
                &["FailedGetExternalMetric", "FailedComputeMetricsReplicas"],
            ),
        ),
        (
            "the write fails",
            with(World::cpu(4, 960), |w| {
                w.write = WriteResult::Failed("boom".into());
            }),
            row(
                4,
                None,
                &["AbleToScale=False FailedUpdateScale", VALID, IN_RANGE],
                &["FailedRescale"],
            ),
        ),
    ]
}

fn zero() -> Vec<Row> {
    let none: &[&str] = &[];
    let row = |size, hold, conditions, events| Expect {
        size,
        hold,
        conditions,
        events,
    };
    vec![
        (
            "zero by somebody else's hand",
            World::cpu(0, 0),
            row(
                0,
                Some(Hold::Paused),
                &[GOT, "ScalingActive=False ScalingDisabled"],
                none,
            ),
        ),
        (
            "to zero",
            with(World::new(1, vec![external("queue", 1000)]), |w| {
                w.policy.replicas_min = Some(0);
                w.answers = vec![Answer::Series(vec![0])];
                w.history.recommendations = Some(Vec::new());
            }),
            row(
                0,
                None,
                &[WROTE, VALID, IN_RANGE, "ScaledToZero=True ScaledToZero"],
                RESCALED,
            ),
        ),
        (
            "awake again",
            with(World::new(0, vec![external("queue", 10_000)]), |w| {
                w.policy.replicas_min = Some(0);
                w.answers = vec![Answer::Series(vec![35_000])];
                w.previous.conditions = vec![asleep()];
            }),
            row(
                4,
                None,
                &["ScaledToZero=False NotScaledToZero", WROTE, VALID, IN_RANGE],
                RESCALED,
            ),
        ),
    ]
}

fn rows() -> Vec<Row> {
    [steady(), limits(), failures(), zero()]
        .into_iter()
        .flatten()
        .collect()
}

fn conditions(outcome: &Outcome) -> Vec<String> {
    let print = |c: &Condition| format!("{}={} {}", c.kind.name(), c.state.name(), c.reason);
    outcome.status.conditions.iter().map(print).collect()
}

fn events(outcome: &Outcome) -> Vec<String> {
    let reason = |effect: &Effect| match effect {
        Effect::Emit(event) => Some(event.reason.name().to_owned()),
        Effect::PatchStatus(_) => None,
    };
    outcome.effects.iter().filter_map(reason).collect()
}

#[test]
fn every_row_ends_as_it_says() {
    for (name, world, expect) in rows() {
        let (outcome, _) = world.sync();
        let size = if outcome.action == Action::None {
            outcome.status.current
        } else {
            outcome.status.desired
        };
        assert_eq!(size, expect.size, "{name}: size");
        assert_eq!(outcome.hold, expect.hold, "{name}: hold");
        assert_eq!(
            conditions(&outcome),
            expect.conditions,
            "{name}: conditions"
        );
        assert_eq!(events(&outcome), expect.events, "{name}: events");
    }
}

#[test]
fn every_reason_and_every_hold_has_a_row() {
    let mut said = BTreeSet::new();
    let mut held = BTreeSet::new();
    for (_, world, expect) in rows() {
        let (outcome, _) = world.sync();
        for condition in conditions(&outcome) {
            said.extend(condition.split(' ').nth(1).map(str::to_owned));
        }
        said.extend(events(&outcome));
        held.extend(expect.hold);
    }
    // The status is written by the controller, so its failure is said there.
    let unsaid: Vec<_> = Reason::ALL
        .iter()
        .filter(|r| **r != Reason::FailedUpdateStatus && !said.contains(r.name()))
        .collect();
    assert!(unsaid.is_empty(), "no row for {unsaid:?}");
    let unheld: Vec<_> = Hold::ALL.iter().filter(|h| !held.contains(h)).collect();
    assert!(unheld.is_empty(), "no row for {unheld:?}");
}

#[test]
fn the_last_step_says_what_the_outcome_says() {
    for (name, world, _) in rows() {
        let (outcome, steps) = world.sync();
        if let Some(Step::Decided { to, hold, .. }) = steps.0.last()
            && outcome.action != Action::None
        {
            assert_eq!(
                (*to, *hold),
                (outcome.status.desired, outcome.hold),
                "{name}"
            );
        }
    }
}

#[test]
fn a_failing_write_leaves_no_trace_in_the_history() {
    let world = with(World::cpu(4, 960), |w| {
        w.policy.behavior = Some(behavior());
        w.write = WriteResult::Failed("boom".into());
    });
    let (outcome, _) = world.sync();
    assert!(outcome.history.ups.is_empty());
    assert_eq!(outcome.status.last_scale, None);
    let grown = with(world, |w| w.write = WriteResult::Written);
    let step = ScaleEvent {
        change: 1,
        at: NOW,
        outdated: false,
    };
    assert_eq!(grown.sync().0.history.ups, [step]);
}

#[test]
fn asleep_an_average_reports_the_smallest_number() {
    let world = with(World::new(0, vec![external("queue", 10_000)]), |w| {
        w.policy.replicas_min = Some(0);
        w.answers = vec![Answer::Series(vec![35_000])];
        w.previous.conditions = vec![asleep()];
    });
    let slots = Metrics::Slots(vec![Slot::Average(i64::MIN)]);
    assert_eq!(world.sync().0.status.metrics, slots);
}

#[test]
fn one_negative_series_reads_as_the_largest_number() {
    let world = with(World::new(3, vec![external("queue", 100_000)]), |w| {
        w.answers = vec![Answer::Series(vec![-1])];
    });
    assert_eq!(
        world.sync().0.recommendation.map(|r| r.replicas),
        Some(i32::MAX)
    );
}

#[test]
fn the_window_edge_counts_without_a_behavior_only() {
    let drop = |behavior| {
        with(World::cpu(12, 100), |w| {
            w.policy.behavior = behavior;
            w.history.recommendations = Some(vec![remembered(12, 300)]);
        })
    };
    let (held, _) = drop(None).sync();
    assert_eq!(held.hold, Some(Hold::StabilizationWindow));
    assert!(drop(Some(behavior())).size() < 12);
}

#[test]
fn with_the_zero_gate_off_the_condition_goes() {
    let world = with(World::cpu(0, 0), |w| {
        w.policy.settings.gates = w.policy.settings.gates.without(Gate::ScaleToZero);
        w.previous.conditions = vec![asleep()];
    });
    let (outcome, _) = world.sync();
    assert_eq!(
        conditions(&outcome),
        [GOT, "ScalingActive=False ScalingDisabled"]
    );
}

#[test]
fn a_completed_pod_without_a_sample_damps_growth_and_a_failed_one_does_not() {
    let grow = |phase| {
        with(World::cpu(3, 1000), |w| {
            let mut done = pod("zz-job");
            done.phase = phase;
            w.pods.push(done);
        })
    };
    assert_eq!(grow(Phase::Succeeded).size(), 3);
    assert_eq!(grow(Phase::Failed).size(), 4);
}

#[test]
fn unready_pods_return_at_zero_when_growing_and_stay_out_when_shrinking() {
    let world = |usage| {
        with(World::cpu(4, usage), |w| {
            w.policy.settings.downscale_window = Span(0);
            w.history.recommendations = Some(Vec::new());
            for i in 0..8 {
                let mut starting = pod(&format!("new-{i}"));
                starting.phase = Phase::Pending;
                w.pods.push(starting);
            }
            w.scale = Ok(ScaleView {
                spec: 12,
                status: 12,
            });
        })
    };
    assert_eq!(world(2400).size(), 12);
    assert_eq!(world(600).size(), 3);
}

#[test]
fn inside_its_warm_up_a_pod_counts_once_its_sample_lies_in_its_ready_time() {
    let counted = |age_s: i64, state| {
        let world = with(World::cpu(1, 960), |w| {
            let since = NOW.minus(Span::seconds(age_s));
            w.pods[0].start = Some(since);
            w.pods[0].ready = Some(flyball_core::pod::Readiness { state, since });
            w.answers = vec![samples(&w.pods, 960)];
        });
        let steps = world.sync().1;
        steps
            .0
            .iter()
            .any(|s| matches!(s, Step::Sorted { pods, .. } if pods.counted == 1))
    };
    assert!(
        !counted(29, ReadyState::True),
        "the sample's window began before it was ready"
    );
    assert!(
        counted(30, ReadyState::True),
        "equality falls on the counted side"
    );
    assert!(!counted(30, ReadyState::False));
    assert!(counted(30, ReadyState::Unknown), "Unknown is not False");
}

#[test]
fn the_sample_of_a_pod_that_is_gone_joins_a_plain_average_only() {
    let stray = |metric: Metric| {
        with(World::cpu(2, 800), |w| {
            w.policy.metrics = vec![metric.into()];
            if let Answer::Samples(samples) = &mut w.answers[0] {
                samples.insert("gone".into(), sample(2400));
            }
        })
    };
    assert_eq!(stray(cpu_metric(80)).size(), 2);
    let mut average = cpu_metric(80);
    average.target.average_value = Some(800);
    assert_eq!(
        stray(average).sync().0.recommendation.map(|r| r.replicas),
        Some(4)
    );
}

#[test]
fn the_window_step_names_the_recommendation_that_stands_in() {
    let world = with(World::cpu(4, 400), |w| {
        w.history.recommendations = Some(vec![remembered(9, 20), remembered(6, 10)]);
    });
    let by = world.sync().1.0.into_iter().find_map(|step| match step {
        Step::Stabilized { stabilized, .. } => Some((stabilized.held, stabilized.by)),
        _ => None,
    });
    assert_eq!(by, Some((Some(Held::Down), Some(remembered(9, 20)))));
}
