//! Events about an HPA: what happened, and its core/v1 form.
//! Not here: which events are worth writing ([`crate::event_correlator`]), writing them ([`crate::event_sink`]).

use flyball_api::time::Time;
use flyball_clock::UnixMs;
use serde_json::{Value, json};

/// Source component of every event, the built-in controller's.
pub const COMPONENT: &str = "horizontal-pod-autoscaler";

/// How serious an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventType {
    /// `Normal`
    Normal,
    /// `Warning`
    Warning,
}

impl EventType {
    /// As written in `type`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// The object an event is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Regarding {
    /// `autoscaling/v2`, or the twin's group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// resourceVersion the controller had seen.
    pub resource_version: String,
}

/// One event as the controller reports it, before correlation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `Normal` or `Warning`.
    pub event_type: EventType,
    /// One word in camel case.
    pub reason: String,
    /// One line for people.
    pub message: String,
}

/// An event as it is stored: one object that stands for `count` occurrences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Object name.
    pub name: String,
    /// The object it is about.
    pub regarding: Regarding,
    /// What happened; the message may be that of a group.
    pub event: Event,
    /// First occurrence.
    pub first_ms: UnixMs,
    /// Last occurrence.
    pub last_ms: UnixMs,
    /// Number of occurrences.
    pub count: u32,
}

impl StoredEvent {
    /// The core/v1 object.
    pub fn to_object(&self) -> Value {
        let Regarding {
            api_version,
            kind,
            namespace,
            name,
            uid,
            resource_version,
        } = &self.regarding;
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": { "name": self.name, "namespace": namespace },
            "involvedObject": {
                "apiVersion": api_version,
                "kind": kind,
                "namespace": namespace,
                "name": name,
                "uid": uid,
                "resourceVersion": resource_version,
            },
            "reason": self.event.reason,
            "message": self.event.message,
            "source": { "component": COMPONENT },
            "firstTimestamp": timestamp(self.first_ms),
            "lastTimestamp": timestamp(self.last_ms),
            "count": self.count,
            "type": self.event.event_type.as_str(),
            "eventTime": null,
            "reportingComponent": COMPONENT,
            "reportingInstance": "",
        })
    }

    /// The strategic merge patch that turns an earlier occurrence into this one
    /// (client-go tools/record/events_cache.go eventObserve: these three fields are always in it).
    pub fn to_patch(&self) -> Value {
        json!({
            "count": self.count,
            "lastTimestamp": timestamp(self.last_ms),
            "message": self.event.message,
        })
    }
}

/// Whole seconds, as metav1.Time is written.
fn timestamp(at_ms: UnixMs) -> String {
    Time::from_millis(at_ms).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_is_a_core_event_of_the_built_in_component() {
        let regarding = Regarding {
            api_version: "autoscaling/v2".to_owned(),
            kind: "HorizontalPodAutoscaler".to_owned(),
            namespace: "shop".to_owned(),
            name: "web".to_owned(),
            uid: "u-1".to_owned(),
            resource_version: "7".to_owned(),
        };
        let event = Event {
            event_type: EventType::Normal,
            reason: "SuccessfulRescale".to_owned(),
            message: "New size: 3; reason: cpu above target".to_owned(),
        };
        let stored = StoredEvent {
            name: "web.1".to_owned(),
            regarding,
            event,
            first_ms: 946_684_800_999,
            last_ms: 946_684_815_000,
            count: 2,
        };
        let object = stored.to_object();
        assert_eq!(object["firstTimestamp"], "2000-01-01T00:00:00Z");
        assert_eq!(object["lastTimestamp"], "2000-01-01T00:00:15Z");
        assert_eq!(object["source"]["component"], "horizontal-pod-autoscaler");
        assert_eq!(object["involvedObject"]["uid"], "u-1");
        assert_eq!(object["type"], "Normal");
    }
}
