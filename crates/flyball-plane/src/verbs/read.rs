//! GET of one object, and the forms an object or a list may be asked in.

use serde_json::{Value, json};

use super::{Answer, Call};
use crate::negotiation::Shape;
use crate::refusal::Refusal;

impl Call {
    pub(super) fn get(&self) -> Result<Answer, Refusal> {
        let entry = self.api.registry.get(self.place())?;
        if let Some(asked) = self.query.get("resourceVersion") {
            self.check_not_newer(asked)?;
        }
        Ok(Answer::ok(self.served(&entry.object)))
    }

    /// Refuses a revision that is not there yet. Upstream waits three seconds for it; here reads come from the one memory,
    /// so a revision that was given out is there.
    pub(super) fn check_not_newer(&self, asked: &str) -> Result<u64, Refusal> {
        let Ok(asked) = asked.parse::<u64>() else {
            return Err(Refusal::bad_request(format!(
                "resourceVersion: Invalid value: {asked:?}: strconv.ParseUint: parsing {asked:?}: invalid syntax"
            )));
        };
        let current = self.api.registry.store.read().revision();
        if asked > current {
            Err(Refusal::resource_version_too_large(asked, current))
        } else {
            Ok(asked)
        }
    }

    /// A served object or list in the accepted shape.
    pub(super) fn shaped(&self, value: Value) -> Value {
        match self.form.shape {
            Shape::Object | Shape::Table | Shape::Discovery => value,
            Shape::Metadata => metadata_of(value),
        }
    }
}

fn metadata_of(value: Value) -> Value {
    let Value::Object(mut fields) = value else {
        return value;
    };
    let metadata = fields.remove("metadata").unwrap_or_else(|| json!({}));
    let Some(Value::Array(items)) = fields.remove("items") else {
        return json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata});
    };
    let items: Vec<Value> = items.into_iter().map(metadata_of).collect();
    json!({
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "items": items,
    })
}
