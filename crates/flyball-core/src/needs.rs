//! Whether this sync must read metrics at all. The same rule starts `decide`.

use crate::condition::{ConditionKind, ConditionState};
use crate::policy::{Gate, Policy};
use crate::snapshot::{Previous, ScaleView};

/// What a sync must read beyond the scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Pods and every metric.
    Metrics,
    /// Nothing: the size is zero by somebody else's hand.
    NothingPaused,
    /// Nothing: the size is above the upper bound and goes there.
    NothingAboveMax,
    /// Nothing: the size is below the lower bound and goes there.
    NothingBelowMin,
}

/// Whether metrics must be read. Upstream: horizontal.go `reconcileAutoscaler`, 1.37.2, the first cases of its switch.
pub fn needs(policy: &Policy, scale: &ScaleView, previous: &Previous) -> Needs {
    if scale.spec == 0 {
        let asleep = is_asleep(policy, previous);
        let wakes = asleep && (policy.min() != 0 || policy.has_object_or_external());
        return if wakes {
            Needs::Metrics
        } else {
            Needs::NothingPaused
        };
    }
    if scale.spec > policy.replicas_max {
        Needs::NothingAboveMax
    } else if scale.spec < policy.min() {
        Needs::NothingBelowMin
    } else {
        Needs::Metrics
    }
}

/// Whether the autoscaler itself made the size zero, which the status remembers.
pub(crate) fn is_asleep(policy: &Policy, previous: &Previous) -> bool {
    policy.settings.gates.has(Gate::ScaleToZero)
        && previous
            .conditions
            .iter()
            .any(|c| c.kind == ConditionKind::ScaledToZero && c.state == ConditionState::True)
}
