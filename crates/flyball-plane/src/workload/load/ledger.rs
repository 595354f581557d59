//! What bore how much load when: the ready pods of each loaded workload and the load in force, as steps in time. Samples that look
//! back (lag, window) need it, for the objects only tell how things are now. Kept in memory: after a restart the past is taken
//! to have been like the present. Not here: samples.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use flyball_clock::UnixMs;
use serde_json::Value;

use super::super::object::{annotation, uid};
use super::super::view::{Change, Kind, ObjectKey, View};
use super::{LOAD, Load, bears_load, loaded_by, pods_of};

/// How far back a sample may look.
const RETENTION_MS: i64 = 15 * 60 * 1000;
/// Most steps kept of one workload.
const STEPS: usize = 4096;

/// From an instant on: this load on this many pods.
#[derive(Clone, Debug)]
pub struct Period {
    /// Since when.
    pub from_ms: UnixMs,
    /// Pods that shared the load.
    pub bearers: usize,
    /// The load; `None` when its annotation cannot be read.
    pub load: Option<Arc<Load>>,
}

/// The recent periods of every loaded workload, by uid.
#[derive(Debug, Default)]
pub struct Ledger {
    periods: BTreeMap<String, VecDeque<Period>>,
}

impl Ledger {
    /// Takes note of a change at `now_ms`. Feed it what the agenda is fed.
    pub fn observe(&mut self, view: &dyn View, change: &Change, now_ms: UnixMs) {
        let Some(object) = change.new.as_ref().or(change.old.as_ref()) else {
            return;
        };
        if ObjectKey::of(object).kind == Kind::POD {
            let bears =
                |side: &Option<Arc<Value>>| side.as_ref().is_some_and(|pod| bears_load(pod));
            if bears(&change.old) != bears(&change.new)
                && let Some(workload) = loaded_by(view, object)
            {
                self.note(view, &workload, now_ms);
            }
            return;
        }
        match &change.new {
            None => {
                self.periods.remove(uid(object));
            }
            Some(workload) if annotation(workload, LOAD).is_some() => {
                let before = change.old.as_ref().and_then(|old| annotation(old, LOAD));
                if before != annotation(workload, LOAD) {
                    self.note(view, workload, now_ms);
                }
            }
            Some(_) => {}
        }
    }

    fn note(&mut self, view: &dyn View, workload: &Arc<Value>, now_ms: UnixMs) {
        let period = present(view, workload, now_ms);
        let periods = self.periods.entry(uid(workload).to_owned()).or_default();
        if periods.back().is_some_and(|last| last.from_ms >= now_ms) {
            periods.pop_back();
        }
        periods.push_back(period);
        // The step before the horizon stays: it is in force at the horizon.
        while periods.len() > STEPS
            || periods
                .get(1)
                .is_some_and(|next| next.from_ms <= now_ms - RETENTION_MS)
        {
            periods.pop_front();
        }
    }

    /// What was in force at an instant: the present state when nothing was noted, the oldest note for times before it.
    pub fn at(&self, view: &dyn View, workload: &Arc<Value>, at_ms: UnixMs) -> Period {
        let Some(periods) = self.periods.get(uid(workload)) else {
            return present(view, workload, at_ms);
        };
        let next = periods.partition_point(|period| period.from_ms <= at_ms);
        let found = periods.get(next.saturating_sub(1)).cloned();
        found.unwrap_or_else(|| present(view, workload, at_ms))
    }
}

fn present(view: &dyn View, workload: &Arc<Value>, now_ms: UnixMs) -> Period {
    let bearers = pods_of(view, workload)
        .iter()
        .filter(|pod| bears_load(pod))
        .count();
    let load = Load::of(workload).ok().flatten().map(Arc::new);
    Period {
        from_ms: now_ms,
        bearers,
        load,
    }
}
