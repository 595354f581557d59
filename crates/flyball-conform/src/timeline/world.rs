//! The scripted cluster: what a step changes, and what the API server does with writes. Its state is
//! plain data behind one lock; HTTP is in `answer`, pods are built in `pod`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::instant;
use super::journal::Journal;
use super::pod::{self, Pod};
use super::record::{self, Last, Sync};
use super::scenario::{Amount, Definition, Faults, Line, Scenario, Step};

/// Name of the autoscaler a scenario is about.
pub(crate) const MAIN: &str = "web";

/// A failure the API server answers with: code, reason, message.
pub(crate) struct Refusal {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

/// Shared handle of the cluster.
#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<State>>);

pub(crate) struct State {
    pub(crate) scenario: Scenario,
    definitions: Vec<Definition>,
    period_ms: i64,
    step: usize,
    pub(crate) pods: Vec<Pod>,
    pub(crate) external: BTreeMap<String, Vec<Amount>>,
    pub(crate) object: BTreeMap<String, Amount>,
    pub(crate) faults: Faults,
    targets: Vec<Target>,
    version: u64,
    uid: u32,
    pub(crate) autoscalers: Journal,
    pub(crate) pod_journal: Journal,
    /// What happened since the last record, by number of the autoscaler.
    open: Vec<Sync>,
    last: Vec<Last>,
    records: Vec<Value>,
}

/// Something that is scaled; number i belongs to autoscaler i.
struct Target {
    name: String,
    replicas: i32,
    /// -1 follows `replicas`.
    status_replicas: i32,
    selector: String,
    version: u64,
}

const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

impl World {
    pub(crate) fn new(line: Line) -> Self {
        Self(Arc::new(Mutex::new(State::new(line))))
    }

    /// The state, for the length of one answer.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new(line: Line) -> Self {
        let scenario = line.sc;
        let name = |spec: &Value| {
            spec["scaleTargetRef"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let mut targets = vec![Target {
            name: name(&scenario.spec),
            replicas: scenario.r,
            status_replicas: scenario.sr.unwrap_or(-1),
            selector: scenario
                .sel
                .clone()
                .unwrap_or_else(|| format!("app={MAIN}")),
            version: 1,
        }];
        targets.extend(scenario.others.iter().map(|other| Target {
            name: name(&other.spec),
            replicas: other.r,
            status_replicas: -1,
            selector: other.sel.clone(),
            version: 1,
        }));
        let autoscalers = targets.len();
        Self {
            period_ms: milliseconds(scenario.flags.period.unwrap_or(15.0)),
            scenario,
            definitions: line.out.def,
            step: 0,
            pods: Vec::new(),
            external: BTreeMap::new(),
            object: BTreeMap::new(),
            faults: Faults::default(),
            targets,
            version: 1000,
            uid: 0,
            autoscalers: Journal::default(),
            pod_journal: Journal::default(),
            open: (0..autoscalers).map(|_| Sync::default()).collect(),
            last: (0..autoscalers).map(|_| Last::default()).collect(),
            records: Vec::new(),
        }
    }

    pub(crate) fn period_ms(&self) -> i64 {
        self.period_ms
    }

    /// When the step's regular sync is due, seconds from second 0.
    pub(crate) fn nominal_s(&self) -> i64 {
        self.nominal_ms() / 1000
    }

    /// When the step's regular sync is due, milliseconds from second 0.
    pub(crate) fn nominal_ms(&self) -> i64 {
        i64::try_from(self.step).unwrap_or(i64::MAX) * self.period_ms
    }

    /// The number of an autoscaler by its name.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        if name == MAIN {
            return Some(0);
        }
        self.scenario
            .others
            .iter()
            .position(|other| other.name == name)
            .map(|index| index + 1)
    }

    pub(crate) fn current_version(&self) -> u64 {
        self.version
    }

    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// Makes step `number` the world, all but the creation of the autoscaler.
    pub(crate) fn apply(&mut self, number: usize, step: &Step) {
        self.step = number;
        if let Some(groups) = &step.pods {
            self.replace_pods(pod::build(groups, &self.scenario.ctr));
        }
        if let Some(external) = &step.ext {
            self.external.clone_from(external);
        }
        if let Some(object) = &step.obj {
            self.object.clone_from(object);
        }
        self.faults = step.f.clone().unwrap_or_default();
        let target = &mut self.targets[0];
        if let Some(to) = step.to.filter(|to| *to != target.replicas) {
            target.replicas = to;
            target.version += 1;
        }
        target.status_replicas = step.sr.unwrap_or(target.status_replicas);
        if let Some(selector) = &step.sel {
            target.selector.clone_from(selector);
        }
        if step.delete {
            let version = self.next_version();
            self.autoscalers.remove(MAIN, version);
        }
        if step.spec.is_some() && !step.create && number > 0 {
            self.change_autoscaler(0);
        }
    }

    fn replace_pods(&mut self, pods: Vec<Pod>) {
        let real = |pods: &[Pod]| -> BTreeMap<String, Value> {
            let real = pods.iter().filter(|pod| !pod.is_ghost());
            real.map(|pod| (pod.name.clone(), pod.object.clone()))
                .collect()
        };
        let before = real(&self.pods);
        let after = real(&pods);
        for name in before.keys().filter(|name| !after.contains_key(*name)) {
            let version = self.next_version();
            self.pod_journal.remove(name, version);
        }
        for (name, object) in after {
            if before.get(&name) != Some(&object) {
                let version = self.next_version();
                self.pod_journal.put(&name, object, version);
            }
        }
        self.pods = pods;
    }

    fn definition(&self, number: usize) -> Option<&Definition> {
        self.definitions
            .iter()
            .find(|def| def.k == self.step && def.h == number)
    }

    /// Creates autoscaler `number` from the stored form of this step; `status` is what it brings along.
    pub(crate) fn create_autoscaler(&mut self, number: usize, created_s: i64) {
        let name = self.name(number);
        let uid = self.uid + 1;
        let Some(definition) = self.definition(number) else {
            return;
        };
        let mut object = json!({
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": format!("uid-{uid}"),
                "generation": definition.generation,
                "creationTimestamp": instant::text(created_s),
            },
            "spec": definition.spec,
            "status": {"currentReplicas": 0, "desiredReplicas": 0, "currentMetrics": null},
        });
        if let Some(status) = self
            .scenario
            .status
            .as_ref()
            .filter(|_| number == 0 && self.step == 0)
        {
            object["status"] = status.clone();
        }
        self.uid = uid;
        self.last[number] = Last::default();
        let version = self.next_version();
        self.autoscalers.put(&name, object, version);
    }

    fn change_autoscaler(&mut self, number: usize) {
        let name = self.name(number);
        let Some(definition) = self.definition(number) else {
            return;
        };
        let Some(mut object) = self.autoscalers.object(&name).cloned() else {
            return;
        };
        object["spec"] = definition.spec.clone();
        object["metadata"]["generation"] = json!(definition.generation);
        let version = self.next_version();
        self.autoscalers.put(&name, object, version);
    }

    fn name(&self, number: usize) -> String {
        match number
            .checked_sub(1)
            .and_then(|index| self.scenario.others.get(index))
        {
            Some(other) => other.name.clone(),
            None => MAIN.to_owned(),
        }
    }

    fn target(&self, resource: &str, name: &str) -> Result<usize, Refusal> {
        self.targets
            .iter()
            .position(|target| target.name == name)
            .ok_or_else(|| Refusal {
                code: 404,
                reason: "NotFound",
                message: format!("{resource} \"{name}\" not found"),
            })
    }

    fn scale(&self, number: usize) -> Value {
        let target = &self.targets[number];
        let observed = if target.status_replicas < 0 {
            target.replicas
        } else {
            target.status_replicas
        };
        json!({
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": {
                "name": target.name,
                "namespace": "default",
                "resourceVersion": target.version.to_string(),
            },
            "spec": {"replicas": target.replicas},
            "status": {"replicas": observed, "selector": target.selector},
        })
    }

    /// The scale of a target; `resource` is the resource and its group, as errors spell it.
    pub(crate) fn read_scale(&mut self, resource: &str, name: &str) -> Result<Value, Refusal> {
        if let Some(text) = &self.faults.get {
            return Err(Refusal::internal(text));
        }
        let number = self.target(resource, name)?;
        let replicas = self.targets[number].replicas;
        self.open[number].before.get_or_insert(replicas);
        Ok(self.scale(number))
    }

    /// Writes the scale of a target.
    pub(crate) fn write_scale(
        &mut self,
        resource: &str,
        name: &str,
        sent: &Value,
    ) -> Result<Value, Refusal> {
        let number = self.target(resource, name)?;
        self.open[number].puts += 1;
        if let Some(text) = &self.faults.put {
            return Err(Refusal::internal(text));
        }
        let stale =
            sent["metadata"]["resourceVersion"] != json!(self.targets[number].version.to_string());
        if self.faults.conf > 0 || stale {
            self.faults.conf = self.faults.conf.saturating_sub(1);
            return Err(Refusal::conflict(resource, name));
        }
        let target = &mut self.targets[number];
        let replicas = sent["spec"]["replicas"]
            .as_i64()
            .and_then(|count| i32::try_from(count).ok())
            .unwrap_or(0);
        if replicas != target.replicas {
            target.version += 1;
        }
        target.replicas = replicas;
        Ok(self.scale(number))
    }

    /// Writes the status of an autoscaler: the specification stays as it is.
    pub(crate) fn write_status(&mut self, name: &str, sent: &Value) -> Result<Value, Refusal> {
        const RESOURCE: &str = "horizontalpodautoscalers.autoscaling";
        if let Some(text) = &self.faults.stat {
            return Err(Refusal::internal(text));
        }
        let stored = self
            .autoscalers
            .object(name)
            .cloned()
            .ok_or_else(|| Refusal {
                code: 404,
                reason: "NotFound",
                message: format!("{RESOURCE} \"{name}\" not found"),
            })?;
        if sent["metadata"]["resourceVersion"] != stored["metadata"]["resourceVersion"] {
            return Err(Refusal::conflict(RESOURCE, name));
        }
        let status = record::as_stored(&sent["status"]);
        if record::same_status(&status, &stored["status"]) {
            return Ok(stored);
        }
        if let Some(number) = self.number(name) {
            self.open[number].status_writes += 1;
        }
        let mut next = stored;
        next["status"] = status;
        let version = self.next_version();
        Ok(self.autoscalers.put(name, next, version))
    }

    /// Ends a sync of autoscaler `number`: what the controller says about it joins what it did here.
    pub(crate) fn close(&mut self, number: usize, tell: impl FnOnce(&mut Sync)) {
        let mut sync = std::mem::take(&mut self.open[number]);
        sync.step = self.step;
        sync.autoscaler = number;
        sync.after = self.targets[number].replicas;
        tell(&mut sync);
        let object = self.autoscalers.object(&self.name(number));
        let record = self.last[number].record(&sync, object);
        self.records.push(record);
    }

    /// All records so far.
    pub(crate) fn records(&self) -> &[Value] {
        &self.records
    }
}

/// Milliseconds of a number of seconds in a scenario, which has at most three decimals.
pub(crate) fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}

impl Refusal {
    /// An error whose text a scenario gives.
    pub(crate) fn internal(text: &str) -> Self {
        Self {
            code: 500,
            reason: "InternalError",
            message: text.to_owned(),
        }
    }

    fn conflict(resource: &str, name: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {MODIFIED}");
        Self {
            code: 409,
            reason: "Conflict",
            message,
        }
    }
}
