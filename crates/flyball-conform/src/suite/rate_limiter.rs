//! `rate_limiter`: how long a key of the queue waits, with and without an interval of its own.

use std::time::Duration;

use flyball_controller::queue::Queue;
use serde::Deserialize;
use serde_json::{Value, json};

use super::List;
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
