//! `rate_limiter`: how long a key of the queue waits, with and without an interval of its own, and which
//! change of an object queues it at once.

use std::collections::BTreeMap;
use std::time::Duration;

use flyball_api::autoscaling::v2::HorizontalPodAutoscaler;
use flyball_api::meta::ObjectMeta;
use flyball_clock::Clock;
use flyball_controller::config::Config;
use flyball_controller::gates::Gates;
use flyball_controller::hpa_cache::HpaHandler;
use flyball_controller::queue::Queue;
use flyball_controller::source::{Change, Sink as _};
use flyball_controller::workqueue::Next;
use prometheus::Registry;
use serde::Deserialize;
use serde_json::{Value, json};

use super::List;
use super::handler::handler;
use crate::report::{Verdict, checked};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[
    List {
        key: "fixedIntervalCases",
        check: check_intervals,
    },
    List {
        key: "perItemIntervalCases",
        check: check_intervals,
    },
    List {
        key: "enqueueCases",
        check: check_enqueued,
    },
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IntervalCase {
    default_seconds: f64,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    op: String,
    item: String,
    seconds: Option<f64>,
    expect_seconds: Option<f64>,
    expect: Option<u32>,
}

/// Every answer of the script against the one it expects.
fn check_intervals(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: IntervalCase| {
        let mut queue = Queue::new(Duration::from_secs_f64(case.default_seconds));
        let (mut expected, mut actual) = (Vec::new(), Vec::new());
        for step in &case.steps {
            let item = &step.item;
            let answer = match step.op.as_str() {
                "set" => {
                    queue.set_interval(
                        item,
                        Duration::from_secs_f64(step.seconds.unwrap_or_default()),
                    );
                    Value::Null
                }
                "remove" => {
                    queue.clear_interval(item);
                    Value::Null
                }
                "when" => json!(queue.delay(item).0 as f64 / 1000.0),
                "numRequeues" => json!(queue.num_requeues(item)),
                "forget" => {
                    queue.forget(item);
                    Value::Null
                }
                op => return Verdict::unreadable(format!("operation {op}")),
            };
            let wanted = step
                .expect_seconds
                .map_or_else(|| json!(step.expect), |seconds| json!(seconds));
            if !wanted.is_null() {
                expected.push(json!([step.op, item, wanted]));
                actual.push(json!([step.op, item, answer]));
            }
        }
        Verdict::equal(&json!(expected), &json!(actual))
    })
    .into()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnqueueCase {
    event: String,
    #[serde(default)]
    generation_changed: bool,
    /// An object of another type cannot get into the typed cache. What is left of such a case is an
    /// update that shows no change of the generation.
    #[serde(default = "recognized")]
    old_object_recognized: bool,
    #[serde(default = "recognized")]
    new_object_recognized: bool,
    #[serde(default)]
    feature_gates: BTreeMap<String, bool>,
    expected: Value,
}

fn recognized() -> bool {
    true
}

fn check_enqueued(_: &Value, case: &Value) -> Outcome {
    checked(case, |case: EnqueueCase| match case.run() {
        Ok(actual) => Verdict::equal(&case.expected, &actual),
        Err(error) => Verdict::unreadable(format!("{error:#}")),
    })
    .into()
}

impl EnqueueCase {
    fn run(&self) -> anyhow::Result<Value> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        runtime.block_on(self.react())
    }

    async fn react(&self) -> anyhow::Result<Value> {
        let named = self
            .feature_gates
            .iter()
            .filter_map(|(name, on)| Some((Gates::named(name)?, *on)));
        let gates = named.fold(Gates::default(), |gates, (gate, on)| gates.with(gate, on));
        let config = Config {
            gates,
            ..Config::default()
        };
        let clock = Clock::starting_at(0);
        let mut handler = handler(&config, &clock, &Registry::new())?;
        handler.take(Change::Applied(object(1, 1)), "1");
        let known = handler.records.selectors().has_namespace("default");
        if self.event == "update" {
            run_next(&handler).await;
            let comparable = self.old_object_recognized && self.new_object_recognized;
            let generation = if self.generation_changed && comparable {
                2
            } else {
                1
            };
            handler.take(Change::Applied(object(generation, 2)), "2");
        }
        run_next(&handler).await;
        let waited = Duration::from_millis(clock.now_ms().unsigned_abs());
        let mut actual = json!({
            "queued": match waited {
                Duration::ZERO => "immediately",
                waited if waited == config.sync_period => "after_interval",
                _ => "at another time",
            },
        });
        if self
            .expected
            .get("selectorRegisteredBeforeQueueing")
            .is_some()
        {
            actual["selectorRegisteredBeforeQueueing"] = json!(known);
        }
        Ok(actual)
    }
}

/// Waits for the next run of the queue and ends it without asking for another.
async fn run_next(handler: &HpaHandler) {
    if let Some(run) = handler.queue.get().await {
        handler.queue.done(&run.key, Next::Nothing);
    }
}

fn object(generation: i64, version: u32) -> HorizontalPodAutoscaler {
    let metadata = ObjectMeta {
        namespace: "default".to_owned(),
        name: "web".to_owned(),
        generation,
        resource_version: version.to_string(),
        ..ObjectMeta::default()
    };
    HorizontalPodAutoscaler {
        metadata,
        ..HorizontalPodAutoscaler::default()
    }
}
