//! What is served at this moment: the built-in kinds and those of the established CustomResourceDefinitions, with the
//! discovery and the documents that tell of them. Made anew when a definition has changed and somebody asks.
//! Not here: what establishes a definition (`definitions`), what it compiles to (`custom`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use tokio::sync::watch;

use crate::custom::compile;
use crate::discovery::{self, Discovery};
use crate::kind::{Kind, Kinds};
use crate::schema::openapi::Documents;
use crate::store::{ResourceName, Revision, Store};

/// Custom kinds served at once; definitions beyond are stored but not served.
pub(crate) const CUSTOM_KINDS_MAX: usize = 1000;
/// Where definitions are stored.
pub(crate) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// What is served, unchanging: whoever holds it goes on with it.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) kinds: Kinds,
    discovery: OnceLock<Discovery>,
    openapi: OnceLock<Documents>,
    /// The compiled definitions by name, with the revision they were compiled at.
    compiled: BTreeMap<String, (Revision, Option<Arc<Kind>>)>,
}

impl Served {
    fn new(kinds: Kinds, compiled: BTreeMap<String, (Revision, Option<Arc<Kind>>)>) -> Self {
        Self {
            kinds,
            discovery: OnceLock::new(),
            openapi: OnceLock::new(),
            compiled,
        }
    }

    /// What discovery tells, made when it is first asked.
    pub(crate) fn discovery(&self) -> &Discovery {
        self.discovery.get_or_init(|| Discovery::of(&self.kinds))
    }

    /// The OpenAPI documents, made when they are first asked.
    pub(crate) fn openapi(&self) -> &Documents {
        self.openapi
            .get_or_init(|| discovery::documents(&self.kinds))
    }
}

/// What keeps [`Served`] in step with the definitions in the store.
#[derive(Debug)]
pub(crate) struct Serving {
    builtin: Kinds,
    changed: watch::Receiver<Revision>,
    /// The revision of the newest definition that is heeded, and what it made. Never locked across an await.
    last: Mutex<(Revision, Arc<Served>)>,
}

impl Serving {
    /// Serves the built-in kinds, and what definitions `store` holds.
    pub(crate) fn new(builtin: Kinds, store: &Store) -> Self {
        let changed = store.subscribe(&ResourceName::from(DEFINITIONS));
        let served = Arc::new(Served::new(builtin.clone(), BTreeMap::new()));
        let newest = *changed.borrow();
        let serving = Self {
            last: Mutex::new((newest, Arc::clone(&served))),
            builtin,
            changed,
        };
        let first = Arc::new(serving.made(store, &served));
        serving
            .last
            .lock()
            .expect("no holder of this lock panics")
            .1 = first;
        serving
    }

    /// What is served now. Asked often: without a new definition it is a look at two numbers.
    pub(crate) fn now(&self, store: &Store) -> Arc<Served> {
        let newest = *self.changed.borrow();
        let mut last = self.last.lock().expect("no holder of this lock panics");
        if last.0 != newest {
            let served = self.made(store, &last.1);
            *last = (newest, Arc::new(served));
        }
        Arc::clone(&last.1)
    }

    fn made(&self, store: &Store, before: &Served) -> Served {
        let mut kinds = self.builtin.clone();
        let mut compiled = BTreeMap::new();
        let state = store.read();
        let all = state.range(&ResourceName::from(DEFINITIONS), None, None);
        for (key, entry) in all.take(CUSTOM_KINDS_MAX) {
            let kind = match before.compiled.get(&*key.name) {
                Some((revision, kind)) if *revision == entry.revision => kind.clone(),
                _ => compile::compile(&entry.object).map(Arc::new),
            };
            if let Some(kind) = &kind {
                kinds.add(Arc::clone(kind));
            }
            compiled.insert(key.name.to_string(), (entry.revision, kind));
        }
        Served::new(kinds, compiled)
    }
}
