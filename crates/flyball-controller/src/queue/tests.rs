//! The queue's rules one by one, and random scripts against a model that is too simple to be wrong.

use proptest::prelude::*;

use super::*;

const PERIOD_MS: i64 = 15_000;

fn queue() -> Queue<&'static str> {
    Queue::new(Duration::from_millis(PERIOD_MS as u64))
}

/// Runs `key` at `now_ms` for no time and asks for the next run, as a worker does.
fn sync(queue: &mut Queue<&'static str>, now_ms: UnixMs) -> Option<Run<&'static str>> {
    let run = queue.get(now_ms)?;
    queue.requeue(&run.key, now_ms);
    queue.done(&run.key, now_ms);
    Some(run)
}

#[test]
fn the_interval_is_the_global_period_unless_the_item_has_its_own() {
    let mut queue = queue();
    assert_eq!(queue.delay(&"a"), (15_000, PeriodSource::Global));
    queue.set_interval(&"a", Duration::from_secs(3));
    assert_eq!(queue.delay(&"a"), (3_000, PeriodSource::Spec));
    queue.forget(&"a");
    assert_eq!(queue.delay(&"a"), (3_000, PeriodSource::Spec));
    assert_eq!(queue.num_requeues(&"a"), 1);
    queue.remove(&"b");
    queue.clear_interval(&"a");
    assert_eq!(queue.delay(&"a"), (15_000, PeriodSource::Global));
}

#[test]
fn the_earliest_of_several_delays_counts() {
    let mut queue = queue();
    queue.add_after(&"a", Duration::from_secs(5), 0);
    queue.add_after(&"a", Duration::from_secs(9), 0);
    assert_eq!(queue.next_due(), Some(5_000));
    queue.add_after(&"a", Duration::from_secs(2), 1_000);
    assert_eq!(queue.next_due(), Some(3_000));
    assert!(queue.get(3_000).is_some());
    assert_eq!(queue.next_due(), None);
}

#[test]
fn an_immediate_add_leaves_the_waiting_entry() {
    let mut queue = queue();
    queue.add(&"a", 0);
    sync(&mut queue, 0);
    queue.add(&"a", 14_500);
    assert_eq!(
        sync(&mut queue, 14_500).map(|run| run.origin),
        Some(Origin::Event)
    );
    let origin = Origin::Period {
        delay_ms: PERIOD_MS,
        source: PeriodSource::Global,
    };
    assert_eq!(sync(&mut queue, 15_000).map(|run| run.origin), Some(origin));
    assert_eq!(queue.next_due(), Some(30_000));
}

#[test]
fn an_add_during_the_run_runs_right_after_it() {
    let mut queue = queue();
    queue.add(&"a", 0);
    let run = queue.get(0).expect("ready");
    assert!(queue.add(&"a", 10));
    assert!(!queue.add(&"a", 20));
    assert_eq!(queue.get(20), None);
    assert_eq!(queue.done(&run.key, 30), Some(30));
    assert_eq!(queue.get(30).map(|run| run.ready_ms), Some(10));
}

#[test]
fn a_shorter_interval_pulls_the_waiting_entry_forward_and_a_longer_one_does_not_push_it() {
    let mut queue = queue();
    queue.add(&"a", 0);
    sync(&mut queue, 0);
    queue.set_interval(&"a", Duration::from_secs(3));
    queue.add_rate_limited(&"a", 1_000);
    assert_eq!(queue.next_due(), Some(4_000));
    queue.set_interval(&"a", Duration::from_mins(1));
    queue.add_rate_limited(&"a", 2_000);
    assert_eq!(queue.next_due(), Some(4_000));
}

#[test]
fn deleting_forgets_the_interval_but_not_the_waiting_entry() {
    let mut queue = queue();
    queue.set_interval(&"a", Duration::from_secs(3));
    queue.add_rate_limited(&"a", 0);
    queue.remove(&"a");
    assert_eq!(queue.delay(&"a"), (PERIOD_MS, PeriodSource::Global));
    assert_eq!(queue.next_due(), Some(3_000));
}

#[test]
fn equal_due_times_run_in_the_order_they_were_asked_for() {
    let mut queue = queue();
    for key in ["c", "a", "b"] {
        queue.add_rate_limited(&key, 0);
    }
    let order: Vec<_> = std::iter::from_fn(|| sync(&mut queue, PERIOD_MS))
        .map(|run| run.key)
        .collect();
    assert_eq!(order, ["c", "a", "b"]);
}

#[test]
fn nothing_is_kept_of_a_key_that_is_gone() {
    let mut queue = queue();
    queue.set_interval(&"a", Duration::from_secs(3));
    queue.add(&"a", 0);
    sync(&mut queue, 0);
    queue.remove(&"a");
    let run = queue.get(3_000).expect("the waiting entry runs");
    queue.done(&run.key, 3_000);
    assert!(queue.items.is_empty() && queue.waiting.is_empty() && queue.ready.is_empty());
}

/// The delay ratio of KEP-6003: which of the runs at these times take a sample.
#[test]
fn a_delay_is_sampled_from_the_second_undisturbed_periodic_run_on() {
    let mut queue = queue();
    queue.add(&"a", 0);
    let sample = |run: Option<Run<_>>| run.and_then(|run| run.delay);
    assert_eq!(sample(sync(&mut queue, 0)), None, "an event");
    assert_eq!(
        sample(sync(&mut queue, 15_000)),
        None,
        "the first periodic run"
    );
    let expected = DelaySample {
        observed_ms: 16_500,
        asked_ms: PERIOD_MS,
        source: PeriodSource::Global,
    };
    assert_eq!(sample(sync(&mut queue, 31_500)), Some(expected));
    queue.add(&"a", 40_000);
    assert_eq!(sample(sync(&mut queue, 40_000)), None, "an event");
    assert_eq!(
        sample(sync(&mut queue, 46_500)),
        None,
        "scheduled before the event"
    );
    assert!(sample(sync(&mut queue, 61_500)).is_some());
}

#[test]
fn a_delay_pulled_forward_is_not_sampled() {
    let mut queue = queue();
    queue.add(&"a", 0);
    sync(&mut queue, 0);
    sync(&mut queue, 15_000);
    queue.set_interval(&"a", Duration::from_secs(3));
    queue.add_rate_limited(&"a", 20_000);
    assert_eq!(sync(&mut queue, 23_000).and_then(|run| run.delay), None);
    let next = sync(&mut queue, 26_000).and_then(|run| run.delay);
    let expected = DelaySample {
        observed_ms: 3_000,
        asked_ms: 3_000,
        source: PeriodSource::Spec,
    };
    assert_eq!(next, Some(expected));
}

/// The same queue as plain lists, searched from end to end at every step.
#[derive(Default)]
struct Model {
    intervals: Vec<(u8, i64)>,
    /// (due, order, key)
    waiting: Vec<(UnixMs, usize, u8)>,
    ready: Vec<u8>,
    again: Vec<u8>,
    running: Vec<u8>,
    order: usize,
}

impl Model {
    fn delay(&self, key: u8) -> i64 {
        self.intervals
            .iter()
            .find(|(k, _)| *k == key)
            .map_or(PERIOD_MS, |(_, ms)| *ms)
    }

    fn add(&mut self, key: u8) {
        if self.running.contains(&key) {
            if !self.again.contains(&key) {
                self.again.push(key);
            }
        } else if !self.ready.contains(&key) {
            self.ready.push(key);
        }
    }

    fn add_after(&mut self, key: u8, delay_ms: i64, now_ms: UnixMs) {
        if delay_ms == 0 {
            return self.add(key);
        }
        let due_ms = now_ms + delay_ms;
        if self
            .waiting
            .iter()
            .any(|(due, _, k)| *k == key && *due <= due_ms)
        {
            return;
        }
        self.waiting.retain(|(_, _, k)| *k != key);
        self.waiting.push((due_ms, self.order, key));
        self.order += 1;
    }

    fn get(&mut self, now_ms: UnixMs) -> Option<u8> {
        self.waiting.sort_unstable();
        let (due, later) = self.waiting.iter().partition(|(due, _, _)| *due <= now_ms);
        self.waiting = later;
        let due: Vec<_> = due;
        for (_, _, key) in due {
            self.add(key);
        }
        (!self.ready.is_empty())
            .then(|| self.ready.remove(0))
            .inspect(|key| self.running.push(*key))
    }

    fn done(&mut self, key: u8) {
        self.running.retain(|k| *k != key);
        if self.again.contains(&key) {
            self.again.retain(|k| *k != key);
            self.ready.push(key);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Add(u8),
    AddAfter(u8, i64),
    AddRateLimited(u8),
    SetInterval(u8, i64),
    ClearInterval(u8),
    Remove(u8),
    Get,
    Finish(usize, bool),
    Pass(i64),
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0_u8..4;
    prop_oneof![
        key.clone().prop_map(Step::Add),
        (key.clone(), 0_i64..20_000).prop_map(|(key, ms)| Step::AddAfter(key, ms)),
        key.clone().prop_map(Step::AddRateLimited),
        (key.clone(), 1_i64..20_000).prop_map(|(key, ms)| Step::SetInterval(key, ms)),
        key.clone().prop_map(Step::ClearInterval),
        key.prop_map(Step::Remove),
        Just(Step::Get),
        Just(Step::Get),
        (0_usize..4, any::<bool>()).prop_map(|(index, next)| Step::Finish(index, next)),
        (0_i64..10_000).prop_map(Step::Pass),
    ]
}

fn play(queue: &mut Queue<u8>, model: &mut Model, step: &Step, now_ms: &mut UnixMs) {
    match *step {
        Step::Add(key) => {
            queue.add(&key, *now_ms);
            model.add(key);
        }
        Step::AddAfter(key, delay_ms) => {
            queue.add_after(&key, Duration::from_millis(delay_ms as u64), *now_ms);
            model.add_after(key, delay_ms, *now_ms);
        }
        Step::AddRateLimited(key) => {
            queue.add_rate_limited(&key, *now_ms);
            model.add_after(key, model.delay(key), *now_ms);
        }
        Step::SetInterval(key, interval_ms) => {
            queue.set_interval(&key, Duration::from_millis(interval_ms as u64));
            model.intervals.retain(|(k, _)| *k != key);
            model.intervals.push((key, interval_ms));
        }
        Step::ClearInterval(key) => {
            queue.clear_interval(&key);
            model.intervals.retain(|(k, _)| *k != key);
        }
        Step::Remove(key) => {
            queue.remove(&key);
            model.intervals.retain(|(k, _)| *k != key);
        }
        Step::Get => {
            assert_eq!(queue.get(*now_ms).map(|run| run.key), model.get(*now_ms));
        }
        Step::Finish(index, next) => {
            let Some(key) = model.running.get(index).copied() else {
                return;
            };
            if next {
                queue.requeue(&key, *now_ms);
                model.add_after(key, model.delay(key), *now_ms);
            }
            queue.done(&key, *now_ms);
            model.done(key);
        }
        Step::Pass(passed_ms) => *now_ms += passed_ms,
    }
}

proptest! {
    #[test]
    fn random_scripts_run_the_same_keys_as_the_model(steps in prop::collection::vec(step(), 1..200)) {
        let mut queue = Queue::new(Duration::from_millis(PERIOD_MS as u64));
        let (mut model, mut now_ms) = (Model::default(), 0);
        for step in &steps {
            play(&mut queue, &mut model, step, &mut now_ms);
            prop_assert_eq!(queue.next_due(), model.waiting.iter().map(|(due, _, _)| *due).min());
            prop_assert_eq!(queue.depth(), model.ready.len());
            prop_assert!(queue.waiting.len() <= queue.items.len());
        }
    }
}
