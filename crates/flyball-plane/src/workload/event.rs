//! Turning an [`EventRecord`] into the core/v1 Event to store: repeats of one event raise the count of one object.
//! Not here: who is told, rate limits, expiry.

use flyball_clock::UnixMs;
use serde_json::{Value, json};

use super::object::{count, put};
use super::suffix::template_hash;
use super::view::{EventRecord, Kind, ObjectKey, Severity, View, Write};
use crate::time;

impl EventRecord {
    /// An event about `object`.
    pub(crate) fn about(
        object: &Value,
        component: &'static str,
        severity: Severity,
        reason: Reason,
    ) -> Self {
        Self {
            regarding: ObjectKey::of(object),
            uid: super::object::uid(object).to_owned(),
            api_version: super::object::text(object, "/apiVersion").to_owned(),
            severity,
            reason: reason.0,
            message: reason.1,
            component,
        }
    }
}

/// The reason of an event and its message.
pub(crate) struct Reason(pub &'static str, pub String);

/// The write that records an event: a new Event, or one more count of the Event that says the same about the same object.
///
/// The name is `<object>.<hash>` with the hash of uid, reason and message, so that a repeat finds the first without a cache
/// (upstream uses a time in the name and an in-memory correlator; the fields are the same).
pub(crate) fn stored(view: &dyn View, event: &EventRecord, now_ms: UnixMs) -> Write {
    let place = if event.regarding.namespace.is_empty() {
        "default"
    } else {
        &event.regarding.namespace
    };
    let identity = json!([event.uid, event.reason, event.message, event.component]);
    let name = format!(
        "{}.{}",
        event.regarding.name,
        template_hash(&identity, None)
    );
    let now = time::print(now_ms);
    if let Some(known) = view.get(&Kind::EVENT, place, &name) {
        let mut known = Value::clone(&known);
        let repeats = count(&known, "/count").saturating_add(1);
        put(&mut known, &["count"], json!(repeats));
        put(&mut known, &["lastTimestamp"], json!(now));
        return Write::Update(known);
    }
    Write::Create(json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": place},
        "involvedObject": {
            "apiVersion": event.api_version,
            "kind": event.regarding.kind.kind,
            "namespace": event.regarding.namespace,
            "name": event.regarding.name,
            "uid": event.uid,
        },
        "type": match event.severity { Severity::Normal => "Normal", Severity::Warning => "Warning" },
        "reason": event.reason,
        "message": event.message,
        "source": {"component": event.component},
        "reportingComponent": event.component,
        "reportingInstance": "",
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "eventTime": null,
    }))
}
