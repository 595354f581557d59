//! The work queue for async workers: the pure [`Queue`] behind a lock, a clock and a wake-up.
//! Not here: the rules of the queue ([`crate::queue`]).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flyball_clock::{Clock, UnixMs};
use tokio::sync::Notify;

use crate::queue::{Queue, Run};
use crate::queue_metrics::QueueMetrics;

/// A queue shared by event handlers and any number of workers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct WorkQueue<K> {
    shared: Arc<Shared<K>>,
}

#[derive(Debug)]
struct Shared<K> {
    state: Mutex<State<K>>,
    wake: Notify,
    clock: Clock,
    metrics: QueueMetrics,
}

#[derive(Debug)]
struct State<K> {
    queue: Queue<K>,
    /// Start of each run in progress; as many as there are workers.
    started: BTreeMap<K, UnixMs>,
    closed: bool,
}

impl<K: Ord + Clone> WorkQueue<K> {
    /// An empty queue with the global `period`.
    pub fn new(period: Duration, clock: Clock, metrics: QueueMetrics) -> Self {
        let state = State {
            queue: Queue::new(period),
            started: BTreeMap::new(),
            closed: false,
        };
        let shared = Shared {
            state: Mutex::new(state),
            wake: Notify::new(),
            clock,
            metrics,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Makes `key` ready now.
    pub fn add(&self, key: &K) {
        let now_ms = self.shared.clock.now_ms();
        let mut state = self.state();
        let newly = state.queue.add(key, now_ms);
        self.publish(&state, usize::from(newly));
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Makes `key` ready after its interval, unless it is due earlier already.
    pub fn add_rate_limited(&self, key: &K) {
        let now_ms = self.shared.clock.now_ms();
        self.state().queue.add_rate_limited(key, now_ms);
        self.shared.metrics.retries.inc();
        self.shared.wake.notify_one();
    }

    /// Gives `key` an interval of its own, or returns it to the global period.
    pub fn set_interval(&self, key: &K, interval: Option<Duration>) {
        let mut state = self.state();
        match interval {
            Some(interval) => state.queue.set_interval(key, interval),
            None => state.queue.clear_interval(key),
        }
    }

    /// Forgets interval and timing of a deleted object.
    pub fn remove(&self, key: &K) {
        let mut state = self.state();
        state.queue.forget(key);
        state.queue.remove(key);
    }

    /// Waits for the next key; `None` once the queue is closed.
    pub async fn get(&self) -> Option<Run<K>> {
        loop {
            let wait_until = {
                let mut state = self.state();
                if state.closed {
                    return None;
                }
                let now_ms = self.shared.clock.now_ms();
                let newly = state.queue.advance(now_ms);
                let run = state.queue.get(now_ms);
                self.publish(&state, newly);
                if let Some(run) = run {
                    state.started.insert(run.key.clone(), now_ms);
                    drop(state);
                    // The next worker takes over watching for what is ready or waiting still.
                    self.shared.wake.notify_one();
                    self.observe_start(&run, now_ms);
                    return Some(run);
                }
                state.queue.next_due()
            };
            self.wait(wait_until).await;
        }
    }

    /// Ends a run, and schedules the next one after the key's interval if `next` says so.
    pub fn done(&self, key: &K, next: Next) {
        let now_ms = self.shared.clock.now_ms();
        let mut state = self.state();
        if next == Next::AfterInterval {
            state.queue.requeue(key, now_ms);
            self.shared.metrics.retries.inc();
        }
        state.queue.done(key, now_ms);
        let started = state.started.remove(key);
        self.publish(&state, 0);
        drop(state);
        if let Some(started_ms) = started {
            self.shared
                .metrics
                .work_seconds
                .observe(seconds(now_ms - started_ms));
        }
        self.shared.wake.notify_one();
    }

    /// Refreshes the gauges of runs in progress; call it before the metrics are read.
    pub fn update_gauges(&self) {
        let now_ms = self.shared.clock.now_ms();
        let state = self.state();
        let ages = state
            .started
            .values()
            .map(|started_ms| seconds(now_ms - started_ms));
        let (total, longest) = ages.fold((0.0, 0.0_f64), |(total, longest), age| {
            (total + age, longest.max(age))
        });
        self.shared.metrics.unfinished_seconds.set(total);
        self.shared.metrics.longest_seconds.set(longest);
    }

    /// Ends every [`WorkQueue::get`], now and later.
    pub fn close(&self) {
        self.state().closed = true;
        self.shared.wake.notify_waiters();
    }

    async fn wait(&self, until_ms: Option<UnixMs>) {
        let wake = self.shared.wake.notified();
        if self.state().closed {
            return;
        }
        match until_ms {
            None => wake.await,
            Some(at_ms) => {
                tokio::select! {
                    biased;
                    () = wake => {}
                    () = self.shared.clock.sleep_until(at_ms) => {}
                }
            }
        }
    }

    fn observe_start(&self, run: &Run<K>, now_ms: UnixMs) {
        let metrics = &self.shared.metrics;
        metrics
            .queue_seconds
            .observe(seconds(now_ms - run.ready_ms));
        if let Some(sample) = &run.delay {
            tracing::debug!(
                configured_ms = sample.asked_ms,
                observed_ms = sample.observed_ms,
                source = sample.source.label(),
                "Delay between reconciliations"
            );
            metrics.observe_delay(sample);
        }
    }

    fn publish(&self, state: &State<K>, newly_added: usize) {
        self.shared.metrics.adds.inc_by(newly_added as u64);
        self.shared.metrics.depth.set(state.queue.depth() as i64);
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What follows a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another run after the key's interval.
    AfterInterval,
    /// Nothing: the object is gone.
    Nothing,
}

fn seconds(millis: i64) -> f64 {
    millis as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus::Registry;

    fn queue() -> (WorkQueue<&'static str>, Clock) {
        let clock = Clock::starting_at(0);
        let metrics = QueueMetrics::register(&Registry::new()).expect("a fresh registry");
        (
            WorkQueue::new(Duration::from_secs(15), clock.clone(), metrics),
            clock,
        )
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_runs_again_one_period_after_it_was_done() {
        let (queue, clock) = queue();
        queue.add(&"a");
        let mut starts = Vec::new();
        for _ in 0..3 {
            let run = queue.get().await.expect("open");
            starts.push(clock.now_ms());
            clock.sleep(Duration::from_millis(40)).await;
            queue.done(&run.key, Next::AfterInterval);
        }
        assert_eq!(starts, [0, 15_040, 30_080]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_worker_takes_what_is_due_while_the_first_is_busy() {
        let (queue, clock) = queue();
        queue.add(&"slow");
        queue.add_rate_limited(&"later");
        let busy = queue.get().await.expect("open");
        assert_eq!(busy.key, "slow");
        let next = queue.get().await.expect("open");
        assert_eq!((next.key, clock.now_ms()), ("later", 15_000));
    }

    #[tokio::test(start_paused = true)]
    async fn closing_ends_every_waiting_worker() {
        let (queue, _) = queue();
        let waiting = [queue.clone(), queue.clone()];
        let [one, two] = waiting.map(|queue| tokio::spawn(async move { queue.get().await }));
        tokio::task::yield_now().await;
        queue.close();
        assert_eq!(one.await.expect("no panic"), None);
        assert_eq!(two.await.expect("no panic"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn metrics_count_adds_retries_and_time() {
        let (queue, clock) = queue();
        queue.add(&"a");
        queue.add(&"a");
        let run = queue.get().await.expect("open");
        clock.sleep(Duration::from_secs(2)).await;
        queue.update_gauges();
        let metrics = &queue.shared.metrics;
        assert_eq!(
            (
                metrics.adds.get(),
                metrics.depth.get(),
                metrics.retries.get()
            ),
            (1, 0, 0)
        );
        assert!((metrics.longest_seconds.get() - 2.0).abs() < 1e-9);
        queue.done(&run.key, Next::AfterInterval);
        assert_eq!(metrics.retries.get(), 1);
        assert!((metrics.work_seconds.get_sample_sum() - 2.0).abs() < 1e-9);
    }
}
