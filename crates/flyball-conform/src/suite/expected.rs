//! How cases write down instants, rules and errors; shared by the suites that speak to the core.

use flyball_core::policy::{PolicyKind, Rules, ScalingPolicy, SelectPolicy};
use flyball_core::time::{Instant, Span};
use serde::Deserialize;

use crate::report::{Verdict, difference};

/// The instant of every case. Offsets and ages count from here.
pub(super) const NOW: Instant = Instant(0);

/// Milliseconds of a number of seconds in a case.
fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}

/// The instant at an offset; negative is the past.
pub(super) fn at(offset_seconds: f64) -> Instant {
    Instant(milliseconds(offset_seconds))
}

/// The instant that many seconds ago.
pub(super) fn ago(age_seconds: f64) -> Instant {
    at(-age_seconds)
}

/// A length of time.
pub(super) fn span(seconds: f64) -> Span {
    Span(milliseconds(seconds))
}

/// An expected error: our own label, and the text it must hold or be.
#[derive(Debug, Deserialize)]
pub(super) struct ExpectedError {
    contains: Option<String>,
    equals: Option<String>,
}

impl ExpectedError {
    /// Compares with the error that came, if one did.
    pub(super) fn check(&self, actual: Option<&str>) -> Verdict {
        let text = actual.unwrap_or("(no error)");
        let agrees = self
            .contains
            .as_ref()
            .is_none_or(|part| text.contains(part.as_str()))
            && self.equals.as_ref().is_none_or(|whole| text == whole);
        if agrees && actual.is_some() {
            return Verdict::Passed;
        }
        let wanted = self
            .equals
            .clone()
            .or_else(|| self.contains.clone())
            .unwrap_or_default();
        Verdict::Failed(difference(&format!("{wanted}\n"), &format!("{text}\n")))
    }
}

/// The rules of one direction in the shape of `autoscaling/v2`, defaulted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuleCase {
    stabilization_window_seconds: Option<f64>,
    select_policy: Option<String>,
    #[serde(default)]
    policies: Vec<PolicyCase>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PolicyCase {
    r#type: String,
    value: i32,
    period_seconds: i32,
}

impl RuleCase {
    /// The rules as the core takes them.
    pub(super) fn rules(&self) -> Rules {
        let kind = |text: &str| match text {
            "Pods" => PolicyKind::Pods,
            "Percent" => PolicyKind::Percent,
            _ => PolicyKind::Unknown,
        };
        let policies = self.policies.iter().map(|policy| ScalingPolicy {
            kind: kind(&policy.r#type),
            value: policy.value,
            period_seconds: policy.period_seconds,
        });
        Rules {
            window: self.stabilization_window_seconds.map(span),
            select: match self.select_policy.as_deref() {
                Some("Min") => SelectPolicy::Min,
                Some("Disabled") => SelectPolicy::Disabled,
                _ => SelectPolicy::Max,
            },
            policies: policies.collect(),
            tolerance: None,
        }
    }
}
