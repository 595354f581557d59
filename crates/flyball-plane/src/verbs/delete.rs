//! DELETE of objects and collections. Source: apiserver handlers/delete.go.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Answer, Call, Content};
use crate::body::{self, invalid_option};
use crate::kind::DeleteAnswer;
use crate::negotiation;
use crate::refusal::Refusal;
use crate::registry::{DeleteOptions, Deleted, Mode, Place, Propagation};

impl Call {
    pub(super) async fn delete(&self, body: &Bytes) -> Result<Answer, Refusal> {
        let asked = self.delete_options(body)?;
        let deleted = self
            .api
            .registry
            .delete(self.place(), &asked.options, asked.mode)
            .await?;
        let code = if !deleted.removed && asked.cascades {
            StatusCode::ACCEPTED
        } else {
            StatusCode::OK
        };
        let content = self.deleted(deleted);
        Ok(Answer {
            code,
            content,
            warnings: Vec::new(),
        })
    }

    pub(super) async fn delete_collection(&self, body: &Bytes) -> Result<Answer, Refusal> {
        let asked = self.delete_options(body)?;
        let list = self.list()?;
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
        let from_body = if bytes.is_empty() {
            json!({})
        } else {
            let json = body::json(&negotiation::content_type(&self.headers), bytes)?;
            serde_json::from_slice(&json)
                .map_err(|error| Refusal::bad_request(error.to_string()))?
        };
        let text = |field: &str| match from_body.get(field) {
            _ if bytes.is_empty() => self.query.get(field).map(str::to_owned),
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Null) | None => None,
            Some(other) => Some(other.to_string()),
        };
        let grace_seconds = match text("gracePeriodSeconds") {
            Some(number) => Some(number.parse().map_err(|_| {
                Refusal::bad_request(format!(
                    "strconv.ParseInt: parsing {number:?}: invalid syntax"
                ))
            })?),
            None => None,
        };
        let orphans = text("orphanDependents");
        let propagation = propagation(text("propagationPolicy").as_deref(), orphans.as_deref())?;
        let precondition = |field: &str| {
            from_body
                .pointer(&format!("/preconditions/{field}"))
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let dry = from_body
            .get("dryRun")
            .and_then(Value::as_array)
            .is_some_and(|list| !list.is_empty());
        let options = DeleteOptions {
            grace_seconds,
            propagation,
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
        };
        let mode = if dry {
            Mode::DryRun
        } else {
            self.mode("DeleteOptions")?
        };
        Ok(Asked {
            options,
            mode,
            cascades: orphans.as_deref() == Some("false"),
        })
    }
}

struct Asked {
    options: DeleteOptions,
    mode: Mode,
    /// `orphanDependents: false`, the old way to ask; it changes the status code.
    cascades: bool,
}

fn propagation(
    policy: Option<&str>,
    orphans: Option<&str>,
) -> Result<Option<Propagation>, Refusal> {
    let error = match (policy, orphans) {
        (Some(policy), Some(_)) => crate::field::invalid(
            "propagationPolicy",
            policy,
            "orphanDependents and deletionPropagation cannot be both set",
        ),
        (None, None) => return Ok(None),
        (None, Some("true")) | (Some("Orphan"), None) => return Ok(Some(Propagation::Orphan)),
        (None, Some(_)) | (Some("Background"), None) => return Ok(Some(Propagation::Background)),
        (Some("Foreground"), None) => return Ok(Some(Propagation::Foreground)),
        (Some(other), None) => crate::field::not_supported(
            "propagationPolicy",
            other,
            &["Foreground", "Background", "Orphan", "nil"],
        ),
    };
    Err(invalid_option("DeleteOptions", &error))
}
