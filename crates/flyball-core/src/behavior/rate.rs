//! Rate policies: how far one step may go, given the steps of the current period.

use crate::behavior::bounds::{Limit, Limited, Range};
use crate::go_amd64;
use crate::history::{History, change_within};
use crate::policy::{Behavior, Policy, PolicyKind, Rules, ScalingPolicy, SelectPolicy};
use crate::time::Instant;

/// The rate policies of both directions with the steps they look back on.
#[derive(Clone, Copy, Debug)]
pub struct Rate<'a> {
    range: Range,
    behavior: &'a Behavior,
    history: &'a History,
    now: Instant,
}

impl<'a> Rate<'a> {
    /// Policies of `behavior` over the events in `history`.
    pub fn new(
        policy: &Policy,
        behavior: &'a Behavior,
        history: &'a History,
        now: Instant,
    ) -> Self {
        Self {
            range: Range {
                min: policy.min(),
                max: policy.replicas_max,
            },
            behavior,
            history,
            now,
        }
    }

    /// Cuts a step. The minimum is looked at only when shrinking and the maximum only when growing.
    /// Upstream: horizontal.go `convertDesiredReplicasWithBehaviorRate`, 1.37.2.
    pub fn limit(&self, current: i32, desired: i32) -> Limited {
        if desired > current {
            let rate = self.up_limit(current).max(current);
            let (highest, by) = if self.range.max > rate {
                (rate, Limit::UpRate)
            } else {
                (self.range.max, Limit::Max)
            };
            if desired > highest {
                return Limited {
                    replicas: highest,
                    by,
                };
            }
        } else if desired < current {
            let rate = self.down_limit(current).min(current);
            let (lowest, by) = if self.range.min < rate {
                (rate, Limit::DownRate)
            } else {
                (self.range.min, Limit::Min)
            };
            if desired < lowest {
                return Limited {
                    replicas: lowest,
                    by,
                };
            }
        }
        Limited {
            replicas: desired,
            by: Limit::Nothing,
        }
    }

    /// How large the target may become. Upstream: horizontal.go `calculateScaleUpLimitWithScalingRules`, 1.37.2.
    pub fn up_limit(&self, current: i32) -> i32 {
        let rules = &self.behavior.up;
        let reached = self.limits(rules, current, |policy, start| match policy.kind {
            PolicyKind::Pods => Some(start.wrapping_add(policy.value)),
            PolicyKind::Percent => {
                let factor = 1.0 + f64::from(policy.value) / 100.0;
                Some(go_amd64::ceil_to_i32(f64::from(start) * factor))
            }
            PolicyKind::Unknown => None,
        });
        match rules.select {
            SelectPolicy::Disabled => current,
            SelectPolicy::Min => reached.min().unwrap_or(i32::MAX),
            SelectPolicy::Max => reached.max().unwrap_or(i32::MIN),
        }
    }

    /// How small the target may become. Upstream: horizontal.go `calculateScaleDownLimitWithBehaviors`, 1.37.2.
    pub fn down_limit(&self, current: i32) -> i32 {
        let rules = &self.behavior.down;
        let reached = self.limits(rules, current, |policy, start| match policy.kind {
            PolicyKind::Pods => Some(start.wrapping_sub(policy.value)),
            PolicyKind::Percent => {
                let factor = 1.0 - f64::from(policy.value) / 100.0;
                Some(go_amd64::f64_to_i32(f64::from(start) * factor))
            }
            PolicyKind::Unknown => None,
        });
        match rules.select {
            SelectPolicy::Disabled => current,
            SelectPolicy::Min => reached.max().unwrap_or(i32::MIN),
            SelectPolicy::Max => reached.min().unwrap_or(i32::MAX),
        }
    }

    /// The limit each policy sets from the size at the start of its period. A policy of unknown type repeats the one before it.
    fn limits(
        &self,
        rules: &'a Rules,
        current: i32,
        reach: impl Fn(&ScalingPolicy, i32) -> Option<i32>,
    ) -> impl Iterator<Item = i32> {
        let (history, now) = (self.history, self.now);
        rules.policies.iter().scan(0, move |last, policy| {
            let added = change_within(&history.ups, policy.period_seconds, now);
            let removed = change_within(&history.downs, policy.period_seconds, now);
            let start = current.wrapping_sub(added).wrapping_add(removed);
            *last = reach(policy, start).unwrap_or(*last);
            Some(*last)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::ScaleEvent;

    fn rules(kind: PolicyKind, value: i32) -> Rules {
        let policies = vec![ScalingPolicy {
            kind,
            value,
            period_seconds: 60,
        }];
        Rules {
            policies,
            ..Rules::default_down()
        }
    }

    fn limits(policy: PolicyKind, value: i32, start: i32) -> (i32, i32) {
        let behavior = Behavior {
            up: rules(policy, value),
            down: rules(policy, value),
        };
        let history = History::default();
        let range = Range {
            min: 0,
            max: i32::MAX,
        };
        let rate = Rate {
            range,
            behavior: &behavior,
            history: &history,
            now: Instant(0),
        };
        (rate.up_limit(start), rate.down_limit(start))
    }

    #[test]
    fn percent_limits_have_the_float_edges_of_upstream() {
        for (percent, start, up) in [
            (10, 50, 56),
            (10, 100, 111),
            (10, 10, 11),
            (10, 20, 22),
            (12, 50, 57),
            (14, 50, 58),
            (9, 100, 110),
            (68, 100, 169),
        ] {
            assert_eq!(
                limits(PolicyKind::Percent, percent, start).0,
                up,
                "{start} +{percent}%"
            );
        }
        for (percent, start, down) in [
            (90, 10, 0),
            (90, 20, 1),
            (90, 50, 4),
            (90, 100, 9),
            (80, 10, 1),
            (90, 40, 3),
            (34, 100, 65),
            (34, 50, 32),
            (200, 10, -10),
        ] {
            assert_eq!(
                limits(PolicyKind::Percent, percent, start).1,
                down,
                "{start} -{percent}%"
            );
        }
    }

    #[test]
    fn a_huge_pods_policy_wraps_to_a_limit_that_forbids_growth() {
        assert_eq!(limits(PolicyKind::Pods, i32::MAX, 1).0, i32::MIN);
        assert_eq!(limits(PolicyKind::Percent, i32::MAX, 100).0, i32::MIN);
    }

    #[test]
    fn a_step_repeats_once_a_period_and_not_once_a_sync() {
        let mut down = rules(PolicyKind::Percent, 10);
        down.policies.insert(
            0,
            ScalingPolicy {
                kind: PolicyKind::Pods,
                value: 4,
                period_seconds: 60,
            },
        );
        let behavior = Behavior {
            up: Rules::default_up(),
            down,
        };
        let step = ScaleEvent {
            change: 8,
            at: Instant(0),
            outdated: false,
        };
        let history = History {
            downs: vec![step],
            ..History::default()
        };
        let range = Range { min: 1, max: 100 };
        let at = |ms| Rate {
            range,
            behavior: &behavior,
            history: &history,
            now: Instant(ms),
        };
        assert_eq!(
            at(15_000).limit(72, 10),
            Limited {
                replicas: 72,
                by: Limit::DownRate
            }
        );
        assert_eq!(
            at(60_000).limit(72, 10),
            Limited {
                replicas: 64,
                by: Limit::DownRate
            }
        );
    }
}
