//! From a recommendation to an allowed size: window, then rate and bounds, with and without `spec.behavior`.

use crate::condition::ConditionKind;
use crate::history::History;
use crate::message::{Message, Reason};
use crate::policy::Policy;
use crate::step::{Recorder, Step, record};
use crate::time::Instant;

pub mod bounds;
pub mod rate;
pub mod stabilize;

use bounds::Limited;
use stabilize::Stabilized;

/// The size after windows, policies and bounds, with what the two conditions say.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalized {
    /// The allowed size.
    pub replicas: i32,
    /// After the windows, before policies and bounds.
    pub stabilized: Stabilized,
    /// What cut the stabilized size, or did not.
    pub limited: Limited,
}

/// Windows, policies and bounds for one recommendation; notes it in `history`.
/// Upstream: horizontal.go `normalizeDesiredReplicas` and `normalizeDesiredReplicasWithBehaviors`, 1.37.2.
pub fn normalize(
    policy: &Policy,
    history: &mut History,
    current: i32,
    proposed: i32,
    (now, recorder): (Instant, &mut impl Recorder),
) -> Normalized {
    let (stabilized, limited) = match &policy.behavior {
        None => {
            let window = policy.settings.downscale_window;
            let stabilized = stabilize::without_behavior(history, window, proposed, now);
            let range = bounds::Range {
                min: policy.min(),
                max: policy.replicas_max,
            };
            let limit = bounds::GrowthLimit::default();
            (
                stabilized,
                bounds::without_behavior(range, limit, current, stabilized.replicas),
            )
        }
        Some(behavior) => {
            let windows = stabilize::Windows::of(behavior, policy.settings.downscale_window);
            let sizes = stabilize::Sizes { current, proposed };
            let stabilized = stabilize::with_behavior(history, windows, sizes, now);
            let rate = rate::Rate::new(policy, behavior, history, now);
            (stabilized, rate.limit(current, stabilized.replicas))
        }
    };
    record!(
        recorder,
        Step::Stabilized {
            proposed,
            stabilized,
        }
    );
    record!(
        recorder,
        Step::Limited {
            stabilized: stabilized.replicas,
            limited,
        }
    );
    Normalized {
        replicas: limited.replicas,
        stabilized,
        limited,
    }
}

impl Normalized {
    /// What `AbleToScale` says: which window, if any, replaced the recommendation.
    pub fn able_to_scale(&self) -> (ConditionKind, bool, Reason, Message) {
        let (reason, message) = match self.stabilized.held {
            None => (Reason::ReadyForNewScale, Message::ReadyForNewScale),
            Some(stabilize::Held::Up) => (Reason::ScaleUpStabilized, Message::ScaleUpStabilized),
            Some(stabilize::Held::Down) => {
                (Reason::ScaleDownStabilized, Message::ScaleDownStabilized)
            }
        };
        (ConditionKind::AbleToScale, true, reason, message)
    }

    /// What `ScalingLimited` says: which policy or bound, if any, cut the stabilized size.
    pub fn scaling_limited(&self) -> (ConditionKind, bool, Reason, Message) {
        let cut = self.replicas != self.stabilized.replicas;
        let (reason, message) = self.limited.by.say();
        (ConditionKind::ScalingLimited, cut, reason, message)
    }
}
