//! What is wanted: the defaulted specification of one autoscaler plus the controller's settings.
//! Not what is observed (`snapshot`), and no validation: the API did that, and objects it would refuse still get an answer.

use std::fmt;
use std::sync::Arc;

use crate::metric::Metric;
use crate::time::Span;

/// A shared, immutable piece of text: a name or a message that came from outside.
pub type Text = Arc<str>;

/// Everything that is wanted from one autoscaler.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// What is scaled, for messages.
    pub target: TargetRef,
    /// `spec.minReplicas`; `None` means 1.
    pub replicas_min: Option<i32>,
    /// `spec.maxReplicas`.
    pub replicas_max: i32,
    /// `spec.metrics`, in order.
    pub metrics: Vec<Arc<Metric>>,
    /// `spec.behavior`; `None` and a fully defaulted behavior are different rules.
    pub behavior: Option<Behavior>,
    /// The controller's flags, gates and profile.
    pub settings: Settings,
}

/// `spec.scaleTargetRef` with the namespace of the autoscaler; printed as messages name it, `kind/namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRef {
    /// `spec.scaleTargetRef.kind`.
    pub kind: Text,
    /// Namespace of the autoscaler.
    pub namespace: Text,
    /// `spec.scaleTargetRef.name`.
    pub name: Text,
    /// Name of the autoscaler itself.
    pub autoscaler: Text,
}

impl fmt::Display for TargetRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

/// `spec.behavior` with both directions present. A direction the object lacks gets its default (spec 1.4).
#[derive(Clone, Debug, PartialEq)]
pub struct Behavior {
    /// Rules for growing.
    pub up: Rules,
    /// Rules for shrinking.
    pub down: Rules,
}

/// The rules of one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Stabilization window. `None` scales up without a window and scales down with the controller's flag.
    pub window: Option<Span>,
    /// Which policy wins when several apply.
    pub select: SelectPolicy,
    /// Rate policies, in order.
    pub policies: Vec<ScalingPolicy>,
    /// Tolerance of this direction as a fraction, already converted as the API server's text reads back.
    pub tolerance: Option<f64>,
}

impl Rules {
    /// The default rules for growing. Upstream: v2/defaults.go `scaleUpRules`, 1.37.2.
    pub fn default_up() -> Self {
        Self {
            window: Some(Span(0)),
            select: SelectPolicy::Max,
            policies: vec![
                ScalingPolicy {
                    kind: PolicyKind::Pods,
                    value: 4,
                    period_seconds: 15,
                },
                ScalingPolicy {
                    kind: PolicyKind::Percent,
                    value: 100,
                    period_seconds: 15,
                },
            ],
            tolerance: None,
        }
    }

    /// The default rules for shrinking. Upstream: v2/defaults.go `scaleDownRules`, 1.37.2.
    pub fn default_down() -> Self {
        Self {
            window: None,
            select: SelectPolicy::Max,
            policies: vec![ScalingPolicy {
                kind: PolicyKind::Percent,
                value: 100,
                period_seconds: 15,
            }],
            tolerance: None,
        }
    }

    /// The longest period among the policies; zero without any.
    /// Upstream: horizontal.go `getLongestPolicyPeriod`, 1.37.2.
    pub fn longest_period(&self) -> Span {
        let longest = self
            .policies
            .iter()
            .map(|p| p.period_seconds)
            .max()
            .unwrap_or(0);
        Span::seconds(i64::from(longest.max(0)))
    }
}

/// `selectPolicy` of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectPolicy {
    /// The policy that allows the largest change; any unknown text means this too.
    Max,
    /// The policy that allows the smallest change.
    Min,
    /// No change in this direction.
    Disabled,
}

/// One rate policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalingPolicy {
    /// What `value` counts.
    pub kind: PolicyKind,
    /// Pods or percent per period.
    pub value: i32,
    /// Length of the period in seconds.
    pub period_seconds: i32,
}

/// The kind of a rate policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKind {
    /// A number of pods.
    Pods,
    /// A percentage of the size at the start of the period.
    Percent,
    /// A type the API refuses; it repeats the limit of the policy before it, as upstream does.
    Unknown,
}

/// The controller's settings, equal for every autoscaler it serves.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `--horizontal-pod-autoscaler-tolerance`, a fraction.
    pub tolerance: f64,
    /// `--horizontal-pod-autoscaler-downscale-stabilization`.
    pub downscale_window: Span,
    /// `--horizontal-pod-autoscaler-cpu-initialization-period`.
    pub cpu_initialization: Span,
    /// `--horizontal-pod-autoscaler-initial-readiness-delay`.
    pub readiness_delay: Span,
    /// Feature gates in force.
    pub gates: Gates,
    /// Which upstream arithmetic is in force.
    pub profile: Profile,
    /// Named departures from upstream; the default has none.
    pub options: Options,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tolerance: 0.1,
            downscale_window: Span::seconds(300),
            cpu_initialization: Span::seconds(300),
            readiness_delay: Span::seconds(30),
            gates: Gates::default(),
            profile: Profile::default(),
            options: Options::default(),
        }
    }
}

/// A feature gate that a decision reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// `HPAScaleToZero`: zero is a size, remembered in the condition `ScaledToZero`.
    ScaleToZero,
    /// `HPAConfigurableTolerance`: a tolerance per direction.
    ConfigurableTolerance,
    /// `HPAGeneration`: the status names the generation it belongs to.
    Generation,
    /// `PodLevelResources`: a pod-level request replaces the sum over containers.
    PodLevelResources,
}

/// A set of gates. The default is that of 1.37: all on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gates(u8);

impl Default for Gates {
    fn default() -> Self {
        Self(0b1111)
    }
}

impl Gates {
    /// Whether `gate` is on.
    pub const fn has(self, gate: Gate) -> bool {
        self.0 & (1 << gate as u8) != 0
    }

    /// The set with `gate` on.
    #[must_use]
    pub const fn with(self, gate: Gate) -> Self {
        Self(self.0 | (1 << gate as u8))
    }

    /// The set with `gate` off.
    #[must_use]
    pub const fn without(self, gate: Gate) -> Self {
        Self(self.0 & !(1 << gate as u8))
    }
}

/// Which upstream arithmetic is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Profile {
    /// Kubernetes 1.37.2 on amd64, number for number.
    #[default]
    Upstream,
    /// Kubernetes 1.32 and earlier: the band test is `|1 - ratio| <= tolerance`.
    Upstream132,
    /// Utilization as a real-valued fraction, with the band test of 1.32; what the published panel figures use.
    Fraction,
}

impl Profile {
    /// The name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Upstream132 => "upstream-1.32",
            Self::Fraction => "fraction",
        }
    }

    /// The profile with this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Upstream, Self::Upstream132, Self::Fraction]
            .into_iter()
            .find(|p| p.name() == name)
    }
}

/// Named departures from upstream. Default options decide exactly as upstream does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// What a pod without a sample counts as.
    pub missing_pods: MissingPods,
}

/// What a pod without a sample counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MissingPods {
    /// Its request (or the target) when shrinking, nothing when growing, as upstream.
    #[default]
    Count,
    /// Left out of the average altogether.
    Ignore,
}

impl Policy {
    /// The lower bound. Upstream: horizontal.go `reconcileAutoscaler`, 1.37.2: nil means 1.
    pub fn min(&self) -> i32 {
        self.replicas_min.unwrap_or(1)
    }

    /// Whether some metric is of type Object or External, which alone can wake a target from zero.
    pub fn has_object_or_external(&self) -> bool {
        self.metrics
            .iter()
            .any(|m| m.is_object() || m.is_external())
    }
}
