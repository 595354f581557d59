//! DELETE of objects and collections. Source: apiserver handlers/delete.go.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Answer, Call, Content};
use crate::body::{self, invalid_options};
use crate::field::FieldError;
use crate::kind::DeleteAnswer;
use crate::negotiation;
use crate::refusal::Refusal;
use crate::registry::{DeleteOptions, Deleted, Mode, Place, Propagation};
use crate::schema::Gvk;

impl Call {
    pub(super) async fn delete(&self, body: &Bytes) -> Result<Answer, Refusal> {
        let asked = self.delete_options(body)?;
        let deleted = self
            .api
            .registry
            .delete(self.place(), &asked.options, asked.mode)
            .await
            .map_err(|refusal| refusal.warned(&self.warnings(&asked)))?;
        let code = if !deleted.removed && asked.cascades {
            StatusCode::ACCEPTED
        } else {
            StatusCode::OK
        };
        let content = self.deleted(deleted);
        Ok(Answer {
            code,
            content,
            warnings: self.warnings(&asked),
        })
    }

    pub(super) async fn delete_collection(&self, body: &Bytes) -> Result<Answer, Refusal> {
        let asked = self.delete_options(body)?;
        let mut list = self.list()?;
        list.warnings = self.warnings(&asked);
        let objects = match &list.content {
            Content::List(_, objects) => objects.as_slice(),
            Content::Object(_) | Content::Plain(_) => &[],
        };
        for object in objects {
            let (namespace, name) = (
                crate::object::namespace(object),
                crate::object::name(object),
            );
            let place = Place {
                kind: &self.kind,
                namespace,
                name,
            };
            match self
                .api
                .registry
                .delete(place, &asked.options, asked.mode)
                .await
            {
                Ok(_) => {}
                // Somebody else was faster.
                Err(refusal) if refusal.code == StatusCode::NOT_FOUND => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(list)
    }

    fn warnings(&self, asked: &Asked) -> Vec<String> {
        let warning = self.kind.strategy.deletion_warning();
        let said = asked.options.propagation.is_some();
        warning
            .filter(|_| !said)
            .map(str::to_owned)
            .into_iter()
            .collect()
    }

    fn deleted(&self, deleted: Deleted) -> Content {
        if !deleted.removed || self.kind.delete == DeleteAnswer::Object {
            return Content::Object(deleted.object);
        }
        let mut details = Map::new();
        details.insert("name".to_owned(), self.place().name.into());
        if !self.kind.group.is_empty() {
            details.insert("group".to_owned(), self.kind.group.as_ref().into());
        }
        details.insert("kind".to_owned(), self.kind.plural.as_ref().into());
        details.insert("uid".to_owned(), crate::object::uid(&deleted.object).into());
        Content::Plain(json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }))
    }

    fn delete_options(&self, bytes: &Bytes) -> Result<Asked, Refusal> {
        let said = if bytes.is_empty() {
            self.options_of_query()?
        } else {
            let json = body::json(&negotiation::content_type(&self.headers), bytes)?;
            body::options(OPTIONS, &json)?
        };
        let text = |pointer: &str| said.pointer(pointer).and_then(Value::as_str);
        let orphans = said.get("orphanDependents").and_then(Value::as_bool);
        let mut errors = Vec::new();
        let propagation =
            propagation(text("/propagationPolicy"), orphans).unwrap_or_else(|error| {
                errors.push(error);
                None
            });
        let dry = said
            .get("dryRun")
            .filter(|list| list.as_array().is_some_and(|list| !list.is_empty()));
        if let Some(list) = dry.filter(|list| **list != json!(["All"])) {
            errors.push(crate::field::not_supported(
                "dryRun",
                list.clone(),
                &["All"],
            ));
        }
        if !errors.is_empty() {
            return Err(invalid_options("DeleteOptions", &errors));
        }
        let options = DeleteOptions {
            grace_seconds: said.get("gracePeriodSeconds").and_then(Value::as_i64),
            propagation,
            uid: text("/preconditions/uid").map(str::to_owned),
            resource_version: text("/preconditions/resourceVersion").map(str::to_owned),
        };
        Ok(Asked {
            options,
            mode: dry.map_or(Mode::Commit, |_| Mode::DryRun),
            cascades: orphans == Some(false),
        })
    }

    /// The options of a request without a body.
    fn options_of_query(&self) -> Result<Value, Refusal> {
        let mut said = Map::new();
        if let Some(text) = self.query.get("gracePeriodSeconds") {
            let seconds: i64 = text.parse().map_err(|_| {
                Refusal::bad_request(format!(
                    "strconv.ParseInt: parsing {text:?}: invalid syntax"
                ))
            })?;
            said.insert("gracePeriodSeconds".to_owned(), seconds.into());
        }
        if self.query.get("orphanDependents").is_some() {
            let flag = self.query.flag("orphanDependents");
            said.insert("orphanDependents".to_owned(), flag.into());
        }
        if let Some(policy) = self.query.get("propagationPolicy") {
            said.insert("propagationPolicy".to_owned(), policy.into());
        }
        let dry: Vec<&str> = self
            .query
            .all("dryRun")
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect();
        said.insert("dryRun".to_owned(), dry.into());
        Ok(said.into())
    }
}

/// The type of a deletion's options.
const OPTIONS: Gvk<'static> = Gvk::new("", "v1", "DeleteOptions");

struct Asked {
    options: DeleteOptions,
    mode: Mode,
    /// `orphanDependents: false`, the old way to ask; it changes the status code.
    cascades: bool,
}

fn propagation(
    policy: Option<&str>,
    orphans: Option<bool>,
) -> Result<Option<Propagation>, FieldError> {
    match (policy, orphans) {
        (Some(policy), Some(_)) => Err(crate::field::invalid(
            "propagationPolicy",
            policy,
            "orphanDependents and deletionPropagation cannot be both set",
        )),
        (None, None) => Ok(None),
        (None, Some(true)) | (Some("Orphan"), None) => Ok(Some(Propagation::Orphan)),
        (None, Some(false)) | (Some("Background"), None) => Ok(Some(Propagation::Background)),
        (Some("Foreground"), None) => Ok(Some(Propagation::Foreground)),
        (Some(other), None) => Err(crate::field::not_supported(
            "propagationPolicy",
            other,
            &["Foreground", "Background", "Orphan", "nil"],
        )),
    }
}
