//! Changing objects, whole or their status. Source: apiserver registry/generic/registry/store.go `Update`,
//! registry/rest/update.go.

use std::sync::Arc;

use serde_json::Value;

use super::{Mode, Place, RACES_MAX, Registry, failed, revision_of};
use crate::field::{self, FieldError};
use crate::kind::{Kind, PutRule};
use crate::metadata;
use crate::object;
use crate::refusal::Refusal;
use crate::store::{Action, Change, CommitError, Entry};

/// Which part of an object a request changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything but the status.
    Main,
    /// The status and the metadata.
    Status,
}

/// The outcome of an update.
#[derive(Clone, Debug)]
pub(crate) struct Updated {
    /// The object as it stands now, or its last state when the update removed it.
    pub object: Arc<Value>,
    /// True when a PUT created it.
    pub created: bool,
}

impl Registry {
    /// Replaces `part` of the object at `place` by what `make` makes of the current one (`None` when there is none and the
    /// kind lets a PUT create it). `make` is called again when another writer was faster; both of its forms are the stored one.
    ///
    /// # Errors
    /// 404, 409 when the wanted object carries another revision, 422 when it breaks rules, and whatever `make` refuses.
    pub(crate) async fn update(
        &self,
        place: Place<'_>,
        part: Part,
        mode: Mode,
        mut make: impl FnMut(Option<&Value>) -> Result<Value, Refusal> + Send,
    ) -> Result<Updated, Refusal> {
        for _ in 0..RACES_MAX {
            let Some(current) = self.find(place) else {
                return self.put_new(place, mode, make(None)).await;
            };
            let wanted = make(Some(&current.object))?;
            let new = settle(place, part, mode, wanted, &current.object)?;
            if new == *current.object || mode == Mode::DryRun {
                return Ok(Updated {
                    object: Arc::new(new),
                    created: false,
                });
            }
            if let Some(object) = self.replace(place, &current, new).await? {
                return Ok(Updated {
                    object,
                    created: false,
                });
            }
        }
        Err(Refusal::modified(place.kind.subject(place.name)))
    }

    async fn put_new(
        &self,
        place: Place<'_>,
        mode: Mode,
        wanted: Result<Value, Refusal>,
    ) -> Result<Updated, Refusal> {
        if matches!(
            place.kind.put,
            PutRule::Unconditional | PutRule::Conditional
        ) {
            return Err(Refusal::not_found(place.kind.subject(place.name)));
        }
        let mut wanted = wanted?;
        check_uid(place, mode, &wanted, &Value::Null)?;
        revision_of(&wanted)?;
        object::remove_meta(&mut wanted, "resourceVersion");
        let object = self
            .create(place.kind, place.namespace, wanted, mode)
            .await?;
        Ok(Updated {
            object,
            created: true,
        })
    }

    /// Puts `new` in the place of `current`; `None` when another writer was faster.
    async fn replace(
        &self,
        place: Place<'_>,
        current: &Entry,
        new: Value,
    ) -> Result<Option<Arc<Value>>, Refusal> {
        let action = if is_finished(&new, &current.object) {
            Action::Remove
        } else {
            Action::Put
        };
        let change = Change {
            key: place.key(),
            expected: Some(current.revision),
            object: new.clone(),
            action,
        };
        match self.store.commit(change).await {
            // The answer to an update that removed the object shows it as it was asked for, without the removal's revision.
            Ok(_) if action == Action::Remove => Ok(Some(Arc::new(new))),
            Ok(event) => Ok(Some(event.object)),
            Err(CommitError::Conflict { .. }) => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }
}

/// True when an object that is being deleted has lost its last finalizer and its grace is over, so that it goes now.
fn is_finished(new: &Value, old: &Value) -> bool {
    let list = new.pointer("/spec/finalizers").and_then(Value::as_array);
    object::is_being_deleted(old)
        && object::finalizers(new).is_empty()
        && list.is_none_or(Vec::is_empty)
        && old
            .pointer("/metadata/deletionGracePeriodSeconds")
            .and_then(Value::as_i64)
            .unwrap_or(0)
            == 0
}

/// Brings a wanted object into the form in which it can replace `old`, and checks it.
fn settle(
    place: Place<'_>,
    part: Part,
    mode: Mode,
    mut new: Value,
    old: &Value,
) -> Result<Value, Refusal> {
    let kind = place.kind;
    metadata::normalize(&mut new);
    metadata::settle_namespace(kind, &mut new, place.namespace)?;
    check_uid(place, mode, &new, old)?;
    check_revision(place, &mut new, old)?;
    let errors = match part {
        Part::Main => settle_main(kind, &mut new, old),
        Part::Status => settle_status(kind, &mut new, old),
    };
    if errors.is_empty() {
        kind.strategy.default(&mut new);
        return Ok(new);
    }
    Err(Refusal::invalid(kind.kind_subject(place.name), &errors))
}

fn settle_main(kind: &Kind, new: &mut Value, old: &Value) -> Vec<FieldError> {
    if kind.strategy.has_own_status() {
        object::take_field(new, old, "status");
    }
    take_generation(new, old);
    kind.strategy.prepare_update(new, old);
    if kind.strategy.has_generation() && kind.strategy.counts_as_change(new, old) {
        object::set_meta(new, "generation", object::generation(old) + 1);
    }
    metadata::carry_over(new, old);
    let mut errors = metadata::validate_update(kind, new, old);
    errors.extend(kind.strategy.validate_update(new, old));
    errors
}

fn settle_status(kind: &Kind, new: &mut Value, old: &Value) -> Vec<FieldError> {
    let strangers: Vec<String> = new
        .as_object()
        .into_iter()
        .chain(old.as_object())
        .flat_map(|fields| fields.keys())
        .filter(|field| !matches!(field.as_str(), "metadata" | "status"))
        .cloned()
        .collect();
    for field in strangers {
        object::take_field(new, old, &field);
    }
    take_generation(new, old);
    if let Some(Value::Object(zero)) = kind.strategy.zero_status() {
        let status = object::child(new, "status");
        for (field, value) in zero {
            status.entry(field).or_insert(value);
        }
    }
    kind.strategy.prepare_status(new, old);
    metadata::carry_over(new, old);
    let mut errors = metadata::validate_update(kind, new, old);
    errors.extend(kind.strategy.validate_status(new, old));
    errors
}

fn take_generation(new: &mut Value, old: &Value) {
    match old.pointer("/metadata/generation") {
        Some(generation) => object::set_meta(new, "generation", generation.clone()),
        None => object::remove_meta(new, "generation"),
    }
}

fn check_uid(place: Place<'_>, mode: Mode, new: &Value, old: &Value) -> Result<(), Refusal> {
    let (asked, found) = (object::uid(new), object::uid(old));
    if asked.is_empty() || asked == found {
        return Ok(());
    }
    let (folder, namespace, name) = (place.kind.registry_folder(), place.namespace, place.name);
    let path = [folder, namespace, name]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("/");
    // Upstream asks the storage itself only in earnest, and its keys begin with the storage's own folder.
    let root = if mode == Mode::Commit {
        "/registry"
    } else {
        ""
    };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {root}/{path}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {asked}, UID in object meta: {found}"
    );
    Err(Refusal::conflict(place.kind.subject(name), &why))
}

fn check_revision(place: Place<'_>, new: &mut Value, old: &Value) -> Result<(), Refusal> {
    match revision_of(new)? {
        None if matches!(
            place.kind.put,
            PutRule::Conditional | PutRule::ConditionalOrCreate
        ) =>
        {
            let error = field::invalid(
                "metadata.resourceVersion",
                0,
                "must be specified for an update",
            );
            Err(Refusal::invalid(place.kind.subject(place.name), &[error]))
        }
        None => {
            object::set_meta(new, "resourceVersion", object::meta(old, "resourceVersion"));
            Ok(())
        }
        Some(asked) if Some(asked) == revision_of(old)? => Ok(()),
        Some(_) => Err(Refusal::modified(place.kind.subject(place.name))),
    }
}
