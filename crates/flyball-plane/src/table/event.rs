//! Events, in either of their forms: core, or `events.k8s.io`, whose fields have other names.

use flyball_clock::UnixMs;
use serde_json::Value;

use super::builtin::name;
use super::column::Column;
use super::{age, at, number, text};
use crate::schema::Gvk;

const EVENT: Gvk<'static> = Gvk::new("", "v1", "Event");

pub(super) static COLUMNS: [Column; 10] = [
    Column::text("Last Seen").field(EVENT, &["lastTimestamp"]),
    Column::text("Type").field(EVENT, &["type"]),
    Column::text("Reason").field(EVENT, &["reason"]),
    Column::text("Object").field(EVENT, &["involvedObject"]),
    Column::text("Subobject")
        .field(EVENT, &["involvedObject", "fieldPath"])
        .wide(),
    Column::text("Source").field(EVENT, &["source"]).wide(),
    Column::text("Message").field(EVENT, &["message"]),
    Column::text("First Seen")
        .field(EVENT, &["firstTimestamp"])
        .wide(),
    Column::text("Count").field(EVENT, &["count"]).wide(),
    Column::NAME.wide(),
];

pub(super) fn cells(object: &Value, now_ms: UnixMs) -> Vec<Value> {
    let about = either(object, "involvedObject", "regarding");
    let first = match either(object, "firstTimestamp", "deprecatedFirstTimestamp") {
        Value::Null => age::since(&object["eventTime"], now_ms),
        time => age::since(time, now_ms),
    };
    let series = &object["series"];
    let last = match either(object, "lastTimestamp", "deprecatedLastTimestamp") {
        _ if series.is_object() => age::since(&series["lastObservedTime"], now_ms),
        Value::Null => first.clone(),
        time => age::since(time, now_ms),
    };
    let count = match either(object, "count", "deprecatedCount").as_i64() {
        _ if series.is_object() => number(series, &["count"]),
        // An event of the newer form that happened once has no count.
        None | Some(0) => 1,
        Some(count) => count,
    };
    let message = either(object, "message", "note").as_str();
    vec![
        last.into(),
        text(object, &["type"]).into(),
        text(object, &["reason"]).into(),
        target(about).into(),
        text(about, &["fieldPath"]).into(),
        source(object).into(),
        message.unwrap_or_default().trim().into(),
        first.into(),
        count.into(),
        name(object),
    ]
}

fn target(about: &Value) -> String {
    let kind = text(about, &["kind"]).to_lowercase();
    match text(about, &["name"]) {
        "" => kind,
        name => format!("{kind}/{name}"),
    }
}

/// Upstream: `formatEventSource`.
fn source(object: &Value) -> String {
    let source = either(object, "source", "deprecatedSource");
    let component = first_text([
        at(source, &["component"]),
        either(object, "reportingComponent", "reportingController"),
    ]);
    let instance = first_text([at(source, &["host"]), &object["reportingInstance"]]);
    if instance.is_empty() {
        component.into()
    } else {
        format!("{component}, {instance}")
    }
}

fn first_text(values: [&Value; 2]) -> &str {
    let mut texts = values.into_iter().filter_map(Value::as_str);
    texts.find(|text| !text.is_empty()).unwrap_or_default()
}

/// A field by its core name, or else by its newer one.
fn either<'a>(object: &'a Value, core: &str, newer: &str) -> &'a Value {
    match &object[core] {
        Value::Null => &object[newer],
        value => value,
    }
}
