//! The types of one document: those its resources name, all those reach, and the ones made for custom resources.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Resource, Subresource};
use crate::schema::{Gvk, REFERENCE_PREFIX, Schema};

/// Package of upstream's shared types.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

pub(super) struct Reached<'s> {
    schema: &'s Schema,
    schemas: BTreeMap<String, Value>,
}

/// The definitions the operations of a resource refer to.
pub(super) struct Names {
    pub(super) object: String,
    pub(super) list: String,
    pub(super) status: String,
    pub(super) delete_options: String,
    pub(super) patch: String,
    pub(super) scale: String,
}

impl<'s> Reached<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        let schemas = BTreeMap::new();
        Self { schema, schemas }
    }

    /// Adds what a resource refers to; `None` when its type is not known.
    pub(super) fn add(&mut self, resource: &Resource<'_>) -> Option<Names> {
        let (object, list) = match resource.custom {
            Some(custom) => self.add_custom(resource, custom),
            None => self.add_builtin(resource.gvk)?,
        };
        let names = Names {
            object,
            list,
            status: format!("{META}.Status"),
            delete_options: format!("{META}.DeleteOptions"),
            patch: format!("{META}.Patch"),
            scale: "io.k8s.api.autoscaling.v1.Scale".into(),
        };
        for name in [&names.status, &names.delete_options, &names.patch] {
            self.reach(name);
        }
        if resource.subresources.contains(&Subresource::Scale) {
            self.reach(&names.scale);
        }
        Some(names)
    }

    pub(super) fn into_schemas(self) -> BTreeMap<String, Value> {
        self.schemas
    }

    fn add_builtin(&mut self, gvk: Gvk<'_>) -> Option<(String, String)> {
        let kind = format!("{}List", gvk.kind);
        let object = self.schema.definition_name(gvk)?.to_owned();
        let list = self.schema.definition_name(Gvk { kind: &kind, ..gvk });
        let list = list.map_or_else(|| object.clone(), str::to_owned);
        self.reach(&object);
        self.reach(&list);
        Some((object, list))
    }

    /// Copies a built-in definition and every one it refers to.
    fn reach(&mut self, name: &str) {
        let mut todo = vec![name.to_owned()];
        while let Some(name) = todo.pop() {
            if self.schemas.contains_key(&name) {
                continue;
            }
            if let Some(definition) = self.schema.definition(&name) {
                references(definition, &mut todo);
                self.schemas.insert(name, definition.clone());
            }
        }
    }

    /// Upstream: apiextensions controller/openapi/builder, `buildKubeNative` and `buildListSchema`.
    fn add_custom(&mut self, resource: &Resource<'_>, custom: &Value) -> (String, String) {
        let Gvk {
            group,
            version,
            kind,
        } = resource.gvk;
        let reversed: Vec<&str> = group.rsplit('.').collect();
        let object = format!("{}.{version}.{kind}", reversed.join("."));
        let list = format!("{object}List");
        let mut schema = custom.clone();
        let fields = crate::object::fields(&mut schema);
        let properties = crate::object::fields(fields.entry("properties").or_insert_with(empty));
        properties.extend(head("ObjectMeta"));
        self.schemas
            .insert(object.clone(), of_kind(schema, resource.gvk));
        let mut properties = head("ListMeta");
        let items = json!({
            "type": "array",
            "items": {"$ref": format!("{REFERENCE_PREFIX}{object}")},
            "description": format!("List of {}.", resource.plural),
        });
        properties.insert("items".into(), items);
        let schema = json!({
            "type": "object",
            "description": format!("{kind}List is a list of {kind}"),
            "properties": properties,
            "required": ["items"],
        });
        let kind = format!("{kind}List");
        let gvk = Gvk {
            kind: &kind,
            ..resource.gvk
        };
        self.schemas.insert(list.clone(), of_kind(schema, gvk));
        self.reach(&format!("{META}.ObjectMeta"));
        self.reach(&format!("{META}.ListMeta"));
        (object, list)
    }
}

fn empty() -> Value {
    Value::Object(Map::new())
}

/// `apiVersion`, `kind` and `metadata`, which every object has.
fn head(meta: &str) -> Map<String, Value> {
    let text = |text: &str| json!({"type": "string", "description": text});
    let metadata = json!({
        "allOf": [{"$ref": format!("{REFERENCE_PREFIX}{META}.{meta}")}],
        "description": "Standard object's metadata.",
    });
    Map::from_iter([
        (
            "apiVersion".into(),
            text("APIVersion defines the versioned schema of this representation of an object."),
        ),
        (
            "kind".into(),
            text("Kind is a string value representing the REST resource this object represents."),
        ),
        ("metadata".into(), metadata),
    ])
}

fn of_kind(mut schema: Value, gvk: Gvk<'_>) -> Value {
    let Gvk {
        group,
        version,
        kind,
    } = gvk;
    schema["x-kubernetes-group-version-kind"] =
        json!([{"group": group, "version": version, "kind": kind}]);
    schema
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let reference = fields.get("$ref").and_then(Value::as_str);
            let name = reference.and_then(|text| text.strip_prefix(REFERENCE_PREFIX));
            found.extend(name.map(str::to_owned));
            fields.values().for_each(|inner| references(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}
