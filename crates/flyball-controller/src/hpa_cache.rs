//! The HPAs as the API server last showed them, and what each change of them leads to in the queue.
//! Not here: the loop that feeds it ([`crate::source`]), the runs that follow.
//!
//! Source: pkg/controller/podautoscaler/horizontal.go (enqueueHPA, updateHPA, deleteHPA), v1.37.2, with KEP-6003's
//! refresh of the interval before the add.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flyball_api::autoscaling::v2::HorizontalPodAutoscaler;
use flyball_api::selector::Selector;

use crate::consistency::ConsistencyStore;
use crate::gates::{Gate, Gates};
use crate::key::ObjectKey;
use crate::monitor::Monitor;
use crate::selector_store::SelectorStore;
use crate::source::{Change, Sink, Watched};
use crate::workqueue::WorkQueue;

impl Watched for HorizontalPodAutoscaler {
    fn decode(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}

/// The key of an HPA.
pub fn key_of(hpa: &HorizontalPodAutoscaler) -> ObjectKey {
    ObjectKey::new(hpa.metadata.namespace.as_str(), hpa.metadata.name.as_str())
}

/// `spec.syncPeriodSeconds` (KEP-6003), where it is a positive number.
pub fn sync_period(hpa: &HorizontalPodAutoscaler) -> Option<Duration> {
    let seconds = hpa.spec.rest.get("syncPeriodSeconds")?.as_u64()?;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// The cache. **Bound:** one entry per HPA. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct HpaCache {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<ObjectKey, Arc<HorizontalPodAutoscaler>>,
    version: String,
}

/// What a change means for one HPA.
enum Transition {
    Added(Arc<HorizontalPodAutoscaler>),
    Updated(Arc<HorizontalPodAutoscaler>, Arc<HorizontalPodAutoscaler>),
    Deleted(Arc<HorizontalPodAutoscaler>),
}

impl State {
    /// Takes a change in; objects and version change together.
    fn change(
        &mut self,
        change: Change<HorizontalPodAutoscaler>,
        version: &str,
    ) -> Vec<Transition> {
        version.clone_into(&mut self.version);
        match change {
            Change::Replaced(items) => self.replace(items),
            Change::Applied(hpa) => vec![self.apply(hpa)],
            Change::Deleted(hpa) => {
                let known = self.objects.remove(&key_of(&hpa));
                known.map(Transition::Deleted).into_iter().collect()
            }
            Change::Reached => Vec::new(),
        }
    }

    fn apply(&mut self, hpa: HorizontalPodAutoscaler) -> Transition {
        let new = Arc::new(hpa);
        match self.objects.insert(key_of(&new), new.clone()) {
            Some(old) => Transition::Updated(old, new),
            None => Transition::Added(new),
        }
    }

    /// A new list: what it lacks is deleted, what it shows in the form already known is left alone.
    fn replace(&mut self, items: Vec<HorizontalPodAutoscaler>) -> Vec<Transition> {
        let mut missing = self.objects.clone();
        let mut transitions = Vec::new();
        for hpa in items {
            let known = missing.remove(&key_of(&hpa));
            let version = known.as_ref().map(|known| &known.metadata.resource_version);
            if version != Some(&hpa.metadata.resource_version) {
                transitions.push(self.apply(hpa));
            }
        }
        self.objects.retain(|key, _| !missing.contains_key(key));
        transitions.extend(missing.into_values().map(Transition::Deleted));
        transitions
    }
}

impl HpaCache {
    /// The HPA of `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<HorizontalPodAutoscaler>> {
        self.state().objects.get(key).cloned()
    }

    /// The resourceVersion up to which the cache has seen everything.
    pub fn version(&self) -> String {
        self.state().version.clone()
    }

    /// Every HPA, by key.
    pub fn all(&self) -> Vec<Arc<HorizontalPodAutoscaler>> {
        self.state().objects.values().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is shared with the runs and changed by appearance and deletion of HPAs.
#[derive(Clone, Debug)]
pub struct Records {
    /// The selectors of all HPAs.
    pub selectors: Arc<Mutex<SelectorStore>>,
    /// The last status writes.
    pub consistency: Arc<Mutex<ConsistencyStore>>,
}

impl Records {
    /// The selectors, for as long as no await lies between.
    pub fn selectors(&self) -> MutexGuard<'_, SelectorStore> {
        self.selectors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The last status writes, for as long as no await lies between.
    pub fn consistency(&self) -> MutexGuard<'_, ConsistencyStore> {
        self.consistency
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the cache and puts HPAs into the queue.
#[derive(Clone, Debug)]
pub struct HpaHandler {
    /// The cache to keep.
    pub cache: HpaCache,
    /// What appearance and deletion change besides.
    pub records: Records,
    /// Where runs are asked for.
    pub queue: WorkQueue<ObjectKey>,
    /// Counts HPAs.
    pub monitor: Monitor,
    /// `HPAGeneration` and `HPAConfigurableSyncPeriod` matter here.
    pub gates: Gates,
}

impl HpaHandler {
    /// The handler resync of an informer: every HPA is reported as updated without a change.
    pub fn resync(&self) {
        for hpa in self.cache.all() {
            self.updated(&hpa, &hpa);
        }
    }

    fn deleted(&self, hpa: &HorizontalPodAutoscaler) {
        let key = key_of(hpa);
        self.records.consistency().clear(&key, &hpa.metadata.uid);
        self.queue.remove(&key);
        self.records.selectors().delete(&key);
        self.monitor.observe_deletion();
    }

    fn added(&self, hpa: &HorizontalPodAutoscaler) {
        self.refresh_interval(hpa);
        self.enqueue(&key_of(hpa));
    }

    fn updated(&self, old: &HorizontalPodAutoscaler, new: &HorizontalPodAutoscaler) {
        self.refresh_interval(new);
        let spec_changed = old.metadata.generation != new.metadata.generation;
        if self.gates.enabled(Gate::Generation) && spec_changed {
            self.enqueue(&key_of(new));
        } else {
            // Status writes and resyncs must not start the next run at once, or it would never stop.
            self.queue.add_rate_limited(&key_of(new));
        }
    }

    /// Registers the HPA before it is queued, so that its first run finds it known.
    fn enqueue(&self, key: &ObjectKey) {
        if self
            .records
            .selectors()
            .put_if_absent(key, Selector::nothing())
        {
            self.monitor.observe_addition();
        }
        self.queue.add(key);
    }

    fn refresh_interval(&self, hpa: &HorizontalPodAutoscaler) {
        let wanted = sync_period(hpa).filter(|_| self.gates.enabled(Gate::ConfigurableSyncPeriod));
        self.queue.set_interval(&key_of(hpa), wanted);
    }
}

impl Sink<HorizontalPodAutoscaler> for HpaHandler {
    fn take(&mut self, change: Change<HorizontalPodAutoscaler>, version: &str) {
        // The lock ends here: runs must find objects and version changed before they are asked for.
        let transitions = self.cache.state().change(change, version);
        for transition in transitions {
            match transition {
                Transition::Added(new) => self.added(&new),
                Transition::Updated(old, new) => self.updated(&old, &new),
                Transition::Deleted(old) => self.deleted(&old),
            }
        }
    }
}

#[cfg(test)]
mod tests;
