//! `reconcile`: one sync of one object, from reading the scale to writing the status.
//!
//! A case becomes a scenario of one step, so the cluster that answers is that of the timelines; the sync
//! is run by the controller's own reconciler (`stage`).

mod stage;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::stage::{Performed, Stage};
use super::List;
use crate::report::{Verdict, checked};
use crate::timeline::{instant, scenario};
use crate::vectors::Outcome;

pub(super) const LISTS: &[List] = &[List {
    key: "cases",
    check,
}];

/// A case; `stage` reads what the reconciler is told beside the cluster.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    #[serde(default)]
    feature_gates: BTreeMap<String, bool>,
    hpa: Hpa,
    scale: Scale,
    pods: Vec<Pod>,
    #[serde(default)]
    served_metrics: Served,
    #[serde(default)]
    faults: BTreeMap<String, String>,
    recommendations: Option<Vec<Recommendation>>,
    #[serde(default, rename = "otherHPASelectors")]
    others: Vec<Other>,
    expected: Expected,
}

#[derive(Clone, Deserialize)]
struct Hpa {
    spec: Value,
    status: Map<String, Value>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scale {
    spec_replicas: i32,
    status_replicas: i32,
    selector: String,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pod {
    name: String,
    labels: Value,
    phase: Option<String>,
    ready: Value,
    start_time_offset_seconds: Option<i64>,
    ready_transition_offset_seconds: Option<i64>,
    deletion_timestamp_set: bool,
    containers: Vec<Container>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    name: String,
    request_milli: Option<i64>,
}

#[derive(Clone, Default, Deserialize)]
struct Served {
    resource: Option<Vec<Sample>>,
    pods: Option<Vec<Sample>>,
    object: Option<Vec<Sample>>,
    external: Option<Vec<Sample>>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    #[serde(default)]
    pod: String,
    #[serde(default)]
    metric: String,
    #[serde(default)]
    timestamp_offset_seconds: i64,
    window_seconds: Option<i64>,
    #[serde(default)]
    value_milli: i64,
    #[serde(default)]
    containers: Vec<Usage>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    name: String,
    cpu_milli: Option<i64>,
    memory_bytes: Option<i64>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recommendation {
    value: i32,
    age_seconds: i64,
}

#[derive(Clone, Deserialize)]
struct Other {
    name: String,
    selector: String,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expected {
    desired_replicas: i32,
    scale_updated_to: Option<i32>,
    status_written: bool,
    conditions: Option<Vec<Value>>,
    reconciliation: Value,
    /// Another error label that is right as well.
    #[serde(rename = "reconciliationErrorAlternative")]
    error_alternative: Option<String>,
    #[serde(default)]
    metric_computations: Map<String, Value>,
    #[serde(rename = "currentCPUUtilization")]
    current_cpu_utilization: Option<i32>,
    events: Option<Vec<String>>,
    desired_replicas_gauge: Option<i64>,
    repeat_at_least: Option<usize>,
    durations_recorded: Option<bool>,
}

fn check(file: &Value, case: &Value) -> Outcome {
    checked(case, |mut case: Case| {
        case.set_default_gates(&file["constants"]["defaultFeatureGates"]);
        match case.run(&file["constants"]) {
            Ok(performed) => case.expected.check(&performed),
            Err(error) => Verdict::unreadable(format!("{error:#}")),
        }
    })
    .into()
}

impl Case {
    fn set_default_gates(&mut self, defaults: &Value) {
        for (name, on) in defaults.as_object().into_iter().flatten() {
            self.feature_gates
                .entry(name.clone())
                .or_insert_with(|| on.as_bool().unwrap_or_default());
        }
        // No case speaks of generations, and a status that names one is never the stored one.
        self.feature_gates
            .entry("HPAGeneration".to_owned())
            .or_insert(false);
    }

    fn run(&self, constants: &Value) -> anyhow::Result<Vec<Performed>> {
        let mut case = self.clone();
        if !self.expected.status_written {
            case.complete_conditions(constants)?;
        }
        let times = self.expected.repeat_at_least.unwrap_or(1);
        Stage::new(&case, constants)?.perform(times)
    }

    /// Gives stored conditions the texts this controller would write: a case leaves them out, and a
    /// status without them is another one.
    fn complete_conditions(&mut self, constants: &Value) -> anyhow::Result<()> {
        let performed = Stage::new(self, constants)?.perform(1)?;
        let texts: BTreeMap<String, String> = performed
            .iter()
            .flat_map(|sync| &sync.conditions)
            .map(|condition| (condition.reason.clone(), condition.message.clone()))
            .collect();
        let stored = self
            .hpa
            .status
            .get_mut("conditions")
            .and_then(Value::as_array_mut);
        for condition in stored.into_iter().flatten() {
            let reason = condition["reason"].as_str().unwrap_or_default();
            if let (true, Some(text)) = (condition["message"].is_null(), texts.get(reason)) {
                condition["message"] = json!(text);
            }
        }
        Ok(())
    }

    /// The case as a line of a timeline file whose only step is the sync.
    fn line(&self) -> serde_json::Result<scenario::Line> {
        let spec = &self.hpa.spec;
        let series = |samples: &Option<Vec<Sample>>| {
            let mut by_name: BTreeMap<String, Vec<i64>> = BTreeMap::new();
            for sample in samples.iter().flatten() {
                by_name
                    .entry(sample.metric.clone())
                    .or_default()
                    .push(sample.value_milli);
            }
            by_name
        };
        let objects: BTreeMap<_, _> = series(&self.served_metrics.object)
            .into_iter()
            .filter_map(|(name, values)| Some((name, values.first().copied()?)))
            .collect();
        let step = json!({
            "pods": self.groups(),
            "ext": series(&self.served_metrics.external),
            "obj": objects,
            "f": self.faults(),
        });
        let scenario = json!({
            "name": "case",
            "spec": spec,
            "status": self.status(),
            "r": self.scale.spec_replicas,
            "sr": self.scale.status_replicas,
            "sel": self.scale.selector,
            "steps": [step],
        });
        let definition = json!({"k": 0, "gen": 1, "spec": spec});
        scenario::Line::deserialize(json!({"sc": scenario, "out": {"def": [definition], "tl": []}}))
    }

    fn status(&self) -> Value {
        let mut status = self.hpa.status.clone();
        if let Some(offset) = status
            .remove("lastScaleTimeOffsetSeconds")
            .and_then(|value| value.as_i64())
        {
            status.insert("lastScaleTime".to_owned(), json!(instant::text(offset)));
        }
        Value::Object(status)
    }

    fn faults(&self) -> Value {
        let text = |fault: &str| self.faults.get(fault).map(|_| "injected");
        let conflicts = self
            .faults
            .get("updateScale")
            .is_some_and(|how| how == "conflict_once");
        json!({
            "res": text("resourceMetrics"),
            "cus": text("customMetrics"),
            "ext": text("externalMetrics"),
            "get": text("getScale"),
            "put": text("updateScale").filter(|_| !conflicts),
            "conf": u32::from(conflicts),
        })
    }

    /// A group a pod, with its samples; a sample of an unknown pod is a group without a pod.
    fn groups(&self) -> Vec<Value> {
        let mut groups: Vec<(&str, Value)> = self
            .pods
            .iter()
            .map(|pod| (pod.name.as_str(), pod.group()))
            .collect();
        let resource = self.served_metrics.resource.iter().flatten();
        for sample in resource {
            let usage = sample.containers.iter().map(|usage| {
                (
                    usage.name.clone(),
                    json!([usage.cpu_milli, usage.memory_bytes]),
                )
            });
            let group = group_of(&mut groups, sample);
            group["u"] = Value::Object(usage.collect());
        }
        for sample in self.served_metrics.pods.iter().flatten() {
            group_of(&mut groups, sample)["v"][&sample.metric] = json!(sample.value_milli);
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

fn group_of<'a, 'b>(groups: &'a mut Vec<(&'b str, Value)>, sample: &'b Sample) -> &'a mut Value {
    let known = groups.iter().position(|(name, _)| *name == sample.pod);
    let index = known.unwrap_or_else(|| {
        groups.push((&sample.pod, json!({"ghost": true, "v": {}})));
        groups.len() - 1
    });
    let group = &mut groups[index].1;
    group["age"] = json!(-sample.timestamp_offset_seconds);
    group["win"] = json!(sample.window_seconds.unwrap_or(60));
    group
}

impl Pod {
    fn group(&self) -> Value {
        let containers: Vec<Value> = self
            .containers
            .iter()
            .map(|container| json!({"n": container.name, "cpu": container.request_milli}))
            .collect();
        json!({
            "ph": self.phase.as_deref().unwrap_or_default(),
            "rdy": self.ready,
            "st": self.start_time_offset_seconds,
            "nost": self.start_time_offset_seconds.is_none(),
            "rt": self.ready_transition_offset_seconds.unwrap_or_default(),
            "del": self.deletion_timestamp_set,
            "lab": self.labels,
            "ctr": containers,
            "v": {},
        })
    }
}

impl Expected {
    /// Compares every sync; all of them must come to the same.
    fn check(&self, performed: &[Performed]) -> Verdict {
        for (index, sync) in performed.iter().enumerate() {
            let verdict = Verdict::equal(&self.written(index + 1), &sync.told(self));
            if matches!(verdict, Verdict::Failed(_)) {
                return verdict;
            }
        }
        Verdict::Passed
    }

    /// The expectation of the sync of this number in the form of [`Performed::told`]: what the case is
    /// silent about is left out.
    fn written(&self, number: usize) -> Value {
        let mut all = json!({
            "desiredReplicas": self.desired_replicas,
            "scaleUpdatedTo": self.scale_updated_to,
            "reconciliation": self.reconciliation,
            "metricComputations": self.metric_computations,
            "reconciliations": number,
        });
        if self.repeat_at_least.is_none() {
            all["statusWritten"] = json!(self.status_written);
        }
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                all[key] = value;
            }
        };
        put(
            "conditions",
            self.conditions.as_ref().map(|list| json!(list)),
        );
        put(
            "currentCPUUtilization",
            self.current_cpu_utilization.map(|percent| json!(percent)),
        );
        put("events", self.events.as_ref().map(|list| json!(list)));
        put(
            "desiredReplicasGauge",
            self.desired_replicas_gauge.map(|count| json!(count)),
        );
        put(
            "durationsRecorded",
            self.durations_recorded.map(|flag| json!(flag)),
        );
        all
    }
}
