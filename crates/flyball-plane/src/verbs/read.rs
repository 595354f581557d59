//! GET of one object, and the forms an object or a list may be asked in.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Answer, Call, Content};
use crate::negotiation::Shape;
use crate::object;
use crate::refusal::Refusal;
use crate::respond;
use crate::schema::Gvk;
use crate::store::Entry;
use crate::table::{self, Headers, IncludeObject, Item, Options, Printer};

impl Call {
    pub(super) fn get(&self) -> Result<Answer, Refusal> {
        let entry = self.read_one()?;
        Ok(Answer::ok(Content::Object(entry.object)))
    }

    /// The object of the request, which may ask for one that is not older than a revision.
    pub(super) fn read_one(&self) -> Result<Entry, Refusal> {
        if let Some(asked) = self.query.get("resourceVersion") {
            self.check_not_newer(asked)
                .map_err(|refusal| self.unread(refusal))?;
        }
        self.api.registry.get(self.place())
    }

    /// What upstream makes of a revision that is not a number: of kinds that its watch cache does not keep, it tells alike for
    /// lists and objects; of the others it passes the parser's error on.
    fn unread(&self, mut refusal: Refusal) -> Refusal {
        if refusal.code != http::StatusCode::BAD_REQUEST {
            return refusal;
        }
        if *self.kind.stored == *"events" {
            refusal.message.insert_str(0, "invalid resource version: ");
            return refusal;
        }
        Refusal::unknown(refusal.message)
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

    /// The content in the accepted shape; a table tells its columns when `headers` says so.
    pub(super) fn shaped(&self, content: &Content, headers: Headers) -> Result<Value, Refusal> {
        Ok(match (content, self.form.shape) {
            (Content::Plain(value), _) => value.clone(),
            (_, Shape::Table) => self.table(content, headers)?,
            (Content::Object(object), Shape::Metadata) => metadata_of(object),
            // Upstream never makes the list's items when there are none.
            (Content::List(metadata, objects), Shape::Metadata) if objects.is_empty() => json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": metadata,
                "items": null,
            }),
            (Content::List(metadata, objects), Shape::Metadata) => json!({
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": metadata,
                "items": objects.iter().map(|object| metadata_of(object)).collect::<Vec<_>>(),
            }),
            (Content::Object(object), Shape::Object | Shape::Discovery) => self.served(object),
            (Content::List(metadata, objects), Shape::Object | Shape::Discovery) => {
                self.list_of(metadata, objects)
            }
        })
    }

    fn table(&self, content: &Content, headers: Headers) -> Result<Value, Refusal> {
        let asked = self.query.get("includeObject").unwrap_or_default();
        let include = IncludeObject::parse(asked).ok_or_else(|| {
            let error = crate::field::not_supported(
                "includeObject",
                asked,
                &["Metadata", "None", "Object"],
            );
            crate::body::invalid_option("TableOptions", &error)
        })?;
        let options = Options {
            include,
            headers,
            now_ms: self.api.registry.clock.now_ms(),
        };
        let (metadata, objects) = match content {
            Content::Object(object) => {
                let revision = object::meta(object, "resourceVersion");
                (
                    json!({"resourceVersion": revision}),
                    std::slice::from_ref(object),
                )
            }
            Content::List(metadata, objects) => (metadata.clone(), objects.as_slice()),
            Content::Plain(value) => return Ok(value.clone()),
        };
        let served: Vec<Value> = objects.iter().map(|object| self.served(object)).collect();
        let items: Vec<Item<'_>> = objects
            .iter()
            .zip(&served)
            .map(|(printed, served)| Item { printed, served })
            .collect();
        let gvk = Gvk::new(&self.kind.group, &self.version.name, &self.kind.kind);
        if let Some(columns) = self.kind.strategy.columns(&self.version.name) {
            return Ok(table::custom(columns, &items, &metadata, options));
        }
        Ok(Printer::of(gvk).table(&items, &metadata, options))
    }

    /// Upstream leaves kind and version out of the items of a list of built-in objects.
    fn item(&self, object: &Value) -> Value {
        let mut item = self.served(object);
        if self.kind.custom.is_none() {
            let fields = object::fields(&mut item);
            fields.remove("kind");
            fields.remove("apiVersion");
        }
        item
    }

    fn list_of(&self, metadata: &Value, objects: &[Arc<Value>]) -> Value {
        let items = objects.iter().map(|object| self.item(object)).collect();
        let mut list = json!({
            "kind": self.kind.list_kind(),
            "apiVersion": self.kind.api_version(&self.version.name),
            "metadata": self.list_metadata(metadata),
        });
        object::fields(&mut list).insert("items".to_owned(), Value::Array(items));
        list
    }

    /// Upstream writes an empty continue token in lists of custom resources, whose lists have no type.
    fn list_metadata(&self, metadata: &Value) -> Value {
        let mut metadata = metadata.clone();
        if self.kind.custom.is_some() {
            object::default_field(object::fields(&mut metadata), "continue", "");
        }
        metadata
    }

    /// What [`Self::list_of`] is in JSON, object by object: a list of a hundred thousand is never held as values as well.
    pub(super) fn list_line(&self, metadata: &Value, objects: &[Arc<Value>]) -> Bytes {
        respond::line(&List {
            api_version: self.kind.api_version(&self.version.name),
            items: Items(self, objects),
            kind: self.kind.list_kind(),
            metadata: &self.list_metadata(metadata),
        })
    }
}

/// A list, with its fields in the order of their names as in every other answer.
#[derive(Serialize)]
struct List<'a> {
    #[serde(rename = "apiVersion")]
    api_version: String,
    items: Items<'a>,
    kind: String,
    metadata: &'a Value,
}

struct Items<'a>(&'a Call, &'a [Arc<Value>]);

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(call, objects) = self;
        serializer.collect_seq(objects.iter().map(|object| call.item(object)))
    }
}

fn metadata_of(object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": object.get("metadata").cloned().unwrap_or_default(),
    })
}
