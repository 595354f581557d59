//! One fixed load of decisions with a silent recorder, to be counted in instructions.
//! Built once as it is and once with `--cfg flyball_recorder_removed`, the counts must agree.

use std::hint::black_box;
use std::sync::Arc;

use flyball_core::groups::{Class, GroupRule, Groups, Member};
use flyball_core::metric::{Metric, Source, Target, TargetKind};
use flyball_core::policy::{Behavior, Policy, Rules, Settings, TargetRef};
use flyball_core::snapshot::{Previous, Reading};
use flyball_core::step::Silent;
use flyball_core::time::Instant;
use flyball_core::{Decider, History, ScaleView, Snapshot, WriteResult, conclude, decide_with};

/// Syncs in one run: enough that start-up is lost in them.
const SYNCS: i64 = 20_000;

fn policy(behavior: Option<Behavior>) -> Policy {
    let target = |average| Target {
        kind: TargetKind::Utilization,
        value: None,
        average_value: average,
        average_utilization: Some(80),
    };
    let queue = Source::External {
        name: "queue".into(),
        selector: "nil".into(),
    };
    Policy {
        target: TargetRef {
            kind: "Deployment".into(),
            namespace: "default".into(),
            name: "web".into(),
            autoscaler: "web".into(),
        },
        replicas_min: Some(1),
        replicas_max: 100,
        metrics: vec![
            Arc::new(Metric {
                source: Source::Resource {
                    resource: "cpu".into(),
                },
                target: target(None),
            }),
            Arc::new(Metric {
                source: queue,
                target: target(Some(10_000)),
            }),
        ],
        behavior,
        settings: Settings::default(),
    }
}

fn groups(policy: &Policy) -> Groups {
    let mut groups = Groups::new(GroupRule::new(&policy.metrics[0], &policy.settings));
    for i in 0..40 {
        let class = if i % 10 == 0 {
            Class::Missing
        } else {
            Class::Counted
        };
        groups.add(&Member {
            name: format!("web-{i}").into(),
            class,
            valid_until: None,
            usage: Some(700 + 20 * i),
            request: Ok(1000),
            running_and_ready: true,
        });
    }
    groups
}

fn main() {
    let behavior = Behavior {
        up: Rules::default_up(),
        down: Rules::default_down(),
    };
    let mut decider = Decider::default();
    let mut total = 0_i64;
    for behavior in [None, Some(behavior)] {
        let policy = policy(behavior);
        let groups = groups(&policy);
        let mut history = History::default();
        let mut size = 40;
        for sync in 0..SYNCS {
            let series = [(sync % 97) * 9_000];
            let readings = [
                Reading::PerPod(&groups),
                Reading::External {
                    values: &series,
                    groups: &groups,
                },
            ];
            let snapshot = Snapshot {
                now: Instant(sync * 15_000),
                scale: Ok(ScaleView {
                    spec: size,
                    status: size,
                }),
                previous: &Previous {
                    current: size,
                    desired: size,
                    ..Previous::default()
                },
                generation: 1,
                selection: Ok(()),
                readings: &readings,
            };
            let decision = decide_with(
                &mut decider,
                &mut Silent,
                &policy,
                black_box(&snapshot),
                &history,
            );
            size = decision.scale_to.unwrap_or(size);
            let mut outcome = conclude(decision, &WriteResult::Written, snapshot.now);
            history = std::mem::take(&mut outcome.history);
            total += i64::from(outcome.status.desired);
            decider.recycle(outcome);
        }
    }
    black_box(total);
}
