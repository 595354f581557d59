//! `behavior`: windows, rate policies, bounds and the memory of scale events, each alone.

use flyball_core::History;
use flyball_core::behavior::bounds::{self, GrowthLimit, Limited, Range};
use flyball_core::behavior::rate::Rate;
use flyball_core::behavior::stabilize::{self, Sizes, Windows};
use flyball_core::history::{Recommendation, ScaleEvent, change_within, store_event};
use flyball_core::policy::{Behavior, Policy, Rules, Settings, TargetRef};
use serde::Deserialize;
use serde_json::{Value, json};

use super::List;
use super::expected::{NOW, RuleCase, ago, span};
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[
    List {
        key: "boundsWithoutBehavior",
        check: check_bounds,
    },
    List {
        key: "policyLimits",
        check: check_policy_limit,
    },
    List {
        key: "stabilizationWithoutBehavior",
        check: check_window,
    },
    List {
        key: "rateLimits",
        check: check_rate,
    },
    List {
        key: "derivedRateLimits",
        check: check_rate,
    },
    List {
        key: "eventLog",
        check: check_event_log,
    },
    List {
        key: "stabilizationWithBehavior",
        check: check_windows,
    },
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BoundsCase {
    current_replicas: i32,
    desired_replicas: i32,
    min_replicas: i32,
    max_replicas: i32,
    scale_up_limit_factor: f64,
    scale_up_limit_minimum: f64,
    expected: Value,
}

fn check_bounds(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: BoundsCase| {
        let range = Range {
            min: case.min_replicas,
            max: case.max_replicas,
        };
        let growth = GrowthLimit {
            factor: case.scale_up_limit_factor,
            minimum: case.scale_up_limit_minimum,
        };
        let limited =
            bounds::without_behavior(range, growth, case.current_replicas, case.desired_replicas);
        Verdict::equal(&case.expected, &told(limited))
    })
    .into()
}

fn told(limited: Limited) -> Value {
    let (reason, _) = limited.by.say();
    json!({"replicas": limited.replicas, "reason": reason.name()})
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventCase {
    change: i32,
    age_seconds: f64,
    #[serde(default)]
    outdated: bool,
}

fn events(cases: &[EventCase]) -> Vec<ScaleEvent> {
    let event = |case: &EventCase| ScaleEvent {
        change: case.change,
        at: ago(case.age_seconds),
        outdated: case.outdated,
    };
    cases.iter().map(event).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PolicyLimitCase {
    direction: String,
    current_replicas: i32,
    rules: RuleCase,
    #[serde(default)]
    scale_up_events: Vec<EventCase>,
    #[serde(default)]
    scale_down_events: Vec<EventCase>,
    expected: Value,
}

fn check_policy_limit(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: PolicyLimitCase| {
        let rules = case.rules.rules();
        let behavior = Behavior {
            up: rules.clone(),
            down: rules,
        };
        let history = History {
            ups: events(&case.scale_up_events),
            downs: events(&case.scale_down_events),
            ..History::default()
        };
        let policy = policy(0, i32::MAX);
        let rate = Rate::new(&policy, &behavior, &history, NOW);
        let limit = match case.direction.as_str() {
            "up" => rate.up_limit(case.current_replicas),
            _ => rate.down_limit(case.current_replicas),
        };
        Verdict::equal(&case.expected, &json!({"limit": limit}))
    })
    .into()
}

fn policy(min: i32, max: i32) -> Policy {
    let target = TargetRef {
        kind: "Deployment".into(),
        namespace: "default".into(),
        name: "web".into(),
        autoscaler: "web".into(),
    };
    Policy {
        target,
        replicas_min: Some(min),
        replicas_max: max,
        metrics: Vec::new(),
        behavior: None,
        settings: Settings::default(),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RateCase {
    min_replicas: i32,
    max_replicas: i32,
    current_replicas: i32,
    desired_replicas: i32,
    behavior: BehaviorCase,
    #[serde(default)]
    scale_up_events: Vec<EventCase>,
    #[serde(default)]
    scale_down_events: Vec<EventCase>,
    expected: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BehaviorCase {
    scale_up: Option<RuleCase>,
    scale_down: Option<RuleCase>,
}

fn check_rate(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: RateCase| {
        let behavior = Behavior {
            up: case
                .behavior
                .scale_up
                .as_ref()
                .map_or_else(Rules::default_up, RuleCase::rules),
            down: case
                .behavior
                .scale_down
                .as_ref()
                .map_or_else(Rules::default_down, RuleCase::rules),
        };
        let history = History {
            ups: events(&case.scale_up_events),
            downs: events(&case.scale_down_events),
            ..History::default()
        };
        let policy = policy(case.min_replicas, case.max_replicas);
        let rate = Rate::new(&policy, &behavior, &history, NOW);
        Verdict::equal(
            &case.expected,
            &told(rate.limit(case.current_replicas, case.desired_replicas)),
        )
    })
    .into()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EventLogCase {
    previous_replicas: i32,
    new_replicas: i32,
    rules: Option<RuleCase>,
    events: Vec<EventCase>,
    expected: Value,
}

/// The period of the count that cases of the event log look back on.
const LOOK_BACK_SECONDS: i32 = 60;

fn check_event_log(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: EventLogCase| {
        let mut log = events(&case.events);
        let before = change_within(&log, LOOK_BACK_SECONDS, NOW);
        // Without a behavior nothing is remembered.
        if let Some(rules) = &case.rules {
            let change = (case.new_replicas - case.previous_replicas).abs();
            store_event(&mut log, rules.rules().longest_period(), change, NOW);
        }
        let after = log
            .iter()
            .map(|event| json!({"change": event.change, "outdated": event.outdated}));
        let actual = json!({
            "changeInLast60SecondsBeforeStoring": before,
            "eventsAfter": after.collect::<Vec<_>>(),
        });
        Verdict::equal(&case.expected, &actual)
    })
    .into()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecommendationCase {
    value: i32,
    age_seconds: f64,
}

fn remembered(cases: &[RecommendationCase]) -> History {
    let entry = |case: &RecommendationCase| Recommendation {
        replicas: case.value,
        at: ago(case.age_seconds),
    };
    History {
        recommendations: Some(cases.iter().map(entry).collect()),
        ..History::default()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WindowCase {
    window_seconds: f64,
    recommendations: Vec<RecommendationCase>,
    prenormalized_desired_replicas: i32,
    expected: Value,
}

fn check_window(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: WindowCase| {
        let mut history = remembered(&case.recommendations);
        let window = span(case.window_seconds);
        let proposed = case.prenormalized_desired_replicas;
        let stabilized = stabilize::without_behavior(&mut history, window, proposed, NOW);
        let count = history.recommendations().len();
        let actual = json!({"replicas": stabilized.replicas, "recommendationCount": count});
        Verdict::equal(&case.expected, &actual)
    })
    .into()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WindowsCase {
    current_replicas: i32,
    prenormalized_desired_replicas: i32,
    scale_up_stabilization_window_seconds: f64,
    scale_down_stabilization_window_seconds: f64,
    recommendations: Vec<RecommendationCase>,
    expected: Value,
}

fn check_windows(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: WindowsCase| {
        let mut history = remembered(&case.recommendations);
        let windows = Windows {
            up: span(case.scale_up_stabilization_window_seconds),
            down: span(case.scale_down_stabilization_window_seconds),
        };
        let sizes = Sizes {
            current: case.current_replicas,
            proposed: case.prenormalized_desired_replicas,
        };
        let stabilized = stabilize::with_behavior(&mut history, windows, sizes, NOW);
        let mut actual = json!({"replicas": stabilized.replicas});
        // Where upstream does not look at the log, neither does the case.
        if case.expected.get("recommendationValuesAfter").is_some() {
            let values = history.recommendations().iter().map(|entry| entry.replicas);
            actual["recommendationValuesAfter"] = values.collect();
        }
        Verdict::equal(&case.expected, &actual)
    })
    .into()
}
