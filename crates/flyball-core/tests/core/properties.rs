//! Whatever is put in, something comes out: no panic, no broken bound, and sums that equal their members.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_core::failure::{ComputeError, ScaleProblem};
use flyball_core::groups::{GroupRule, Groups, Member};
use flyball_core::history::{Recommendation, ScaleEvent};
use flyball_core::metric::{Metric, Source, Target, TargetKind};
use flyball_core::outcome::{Action, Effect};
use flyball_core::pod::{Phase, PodFacts, Readiness, ReadyState, Sample};
use flyball_core::policy::{
    Behavior, Gates, MissingPods, Options, PolicyKind, Profile, Rules, ScalingPolicy, SelectPolicy,
    Settings, Text,
};
use flyball_core::request::{Container, InitContainer, PodRequests};
use flyball_core::time::{Instant, Span};
use flyball_core::{History, ScaleView, WriteResult};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::support::{Answer, World};

/// Cases a property runs over in one go: 10^5, which takes seconds.
const CASES: u32 = 100_000;

/// Mostly ordinary numbers, often the ends of the range.
fn number() -> BoxedStrategy<i64> {
    prop_oneof![
        4 => -5_000_i64..200_000,
        1 => prop::sample::select(vec![
            i64::MIN, i64::MIN + 1, -1, 0, 1, i64::from(i32::MAX), i64::from(i32::MIN),
            i64::MAX / 100, i64::MAX - 1, i64::MAX,
        ]),
        1 => any::<i64>(),
    ]
    .boxed()
}

fn count() -> BoxedStrategy<i32> {
    prop_oneof![
        4 => 0_i32..50,
        1 => prop::sample::select(vec![i32::MIN, -1, 0, 1, i32::MAX - 1, i32::MAX]),
        1 => any::<i32>(),
    ]
    .boxed()
}

fn instant() -> BoxedStrategy<Instant> {
    number().prop_map(Instant).boxed()
}

/// Few names, so that duplicates happen.
fn name() -> BoxedStrategy<Text> {
    (0_u8..6)
        .prop_map(|i| Text::from(format!("web-{i}")))
        .boxed()
}

fn resource() -> BoxedStrategy<Text> {
    prop::sample::select(vec!["cpu", "memory", "hugepages-2Mi"])
        .prop_map(Text::from)
        .boxed()
}

fn source() -> BoxedStrategy<Source> {
    let selector = || Text::from("nil");
    prop_oneof![
        resource().prop_map(|resource| Source::Resource { resource }),
        (resource(), name()).prop_map(|(resource, container)| Source::ContainerResource {
            resource,
            container
        }),
        name().prop_map(|name| Source::Pods { name }),
        name().prop_map(move |name| Source::External {
            name,
            selector: selector()
        }),
        name().prop_map(move |name| Source::Object {
            kind: "Ingress".into(),
            object: "front".into(),
            name,
            selector: selector(),
        }),
        name().prop_map(|kind| Source::Unknown { kind }),
    ]
    .boxed()
}

fn metric() -> BoxedStrategy<Metric> {
    let kind = prop::sample::select(vec![
        TargetKind::Utilization,
        TargetKind::Value,
        TargetKind::AverageValue,
        TargetKind::Other,
    ]);
    let target = (
        kind,
        option::of(number()),
        option::of(number()),
        option::of(count()),
    )
        .prop_map(|(kind, value, average_value, average_utilization)| Target {
            kind,
            value,
            average_value,
            average_utilization,
        });
    (source(), target)
        .prop_map(|(source, target)| Metric { source, target })
        .boxed()
}

fn requests() -> BoxedStrategy<Arc<PodRequests>> {
    let resources = || vec((resource(), number()), 0..3);
    let container =
        move || (name(), resources()).prop_map(|(name, requests)| Container { name, requests });
    let init = (container(), any::<bool>()).prop_map(|(container, restartable)| InitContainer {
        container,
        restartable,
    });
    (
        vec(container(), 0..3),
        vec(init, 0..2),
        option::of(resources()),
        resources(),
    )
        .prop_map(|(containers, init, pod_level, overhead)| {
            Arc::new(PodRequests {
                containers,
                init,
                pod_level,
                overhead,
            })
        })
        .boxed()
}

fn pod() -> BoxedStrategy<PodFacts> {
    let phase = prop::sample::select(vec![
        Phase::Pending,
        Phase::Running,
        Phase::Running,
        Phase::Succeeded,
        Phase::Failed,
        Phase::Unknown,
    ]);
    let state = prop::sample::select(vec![
        ReadyState::True,
        ReadyState::False,
        ReadyState::Unknown,
    ]);
    let ready = (state, instant()).prop_map(|(state, since)| Readiness { state, since });
    (
        name(),
        phase,
        any::<bool>(),
        option::of(ready),
        option::of(instant()),
        requests(),
    )
        .prop_map(
            |(name, phase, terminating, ready, start, requests)| PodFacts {
                name,
                phase,
                terminating,
                ready,
                start,
                requests,
            },
        )
        .boxed()
}

fn sample() -> BoxedStrategy<Sample> {
    (instant(), number().prop_map(Span), number())
        .prop_map(|(timestamp, window, value)| Sample {
            timestamp,
            window,
            value,
        })
        .boxed()
}

fn answer() -> BoxedStrategy<Answer> {
    prop_oneof![
        4 => prop::collection::btree_map(name(), sample(), 0..6).prop_map(Answer::Samples),
        2 => number().prop_map(Answer::Value),
        2 => vec(number(), 0..4).prop_map(Answer::Series),
        1 => Just(Answer::Unavailable("no answer")),
        1 => Just(Answer::BadSelector("no selector")),
    ]
    .boxed()
}

fn rules() -> BoxedStrategy<Rules> {
    let kind = prop::sample::select(vec![
        PolicyKind::Pods,
        PolicyKind::Percent,
        PolicyKind::Unknown,
    ]);
    let policy = (kind, count(), count()).prop_map(|(kind, value, period_seconds)| ScalingPolicy {
        kind,
        value,
        period_seconds,
    });
    let select = prop::sample::select(vec![
        SelectPolicy::Max,
        SelectPolicy::Min,
        SelectPolicy::Disabled,
    ]);
    (
        option::of(number().prop_map(Span)),
        select,
        vec(policy, 0..3),
        option::of(0.0..2.0_f64),
    )
        .prop_map(|(window, select, policies, tolerance)| Rules {
            window,
            select,
            policies,
            tolerance,
        })
        .boxed()
}

fn settings() -> BoxedStrategy<Settings> {
    let profile = prop::sample::select(vec![
        Profile::Upstream,
        Profile::Upstream132,
        Profile::Fraction,
    ]);
    let missing = prop::sample::select(vec![MissingPods::Count, MissingPods::Ignore]);
    let gates = any::<[bool; 4]>().prop_map(|on| {
        use flyball_core::policy::Gate;
        let all = [
            Gate::ScaleToZero,
            Gate::ConfigurableTolerance,
            Gate::Generation,
            Gate::PodLevelResources,
        ];
        let off = all.into_iter().zip(on).filter(|(_, on)| !on);
        off.fold(Gates::default(), |gates, (gate, _)| gates.without(gate))
    });
    let spans = (number(), number(), number());
    (0.0..2.0_f64, spans, gates, profile, missing)
        .prop_map(
            |(tolerance, (window, init, delay), gates, profile, missing_pods)| Settings {
                tolerance,
                downscale_window: Span(window),
                cpu_initialization: Span(init),
                readiness_delay: Span(delay),
                gates,
                profile,
                options: Options { missing_pods },
            },
        )
        .boxed()
}

fn history() -> BoxedStrategy<History> {
    let recommendation =
        (count(), instant()).prop_map(|(replicas, at)| Recommendation { replicas, at });
    let event = || {
        let event = (count(), instant(), any::<bool>());
        vec(
            event.prop_map(|(change, at, outdated)| ScaleEvent {
                change,
                at,
                outdated,
            }),
            0..3,
        )
    };
    (option::of(vec(recommendation, 0..5)), event(), event())
        .prop_map(|(recommendations, ups, downs)| History {
            recommendations,
            ups,
            downs,
        })
        .boxed()
}

fn world() -> BoxedStrategy<World> {
    let scale = prop_oneof![
        8 => (count(), count()).prop_map(|(spec, status)| Ok(ScaleView { spec, status })),
        1 => Just(Err(ScaleProblem::Unreadable("gone".into()))),
    ];
    let selection = prop_oneof![8 => Just(Ok(())), 1 => Just(Err(ComputeError::SelectorMissing))];
    let behavior = option::of((rules(), rules()).prop_map(|(up, down)| Behavior { up, down }));
    let write = prop_oneof![
        Just(WriteResult::Written),
        Just(WriteResult::Failed("conflict".into())),
        Just(WriteResult::NotAsked),
    ];
    let wanted = (
        vec(metric(), 0..4),
        option::of(count()),
        count(),
        behavior,
        settings(),
    );
    let seen = (
        scale,
        selection,
        vec(pod(), 0..6),
        vec(answer(), 0..4),
        history(),
    );
    (wanted, seen, write, instant())
        .prop_map(|(wanted, seen, write, now)| {
            let (metrics, min, max, behavior, settings) = wanted;
            let mut world = World::new(1, metrics);
            world.policy.replicas_min = min;
            world.policy.replicas_max = max;
            world.policy.behavior = behavior;
            world.policy.settings = settings;
            (
                world.scale,
                world.selection,
                world.pods,
                world.answers,
                world.history,
            ) = seen;
            (world.write, world.now) = (write, now);
            world
        })
        .boxed()
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: CASES,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_input_has_an_answer_and_every_text_prints(world in world()) {
        let (outcome, _) = world.sync();
        for effect in &outcome.effects {
            if let Effect::Emit(event) = effect {
                let text = event.message.to_string();
                prop_assert!(!text.is_empty(), "{:?} says nothing", event);
            }
        }
        for condition in &outcome.status.conditions {
            let quiet = condition.kind.name().is_empty();
            prop_assert_eq!(condition.message.to_string().is_empty(), quiet);
        }
        if let Some(error) = &outcome.error {
            prop_assert!(!error.to_string().is_empty());
        }
        // A size is written only inside the bounds, where there are any bounds to be inside of.
        let (min, max) = (world.policy.min(), world.policy.replicas_max);
        let written = world.write == WriteResult::Written && outcome.settled;
        if written && outcome.action == Action::ScaleUp && min <= max {
            prop_assert!(outcome.status.desired <= max.max(min), "{} > {}", outcome.status.desired, max);
        }
    }

    #[test]
    fn the_same_input_gives_the_same_answer(world in world()) {
        prop_assert_eq!(format!("{:?}", world.sync()), format!("{:?}", world.sync()));
    }

    #[test]
    fn sums_equal_the_fold_of_their_members(
        (metric, settings) in (metric(), settings()),
        pods in vec(pod(), 0..8),
        samples in prop::collection::btree_map(name(), sample(), 0..6),
        leavers in vec(any::<bool>(), 8),
        now in instant(),
    ) {
        let pods: BTreeMap<Text, PodFacts> =
            pods.into_iter().map(|pod| (pod.name.clone(), pod)).collect();
        let rule = GroupRule::new(&metric, &settings);
        let members: Vec<Member> = pods
            .values()
            .map(|pod| Member::new(&rule, pod, samples.get(&pod.name), now))
            .collect();
        let mut groups = Groups::new(rule.clone());
        for member in &members {
            groups.add(member);
        }
        let leaving = members.iter().zip(&leavers).filter(|(_, leaves)| **leaves);
        for (member, _) in leaving {
            groups.remove(member);
        }

        let stayed = members.iter().zip(&leavers).filter(|(_, leaves)| !**leaves);
        let names: Vec<&Text> = stayed.map(|(member, _)| &member.name).collect();
        let own: BTreeMap<Text, Sample> = samples
            .iter()
            .filter(|(name, _)| names.contains(name))
            .map(|(name, sample)| (name.clone(), *sample))
            .collect();
        let fold = Groups::fold(rule, names.iter().map(|name| &pods[*name]), &own, now);
        prop_assert_eq!(groups, fold);
    }
}
