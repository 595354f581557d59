//! The pod selectors of all HPAs, to find those that claim the same pods.
//! Not here: what follows from it.
//!
//! Source: pkg/controller/podautoscaler/hpa_selector_store.go, v1.37.2. Both stores of upstream are one here; the
//! gate `HPAOptimizedSelectorStore` only decides whether a search stops at its limit. Upstream answers in random
//! order, this in order of names.

use std::collections::BTreeMap;

use flyball_api::selector::Selector;

use crate::key::ObjectKey;

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// At the limit that is asked for (gate on).
    Limited,
    /// When every selector was looked at (gate off).
    Complete,
}

/// The store. **Bound:** one selector per HPA that exists.
#[derive(Debug)]
pub struct SelectorStore {
    search: Search,
    namespaces: BTreeMap<String, BTreeMap<String, Selector>>,
}

impl SelectorStore {
    /// An empty store.
    pub fn new(search: Search) -> Self {
        Self {
            search,
            namespaces: BTreeMap::new(),
        }
    }

    /// Adds an HPA that is not known; returns whether it was not.
    pub fn put_if_absent(&mut self, hpa: &ObjectKey, selector: Selector) -> bool {
        let namespace = self.namespaces.entry(hpa.namespace.clone()).or_default();
        let absent = !namespace.contains_key(&hpa.name);
        if absent {
            namespace.insert(hpa.name.clone(), selector);
        }
        absent
    }

    /// Changes the selector of a known HPA; returns whether it is known.
    pub fn put_if_present(&mut self, hpa: &ObjectKey, selector: Selector) -> bool {
        let namespace = self.namespaces.get_mut(&hpa.namespace);
        let Some(known) = namespace.and_then(|names| names.get_mut(&hpa.name)) else {
            return false;
        };
        *known = selector;
        true
    }

    /// Forgets an HPA.
    pub fn delete(&mut self, hpa: &ObjectKey) {
        if let Some(names) = self.namespaces.get_mut(&hpa.namespace) {
            names.remove(&hpa.name);
            if names.is_empty() {
                self.namespaces.remove(&hpa.namespace);
            }
        }
    }

    /// The HPAs of `namespace` whose selector matches one of these sets of labels, by name; with a limit above zero
    /// no more than that, if searches are limited.
    pub fn matching<L: AsRef<BTreeMap<String, String>>>(
        &self,
        namespace: &str,
        label_sets: &[L],
        limit: usize,
    ) -> Vec<ObjectKey> {
        let matches = |selector: &Selector| {
            label_sets
                .iter()
                .any(|labels| selector.matches(labels.as_ref()))
        };
        let limit = if self.search == Search::Limited && limit > 0 {
            limit
        } else {
            usize::MAX
        };
        let names = self.namespaces.get(namespace);
        let found = names
            .into_iter()
            .flatten()
            .filter(|(_, selector)| matches(selector));
        found
            .take(limit)
            .map(|(name, _)| ObjectKey::new(namespace, name.clone()))
            .collect()
    }

    /// Whether any HPA of `namespace` is known.
    pub fn has_namespace(&self, namespace: &str) -> bool {
        self.namespaces.contains_key(namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn selector(text: &str) -> Selector {
        Selector::parse(text).expect("a selector")
    }

    fn labels(value: &str) -> [Arc<BTreeMap<String, String>>; 1] {
        [Arc::new(BTreeMap::from([(
            "app".to_owned(),
            value.to_owned(),
        )]))]
    }

    fn three(search: Search) -> SelectorStore {
        let mut store = SelectorStore::new(search);
        for name in ["c", "a", "b"] {
            assert!(store.put_if_absent(&ObjectKey::new("ns", name), selector("app=web")));
        }
        store.put_if_absent(&ObjectKey::new("ns", "0"), Selector::nothing());
        store
    }

    #[test]
    fn a_search_stops_at_its_limit_in_order_of_names() {
        let found = three(Search::Limited).matching("ns", &labels("web"), 2);
        assert_eq!(
            found,
            [ObjectKey::new("ns", "a"), ObjectKey::new("ns", "b")]
        );
    }

    #[test]
    fn the_older_store_knows_no_limit() {
        assert_eq!(
            three(Search::Complete)
                .matching("ns", &labels("web"), 2)
                .len(),
            3
        );
        assert_eq!(
            three(Search::Limited)
                .matching("ns", &labels("web"), 0)
                .len(),
            3
        );
    }

    #[test]
    fn known_selectors_are_changed_and_not_replaced_by_an_addition() {
        let mut store = three(Search::Limited);
        let key = ObjectKey::new("ns", "a");
        assert!(!store.put_if_absent(&key, selector("app=other")));
        assert_eq!(store.matching("ns", &labels("other"), 0), []);
        assert!(store.put_if_present(&key, selector("app=other")));
        assert_eq!(store.matching("ns", &labels("other"), 0), [key]);
        assert!(!store.put_if_present(&ObjectKey::new("ns", "z"), selector("app=other")));
    }

    #[test]
    fn namespaces_do_not_mix_and_end_with_their_last_hpa() {
        let mut store = SelectorStore::new(Search::Limited);
        let key = ObjectKey::new("one", "a");
        store.put_if_absent(&key, selector("app=web"));
        assert_eq!(store.matching("two", &labels("web"), 0), []);
        assert!(store.has_namespace("one"));
        store.delete(&key);
        assert!(!store.has_namespace("one"));
    }

    #[test]
    fn no_pods_match_nothing() {
        let none: [Arc<BTreeMap<String, String>>; 0] = [];
        assert_eq!(three(Search::Limited).matching("ns", &none, 2), []);
    }
}
