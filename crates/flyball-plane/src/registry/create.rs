//! Creating objects. Source: apiserver registry/generic/registry/store.go `Create`, registry/rest/create.go,
//! admission plugin namespace/lifecycle.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Mode, Place, Registry, failed, revision_of};
use crate::kind::{Kind, Surroundings};
use crate::metadata;
use crate::object;
use crate::refusal::Refusal;
use crate::store::{Action, Change, CommitError, Key};

/// How often another suffix is tried for a `generateName`. Upstream: `maxNameGenerationCreateAttempts`.
const NAMES_MAX: usize = 8;
/// A `generateName` longer than this is cut, so that the suffix fits a label. Upstream: names/generate.go.
const PREFIX_BYTES_MAX: usize = 58;

impl Registry {
    /// Creates `object`, which is decoded into its stored form, and returns it as it stands in the store.
    ///
    /// # Errors
    /// 400, 403 or 404 for its namespace, 409 when the name is taken, 422 when the object breaks rules.
    pub(crate) async fn create(
        &self,
        kind: &Arc<Kind>,
        namespace: &str,
        mut object: Value,
        mode: Mode,
    ) -> Result<Arc<Value>, Refusal> {
        metadata::normalize(&mut object);
        metadata::settle_namespace(kind, &mut object, namespace)?;
        self.admit_namespace(kind, &object)?;
        let prefix = object::meta(&object, "generateName").to_owned();
        let generated = object::name(&object).is_empty() && !prefix.is_empty();
        for _ in 0..NAMES_MAX {
            let mut attempt = object.clone();
            if generated {
                object::set_meta(&mut attempt, "name", self.name_from(&prefix));
            }
            match self.create_named(kind, attempt, mode).await {
                Err(refusal) if generated && refusal.reason == "AlreadyExists" => {}
                answer => return answer,
            }
        }
        Err(Refusal::no_unique_name(kind.subject(&prefix)))
    }

    async fn create_named(
        &self,
        kind: &Arc<Kind>,
        object: Value,
        mode: Mode,
    ) -> Result<Arc<Value>, Refusal> {
        let object = self.settle_new(kind, object)?;
        let place = Place {
            kind,
            namespace: object::namespace(&object),
            name: object::name(&object),
        };
        if let Some(found) = self.find(place) {
            return Err(taken(kind, &found.object));
        }
        if mode == Mode::DryRun {
            return Ok(Arc::new(object));
        }
        let key = Key::new(&kind.stored, place.namespace, place.name);
        let change = Change {
            key,
            expected: None,
            object,
            action: Action::Put,
        };
        match self.store.commit(change).await {
            Ok(event) => Ok(event.object),
            Err(CommitError::Conflict { key, .. }) => {
                Err(Refusal::already_exists(kind.subject(&key.name)))
            }
            Err(error) => Err(failed(&error)),
        }
    }

    /// Gives a new object everything but its revision, and checks it.
    pub(super) fn settle_new(&self, kind: &Kind, mut object: Value) -> Result<Value, Refusal> {
        metadata::fill_new(&mut object, &self.entropy, self.clock.now_ms());
        kind.strategy.admit(
            &mut object,
            &Surroundings {
                state: &self.store.read(),
                entropy: &self.entropy,
            },
        )?;
        match kind.strategy.empty_status() {
            Some(status) => {
                object::fields(&mut object).insert("status".to_owned(), status);
            }
            None if !kind.strategy.has_own_status() => {}
            None => {
                object::fields(&mut object).remove("status");
            }
        }
        if kind.strategy.has_generation() {
            object::set_meta(&mut object, "generation", 1);
        }
        kind.strategy.prepare_create(&mut object);
        let mut errors = metadata::validate(kind, &object);
        errors.extend(kind.strategy.validate(&object));
        if !errors.is_empty() {
            return Err(Refusal::invalid(
                kind.kind_subject(object::name(&object)),
                &errors,
            ));
        }
        if revision_of(&object)?.is_some() {
            return Err(Refusal::unknown(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        object::remove_meta(&mut object, "resourceVersion");
        // Upstream reads what it has stored, and fills in again what the rules for new objects have left out.
        kind.strategy.default(&mut object);
        Ok(object)
    }

    /// Checks that the object's namespace exists and is not on its way out.
    pub(super) fn admit_namespace(&self, kind: &Kind, object: &Value) -> Result<(), Refusal> {
        if !kind.is_namespaced() {
            return Ok(());
        }
        let name = object::namespace(object);
        let missing = crate::refusal::Subject {
            group: "",
            resource: "namespaces",
            name,
        };
        let namespace = self
            .namespace(name)
            .ok_or_else(|| Refusal::not_found(missing))?;
        if !object::is_being_deleted(&namespace) {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {name} because it is being terminated"
        );
        let mut refusal = Refusal::forbidden(kind.subject(object::name(object)), &why);
        let cause = json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {name} is being terminated"),
            "field": "metadata.namespace",
        }]);
        refusal
            .details
            .get_or_insert_default()
            .insert("causes".to_owned(), cause);
        Err(refusal)
    }

    fn name_from(&self, prefix: &str) -> String {
        let mut end = prefix.len().min(PREFIX_BYTES_MAX);
        while !prefix.is_char_boundary(end) {
            end -= 1;
        }
        format!("{}{}", &prefix[..end], self.entropy.suffix())
    }
}

fn taken(kind: &Kind, found: &Value) -> Refusal {
    let mut refusal = Refusal::already_exists(kind.subject(object::name(found)));
    if object::is_being_deleted(found) {
        refusal.message = format!("object is being deleted: {}", refusal.message);
    }
    refusal
}
