//! POST, PUT and PATCH of objects. Source: apiserver handlers/{create,update,patch}.go.

use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;

use super::{Answer, Call, Content};
use crate::body::{self, Expected, Source, Strictness};
use crate::metadata;
use crate::negotiation;
use crate::object;
use crate::patch::{self, PatchError};
use crate::refusal::{Refusal, Subject};
use crate::registry::{Mode, Part, Updated};
use crate::schema::decode::{Decoded, Origin, decode_untyped};
use crate::schema::{Gvk, Schema};

const APPLY: [&str; 2] = [
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
];

/// A patch, read and of a known type.
pub(super) struct Patch {
    form: Form,
    value: Value,
    /// Fields that came twice in its body.
    strict: Vec<String>,
}

#[derive(Clone, Copy)]
enum Form {
    Json,
    Merge,
    Strategic,
}

impl Call {
    fn expected(&self) -> Expected<'_> {
        Expected {
            kind: &self.kind,
            version: &self.version,
        }
    }

    pub(super) async fn create(&self, body: &Bytes) -> Result<Answer, Refusal> {
        let (mode, strictness) = self.write_options("CreateOptions")?;
        let json = body::json(&negotiation::content_type(&self.headers), body)?;
        let (object, warnings) = self.expected().decode(&json, strictness)?;
        let object = self
            .api
            .registry
            .create(&self.kind, self.place().namespace, object, mode)
            .await
            .map_err(|refusal| refusal.warned(&warnings))?;
        Ok(Answer {
            code: StatusCode::CREATED,
            content: Content::Object(object),
            warnings,
        })
    }

    pub(super) async fn put(&self, part: Part, body: &Bytes) -> Result<Answer, Refusal> {
        let (mode, strictness) = self.write_options("UpdateOptions")?;
        let json = body::json(&negotiation::content_type(&self.headers), body)?;
        let (object, warnings) = self.expected().decode(&json, strictness)?;
        body::check_name(&object, self.place().name)
            .map_err(|refusal| refusal.warned(&warnings))?;
        let make = |current: Option<&Value>| Ok(self.kept(object.clone(), current));
        let updated = self
            .api
            .registry
            .update(self.place(), part, mode, make)
            .await
            .map_err(|refusal| refusal.warned(&warnings))?;
        Ok(updated_answer(updated, warnings))
    }

    /// PUT of a namespace's `/finalize`: only the finalizers of the spec change.
    pub(super) async fn finalize(&self, body: &Bytes) -> Result<Answer, Refusal> {
        let json = body::json(&negotiation::content_type(&self.headers), body)?;
        let (object, warnings) = self.expected().decode(&json, Strictness::Ignore)?;
        let list = object.pointer("/spec/finalizers").cloned();
        let make = |current: Option<&Value>| {
            let mut new = current
                .cloned()
                .ok_or_else(|| Refusal::not_found(self.kind.subject(self.place().name)))?;
            let spec = object::child(&mut new, "spec");
            match &list {
                Some(list) => spec.insert("finalizers".to_owned(), list.clone()),
                None => spec.remove("finalizers"),
            };
            Ok(new)
        };
        let updated = self
            .api
            .registry
            .update(self.place(), Part::Main, Mode::Commit, make)
            .await?;
        Ok(updated_answer(updated, warnings))
    }

    pub(super) async fn patch(&self, part: Part, body: &Bytes) -> Result<Answer, Refusal> {
        let (mode, strictness) = self.write_options("PatchOptions")?;
        let patch = self.read_patch(body)?;
        let mut warnings = Vec::new();
        let make = |current: Option<&Value>| {
            let current =
                current.ok_or_else(|| Refusal::not_found(self.kind.subject(self.place().name)))?;
            let gvk = Gvk::new(&self.kind.group, &self.version.name, &self.kind.kind);
            let patched = Decoded {
                object: patch.apply(&self.served(current), gvk)?,
                strict: patch.strict.clone(),
            };
            let (object, found) = self.expected().decode_patched(
                &patched,
                &patch.source(&patched.object),
                strictness,
            )?;
            warnings = found;
            let object = self.named_as_asked(object)?;
            Ok(self.kept(object, Some(current)))
        };
        let updated = self
            .api
            .registry
            .update(self.place(), part, mode, make)
            .await;
        let updated = updated.map_err(|refusal| refusal.warned(&warnings))?;
        Ok(updated_answer(updated, warnings))
    }

    /// A namespace keeps its spec, which changes through `finalize`; the controllers inside the plane write it as any other.
    fn kept(&self, mut object: Value, current: Option<&Value>) -> Value {
        if let Some(current) = current.filter(|_| *self.kind.stored == *"namespaces") {
            object::take_field(&mut object, current, "spec");
        }
        object
    }

    /// Refuses a patched object of another name or namespace.
    fn named_as_asked(&self, mut object: Value) -> Result<Value, Refusal> {
        let place = self.place();
        metadata::settle_namespace(&self.kind, &mut object, place.namespace)?;
        body::check_name(&object, place.name)?;
        Ok(object)
    }

    /// The patch of a body by its media type.
    ///
    /// # Errors
    /// 415 for another type, 400 when it is no JSON.
    pub(super) fn read_patch(&self, body: &Bytes) -> Result<Patch, Refusal> {
        let media_type = negotiation::content_type(&self.headers);
        let form = match media_type.as_str() {
            "application/json-patch+json" => Form::Json,
            "application/merge-patch+json" => Form::Merge,
            "application/strategic-merge-patch+json" if self.kind.custom.is_some() => {
                return Err(Refusal::unsupported_media_type(
                    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
                ));
            }
            "application/strategic-merge-patch+json" => Form::Strategic,
            other if APPLY.contains(&other) => {
                return Err(Refusal::unsupported_media_type(format!(
                    "server-side apply ({other}) is not served here: use client-side apply, which sends application/strategic-merge-patch+json (kubectl apply --server-side=false)"
                )));
            }
            _ => return Err(Refusal::unknown_patch()),
        };
        let Decoded { object, mut strict } =
            decode_untyped(body).map_err(|_| Refusal::bad_request("invalid JSON patch"))?;
        if matches!(form, Form::Json) {
            for problem in &mut strict {
                problem.insert_str(0, "json patch ");
            }
        }
        Ok(Patch {
            form,
            value: object,
            strict,
        })
    }
}

fn updated_answer(updated: Updated, warnings: Vec<String>) -> Answer {
    let code = if updated.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Answer {
        code,
        content: Content::Object(updated.object),
        warnings,
    }
}

impl Patch {
    /// `document` with the patch applied; `gvk` is its type.
    pub(super) fn apply(&self, document: &Value, gvk: Gvk<'_>) -> Result<Value, Refusal> {
        let patched = match self.form {
            Form::Json => patch::json::apply(document, &self.value),
            Form::Merge => patch::merge::apply(document, &self.value),
            Form::Strategic => match Schema::builtin().kind(gvk) {
                Some(root) => patch::strategic::apply(document, &self.value, root),
                None => Err(patch::strategic::unsupported()),
            },
        };
        patched.map_err(refused)
    }

    /// What a refusal of `patched` quotes, and how its types are told: upstream decodes the text of the result, but
    /// converts a strategic merge as it is, and knows the patch alone.
    fn source(&self, patched: &Value) -> Source {
        Source {
            origin: self.origin(),
            quoted: match self.form {
                Form::Json | Form::Merge => patched.to_string(),
                Form::Strategic => patch::printed(&self.value),
            },
        }
    }

    pub(super) fn origin(&self) -> Origin {
        match self.form {
            Form::Json | Form::Merge => Origin::Document,
            Form::Strategic => Origin::Merged,
        }
    }
}

fn refused(error: PatchError) -> Refusal {
    match error {
        PatchError::BadRequest(why) => Refusal::bad_request(why),
        PatchError::TooLarge { .. } => Refusal::too_large_patch(&error.to_string()),
        PatchError::Unprocessable(_) => Refusal::unprocessable_patch(),
        PatchError::Internal(why) => Refusal::unknown(why),
    }
}

/// The subject of a refusal that names nothing.
pub(super) const NOTHING: Subject<'_> = Subject {
    group: "",
    resource: "",
    name: "",
};
