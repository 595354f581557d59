//! Feature gates that touch the autoscaler, at their stages of Kubernetes 1.37.
//! Not here: what a gate changes.
//!
//! Source: pkg/features/kube_features.go, v1.37.2; `HPAConfigurableSyncPeriod` is KEP-6003's.

use std::collections::BTreeMap;
use std::str::FromStr;

use thiserror::Error;

/// A feature gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// `HPAConfigurableSyncPeriod`: a sync period per object.
    ConfigurableSyncPeriod,
    /// `HPAConfigurableTolerance`: a tolerance per object and direction.
    ConfigurableTolerance,
    /// `HPAGeneration`: an immediate sync on a spec change, and `status.observedGeneration`.
    Generation,
    /// `HPAOptimizedSelectorStore`: the search for ambiguous selectors stops at two.
    OptimizedSelectorStore,
    /// `HPAScaleToZero`: minReplicas 0 and the ScaledToZero condition.
    ScaleToZero,
    /// `PodLevelResources`: pod-level requests as the denominator of utilisation.
    PodLevelResources,
    /// `StaleControllerConsistencyHPA`: no sync while the cache is older than the last status write.
    StaleCacheCheck,
}

/// Whether a gate may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    Open,
    Locked,
}

/// Every gate by its name, its default and its lock, ordered by name.
const KNOWN: [(&str, Gate, bool, Lock); 7] = [
    (
        "HPAConfigurableSyncPeriod",
        Gate::ConfigurableSyncPeriod,
        false,
        Lock::Open,
    ),
    (
        "HPAConfigurableTolerance",
        Gate::ConfigurableTolerance,
        true,
        Lock::Locked,
    ),
    ("HPAGeneration", Gate::Generation, true, Lock::Open),
    (
        "HPAOptimizedSelectorStore",
        Gate::OptimizedSelectorStore,
        true,
        Lock::Open,
    ),
    ("HPAScaleToZero", Gate::ScaleToZero, true, Lock::Open),
    (
        "PodLevelResources",
        Gate::PodLevelResources,
        true,
        Lock::Open,
    ),
    (
        "StaleControllerConsistencyHPA",
        Gate::StaleCacheCheck,
        true,
        Lock::Open,
    ),
];

/// Why a `--feature-gates` value is refused.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum GateError {
    /// An entry is not `Name=true` or `Name=false`.
    #[error("feature gate entry {0:?} is not of the form Name=true or Name=false")]
    Malformed(String),
    /// No gate has this name.
    #[error("unknown feature gate {name}; known are {known}")]
    Unknown {
        /// As written.
        name: String,
        /// All names, separated by commas.
        known: String,
    },
    /// The gate graduated and keeps its value.
    #[error("cannot set feature gate {name} to {wanted}, feature is locked to {locked}")]
    Locked {
        /// As written.
        name: String,
        /// As written.
        wanted: bool,
        /// The value it keeps.
        locked: bool,
    },
}

/// The value of every gate. The default is that of 1.37.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gates {
    values: BTreeMap<Gate, bool>,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            values: KNOWN.iter().map(|(_, gate, on, _)| (*gate, *on)).collect(),
        }
    }
}

impl Gates {
    /// Whether `gate` is on.
    pub fn enabled(&self, gate: Gate) -> bool {
        self.values.get(&gate).copied().unwrap_or_default()
    }

    /// Sets a gate, also a locked one: for tests against a controller of another release.
    #[must_use]
    pub fn with(mut self, gate: Gate, on: bool) -> Self {
        self.values.insert(gate, on);
        self
    }

    /// The gate called `name`.
    pub fn named(name: &str) -> Option<Gate> {
        KNOWN
            .iter()
            .find(|(known, ..)| *known == name)
            .map(|(_, gate, ..)| *gate)
    }

    fn set(&mut self, name: &str, wanted: bool) -> Result<(), GateError> {
        let Some((_, gate, locked, lock)) = KNOWN.iter().find(|(known, ..)| *known == name) else {
            let known = KNOWN.map(|(known, ..)| known).join(", ");
            return Err(GateError::Unknown {
                name: name.to_owned(),
                known,
            });
        };
        if *lock == Lock::Locked && wanted != *locked {
            return Err(GateError::Locked {
                name: name.to_owned(),
                wanted,
                locked: *locked,
            });
        }
        self.values.insert(*gate, wanted);
        Ok(())
    }
}

impl FromStr for Gates {
    type Err = GateError;

    /// Reads `A=true,B=false` over the defaults.
    fn from_str(text: &str) -> Result<Self, GateError> {
        let mut gates = Self::default();
        for entry in text
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            let malformed = || GateError::Malformed(entry.to_owned());
            let (name, value) = entry.split_once('=').ok_or_else(malformed)?;
            let on = value.trim().parse().map_err(|_| malformed())?;
            gates.set(name.trim(), on)?;
        }
        Ok(gates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_1_37() {
        let on: Vec<_> = KNOWN
            .iter()
            .filter(|(_, gate, ..)| Gates::default().enabled(*gate))
            .collect();
        assert_eq!(on.len(), 6);
        assert!(!Gates::default().enabled(Gate::ConfigurableSyncPeriod));
    }

    #[test]
    fn entries_change_the_defaults() {
        let gates: Gates = "HPAScaleToZero=false, HPAConfigurableSyncPeriod=true"
            .parse()
            .expect("valid");
        assert!(!gates.enabled(Gate::ScaleToZero));
        assert!(gates.enabled(Gate::ConfigurableSyncPeriod));
        assert!(gates.enabled(Gate::Generation));
        assert_eq!("".parse(), Ok(Gates::default()));
    }

    #[test]
    fn an_unknown_gate_is_refused_with_the_known_ones() {
        let error = "HPAScaleToOne=true"
            .parse::<Gates>()
            .expect_err("unknown")
            .to_string();
        assert!(error.starts_with(
            "unknown feature gate HPAScaleToOne; known are HPAConfigurableSyncPeriod, "
        ));
        assert!(error.contains("HPAScaleToZero"));
    }

    #[test]
    fn a_locked_gate_keeps_its_value() {
        assert!("HPAConfigurableTolerance=true".parse::<Gates>().is_ok());
        let error = "HPAConfigurableTolerance=false"
            .parse::<Gates>()
            .expect_err("locked");
        let text =
            "cannot set feature gate HPAConfigurableTolerance to false, feature is locked to true";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn an_entry_without_a_value_is_refused() {
        for entry in ["HPAScaleToZero", "HPAScaleToZero=maybe"] {
            let error = entry.parse::<Gates>().expect_err("malformed");
            assert_eq!(error, GateError::Malformed(entry.to_owned()));
        }
    }
}
