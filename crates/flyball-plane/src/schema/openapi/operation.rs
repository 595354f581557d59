//! The addresses of a resource and what may be done there, as clients look them up: kind, action, parameters, bodies.
//! Operation names, actions and parameters are those of upstream's document; descriptions are shortened.

use serde_json::{Map, Value, json};

use super::reach::Names;
use super::{Access, Reach, Resource, Subresource};
use crate::schema::{Gvk, REFERENCE_PREFIX};

const SCALE: Gvk<'static> = Gvk::new("autoscaling", "v1", "Scale");

/// Parameters of a list or watch.
const LIST: [&str; 11] = [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];
/// Parameters of a create or replace.
const WRITE: [&str; 3] = ["dryRun", "fieldManager", "fieldValidation"];
/// Parameters of a patch. `kubectl apply` looks for `fieldValidation` here before it asks for strict validation.
const PATCH: [&str; 4] = ["dryRun", "fieldManager", "fieldValidation", "force"];
/// Parameters of a delete.
const DELETE: [&str; 4] = [
    "dryRun",
    "gracePeriodSeconds",
    "orphanDependents",
    "propagationPolicy",
];
/// Parameters of a delete of a whole collection.
const DELETE_ALL: [&str; 13] = [
    "continue",
    "dryRun",
    "fieldSelector",
    "gracePeriodSeconds",
    "labelSelector",
    "limit",
    "orphanDependents",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
];
/// Patch types a built-in resource takes.
const PATCH_TYPES: [&str; 4] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
];

/// One kind of operation.
struct Verb {
    method: &'static str,
    action: &'static str,
    /// First word of the operation's name: `list` in `listAppsV1NamespacedDeployment`.
    name: &'static str,
    parameters: &'static [&'static str],
}

const fn verb(
    method: &'static str,
    action: &'static str,
    name: &'static str,
    parameters: &'static [&'static str],
) -> Verb {
    Verb {
        method,
        action,
        name,
        parameters,
    }
}

const READ: Verb = verb("get", "get", "read", &[]);
const READ_ALL: Verb = verb("get", "list", "list", &LIST);
const CREATE: Verb = verb("post", "post", "create", &WRITE);
const REPLACE: Verb = verb("put", "put", "replace", &WRITE);
const CHANGE: Verb = verb("patch", "patch", "patch", &PATCH);
const REMOVE: Verb = verb("delete", "delete", "delete", &DELETE);
const REMOVE_ALL: Verb = verb("delete", "deletecollection", "delete", &DELETE_ALL);

/// Adds every address of a resource.
pub(super) fn add_paths(resource: &Resource<'_>, names: &Names, paths: &mut Map<String, Value>) {
    let pages = Pages { resource, names };
    let base = pages.base();
    let collection = match resource.reach {
        Reach::Namespaced => format!("{base}/namespaces/{{namespace}}/{}", resource.plural),
        Reach::Cluster => format!("{base}/{}", resource.plural),
    };
    let (many, one): (&[Verb], &[Verb]) = match resource.access {
        Access::ReadWrite => (
            &[READ_ALL, CREATE, REMOVE_ALL],
            &[READ, REPLACE, CHANGE, REMOVE],
        ),
        Access::ReadOnly => (&[READ_ALL], &[READ]),
    };
    let item = format!("{collection}/{{name}}");
    if resource.reach == Reach::Namespaced {
        let all = format!("{base}/{}", resource.plural);
        let page = pages.page(&all, &[READ_ALL], &Part::ForAllNamespaces);
        paths.insert(all, page);
    }
    paths.insert(
        collection.clone(),
        pages.page(&collection, many, &Part::Objects),
    );
    paths.insert(item.clone(), pages.page(&item, one, &Part::Objects));
    for subresource in resource.subresources {
        let (name, part) = match subresource {
            Subresource::Status => ("status", Part::Status),
            Subresource::Scale => ("scale", Part::Scale),
        };
        let path = format!("{item}/{name}");
        let page = pages.page(&path, &[READ, REPLACE, CHANGE], &part);
        paths.insert(path, page);
    }
}

/// What an address shows of a resource.
#[derive(PartialEq, Eq)]
enum Part {
    Objects,
    ForAllNamespaces,
    Status,
    Scale,
}

struct Pages<'a> {
    resource: &'a Resource<'a>,
    names: &'a Names,
}

impl Pages<'_> {
    fn base(&self) -> String {
        let Gvk { group, version, .. } = self.resource.gvk;
        if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        }
    }

    fn page(&self, path: &str, verbs: &[Verb], part: &Part) -> Value {
        let mut page = Map::new();
        for verb in verbs {
            page.insert(verb.method.into(), self.operation(verb, part));
        }
        let in_path = ["name", "namespace"].into_iter();
        let parameters: Vec<Value> = in_path
            .filter(|name| path.contains(&format!("{{{name}}}")))
            .map(|name| parameter(name, "path"))
            .chain([parameter("pretty", "query")])
            .collect();
        page.insert("parameters".into(), parameters.into());
        Value::Object(page)
    }

    fn operation(&self, verb: &Verb, part: &Part) -> Value {
        let gvk = match part {
            Part::Scale => SCALE,
            _ => self.resource.gvk,
        };
        let mut operation = json!({
            "description": format!("{} {}", verb.name, self.resource.gvk.kind),
            "operationId": self.operation_id(verb, part),
            "responses": {"200": {"description": "OK", "content": content(self.answer(verb, part))}},
            "tags": [format!("{}_{}", self.tag(), self.resource.gvk.version)],
            "x-kubernetes-action": verb.action,
            "x-kubernetes-group-version-kind":
                {"group": gvk.group, "version": gvk.version, "kind": gvk.kind},
        });
        if !verb.parameters.is_empty() {
            let all = verb.parameters.iter();
            operation["parameters"] = all.map(|name| parameter(name, "query")).collect();
        }
        if let Some(body) = self.body(verb, part) {
            operation["requestBody"] = body;
        }
        operation
    }

    fn answer(&self, verb: &Verb, part: &Part) -> &str {
        match verb.action {
            "list" => &self.names.list,
            "delete" | "deletecollection" => &self.names.status,
            _ => self.type_of(part),
        }
    }

    fn type_of(&self, part: &Part) -> &str {
        match part {
            Part::Scale => &self.names.scale,
            _ => &self.names.object,
        }
    }

    fn body(&self, verb: &Verb, part: &Part) -> Option<Value> {
        let of = |name: &str| json!({"schema": reference(name)});
        match verb.action {
            "post" | "put" => {
                let content = json!({"*/*": of(self.type_of(part))});
                Some(json!({"content": content, "required": true}))
            }
            "patch" => {
                let types = PATCH_TYPES.iter().filter(|name| self.takes(name));
                let content = types.map(|name| ((*name).to_owned(), of(&self.names.patch)));
                Some(json!({"content": content.collect::<Map<_, _>>(), "required": true}))
            }
            "delete" | "deletecollection" => {
                Some(json!({"content": {"*/*": of(&self.names.delete_options)}}))
            }
            _ => None,
        }
    }

    /// Custom resources have no strategic merge patch.
    fn takes(&self, patch_type: &str) -> bool {
        self.resource.custom.is_none() || !patch_type.contains("strategic")
    }

    /// `listAppsV1NamespacedDeployment`, `patchCoreV1NamespaceStatus`.
    fn operation_id(&self, verb: &Verb, part: &Part) -> String {
        let Gvk { version, kind, .. } = self.resource.gvk;
        let scope = match (self.resource.reach, part) {
            (Reach::Namespaced, Part::ForAllNamespaces) | (Reach::Cluster, _) => "",
            (Reach::Namespaced, _) => "Namespaced",
        };
        let end = match part {
            Part::Objects => "",
            Part::ForAllNamespaces => "ForAllNamespaces",
            Part::Status => "Status",
            Part::Scale => "Scale",
        };
        let (group, version) = (capitalized(&self.tag()), capitalized(version));
        let many = if verb.action == "deletecollection" {
            "Collection"
        } else {
            ""
        };
        format!("{}{group}{version}{many}{scope}{kind}{end}", verb.name)
    }

    /// The group as tags and operations name it: the first label of its domain.
    fn tag(&self) -> String {
        match self.resource.gvk.group {
            "" => "core".into(),
            group => group.split('.').next().unwrap_or_default().into(),
        }
    }
}

fn content(name: &str) -> Value {
    json!({"application/json": {"schema": reference(name)}})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("{REFERENCE_PREFIX}{name}")})
}

fn parameter(name: &str, place: &str) -> Value {
    let kind = match name {
        "limit" | "timeoutSeconds" | "gracePeriodSeconds" => "integer",
        "allowWatchBookmarks" | "sendInitialEvents" | "watch" | "force" | "orphanDependents" => {
            "boolean"
        }
        _ => "string",
    };
    let mut parameter = json!({
        "name": name,
        "in": place,
        "schema": {"type": kind, "uniqueItems": true},
    });
    if place == "path" {
        parameter["required"] = true.into();
    }
    parameter
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
