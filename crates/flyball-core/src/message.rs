//! Every reason and message of conditions and events, as closed enums. Text is made by `Display`, at the rim.

use std::fmt;
use std::sync::Arc;

use crate::failure::{ComputeError, MetricFailure};
use crate::metric::{Metric, Named};
use crate::policy::Text;

/// Declares the reasons with the text each is printed as: the name itself.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A reason in a condition or an event, spelled as upstream spells it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            /// No reason: the condition of an empty metric list.
            Nothing,
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// Every reason that has a text.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The text.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Nothing => "",
                    $(Self::$name => stringify!($name),)*
                }
            }
        }
    };
}

reasons! {
    /// AbleToScale: the scale was read.
    SucceededGetScale,
    /// AbleToScale and event: the scale could not be read.
    FailedGetScale,
    /// AbleToScale: the scale was written.
    SucceededRescale,
    /// AbleToScale: the scale could not be written.
    FailedUpdateScale,
    /// AbleToScale: no window replaced the recommendation.
    ReadyForNewScale,
    /// AbleToScale: a lower recent recommendation stands in.
    ScaleUpStabilized,
    /// AbleToScale: a higher recent recommendation stands in.
    ScaleDownStabilized,
    /// ScalingActive: some metric gave a size.
    ValidMetricFound,
    /// ScalingActive: the size is zero and it was not the autoscaler that made it so.
    ScalingDisabled,
    /// ScalingActive and event: the scale's selector cannot be used.
    InvalidSelector,
    /// Event: the scale has no selector.
    SelectorRequired,
    /// ScalingActive and event: other autoscalers find the same pods.
    AmbiguousSelector,
    /// ScalingActive and event: an Object metric failed.
    FailedGetObjectMetric,
    /// ScalingActive and event: a Pods metric failed.
    FailedGetPodsMetric,
    /// ScalingActive and event: a Resource metric failed.
    FailedGetResourceMetric,
    /// ScalingActive and event: a ContainerResource metric failed.
    FailedGetContainerResourceMetric,
    /// ScalingActive and event: an External metric failed.
    FailedGetExternalMetric,
    /// ScalingActive and event: the metric's type is unknown.
    InvalidMetricSourceType,
    /// Event: no size could be computed.
    FailedComputeMetricsReplicas,
    /// ScalingLimited: cut by the growth limit.
    ScaleUpLimit,
    /// ScalingLimited: cut by a policy, shrinking.
    ScaleDownLimit,
    /// ScalingLimited: cut by `maxReplicas`.
    TooManyReplicas,
    /// ScalingLimited: raised to `minReplicas`.
    TooFewReplicas,
    /// ScalingLimited: not cut.
    DesiredWithinRange,
    /// ScaledToZero: this autoscaler made the size zero.
    ScaledToZero,
    /// ScaledToZero: it did not.
    NotScaledToZero,
    /// Event: the scale was written.
    SuccessfulRescale,
    /// Event: the scale could not be written.
    FailedRescale,
    /// Event: the status could not be written.
    FailedUpdateStatus,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text of a condition or an event, with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// No text: the condition of an empty metric list.
    Nothing,
    /// The scale was read.
    GotScale,
    /// The scale could not be read; the client's text.
    GetScaleFailed(Text),
    /// A text that comes from outside as a whole.
    Verbatim(Text),
    /// The scale was written.
    UpdatedScale(i32),
    /// The scale could not be written; the client's text.
    UpdateScaleFailed(Text),
    /// No window replaced the recommendation.
    ReadyForNewScale,
    /// A lower recent recommendation stands in.
    ScaleUpStabilized,
    /// A higher recent recommendation stands in.
    ScaleDownStabilized,
    /// This metric gave the size.
    ValidMetric(Arc<Metric>),
    /// The size is zero by somebody else's hand.
    ScalingDisabled,
    /// The scale has no selector (condition).
    SelectorMissing,
    /// Why the pods cannot be told (event, and condition where there is no other text).
    Unselectable(ComputeError),
    /// A metric failed (condition).
    MetricFailed(MetricFailure),
    /// A metric failed (event).
    MetricFailedEvent(MetricFailure),
    /// No size could be computed.
    ComputeFailed(ComputeError),
    /// Cut by the growth limit.
    ScaleUpLimit,
    /// Cut by a policy, shrinking.
    ScaleDownLimit,
    /// Cut by `maxReplicas`.
    TooManyReplicas,
    /// Raised to `minReplicas`.
    TooFewReplicas,
    /// Not cut.
    DesiredWithinRange,
    /// This autoscaler made the size zero.
    ScaledToZero,
    /// It did not.
    NotScaledToZero,
    /// The size was written.
    Rescaled {
        /// The new size.
        replicas: i32,
        /// Why.
        why: RescaleReason,
    },
    /// The size could not be written.
    RescaleFailed {
        /// The size that was wanted.
        replicas: i32,
        /// Why.
        why: RescaleReason,
        /// The client's text.
        error: Text,
    },
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GetScaleFailed(e) => {
                write!(
                    f,
                    "the HPA controller was unable to get the target's current scale: {e}"
                )
            }
            Self::Verbatim(text) => f.write_str(text),
            Self::UpdatedScale(replicas) => {
                write!(
                    f,
                    "the HPA controller was able to update the target scale to {replicas}"
                )
            }
            Self::UpdateScaleFailed(e) => {
                write!(
                    f,
                    "the HPA controller was unable to update the target scale: {e}"
                )
            }
            Self::ValidMetric(metric) => write!(
                f,
                "the HPA was able to successfully calculate a replica count from {}",
                Named(metric)
            ),
            Self::Unselectable(error) | Self::ComputeFailed(error) => write!(f, "{error}"),
            Self::MetricFailed(failure) => write!(
                f,
                "the HPA was unable to compute the replica count: {}",
                failure.event_text()
            ),
            Self::MetricFailedEvent(failure) => write!(f, "{}", failure.event_text()),
            Self::Rescaled { replicas, why } => write!(f, "New size: {replicas}; reason: {why}"),
            Self::RescaleFailed {
                replicas,
                why,
                error,
            } => {
                write!(f, "New size: {replicas}; reason: {why}; error: {error}")
            }
            fixed => f.write_str(fixed.fixed_text()),
        }
    }
}

impl Message {
    /// The text of a message without arguments.
    const fn fixed_text(&self) -> &'static str {
        match self {
            Self::GotScale => "the HPA controller was able to get the target's current scale",
            Self::ReadyForNewScale => "recommended size matches current size",
            Self::ScaleUpStabilized => {
                "recent recommendations were lower than current one, applying the lowest recent recommendation"
            }
            Self::ScaleDownStabilized => {
                "recent recommendations were higher than current one, applying the highest recent recommendation"
            }
            Self::ScalingDisabled => {
                "scaling is disabled since the replica count of the target is zero"
            }
            Self::SelectorMissing => "the HPA target's scale is missing a selector",
            Self::ScaleUpLimit => {
                "the desired replica count is increasing faster than the maximum scale rate"
            }
            Self::ScaleDownLimit => {
                "the desired replica count is decreasing faster than the maximum scale rate"
            }
            Self::TooManyReplicas => {
                "the desired replica count is more than the maximum replica count"
            }
            Self::TooFewReplicas => {
                "the desired replica count is less than the minimum replica count"
            }
            Self::DesiredWithinRange => "the desired count is within the acceptable range",
            Self::ScaledToZero => "the HPA controller scaled the workload to zero",
            Self::NotScaledToZero => "the HPA controller did not scale the workload to zero",
            _ => "",
        }
    }
}

/// Why the size was changed.
#[derive(Clone, Debug, PartialEq)]
pub enum RescaleReason {
    /// No text: the recommendation equals the size and a window or bound moved it all the same.
    Nothing,
    /// This metric asks for more.
    AboveTarget(Arc<Metric>),
    /// No metric asks for as many.
    BelowTarget,
    /// The size was above `maxReplicas`.
    AboveMax,
    /// The size was below `minReplicas`.
    BelowMin,
}

impl fmt::Display for RescaleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::AboveTarget(metric) => write!(f, "{} above target", Named(metric)),
            Self::BelowTarget => f.write_str("All metrics below target"),
            Self::AboveMax => f.write_str("Current number of replicas above Spec.MaxReplicas"),
            Self::BelowMin => f.write_str("Current number of replicas below Spec.MinReplicas"),
        }
    }
}

/// An event on the autoscaler.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its severity.
    pub kind: EventKind,
    /// Its reason.
    pub reason: Reason,
    /// Its text.
    pub message: Message,
}

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// `Normal`.
    Normal,
    /// `Warning`.
    Warning,
}

impl EventKind {
    /// The text in `type`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

impl Event {
    /// A warning.
    pub const fn warning(reason: Reason, message: Message) -> Self {
        Self {
            kind: EventKind::Warning,
            reason,
            message,
        }
    }

    /// An event that is no warning.
    pub const fn normal(reason: Reason, message: Message) -> Self {
        Self {
            kind: EventKind::Normal,
            reason,
            message,
        }
    }
}
