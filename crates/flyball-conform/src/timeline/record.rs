//! One record of a timeline: what a sync did, written as the difference to the state before, in the
//! form of the file. Both controllers' records are thus the same text, or not.

use std::collections::BTreeMap;

use flyball_api::quantity::Quantity;
use serde_json::{Map, Value, json};

use super::{instant, pod};

/// What is known of a sync when it has ended.
#[derive(Debug, Default)]
pub(crate) struct Sync {
    /// Step in force.
    pub(crate) step: usize,
    /// When it began, milliseconds from second 0.
    pub(crate) start_ms: i64,
    /// Number of the autoscaler.
    pub(crate) autoscaler: usize,
    /// `spec.replicas` as read first.
    pub(crate) before: Option<i32>,
    /// `spec.replicas` afterwards.
    pub(crate) after: i32,
    /// Scale writes tried.
    pub(crate) puts: u32,
    /// Status writes that changed something.
    pub(crate) status_writes: u32,
    /// The largest proposal and its metric.
    pub(crate) proposal: Option<(i32, String)>,
    /// `(type, reason, message)` in order.
    pub(crate) events: Vec<[String; 3]>,
    /// Errors in the order they were reported.
    pub(crate) errors: Vec<String>,
    /// The autoscaler did not exist.
    pub(crate) gone: bool,
}

/// What the last record of one autoscaler left behind.
#[derive(Debug, Default)]
pub(crate) struct Last {
    /// Conditions by type; none before the first record.
    status: Option<Value>,
    metrics: Value,
    metric: String,
    events: Vec<[String; 3]>,
    errors: String,
}

impl Last {
    /// The record of `sync`; `object` is the autoscaler afterwards, if there is one.
    pub(crate) fn record(&mut self, sync: &Sync, object: Option<&Value>) -> Value {
        let mut record = Map::new();
        let mut put = |key: &str, value: Value| record.insert(key.to_owned(), value);
        put("k", json!(sync.step));
        put("t", json!(sync.start_ms));
        if sync.autoscaler > 0 {
            put("h", json!(sync.autoscaler));
        }
        let before = sync.before.unwrap_or(-1);
        put("b", json!(before));
        put("a", json!(sync.after));
        // One write that changed the size is implied by the sizes.
        if sync.puts > 1 || (sync.puts == 1 && before == sync.after) {
            put("puts", json!(sync.puts));
        }
        if sync.status_writes > 0 {
            put("w", json!(sync.status_writes));
        }
        if sync.gone {
            put("gone", json!(true));
        }
        if let Some(object) = object {
            self.put_status(&mut record, object);
        }
        self.put_talk(&mut record, sync);
        Value::Object(record)
    }

    fn put_status(&mut self, record: &mut Map<String, Value>, object: &Value) {
        let mut put = |key: &str, value: Value| record.insert(key.to_owned(), value);
        let status = &object["status"];
        let first = self.status.is_none();
        let before = self.status.take().unwrap_or_default();
        for (key, field) in [("cr", "currentReplicas"), ("dr", "desiredReplicas")] {
            if first || count(&status[field]) != count(&before[field]) {
                put(key, json!(count(&status[field])));
            }
        }
        let scaled = &status["lastScaleTime"];
        if scaled.is_string() && *scaled != before["lastScaleTime"] {
            put("ls", json!(instant::offset_s(scaled.as_str())));
        }
        let observed = &status["observedGeneration"];
        if observed.is_i64() && *observed != before["observedGeneration"] {
            put("og", observed.clone());
        }
        let metrics = compact_metrics(&object["spec"], &status["currentMetrics"]);
        if first || metrics != self.metrics {
            put("cm", metrics.clone());
        }
        let changes = changed_conditions(&before["conditions"], &status["conditions"]);
        if !changes.is_empty() {
            put("c", Value::Array(changes));
        }
        self.metrics = metrics;
        self.status = Some(status.clone());
    }

    fn put_talk(&mut self, record: &mut Map<String, Value>, sync: &Sync) {
        let mut put = |key: &str, value: Value| record.insert(key.to_owned(), value);
        if let Some((proposal, metric)) = &sync.proposal {
            let same = *metric == self.metric;
            put(
                "prop",
                if same {
                    json!([proposal])
                } else {
                    json!([proposal, metric])
                },
            );
            self.metric.clone_from(metric);
        }
        if !sync.events.is_empty() {
            let same = sync.events == self.events;
            put("e", if same { json!("=") } else { json!(sync.events) });
        }
        self.events.clone_from(&sync.events);
        let errors = sync.errors.join("\n");
        if !errors.is_empty() {
            put(
                "err",
                json!(if errors == self.errors {
                    "="
                } else {
                    errors.as_str()
                }),
            );
        }
        self.errors = errors;
    }
}

fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// `[type, status, reason, message, time]` of each condition that is new or changed, then
/// `[type, null]` of each that went.
fn changed_conditions(before: &Value, after: &Value) -> Vec<Value> {
    let rows = |list: &Value| -> Vec<(String, Value)> {
        list.as_array()
            .into_iter()
            .flatten()
            .map(condition_row)
            .collect()
    };
    let after = rows(after);
    let before = rows(before);
    let old: BTreeMap<&String, &Value> = before.iter().map(|(kind, row)| (kind, row)).collect();
    let mut changes: Vec<Value> = after
        .iter()
        .filter(|(kind, row)| old.get(kind) != Some(&row))
        .map(|(_, row)| row.clone())
        .collect();
    let gone = before
        .iter()
        .filter(|(kind, _)| !after.iter().any(|(other, _)| other == kind));
    changes.extend(gone.map(|(kind, _)| json!([kind, null])));
    changes
}

fn condition_row(condition: &Value) -> (String, Value) {
    let text = |key: &str| condition[key].as_str().unwrap_or_default().to_owned();
    let since = instant::offset_s(condition["lastTransitionTime"].as_str());
    let message = pod::as_in_timelines(&text("message"));
    (
        text("type"),
        json!([text("type"), text("status"), text("reason"), message, since]),
    )
}

/// `status.currentMetrics` as `[{u, av, v} | 0, …]`: 0 is an empty slot, and a slot that does not
/// belong to the specification's metric is kept whole.
fn compact_metrics(spec: &Value, metrics: &Value) -> Value {
    let Some(metrics) = metrics.as_array() else {
        return Value::Null;
    };
    let wanted = spec["metrics"].as_array().map_or(&[][..], Vec::as_slice);
    let slots = metrics
        .iter()
        .enumerate()
        .map(|(index, slot)| compact_slot(wanted.get(index), slot));
    Value::Array(slots.collect())
}

fn compact_slot(wanted: Option<&Value>, slot: &Value) -> Value {
    let source = slot
        .as_object()
        .and_then(|slot| slot.iter().find(|(_, value)| value.is_object()));
    let Some((key, found)) = source else {
        return if slot["type"] == "" {
            json!(0)
        } else {
            slot.clone()
        };
    };
    let same = wanted.is_some_and(|wanted| {
        let fields = ["name", "container", "metric", "describedObject"];
        wanted["type"] == slot["type"]
            && fields
                .iter()
                .all(|field| wanted[key][*field] == found[*field])
    });
    if !same {
        return slot.clone();
    }
    let mut short = Map::new();
    for (name, field) in [
        ("u", "averageUtilization"),
        ("av", "averageValue"),
        ("v", "value"),
    ] {
        let value = &found["current"][field];
        if !value.is_null() {
            short.insert(name.to_owned(), value.clone());
        }
    }
    Value::Object(short)
}

/// A status as the API server gives it back: quantities in their canonical text, no empty lists.
pub(crate) fn as_stored(status: &Value) -> Value {
    let mut stored = status.clone();
    for slot in stored["currentMetrics"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        for source in slot.as_object_mut().into_iter().flat_map(Map::values_mut) {
            for field in ["averageValue", "value"] {
                if let Some(text) = source["current"][field].as_str() {
                    let canonical = text
                        .parse::<Quantity>()
                        .map(|quantity| quantity.to_string());
                    source["current"][field] = json!(canonical.unwrap_or_else(|_| text.to_owned()));
                }
            }
        }
    }
    stored
}

/// Whether two stored statuses mean the same: an absent list is an empty one.
pub(crate) fn same_status(one: &Value, other: &Value) -> bool {
    let plain = |status: &Value| {
        let mut plain = status.as_object().cloned().unwrap_or_default();
        plain.retain(|_, value| {
            !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
        });
        plain
    };
    plain(one) == plain(other)
}
