//! Events, served as core/v1 and as events.k8s.io/v1 over one store; the stored form is core/v1.
//! Source: registry/core/event/strategy.go, pkg/apis/events/v1/conversion.go, core validation events.go.

use serde_json::{Map, Value, json};

use crate::field::{self, FieldError};
use crate::kind::{Codec, Kind, PutRule, Strategy, Version};
use crate::object;

/// Fields a selector may name in core/v1.
const CORE_FIELDS: [&str; 11] = [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
];
/// Fields a selector may name in events.k8s.io/v1.
const NEW_FIELDS: [&str; 10] = [
    "reportingController",
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "type",
];

#[derive(Debug)]
struct Event {
    fields: &'static [&'static str],
}

pub(super) fn kinds() -> [Kind; 2] {
    let core = Kind::new(
        "",
        "v1",
        "Event",
        Event {
            fields: &CORE_FIELDS,
        },
    )
    .short(&["ev"]);
    let core = Kind {
        put: PutRule::UnconditionalOrCreate,
        ..core
    };
    let new = Kind::new(
        "events.k8s.io",
        "v1",
        "Event",
        Event {
            fields: &NEW_FIELDS,
        },
    )
    .short(&["ev"]);
    let version = Version {
        name: "v1".into(),
        codec: Some(Codec { decode, encode }),
    };
    let new = Kind {
        put: PutRule::UnconditionalOrCreate,
        stored: core.stored.clone(),
        stored_api_version: core.stored_api_version.clone(),
        versions: vec![version],
        ..new
    };
    [core, new]
}

/// Fields by name in core/v1 and in events.k8s.io/v1.
const RENAMED: [(&str, &str); 6] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];
const REPORTER: (&str, &str) = ("reportingComponent", "reportingController");

fn rename(mut object: Value, pairs: impl Iterator<Item = (&'static str, &'static str)>) -> Value {
    let fields = object::fields(&mut object);
    for (from, to) in pairs {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
    object
}

fn decode(object: Value) -> Value {
    let pairs = RENAMED.iter().chain([&REPORTER]);
    rename(object, pairs.map(|&(core, new)| (new, core)))
}

fn encode(object: &Value) -> Value {
    rename(object.clone(), RENAMED.iter().chain([&REPORTER]).copied())
}

impl Strategy for Event {
    fn default(&self, object: &mut Value) {
        let fields = object::fields(object);
        for field in ["firstTimestamp", "lastTimestamp", "eventTime"] {
            fields.entry(field).or_insert(Value::Null);
        }
        fields.entry("source").or_insert_with(|| json!({}));
        fields
            .entry("reportingComponent")
            .or_insert_with(|| "".into());
        fields
            .entry("reportingInstance")
            .or_insert_with(|| "".into());
        fields.entry("involvedObject").or_insert_with(|| json!({}));
    }

    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let involved = object
            .pointer("/involvedObject/namespace")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let namespace = object::namespace(object);
        let fits = involved == namespace
            || (involved.is_empty() && matches!(namespace, "default" | "kube-system"));
        if fits {
            return Vec::new();
        }
        vec![field::invalid(
            "involvedObject.namespace",
            involved,
            "does not match event.namespace",
        )]
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        self.fields
    }

    fn field_value(&self, object: &Value, field: &str) -> String {
        let empty = Map::new();
        let fields = object.as_object().unwrap_or(&empty);
        let text =
            |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        match field {
            "source" => {
                let component = text(
                    fields
                        .get("source")
                        .and_then(|source| source.get("component")),
                );
                if component.is_empty() {
                    text(fields.get("reportingComponent"))
                } else {
                    component
                }
            }
            "reportingController" => text(fields.get("reportingComponent")),
            _ => match field.split_once('.') {
                Some((_, inner)) => text(
                    fields
                        .get("involvedObject")
                        .and_then(|object| object.get(inner)),
                ),
                None => text(fields.get(field)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_the_same_through_either_group() {
        let core = json!({
            "involvedObject": {"name": "web"}, "message": "hello", "source": {"component": "c"},
            "count": 2, "reportingComponent": "r", "reason": "R",
        });
        let served = encode(&core);
        assert_eq!(served["regarding"]["name"], "web");
        assert_eq!(served["note"], "hello");
        assert_eq!(served["deprecatedCount"], 2);
        assert_eq!(served["reportingController"], "r");
        assert_eq!(decode(served), core);
    }
}
