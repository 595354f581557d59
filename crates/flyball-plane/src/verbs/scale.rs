//! The `scale` subresource: autoscaling/v1 Scale over the kinds that have replicas.
//! Source: registry/apps/*/storage `ScaleREST`. Not here: the rule for its count, which is the API crate's.

use bytes::Bytes;
use flyball_api::scale::Scale;
use flyball_api::selector::{LabelSelector, Selector};
use flyball_api::validation::validate_scale;
use serde_json::{Map, Value, json};

use super::write::NOTHING;
use super::{Answer, Call, Content};
use crate::body;
use crate::field;
use crate::kind::SelectorForm;
use crate::negotiation;
use crate::object;
use crate::refusal::{Refusal, Subject};
use crate::registry::{Mode, Part};
use crate::schema::decode::{Origin, unreadable};
use crate::schema::{Gvk, Schema};

const SCALE: Gvk<'static> = Gvk::new("autoscaling", "v1", "Scale");

impl Call {
    pub(super) fn get_scale(&self) -> Result<Answer, Refusal> {
        let entry = self.read_one()?;
        let at = self.scale_pointers();
        if self.kind.custom.is_some() && entry.object.pointer(&at.spec).is_none() {
            let path = at.spec.replace('/', ".");
            let why = format!("the spec replicas field {path:?} does not exist");
            return Err(Refusal::internal(why));
        }
        Ok(Answer::ok(Content::Plain(self.scale_of(&entry.object))))
    }

    /// Where the kind keeps the parts of its scale.
    fn scale_pointers(&self) -> Pointers {
        let Some(custom) = &self.kind.custom else {
            return Pointers {
                spec: "/spec/replicas".to_owned(),
                status: "/status/replicas".to_owned(),
                selector: "/spec/selector".to_owned(),
            };
        };
        let pointer = |field: &str| match custom.scale[field].as_str() {
            Some(path) => path.replace('.', "/"),
            None => "/ ".to_owned(),
        };
        Pointers {
            spec: pointer("specReplicasPath"),
            status: pointer("statusReplicasPath"),
            selector: pointer("labelSelectorPath"),
        }
    }

    pub(super) async fn put_scale(&self, body: &Bytes) -> Result<Answer, Refusal> {
        let (mode, strictness) = self.write_options("UpdateOptions")?;
        let json = body::json(&negotiation::content_type(&self.headers), body)?;
        let decoded = body::typed(SCALE, &json)?;
        let warnings = body::judged(decoded.strict, strictness, |why| {
            Refusal::bad_request(unreadable(SCALE, why))
        })?;
        let scale = decoded.object;
        body::check_name(&scale, self.place().name)?;
        let mut answer = self.write_scale(mode, |_| Ok(scale.clone())).await?;
        answer.warnings = warnings;
        Ok(answer)
    }

    pub(super) async fn patch_scale(&self, body: &Bytes) -> Result<Answer, Refusal> {
        let (mode, strictness) = self.write_options("PatchOptions")?;
        let patch = self.read_patch(body)?;
        let name = self.place().name;
        let make = |current: &Value| {
            let patched = patch.apply(&self.scale_of(current), SCALE)?;
            let decoded = Schema::builtin()
                .decode_value(SCALE, &patched, Origin::Document)
                .map_err(|error| {
                    Refusal::invalid(
                        NOTHING,
                        &[field::invalid(
                            "patch",
                            patched.to_string(),
                            error.to_string(),
                        )],
                    )
                })?;
            body::judged(decoded.strict, strictness, |why| {
                Refusal::invalid(
                    NOTHING,
                    &[field::invalid("patch", patched.to_string(), why)],
                )
            })?;
            body::check_name(&decoded.object, name)?;
            Ok(decoded.object)
        };
        self.write_scale(mode, make).await
    }

    async fn write_scale(
        &self,
        mode: Mode,
        make: impl Fn(&Value) -> Result<Value, Refusal> + Send + Sync,
    ) -> Result<Answer, Refusal> {
        let name = self.place().name;
        let update = |current: Option<&Value>| {
            let current = current.ok_or_else(|| Refusal::not_found(self.kind.subject(name)))?;
            let scale = make(current)?;
            check(&scale, name)?;
            let mut new = current.clone();
            let replicas = scale
                .pointer("/spec/replicas")
                .cloned()
                .unwrap_or_else(|| 0.into());
            set(&mut new, &self.scale_pointers().spec, replicas);
            // The scale's revision and uid are the object's: they make the write conditional.
            for field in ["resourceVersion", "uid"] {
                match object::meta(&scale, field) {
                    "" => object::remove_meta(&mut new, field),
                    value => object::set_meta(&mut new, field, value),
                }
            }
            Ok(new)
        };
        let updated = self
            .api
            .registry
            .update(self.place(), Part::Main, mode, update)
            .await?;
        Ok(Answer::ok(Content::Plain(self.scale_of(&updated.object))))
    }

    fn scale_of(&self, object: &Value) -> Value {
        let mut metadata = Map::new();
        for field in [
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "creationTimestamp",
        ] {
            if let Some(value) = object.pointer(&format!("/metadata/{field}")) {
                metadata.insert(field.to_owned(), value.clone());
            }
        }
        let at = self.scale_pointers();
        let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
        let mut spec = Map::new();
        if number(&at.spec) != 0 {
            spec.insert("replicas".to_owned(), number(&at.spec).into());
        }
        let mut status = Map::new();
        status.insert("replicas".to_owned(), number(&at.status).into());
        let selector = self.selector_text(object.pointer(&at.selector));
        if !selector.is_empty() {
            status.insert("selector".to_owned(), selector.into());
        }
        json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status})
    }

    fn selector_text(&self, selector: Option<&Value>) -> String {
        let selector = selector.cloned().unwrap_or_else(|| json!({}));
        match self.kind.scale {
            Some(SelectorForm::Map) => {
                let labels = serde_json::from_value(selector).unwrap_or_default();
                Selector::of_labels(&labels).to_string()
            }
            Some(SelectorForm::Text) => selector.as_str().unwrap_or_default().to_owned(),
            Some(SelectorForm::LabelSelector) | None => {
                serde_json::from_value::<LabelSelector>(selector)
                    .ok()
                    .and_then(|parsed| LabelSelector::compile(Some(&parsed)).ok())
                    .map_or_else(String::new, |compiled| compiled.to_string())
            }
        }
    }
}

/// JSON pointers into an object.
struct Pointers {
    spec: String,
    status: String,
    selector: String,
}

/// Sets the value at a pointer of field names, making objects on the way.
fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut names = pointer.split('/').skip(1).peekable();
    let mut at = object;
    while let Some(name) = names.next() {
        let fields = object::fields(at);
        if names.peek().is_none() {
            fields.insert(name.to_owned(), value);
            return;
        }
        at = fields.entry(name).or_insert_with(|| json!({}));
    }
}

fn check(scale: &Value, name: &str) -> Result<(), Refusal> {
    let problems = match field::read::<Scale>("<object>", scale) {
        Ok(scale) => validate_scale(&scale),
        Err(problem) => vec![problem],
    };
    if problems.is_empty() {
        return Ok(());
    }
    let subject = Subject {
        group: "autoscaling",
        resource: "Scale",
        name,
    };
    Err(Refusal::invalid(subject, &problems))
}
