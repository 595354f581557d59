//! What the controller remembers of one autoscaler between syncs. A value: a restart is `History::default()`.
//! Bound: a regular rhythm keeps `window / period + 2` recommendations and one event a sync within the longest policy period.

use crate::time::{Instant, Span};

/// Recommendations and scale events of one autoscaler, in list order, which is not the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// `None` until the first sync that can read the scale, which seeds the list with the present size.
    pub recommendations: Option<Vec<Recommendation>>,
    /// Past growth.
    pub ups: Vec<ScaleEvent>,
    /// Past shrinking.
    pub downs: Vec<ScaleEvent>,
}

/// A size that some sync asked for, before windows, policies and bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recommendation {
    /// Replicas.
    pub replicas: i32,
    /// When it was made.
    pub at: Instant,
}

/// A change of size that was written while a behavior was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaleEvent {
    /// Replicas added or removed; not negative.
    pub change: i32,
    /// When it was written.
    pub at: Instant,
    /// Whether it fell out of every policy period once; the slot may be used again. It counts for as long as it is young enough.
    pub outdated: bool,
}

impl History {
    /// The recommendations; empty before the seed.
    pub fn recommendations(&self) -> &[Recommendation] {
        self.recommendations.as_deref().unwrap_or_default()
    }

    /// Makes sure the list exists. Upstream: horizontal.go `recordInitialRecommendation`, 1.37.2.
    pub fn seed(&mut self, replicas: i32, now: Instant) {
        self.recommendations
            .get_or_insert_with(|| vec![Recommendation { replicas, at: now }]);
    }

    /// Notes a recommendation in the last slot for which `old` holds, or in a new one.
    /// Upstream: horizontal.go `stabilizeRecommendation` and `stabilizeRecommendationWithBehaviors`, 1.37.2.
    pub fn record(&mut self, new: Recommendation, old: impl Fn(&Recommendation) -> bool) {
        let list = self.recommendations.get_or_insert_default();
        match list.iter_mut().rev().find(|r| old(r)) {
            Some(slot) => *slot = new,
            None => list.push(new),
        }
    }
}

/// Notes a change of size in one direction's list. `longest` is the longest policy period of that direction.
/// Upstream: horizontal.go `storeScaleEvent` and `markScaleEventsOutdated`, 1.37.2.
pub fn store_event(events: &mut Vec<ScaleEvent>, longest: Span, change: i32, now: Instant) {
    let cutoff = now.minus(longest);
    for event in events.iter_mut().filter(|e| e.at < cutoff) {
        event.outdated = true;
    }
    let new = ScaleEvent {
        change,
        at: now,
        outdated: false,
    };
    match events.iter_mut().rev().find(|e| e.outdated) {
        Some(slot) => *slot = new,
        None => events.push(new),
    }
}

/// Sum of the changes younger than `period_seconds`; one exactly as old does not count.
/// Upstream: horizontal.go `getReplicasChangePerPeriod`, 1.37.2.
pub fn change_within(events: &[ScaleEvent], period_seconds: i32, now: Instant) -> i32 {
    let cutoff = now.minus(Span::seconds(i64::from(period_seconds)));
    events
        .iter()
        .filter(|e| e.at > cutoff)
        .fold(0, |sum: i32, e| sum.wrapping_add(e.change))
}
