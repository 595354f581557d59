//! The work queue as a pure state machine: which key runs next, and when. Time is passed in; nothing waits here.
//! Not here: waiting and waking ([`crate::workqueue`]), metrics ([`crate::queue_metrics`]), what a run does.
//!
//! Follows client-go's util/workqueue (queue, delaying_queue, rate_limiting_queue) with a limiter that answers a
//! fixed interval per item, as pkg/controller/podautoscaler/rate_limiters.go does, and KEP-6003's override per item.
//!
//! Invariant: a key has at most one waiting entry, is at most once ready, and is run by at most one worker.
//! So the queue holds no more than one waiting, one ready and one running entry per key ever added.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use flyball_clock::UnixMs;

/// Where the interval of a periodic run came from (the `period_source` label of KEP-6003).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodSource {
    /// The flag of the process.
    Global,
    /// `spec.syncPeriodSeconds` of the object.
    Spec,
}

impl PeriodSource {
    /// The label value.
    pub fn label(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Spec => "spec",
        }
    }
}

/// Why a key is ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Something happened: the object appeared or its spec changed.
    Event,
    /// A delay passed.
    Period {
        /// The delay that was asked for.
        delay_ms: i64,
        /// Who set it.
        source: PeriodSource,
    },
}

/// One run handed to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<K> {
    /// What to work on.
    pub key: K,
    /// Why it runs now.
    pub origin: Origin,
    /// When it became ready, in milliseconds since the Unix epoch.
    pub ready_ms: UnixMs,
    /// How long after the previous completion this periodic run starts; absent where KEP-6003 takes no sample.
    pub delay: Option<DelaySample>,
}

/// A start measured against the delay that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelaySample {
    /// From the completion of the previous run to the start of this one.
    pub observed_ms: i64,
    /// The delay that was asked for at that completion.
    pub asked_ms: i64,
    /// Who set it.
    pub source: PeriodSource,
}

/// A delayed entry.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    due_ms: UnixMs,
    order: u64,
    delay_ms: i64,
    source: PeriodSource,
    /// Number of the run during which the entry was made; the run before is then the one that scheduled it.
    made_in: u64,
}

/// What the queue knows about a key.
#[derive(Clone, Debug, Default)]
struct Item {
    interval_ms: Option<i64>,
    waiting: Option<Waiting>,
    /// Asked to run: in the ready list, or running and to run again ("dirty" upstream).
    wanted: Option<Wanted>,
    /// Being run by a worker.
    running: bool,
    /// Number of runs started.
    runs: u64,
    /// Completion of the last run, if it asked for the next one.
    completed_ms: Option<UnixMs>,
    /// Whether a periodic run has started since the key was first added.
    ran_periodically: bool,
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    origin: Origin,
    since_ms: UnixMs,
    /// The run that made the delayed entry behind this, if one did.
    made_in: Option<u64>,
}

impl Item {
    fn idle(&self) -> bool {
        self.interval_ms.is_none()
            && self.waiting.is_none()
            && self.wanted.is_none()
            && !self.running
    }
}

/// The queue. `K` is the key; equal due times run in the order they were asked for.
#[derive(Debug)]
pub struct Queue<K> {
    period_ms: i64,
    items: BTreeMap<K, Item>,
    ready: VecDeque<K>,
    waiting: BTreeMap<(UnixMs, u64), K>,
    order: u64,
}

impl<K: Ord + Clone> Queue<K> {
    /// An empty queue whose rate-limited adds wait `period`.
    pub fn new(period: Duration) -> Self {
        Self {
            period_ms: millis(period),
            items: BTreeMap::new(),
            ready: VecDeque::new(),
            waiting: BTreeMap::new(),
            order: 0,
        }
    }

    /// Gives `key` an interval of its own for the rate-limited adds to come.
    pub fn set_interval(&mut self, key: &K, interval: Duration) {
        self.items.entry(key.clone()).or_default().interval_ms = Some(millis(interval));
    }

    /// Returns `key` to the global period.
    pub fn clear_interval(&mut self, key: &K) {
        self.edit(key, |item| item.interval_ms = None);
    }

    /// Forgets interval and timing of a deleted object.
    ///
    /// Note: a waiting or ready entry stays, as upstream; its run finds the object gone.
    pub fn remove(&mut self, key: &K) {
        self.edit(key, |item| {
            item.interval_ms = None;
            item.completed_ms = None;
            item.ran_periodically = false;
        });
    }

    /// The delay of a rate-limited add of `key`, in milliseconds, and who set it.
    pub fn delay(&self, key: &K) -> (i64, PeriodSource) {
        match self.items.get(key).and_then(|item| item.interval_ms) {
            Some(interval_ms) => (interval_ms, PeriodSource::Spec),
            None => (self.period_ms, PeriodSource::Global),
        }
    }

    /// Makes `key` ready now. A key that is ready stays as it is; one being run runs again when it is done.
    ///
    /// Note: a waiting entry stays, so an immediate run is followed by the scheduled one.
    /// Returns whether the key was newly asked for.
    pub fn add(&mut self, key: &K, now_ms: UnixMs) -> bool {
        self.want(
            key,
            Wanted {
                origin: Origin::Event,
                since_ms: now_ms,
                made_in: None,
            },
        )
    }

    /// Makes `key` ready after `delay`; the earliest of several requests counts. No delay is [`Queue::add`].
    pub fn add_after(&mut self, key: &K, delay: Duration, now_ms: UnixMs) {
        self.wait(key, millis(delay), PeriodSource::Global, now_ms);
    }

    /// Makes `key` ready after its interval.
    pub fn add_rate_limited(&mut self, key: &K, now_ms: UnixMs) {
        let (delay_ms, source) = self.delay(key);
        self.wait(key, delay_ms, source, now_ms);
    }

    /// The worker's own rate-limited add at the end of a run: the next delay is measured from here.
    pub fn requeue(&mut self, key: &K, now_ms: UnixMs) {
        self.add_rate_limited(key, now_ms);
        if let Some(item) = self.items.get_mut(key) {
            item.completed_ms = Some(now_ms);
        }
    }

    /// How often a key was requeued: always 1, there is no backoff (rate_limiters.go NumRequeues).
    pub fn num_requeues(&self, _key: &K) -> u32 {
        1
    }

    /// Does nothing: there is no backoff to forget (rate_limiters.go Forget).
    pub fn forget(&self, _key: &K) {}

    /// Takes the next ready key, after moving due entries to the ready list.
    pub fn get(&mut self, now_ms: UnixMs) -> Option<Run<K>> {
        self.advance(now_ms);
        let key = self.ready.pop_front()?;
        // Invariant: a ready key has an item that was asked for, so neither of these misses.
        let item = self.items.get_mut(&key)?;
        let wanted = item.wanted.take()?;
        let delay = item.delay_sample(&wanted, now_ms);
        item.running = true;
        item.runs += 1;
        item.completed_ms = None;
        item.ran_periodically |= matches!(wanted.origin, Origin::Period { .. });
        Some(Run {
            key,
            origin: wanted.origin,
            ready_ms: wanted.since_ms,
            delay,
        })
    }

    /// Ends the run of `key`; returns when the queue next has something to do.
    pub fn done(&mut self, key: &K, now_ms: UnixMs) -> Option<UnixMs> {
        let mut again = false;
        self.edit(key, |item| {
            item.running = false;
            again = item.wanted.is_some();
        });
        if again {
            self.ready.push_back(key.clone());
        }
        if self.ready.is_empty() {
            self.next_due()
        } else {
            Some(now_ms)
        }
    }

    /// When the earliest waiting entry becomes ready.
    pub fn next_due(&self) -> Option<UnixMs> {
        self.waiting.keys().next().map(|(due_ms, _)| *due_ms)
    }

    /// Number of ready keys, client-go's depth.
    pub fn depth(&self) -> usize {
        self.ready.len()
    }

    /// Moves every entry due at `now_ms` to the ready list; returns how many keys were newly asked for.
    pub fn advance(&mut self, now_ms: UnixMs) -> usize {
        let mut added = 0;
        while let Some(entry) = self.waiting.first_entry() {
            if entry.key().0 > now_ms {
                break;
            }
            let key = entry.remove();
            let item = self.items.get_mut(&key);
            // Invariant: the index names waiting items only.
            let Some(waiting) = item.and_then(|item| item.waiting.take()) else {
                continue;
            };
            let origin = Origin::Period {
                delay_ms: waiting.delay_ms,
                source: waiting.source,
            };
            let made_in = Some(waiting.made_in);
            added += usize::from(self.want(
                &key,
                Wanted {
                    origin,
                    since_ms: now_ms,
                    made_in,
                },
            ));
        }
        added
    }

    fn want(&mut self, key: &K, wanted: Wanted) -> bool {
        let item = self.items.entry(key.clone()).or_default();
        if item.wanted.is_some() {
            return false;
        }
        item.wanted = Some(wanted);
        if !item.running {
            self.ready.push_back(key.clone());
        }
        true
    }

    fn wait(&mut self, key: &K, delay_ms: i64, source: PeriodSource, now_ms: UnixMs) {
        if delay_ms <= 0 {
            self.add(key, now_ms);
            return;
        }
        let due_ms = now_ms.saturating_add(delay_ms);
        let item = self.items.entry(key.clone()).or_default();
        if let Some(earlier) = item.waiting {
            if earlier.due_ms <= due_ms {
                return;
            }
            self.waiting.remove(&(earlier.due_ms, earlier.order));
        }
        // An entry pulled forward between two runs was not scheduled by the run before it.
        let made_in = if item.running { item.runs } else { 0 };
        let order = self.order;
        self.order += 1;
        item.waiting = Some(Waiting {
            due_ms,
            order,
            delay_ms,
            source,
            made_in,
        });
        self.waiting.insert((due_ms, order), key.clone());
    }

    fn edit(&mut self, key: &K, change: impl FnOnce(&mut Item)) {
        if let Some(item) = self.items.get_mut(key) {
            change(item);
            if item.idle() {
                self.items.remove(key);
            }
        }
    }
}

impl Item {
    /// KEP-6003's sample: only where a periodic entry runs, the run just before scheduled it, and it is not the
    /// object's first periodic run.
    fn delay_sample(&self, wanted: &Wanted, now_ms: UnixMs) -> Option<DelaySample> {
        let Origin::Period { delay_ms, source } = wanted.origin else {
            return None;
        };
        let scheduled_by_last_run = wanted.made_in == Some(self.runs) && self.runs > 0;
        let completed_ms = self.completed_ms.filter(|_| scheduled_by_last_run)?;
        self.ran_periodically.then_some(DelaySample {
            observed_ms: now_ms - completed_ms,
            asked_ms: delay_ms,
            source,
        })
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
