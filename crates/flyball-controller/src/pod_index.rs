//! The pods of the cluster in the form a decision reads, by namespace and name.
//! Not here: what is read of a pod (`flyball-bridge`), sorting pods into groups (`flyball-core`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flyball_api::pod::Pod;
use flyball_api::selector::Selector;
use flyball_core::pod::PodFacts;

use crate::source::{Change, Sink, Watched};

/// The labels of a pod.
pub type Labels = BTreeMap<String, String>;

/// One pod.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedPod {
    /// Its namespace.
    pub namespace: String,
    /// What a decision reads of it.
    pub facts: PodFacts,
    /// Its labels; pods of one template share them.
    pub labels: Arc<Labels>,
}

impl Watched for IndexedPod {
    fn decode(json: &str) -> Result<Self, serde_json::Error> {
        let pod: Pod = serde_json::from_str(json)?;
        let facts = flyball_bridge::pod::lower(&pod, Arc::new(flyball_bridge::pod::requests(&pod)));
        Ok(Self {
            namespace: pod.metadata.namespace,
            facts,
            labels: Arc::new(pod.metadata.labels),
        })
    }
}

/// The index. **Bound:** one entry per pod of the cluster; labels and requests are held once for pods of one template
/// that are neighbours by name, as those of one ReplicaSet are.
#[derive(Debug, Default)]
pub struct PodIndex {
    namespaces: BTreeMap<String, BTreeMap<Arc<str>, IndexedPod>>,
}

impl PodIndex {
    /// The pods of `namespace` that `selector` matches, by name.
    pub fn select<'a>(
        &'a self,
        namespace: &str,
        selector: &'a Selector,
    ) -> impl Iterator<Item = &'a IndexedPod> {
        let mut last: Option<(&Arc<Labels>, bool)> = None;
        let pods = self
            .namespaces
            .get(namespace)
            .into_iter()
            .flat_map(BTreeMap::values);
        pods.filter(move |pod| match last {
            Some((same, matches)) if Arc::ptr_eq(same, &pod.labels) => matches,
            _ => {
                let matches = selector.matches(&pod.labels);
                last = Some((&pod.labels, matches));
                matches
            }
        })
    }

    /// The different sets of labels among the pods that `selector` matches; neighbours that share one count once.
    pub fn label_sets(&self, namespace: &str, selector: &Selector) -> Vec<Arc<Labels>> {
        let mut sets: Vec<Arc<Labels>> = Vec::new();
        for pod in self.select(namespace, selector) {
            if !sets
                .last()
                .is_some_and(|last| Arc::ptr_eq(last, &pod.labels))
            {
                sets.push(pod.labels.clone());
            }
        }
        sets
    }

    /// Adds or replaces a pod.
    pub fn apply(&mut self, mut pod: IndexedPod) {
        let pods = self.namespaces.entry(pod.namespace.clone()).or_default();
        let name = pod.facts.name.clone();
        let before = pods.range(..=name.clone()).next_back().map(|(_, pod)| pod);
        let after = pods.range(name.clone()..).next().map(|(_, pod)| pod);
        for neighbour in [before, after].into_iter().flatten() {
            if neighbour.labels == pod.labels {
                pod.labels = neighbour.labels.clone();
            }
            if neighbour.facts.requests == pod.facts.requests {
                pod.facts.requests = neighbour.facts.requests.clone();
            }
        }
        pods.insert(name, pod);
    }

    /// Removes a pod.
    pub fn delete(&mut self, namespace: &str, name: &str) {
        if let Some(pods) = self.namespaces.get_mut(namespace) {
            pods.remove(name);
            if pods.is_empty() {
                self.namespaces.remove(namespace);
            }
        }
    }
}

/// The index as source and decisions share it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SharedPodIndex {
    index: Arc<Mutex<PodIndex>>,
}

impl SharedPodIndex {
    /// The index, for as long as no await lies between.
    pub fn lock(&self) -> MutexGuard<'_, PodIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink<IndexedPod> for SharedPodIndex {
    fn take(&mut self, change: Change<IndexedPod>, _version: &str) {
        let mut index = self.lock();
        match change {
            Change::Replaced(pods) => {
                *index = PodIndex::default();
                for pod in pods {
                    index.apply(pod);
                }
            }
            Change::Applied(pod) => index.apply(pod),
            Change::Deleted(pod) => index.delete(&pod.namespace, &pod.facts.name),
            Change::Reached => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, app: &str) -> IndexedPod {
        let json = format!(
            r#"{{"metadata":{{"namespace":"ns","name":"{name}","labels":{{"app":"{app}"}}}},
                "spec":{{"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1"}}}}}}]}},
                "status":{{"phase":"Running"}}}}"#
        );
        IndexedPod::decode(&json).expect("a pod")
    }

    fn index(pods: &[(&str, &str)]) -> PodIndex {
        let mut index = PodIndex::default();
        for (name, app) in pods {
            index.apply(pod(name, app));
        }
        index
    }

    fn names(index: &PodIndex, selector: &str) -> Vec<String> {
        let selector = Selector::parse(selector).expect("a selector");
        index
            .select("ns", &selector)
            .map(|pod| pod.facts.name.to_string())
            .collect()
    }

    #[test]
    fn pods_are_selected_by_labels_in_order_of_names() {
        let index = index(&[("web-2", "web"), ("db-1", "db"), ("web-1", "web")]);
        assert_eq!(names(&index, "app=web"), ["web-1", "web-2"]);
        assert_eq!(names(&index, "app!=web"), ["db-1"]);
    }

    #[test]
    fn neighbours_of_one_template_share_labels_and_requests() {
        let index = index(&[("web-1", "web"), ("web-3", "web"), ("web-2", "web")]);
        let everything = Selector::everything();
        let pods: Vec<_> = index.select("ns", &everything).collect();
        assert!(
            pods.windows(2)
                .all(|two| Arc::ptr_eq(&two[0].labels, &two[1].labels))
        );
        assert!(
            pods.windows(2)
                .all(|two| Arc::ptr_eq(&two[0].facts.requests, &two[1].facts.requests))
        );
        assert_eq!(index.label_sets("ns", &everything).len(), 1);
    }

    #[test]
    fn a_changed_pod_replaces_its_earlier_form_and_a_deleted_one_is_gone() {
        let mut index = index(&[("web-1", "web")]);
        index.apply(pod("web-1", "canary"));
        assert_eq!(names(&index, "app=web"), [] as [&str; 0]);
        assert_eq!(names(&index, "app=canary"), ["web-1"]);
        index.delete("ns", "web-1");
        assert!(index.namespaces.is_empty());
    }

    #[test]
    fn a_new_list_replaces_everything() {
        let mut shared = SharedPodIndex::default();
        shared.take(Change::Applied(pod("a", "web")), "1");
        shared.take(Change::Replaced(vec![pod("b", "web")]), "2");
        assert_eq!(names(&shared.lock(), "app=web"), ["b"]);
    }
}
