//! Conditions of the status, in order, and the one way to set them.

use crate::message::{Message, Reason};
use crate::policy::Text;
use crate::time::Instant;

/// One condition as the next status will hold it.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Its type.
    pub kind: ConditionKind,
    /// Its status.
    pub state: ConditionState,
    /// Its reason.
    pub reason: Phrase<Reason>,
    /// Its message.
    pub message: Phrase<Message>,
    /// When the status last changed.
    pub since: Option<Instant>,
}

/// The type of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// The scale can be read and written.
    AbleToScale,
    /// A size can be computed.
    ScalingActive,
    /// The size was cut by a policy or a bound.
    ScalingLimited,
    /// The autoscaler, and nobody else, scaled to zero.
    ScaledToZero,
    /// Any other text, the empty one included.
    Other(Text),
}

impl ConditionKind {
    /// The text in `type`.
    pub fn name(&self) -> &str {
        match self {
            Self::AbleToScale => "AbleToScale",
            Self::ScalingActive => "ScalingActive",
            Self::ScalingLimited => "ScalingLimited",
            Self::ScaledToZero => "ScaledToZero",
            Self::Other(text) => text,
        }
    }

    /// The kind with this text in `type`.
    pub fn parse(name: &str) -> Self {
        [
            Self::AbleToScale,
            Self::ScalingActive,
            Self::ScalingLimited,
            Self::ScaledToZero,
        ]
        .into_iter()
        .find(|k| k.name() == name)
        .unwrap_or_else(|| Self::Other(name.into()))
    }
}

/// The status of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionState {
    /// `True`.
    True,
    /// `False`.
    False,
    /// `Unknown`, or any other text an object may hold; the controller writes none but the empty one.
    Other(Text),
}

impl ConditionState {
    /// The text in `status`.
    pub fn name(&self) -> &str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Other(text) => text,
        }
    }

    /// The state with this text in `status`.
    pub fn parse(name: &str) -> Self {
        match name {
            "True" => Self::True,
            "False" => Self::False,
            other => Self::Other(other.into()),
        }
    }
}

/// A reason or message: made now, or kept as the status held it.
#[derive(Clone, Debug, PartialEq)]
pub enum Phrase<T> {
    /// Made by this sync.
    New(T),
    /// As the previous status has it.
    Kept(Text),
}

impl<T: std::fmt::Display> std::fmt::Display for Phrase<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::New(said) => said.fmt(f),
            Self::Kept(text) => f.write_str(text),
        }
    }
}

/// What to say in a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Which condition.
    pub kind: ConditionKind,
    /// Its status.
    pub state: ConditionState,
    /// Its reason.
    pub reason: Reason,
    /// Its message.
    pub message: Message,
}

impl Statement {
    /// A condition that holds.
    pub const fn holds(kind: ConditionKind, reason: Reason, message: Message) -> Self {
        Self {
            kind,
            state: ConditionState::True,
            reason,
            message,
        }
    }

    /// A condition that does not hold.
    pub const fn fails(kind: ConditionKind, reason: Reason, message: Message) -> Self {
        Self {
            kind,
            state: ConditionState::False,
            reason,
            message,
        }
    }
}

/// Sets a condition: appended when absent, its time moved only when its status changes, reason and message always replaced.
/// A new condition with an empty status gets no time. Upstream: horizontal.go `setConditionInList`, 1.37.2.
pub fn set(conditions: &mut Vec<Condition>, statement: Statement, now: Instant) {
    let Statement {
        kind,
        state,
        reason,
        message,
    } = statement;
    let (reason, message) = (Phrase::New(reason), Phrase::New(message));
    if let Some(condition) = conditions.iter_mut().find(|c| c.kind == kind) {
        if condition.state != state {
            condition.since = Some(now);
        }
        (condition.state, condition.reason, condition.message) = (state, reason, message);
    } else {
        let since = (!state.name().is_empty()).then_some(now);
        conditions.push(Condition {
            kind,
            state,
            reason,
            message,
            since,
        });
    }
}
