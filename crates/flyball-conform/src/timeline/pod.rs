//! Pods of a step and their samples, in the forms in which the APIs serve them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::instant;
use super::scenario::{Amount, Container, Group};

const START_DEFAULT_S: i64 = -3600;
const READY_AFTER_START_S: i64 = 10;
const AGE_DEFAULT_S: i64 = 5;
const WINDOW_DEFAULT_S: i64 = 30;

/// A pod of the scripted cluster, or only its samples.
#[derive(Clone, Debug)]
pub(crate) struct Pod {
    pub(crate) name: String,
    /// The pod as the API serves it; `metadata.resourceVersion` comes later.
    pub(crate) object: Value,
    pub(crate) labels: BTreeMap<String, String>,
    group: Arc<Group>,
    index: usize,
}

/// The name of the pod with this number.
///
/// The genuine controller's lister gave pods in the order of the file, and an error names the first
/// one at fault. Ours goes by name, so names are padded to make the two orders one;
/// [`as_in_timelines`] takes the padding out of texts again.
fn name(number: usize) -> String {
    format!("pod-{number:06}")
}

/// A text of ours with the pods' names as timelines spell them.
pub(crate) fn as_in_timelines(text: &str) -> String {
    let mut parts = text.split("pod-");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("pod-");
        let padded = part.len() >= 6 && part.as_bytes()[..6].iter().all(u8::is_ascii_digit);
        let part = if padded {
            part[..5].trim_start_matches('0').to_owned() + &part[5..]
        } else {
            part.into()
        };
        plain.push_str(&part);
    }
    plain
}

/// All pods of a step, in file order.
pub(crate) fn build(groups: &[Group], template: &[Container]) -> Vec<Pod> {
    let mut pods = Vec::new();
    for group in groups {
        let group = Arc::new(group.clone());
        for index in 0..group.n.max(1) {
            let name = name(pods.len());
            let labels = group.lab.clone().unwrap_or_else(default_labels);
            let object = object(&name, &labels, &group, template);
            pods.push(Pod {
                name,
                object,
                labels,
                group: Arc::clone(&group),
                index,
            });
        }
    }
    pods
}

fn default_labels() -> BTreeMap<String, String> {
    BTreeMap::from([("app".to_owned(), "web".to_owned())])
}

fn object(
    name: &str,
    labels: &BTreeMap<String, String>,
    group: &Group,
    template: &[Container],
) -> Value {
    let mut metadata = json!({"name": name, "namespace": "default", "labels": labels, "uid": name});
    if group.del {
        metadata["deletionTimestamp"] = json!(instant::text(0));
    }
    let mut spec = json!({"containers": []});
    let mut init = Vec::new();
    let mut plain = Vec::new();
    for container in group.ctr.as_deref().unwrap_or(template) {
        let requests = amounts(container.cpu.as_ref(), container.mem.as_ref());
        let mut value = json!({"name": container.n, "resources": {"requests": requests}});
        match container.init.as_deref() {
            Some("always") => {
                value["restartPolicy"] = json!("Always");
                init.push(value);
            }
            Some(_) => init.push(value),
            None => plain.push(value),
        }
    }
    spec["containers"] = Value::Array(plain);
    spec["initContainers"] = Value::Array(init);
    if let Some(pod_level) = &group.plr {
        let requests = amounts(pod_level.cpu.as_ref(), pod_level.mem.as_ref());
        spec["resources"] = json!({"requests": requests});
    }
    if let Some(overhead) = &group.ovh {
        spec["overhead"] = amounts(overhead.cpu.as_ref(), overhead.mem.as_ref());
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status(group)})
}

fn status(group: &Group) -> Value {
    let mut status = json!({"phase": group.ph.as_deref().unwrap_or("Running")});
    let start = group.st.unwrap_or(START_DEFAULT_S);
    if !group.nost {
        status["startTime"] = json!(instant::text(start));
    }
    let ready = match &group.rdy {
        Value::Bool(true) => "True",
        Value::Bool(false) => "False",
        Value::String(other) => other,
        _ => return status,
    };
    let since = instant::text(group.rt.unwrap_or(start + READY_AFTER_START_S));
    status["conditions"] = json!([{"type": "Ready", "status": ready, "lastTransitionTime": since}]);
    status
}

fn amounts(cpu: Option<&Amount>, memory: Option<&Amount>) -> Value {
    let mut amounts = Map::new();
    if let Some(cpu) = cpu {
        amounts.insert("cpu".to_owned(), json!(cpu.milli()));
    }
    if let Some(memory) = memory {
        amounts.insert("memory".to_owned(), json!(memory.bytes()));
    }
    Value::Object(amounts)
}

impl Pod {
    /// Whether only the samples exist.
    pub(crate) fn is_ghost(&self) -> bool {
        self.group.ghost
    }

    /// The item of `metrics.k8s.io`, when the pod has a sample.
    pub(crate) fn resource_sample(&self, nominal_s: i64) -> Option<Value> {
        let mut containers = Vec::new();
        for (name, usage) in self.group.u.as_ref()? {
            let at = |resource: usize| usage.get(resource).and_then(|spread| spread.at(self.index));
            containers.push(json!({"name": name, "usage": amounts(at(0), at(1))}));
        }
        Some(json!({
            "metadata": {"name": self.name, "namespace": "default", "labels": self.labels},
            "timestamp": self.sampled_at(nominal_s),
            "window": format!("{}s", self.window_s()),
            "containers": containers,
        }))
    }

    /// The item of `custom.metrics.k8s.io`, when the pod has a value of that name.
    pub(crate) fn custom_sample(&self, metric: &str, nominal_s: i64) -> Option<Value> {
        let value = self.group.v.get(metric)?.at(self.index)?;
        Some(json!({
            "describedObject": {"kind": "Pod", "name": self.name, "namespace": "default", "apiVersion": "/v1"},
            "metric": {"name": metric},
            "timestamp": self.sampled_at(nominal_s),
            "windowSeconds": self.window_s(),
            "value": value.milli(),
        }))
    }

    fn sampled_at(&self, nominal_s: i64) -> String {
        instant::text(nominal_s - self.group.age.unwrap_or(AGE_DEFAULT_S))
    }

    fn window_s(&self) -> i64 {
        self.group.win.unwrap_or(WINDOW_DEFAULT_S)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_taken_out_of_names_alone() {
        assert_eq!(
            as_in_timelines("in Pod pod-000012, pod-000000"),
            "in Pod pod-12, pod-0"
        );
        assert_eq!(
            as_in_timelines("missing pod-level request"),
            "missing pod-level request"
        );
    }
}
