//! Everything that can be set, as plain values. Names and defaults are kube-controller-manager's.
//! Not here: reading flags, files or the environment (the binary).
//!
//! Source: pkg/controller/podautoscaler/config/v1alpha1/defaults.go, cmd/kube-controller-manager/app/options, v1.37.2.

use std::time::Duration;

use flyball_core::policy::{self, Options, Profile, Settings};
use flyball_core::time::Span;

use crate::api_client::Rate;
use crate::gates::{Gate, Gates};
use crate::ownership::Ownership;

/// What a controller does with what it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Scales targets, writes statuses, sends events.
    #[default]
    Act,
    /// Writes nothing: reports what it would do beside another controller.
    Shadow,
}

/// How much a report tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Detail {
    /// What was decided.
    #[default]
    Outcome,
    /// Also why, step by step, as a versioned record.
    Steps,
}

/// Which objects it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Kind {
    /// `autoscaling/v2`, where the built-in controller is off or only watched.
    #[default]
    Native,
    /// `autoscaling.flyball.dev/v2`, the copy for clusters whose built-in controller cannot be turned off.
    Twin,
}

impl Kind {
    /// API group.
    pub fn group(self) -> &'static str {
        match self {
            Self::Native => "autoscaling",
            Self::Twin => "autoscaling.flyball.dev",
        }
    }

    /// Group and version of the objects.
    pub fn api_version(self) -> &'static str {
        match self {
            Self::Native => "autoscaling/v2",
            Self::Twin => "autoscaling.flyball.dev/v2",
        }
    }
}

/// The configuration. Each field is one flag.
#[derive(Clone, Debug)]
pub struct Config {
    /// `--concurrent-horizontal-pod-autoscaler-syncs`: workers.
    pub workers: usize,
    /// `--horizontal-pod-autoscaler-sync-period`
    pub sync_period: Duration,
    /// `--horizontal-pod-autoscaler-downscale-stabilization`
    pub downscale_stabilization: Duration,
    /// `--horizontal-pod-autoscaler-tolerance`, a fraction, both directions.
    pub tolerance: f64,
    /// `--horizontal-pod-autoscaler-cpu-initialization-period`
    pub cpu_initialization_period: Duration,
    /// `--horizontal-pod-autoscaler-initial-readiness-delay`
    pub initial_readiness_delay: Duration,
    /// `--feature-gates`
    pub gates: Gates,
    /// `--kube-api-qps` and `--kube-api-burst`, for each client.
    pub rate: Rate,
    /// `--mode`
    pub mode: Mode,
    /// `--take-over`: what to do with an HPA whose status another controller owns.
    pub ownership: Ownership,
    /// `--kind`
    pub kind: Kind,
    /// `--profile`: which upstream arithmetic is in force.
    pub profile: Profile,
    /// Named departures from upstream.
    pub options: Options,
    /// `--record`: how much a report tells.
    pub detail: Detail,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            workers: 5,
            sync_period: Duration::from_secs(15),
            downscale_stabilization: Duration::from_mins(5),
            tolerance: 0.1,
            cpu_initialization_period: Duration::from_mins(5),
            initial_readiness_delay: Duration::from_secs(30),
            gates: Gates::default(),
            rate: Rate {
                per_second: 20.0,
                burst: 30,
            },
            mode: Mode::default(),
            ownership: Ownership::default(),
            kind: Kind::default(),
            profile: Profile::default(),
            options: Options::default(),
            detail: Detail::default(),
        }
    }
}

impl Config {
    /// What a decision reads of it.
    pub fn settings(&self) -> Settings {
        Settings {
            tolerance: self.tolerance,
            downscale_window: span(self.downscale_stabilization),
            cpu_initialization: span(self.cpu_initialization_period),
            readiness_delay: span(self.initial_readiness_delay),
            gates: self.decision_gates(),
            profile: self.profile,
            options: self.options,
        }
    }

    fn decision_gates(&self) -> policy::Gates {
        let pairs = [
            (Gate::ScaleToZero, policy::Gate::ScaleToZero),
            (
                Gate::ConfigurableTolerance,
                policy::Gate::ConfigurableTolerance,
            ),
            (Gate::Generation, policy::Gate::Generation),
            (Gate::PodLevelResources, policy::Gate::PodLevelResources),
        ];
        let off = pairs.iter().filter(|(gate, _)| !self.gates.enabled(*gate));
        off.fold(policy::Gates::default(), |gates, (_, gate)| {
            gates.without(*gate)
        })
    }
}

fn span(duration: Duration) -> Span {
    Span(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_decide_as_the_core_does_by_default() {
        assert_eq!(Config::default().settings(), Settings::default());
    }

    #[test]
    fn a_gate_that_is_off_is_off_in_the_decision() {
        let gates = Gates::default().with(Gate::ScaleToZero, false);
        let settings = Config {
            gates,
            ..Config::default()
        }
        .settings();
        assert!(!settings.gates.has(policy::Gate::ScaleToZero));
        assert!(settings.gates.has(policy::Gate::Generation));
    }
}
