//! The tolerance band around a ratio of 1, per profile.

use crate::policy::{Gate, Policy, Profile};

/// The band inside which a metric asks for no change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Tolerance below 1, a fraction.
    pub down: f64,
    /// Tolerance above 1, a fraction.
    pub up: f64,
    /// Which test is in force.
    pub profile: Profile,
}

impl Band {
    /// The band of this policy. Upstream: horizontal.go `tolerancesForHpa`, 1.37.2.
    pub fn of(policy: &Policy) -> Self {
        let settings = &policy.settings;
        let own = policy
            .behavior
            .as_ref()
            .filter(|_| settings.gates.has(Gate::ConfigurableTolerance))
            .map_or((None, None), |b| (b.down.tolerance, b.up.tolerance));
        Self {
            down: own.0.unwrap_or(settings.tolerance),
            up: own.1.unwrap_or(settings.tolerance),
            profile: settings.profile,
        }
    }

    /// Whether `ratio` asks for no change. NaN does not.
    ///
    /// Upstream: replica_calculator.go `Tolerances.isWithin`, 1.37.2 (the two-sided test, since 1.33);
    /// before, `math.Abs(1.0 - ratio) <= tolerance`, which differs on the edge only.
    pub fn contains(&self, ratio: f64) -> bool {
        match self.profile {
            Profile::Upstream => (1.0 - self.down) <= ratio && ratio <= (1.0 + self.up),
            Profile::Upstream132 | Profile::Fraction => {
                let tolerance = if ratio > 1.0 { self.up } else { self.down };
                (1.0 - ratio).abs() <= tolerance
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (target, utilization) pairs that the two-sided test holds and the older one did not, per tolerance.
    const EDGES: [(f64, &[(i32, i32)]); 8] = [
        (0.01, &[(100, 99), (100, 101)]),
        (0.02, &[(50, 49), (50, 51), (100, 98), (100, 102)]),
        (
            0.05,
            &[
                (60, 57),
                (60, 63),
                (80, 76),
                (80, 84),
                (100, 95),
                (100, 105),
            ],
        ),
        (
            0.1,
            &[(50, 55), (60, 66), (70, 77), (80, 88), (90, 99), (100, 110)],
        ),
        (0.15, &[(60, 51), (80, 68), (100, 85)]),
        (0.2, &[]),
        (
            0.3,
            &[
                (50, 35),
                (50, 65),
                (60, 42),
                (60, 78),
                (70, 49),
                (70, 91),
                (80, 56),
                (80, 104),
                (90, 63),
                (90, 117),
                (100, 70),
                (100, 130),
            ],
        ),
        (0.5, &[]),
    ];

    #[test]
    fn the_two_tests_differ_on_the_published_edges_only() {
        for (tolerance, expected) in EDGES {
            let band = |profile| Band {
                down: tolerance,
                up: tolerance,
                profile,
            };
            let mut differ = Vec::new();
            for target in [50, 60, 70, 80, 90, 100] {
                for utilization in 1..=200 {
                    let ratio = f64::from(utilization) / f64::from(target);
                    let new = band(Profile::Upstream).contains(ratio);
                    let old = band(Profile::Upstream132).contains(ratio);
                    if new != old {
                        assert!(
                            new,
                            "{target} {utilization}: older test holds, newer does not"
                        );
                        differ.push((target, utilization));
                    }
                }
            }
            assert_eq!(differ, expected, "tolerance {tolerance}");
        }
    }

    #[test]
    fn nothing_is_inside_that_is_no_number() {
        for profile in [Profile::Upstream, Profile::Upstream132] {
            let band = Band {
                down: 1.0,
                up: 1.0,
                profile,
            };
            assert!(!band.contains(f64::NAN));
            assert!(!band.contains(f64::INFINITY));
        }
    }
}
