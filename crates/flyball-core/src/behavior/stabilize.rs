//! The stabilization windows: which recent recommendation stands in for the present one.
//! Note: the edge of the window counts without a behavior and does not with one.

use crate::history::{History, Recommendation};
use crate::policy::Behavior;
use crate::time::{Instant, Span};

/// The result of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stabilized {
    /// The size after the windows.
    pub replicas: i32,
    /// Which window replaced the recommendation, if one did.
    pub held: Option<Held>,
    /// The remembered recommendation that stands in, if one does.
    pub by: Option<Recommendation>,
}

/// The direction whose window replaced the recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A recent recommendation was lower.
    Up,
    /// A recent recommendation was higher.
    Down,
}

/// Lengths of the two windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Before growing.
    pub up: Span,
    /// Before shrinking.
    pub down: Span,
}

impl Windows {
    /// The windows of a behavior; shrinking falls back to the whole seconds of the controller's flag.
    /// Upstream: horizontal.go `maybeInitScaleDownStabilizationWindow`, 1.37.2.
    pub fn of(behavior: &Behavior, downscale_window: Span) -> Self {
        Self {
            up: behavior.up.window.unwrap_or_default(),
            down: behavior
                .down
                .window
                .unwrap_or_else(|| Span::seconds(downscale_window.whole_seconds())),
        }
    }
}

/// The present size and the one asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Spec replicas of the target.
    pub current: i32,
    /// The recommendation of this sync.
    pub proposed: i32,
}

/// The largest recommendation of the window, this one included; can raise the size, too.
/// Upstream: horizontal.go `stabilizeRecommendation`, 1.37.2.
pub fn without_behavior(
    history: &mut History,
    window: Span,
    proposed: i32,
    now: Instant,
) -> Stabilized {
    let cutoff = now.minus(window);
    let mut by = None;
    let mut replicas = proposed;
    for entry in history.recommendations().iter().filter(|r| r.at >= cutoff) {
        if entry.replicas > replicas {
            replicas = entry.replicas;
            by = Some(*entry);
        }
    }
    history.record(
        Recommendation {
            replicas: proposed,
            at: now,
        },
        |r| r.at < cutoff,
    );
    Stabilized {
        replicas,
        held: by.map(|_| Held::Down),
        by,
    }
}

/// Inside the band of recent recommendations nothing moves; growth goes to the lowest, shrinking to the highest.
/// Upstream: horizontal.go `stabilizeRecommendationWithBehaviors`, 1.37.2.
pub fn with_behavior(
    history: &mut History,
    windows: Windows,
    sizes: Sizes,
    now: Instant,
) -> Stabilized {
    let proposal = Recommendation {
        replicas: sizes.proposed,
        at: now,
    };
    let (up_cutoff, down_cutoff) = (now.minus(windows.up), now.minus(windows.down));
    let (mut lowest, mut highest) = (proposal, proposal);
    for entry in history.recommendations() {
        if entry.at > up_cutoff && entry.replicas < lowest.replicas {
            lowest = *entry;
        }
        if entry.at > down_cutoff && entry.replicas > highest.replicas {
            highest = *entry;
        }
    }
    let mut replicas = sizes.current;
    let mut by = proposal;
    if replicas < lowest.replicas {
        (replicas, by) = (lowest.replicas, lowest);
    }
    if replicas > highest.replicas {
        (replicas, by) = (highest.replicas, highest);
    }
    history.record(proposal, |r| r.at < up_cutoff && r.at < down_cutoff);
    let grows = sizes.proposed >= sizes.current;
    let held = (replicas != sizes.proposed).then_some(if grows { Held::Up } else { Held::Down });
    if replicas == sizes.current {
        by = if grows { lowest } else { highest };
    }
    Stabilized {
        replicas,
        held,
        by: held.map(|_| by),
    }
}
