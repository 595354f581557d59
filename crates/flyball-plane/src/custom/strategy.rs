//! The rules of a custom resource, driven by its compiled definition. Source: apiextensions registry/customresource/strategy.go.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::jsonpath::JsonPath;
use super::printer::Columns;
use super::schema::Schema;
use super::{default, list_type, prune, validate};
use crate::cel::Rules;
use crate::field::FieldError;
use crate::kind::{MetadataRules, Strategy, Surroundings};
use crate::object;
use crate::refusal::Refusal;
use crate::store::{Key, ResourceName};

/// One version of a custom resource.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) schema: Schema,
    pub(super) rules: Option<Rules>,
    pub(super) columns: Columns,
    /// Selectable fields by name.
    pub(super) selectable: BTreeMap<String, JsonPath>,
}

/// A custom resource's rules.
#[derive(Debug)]
pub(super) struct CustomResource {
    /// The name of its definition.
    pub(super) definition: String,
    pub(super) kind: String,
    pub(super) has_status: bool,
    pub(super) versions: BTreeMap<String, Version>,
}

impl CustomResource {
    /// The version an object is written in.
    fn version(&self, object: &Value) -> Option<&Version> {
        let api_version = object.get("apiVersion")?.as_str()?;
        self.versions.get(api_version.rsplit('/').next()?)
    }

    fn check(&self, object: &Value) -> Vec<FieldError> {
        let mut problems = Vec::new();
        let kind = object["kind"].as_str().unwrap_or_default();
        if kind != self.kind {
            let detail = format!("must be {}", self.kind);
            problems.push(crate::field::invalid("kind", kind, detail));
        }
        if let Some(version) = self.version(object) {
            problems.extend(validate::check(object, &version.schema));
        }
        problems
    }
}

impl Strategy for CustomResource {
    fn read(&self, version: &str, object: &mut Value) -> Result<Vec<String>, String> {
        if super::is_too_deep(object) {
            return Err(format!("it nests deeper than {} levels", super::DEPTH_MAX));
        }
        let Some(version) = self.versions.get(version) else {
            return Ok(Vec::new());
        };
        let mut unknown = prune::prune(object, &version.schema);
        unknown.extend(super::compile::settle_metadata(object));
        unknown.sort();
        default::fill(object, &version.schema);
        Ok(unknown)
    }

    fn show(&self, version: &str, object: &mut Value) {
        if let Some(version) = self.versions.get(version) {
            prune::prune(object, &version.schema);
            default::fill(object, &version.schema);
        }
    }

    fn admit(&self, _object: &mut Value, around: &Surroundings<'_>) -> Result<(), Refusal> {
        let resource = ResourceName::from("customresourcedefinitions.apiextensions.k8s.io");
        let definition = around.state.get(&Key::new(&resource, "", &self.definition));
        if definition.is_some_and(|entry| object::is_being_deleted(&entry.object)) {
            let mut refusal = Refusal::method_not_allowed();
            "create not allowed while custom resource definition is terminating"
                .clone_into(&mut refusal.message);
            return Err(refusal);
        }
        Ok(())
    }

    fn empty_status(&self) -> Option<Value> {
        None
    }

    fn has_own_status(&self) -> bool {
        self.has_status
    }

    fn counts_as_change(&self, object: &Value, old: &Value) -> bool {
        content(object) != content(old)
    }

    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::General
    }

    fn validate(&self, object: &Value) -> Vec<FieldError> {
        let mut problems = self.check(object);
        if let Some(version) = self.version(object) {
            problems.extend(list_type::check(object, &version.schema));
            if let Some(rules) = &version.rules {
                rules.check(object, None, &mut problems);
            }
        }
        problems
    }

    fn validate_update(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        let mut problems = self.check(object);
        let Some(version) = self.version(object) else {
            return problems;
        };
        // What was wrong before and is as it was may stay wrong (upstream: ratcheting).
        problems.retain(|problem| !is_unchanged(&problem.field, object, old));
        if list_type::check(old, &version.schema).is_empty() {
            problems.extend(list_type::check(object, &version.schema));
        }
        if let Some(rules) = &version.rules {
            rules.check(object, Some(old), &mut problems);
        }
        problems
    }

    fn validate_status(&self, object: &Value, old: &Value) -> Vec<FieldError> {
        self.validate_update(object, old)
    }

    fn selects(&self, field: &str) -> bool {
        self.versions
            .values()
            .any(|version| version.selectable.contains_key(field))
    }

    fn unselectable(&self, field: &str) -> String {
        format!("field label not supported: {field}")
    }

    fn field_value(&self, object: &Value, field: &str) -> String {
        let path = self
            .version(object)
            .and_then(|version| version.selectable.get(field));
        let found = path.map(|path| path.find(object)).unwrap_or_default();
        match found.first() {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }

    fn columns(&self, version: &str) -> Option<&Columns> {
        self.versions.get(version).map(|version| &version.columns)
    }
}

/// Everything but metadata, and the version it is written in.
fn content(object: &Value) -> Map<String, Value> {
    let fields = object.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| !matches!(name.as_str(), "metadata" | "apiVersion"))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// True when the value at a printed path is there and the same in both.
fn is_unchanged(path: &str, object: &Value, old: &Value) -> bool {
    let pointer = format!("/{}", path.replace(']', "").replace(['.', '['], "/"));
    match (object.pointer(&pointer), old.pointer(&pointer)) {
        (Some(new), Some(old)) => new == old,
        _ => false,
    }
}
