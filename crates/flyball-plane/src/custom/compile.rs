//! From a CustomResourceDefinition to a kind. Source: apiextensions apiserver/customresource_handler.go
//! `getOrCreateServingInfoFor`. Not here: when (`serving`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::Value;

use super::jsonpath::JsonPath;
use super::printer::Columns;
use super::schema::Schema;
use super::strategy::{CustomResource, Version};
use crate::cel::Rules;
use crate::kind::{
    self, Custom, DeleteAnswer, Dependents, Kind, PutRule, Scope, SelectorForm, Text,
};
use crate::schema::{Gvk, Schema as Builtin};

/// The kind a definition makes; `None` while it is not established.
pub(crate) fn compile(definition: &Value) -> Option<Kind> {
    if !is_true(definition, "Established") {
        return None;
    }
    let spec = &definition["spec"];
    let names = &definition["status"]["acceptedNames"];
    let text = |value: &Value| Text::Owned(value.as_str().unwrap_or_default().to_owned());
    let texts = |value: &Value| value.as_array().into_iter().flatten().map(text).collect();
    let declared: Vec<&Value> = spec["versions"].as_array().into_iter().flatten().collect();
    let storage = declared.iter().find(|one| one["storage"] == true)?;
    let mut served: Vec<&Value> = declared
        .iter()
        .copied()
        .filter(|one| one["served"] == true)
        .collect();
    served.sort_by_key(|one| Reverse(rank(one["name"].as_str().unwrap_or_default())));
    let (group, plural) = (text(&spec["group"]), text(&names["plural"]));
    let status = storage["subresources"].get("status").is_some();
    let scale = storage["subresources"].get("scale");
    let versions = declared.iter().map(|one| {
        let name = one["name"].as_str().unwrap_or_default().to_owned();
        (name, version(one))
    });
    let strategy = CustomResource {
        definition: crate::object::name(definition).to_owned(),
        kind: text(&names["kind"]).into_owned(),
        has_status: status,
        versions: versions.collect(),
    };
    Some(Kind {
        kind: text(&names["kind"]),
        singular: text(&names["singular"]),
        short_names: texts(&names["shortNames"]),
        categories: texts(&names["categories"]),
        scope: if spec["scope"] == "Cluster" {
            Scope::Cluster
        } else {
            Scope::Namespaced
        },
        versions: served
            .iter()
            .map(|one| kind::Version {
                name: text(&one["name"]),
                codec: None,
            })
            .collect(),
        stored: format!("{plural}.{group}").into(),
        stored_api_version: format!("{group}/{}", storage["name"].as_str().unwrap_or_default())
            .into(),
        has_status: status,
        scale: scale.map(|_| SelectorForm::Text),
        put: PutRule::Conditional,
        delete: DeleteAnswer::Status,
        dependents: Dependents::Follow,
        strategy: Box::new(strategy),
        custom: Some(Custom {
            list_kind: text(&names["listKind"]),
            schemas: declared
                .iter()
                .map(|one| (text(&one["name"]), one["schema"]["openAPIV3Schema"].clone()))
                .collect(),
            scale: scale.cloned().unwrap_or_default(),
        }),
        group,
        plural,
    })
}

/// True when a condition of a definition's status is `True`.
pub(crate) fn is_true(definition: &Value, condition: &str) -> bool {
    let all = definition["status"]["conditions"].as_array();
    all.into_iter()
        .flatten()
        .any(|one| one["type"] == condition && one["status"] == "True")
}

fn version(declared: &Value) -> Version {
    let paths = declared["selectableFields"]
        .as_array()
        .into_iter()
        .flatten();
    let selectable: BTreeMap<String, JsonPath> = paths
        .filter_map(|one| {
            let path = one["jsonPath"].as_str()?;
            Some((
                path.trim_start_matches('.').to_owned(),
                JsonPath::parse(path)?,
            ))
        })
        .collect();
    Version {
        schema: Schema::of(&declared["schema"]["openAPIV3Schema"]),
        rules: Rules::of(&declared["schema"]["openAPIV3Schema"]),
        columns: Columns::of(declared),
        selectable,
    }
}

/// The order of versions: stable before beta before alpha, higher before lower, then whatever else there is.
/// Source: apimachinery version/helpers.go `CompareKubeAwareVersionStrings`.
fn rank(name: &str) -> (u8, u64, u64, Reverse<String>) {
    let other = (0, 0, 0, Reverse(name.to_owned()));
    let Some(rest) = name.strip_prefix('v') else {
        return other;
    };
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let Ok(major) = rest[..digits].parse::<u64>() else {
        return other;
    };
    let (stage, minor) = match &rest[digits..] {
        "" => (3, "0"),
        tail => match (tail.strip_prefix("beta"), tail.strip_prefix("alpha")) {
            (Some(minor), _) => (2, minor),
            (_, Some(minor)) => (1, minor),
            (None, None) => return other,
        },
    };
    let Ok(minor) = minor.parse::<u64>() else {
        return other;
    };
    (stage, major, minor, Reverse(String::new()))
}

/// Brings `metadata` into its type and tells the fields it does not have.
pub(super) fn settle_metadata(object: &mut Value) -> Vec<String> {
    const HOLDER: Gvk<'static> = Gvk::new("", "v1", "ConfigMap");
    let Some(metadata) = object.get("metadata") else {
        return Vec::new();
    };
    let holder = serde_json::json!({"metadata": metadata});
    let decoded =
        Builtin::builtin().decode_value(HOLDER, &holder, crate::schema::decode::Origin::Document);
    match decoded {
        Ok(mut decoded) => {
            let metadata = decoded.object["metadata"].take();
            crate::object::fields(object).insert("metadata".to_owned(), metadata);
            decoded
                .strict
                .iter()
                .filter_map(|problem| {
                    problem
                        .strip_prefix("unknown field \"")?
                        .strip_suffix('"')
                        .map(str::to_owned)
                })
                .collect()
        }
        Err(_) => Vec::new(),
    }
}
