//! Events, served as core/v1 and as events.k8s.io/v1 over one store; the stored form is core/v1.
//! Source: registry/core/event/strategy.go, pkg/apis/events/v1/conversion.go, core validation events.go.

use flyball_api::name;
use serde_json::{Map, Value, json};

use crate::field::{self, FieldError};
use crate::kind::{Codec, Dependents, Kind, MetadataRules, PutRule, Strategy, Version};
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
    served: Served,
}

/// Through which group an event comes; the newer one checks more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Served {
    Core,
    Events,
}

pub(super) fn kinds() -> [Kind; 2] {
    let core = Kind::new(
        "",
        "v1",
        "Event",
        Event {
            fields: &CORE_FIELDS,
            served: Served::Core,
        },
    )
    .short(&["ev"]);
    let core = Kind {
        put: PutRule::UnconditionalOrCreate,
        dependents: Dependents::Unknown,
        ..core
    };
    let new = Kind::new(
        "events.k8s.io",
        "v1",
        "Event",
        Event {
            fields: &NEW_FIELDS,
            served: Served::Events,
        },
    )
    .short(&["ev"]);
    let version = Version {
        name: "v1".into(),
        codec: Some(Codec { decode, encode }),
    };
    let new = Kind {
        put: PutRule::UnconditionalOrCreate,
        dependents: Dependents::Unknown,
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
        if fields.get("count").is_some_and(|count| *count == 0) {
            fields.remove("count");
        }
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
        let involved = fields.entry("involvedObject").or_insert_with(|| json!({}));
        object::fields(involved).retain(|_, value| *value != "");
    }

    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_generation(&self) -> bool {
        false
    }

    fn name_rule(&self) -> fn(&str) -> Vec<String> {
        match self.served {
            Served::Core => name::path_segment,
            Served::Events => name::dns_subdomain,
        }
    }

    fn metadata_rules(&self) -> MetadataRules {
        match self.served {
            Served::Core => MetadataRules::General,
            Served::Events => MetadataRules::Core,
        }
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut errors = self.legacy(object);
        if self.served == Served::Events {
            errors.extend(strict(object));
        }
        errors
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut errors = self.legacy(object);
        if self.served == Served::Core {
            return errors;
        }
        if object.get("series") != old.get("series") {
            errors.extend(series(object));
        }
        errors.extend(IMMUTABLE.iter().filter_map(|field| {
            let (new, old) = (object.get(*field), old.get(*field));
            (new != old).then(|| {
                let is_text = old.is_some_and(Value::is_string);
                let nothing = if is_text { "".into() } else { Value::Null };
                let value = new.cloned().unwrap_or(nothing);
                field::invalid(field, value, "field is immutable")
            })
        }));
        errors
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

/// Fields of the stored form that an update through the newer group may not change, in upstream's order.
const IMMUTABLE: [&str; 13] = [
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
];

impl Event {
    /// Source: core validation events.go `legacyValidateEvent`.
    fn legacy(&self, object: &Value) -> Vec<FieldError> {
        let involved = object
            .pointer("/involvedObject/namespace")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let namespace = object::namespace(object);
        let is_timed = object.get("eventTime").is_some_and(Value::is_string);
        let fits = match (is_timed, involved) {
            (false, "") => namespace == "default",
            (false, _) => involved == namespace,
            (true, "") => ["default", "kube-system"].contains(&namespace),
            (true, _) => true,
        };
        let mut errors = Vec::new();
        if !fits {
            let detail = "does not match event.namespace";
            errors.push(field::invalid("involvedObject.namespace", involved, detail));
        }
        if is_timed {
            errors.extend(self.texts(object));
        }
        errors
    }

    fn texts(&self, object: &Value) -> Vec<FieldError> {
        let controller = match self.served {
            Served::Core => "reportingComponent",
            Served::Events => "reportingController",
        };
        let text = |field: &str| {
            object
                .get(field)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let reporter = text("reportingComponent");
        let mut errors = Vec::new();
        if reporter.is_empty() {
            errors.push(field::required(controller, ""));
        }
        let invalid = |why| field::invalid(controller, reporter, why);
        errors.extend(name::label_key(reporter).into_iter().map(invalid));
        for (field, characters_max) in
            [("reportingInstance", 128), ("action", 128), ("reason", 128)]
        {
            if text(field).is_empty() {
                errors.push(field::required(field, ""));
            }
            errors.extend(too_long(field, text(field), characters_max));
        }
        errors.extend(too_long("message", text("message"), 1024));
        errors
    }
}

fn too_long(field: &str, text: &str, bytes_max: usize) -> Option<FieldError> {
    let detail = format!("can have at most {bytes_max} characters");
    (text.len() > bytes_max).then(|| field::invalid(field, "", detail))
}

/// Source: core validation events.go `validateV1EventSeries`.
fn series(object: &Value) -> Vec<FieldError> {
    let Some(series) = object.get("series").filter(|series| series.is_object()) else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    if series.get("count").and_then(Value::as_i64).unwrap_or(0) < 2 {
        errors.push(field::invalid("series.count", "", "should be at least 2"));
    }
    if series.get("lastObservedTime").is_none_or(Value::is_null) {
        errors.push(field::required("series.lastObservedTime", ""));
    }
    errors
}

/// What only the newer group demands of a new event. Source: core validation events.go `ValidateEventCreate`.
fn strict(object: &Value) -> Vec<FieldError> {
    let mut errors = series(object);
    if object.get("eventTime").is_none_or(Value::is_null) {
        errors.push(field::required("eventTime", ""));
    }
    let kind = object
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !["Normal", "Warning"].contains(&kind) {
        errors.push(field::invalid(
            "type",
            "",
            format!("has invalid value: {kind}"),
        ));
    }
    let is_set = |field: &str| match object.get(field) {
        Some(Value::Object(fields)) => !fields.is_empty(),
        Some(Value::Number(number)) => number.as_i64() != Some(0),
        other => other.is_some_and(|value| !value.is_null()),
    };
    for field in ["firstTimestamp", "lastTimestamp", "count", "source"] {
        if is_set(field) {
            errors.push(field::invalid(field, "", "needs to be unset"));
        }
    }
    errors
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
