//! Scripts that are run once for every kind: `conformance/plane/templates` filled from `conformance/plane/kinds.yaml`.
//! Not here: running them.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::plane::script::{self, Placed, Script, Step};

/// What a template must know about a kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// `Deployment`.
    pub kind: String,
    /// `apps/v1`.
    pub api: String,
    /// `deployments`.
    pub plural: String,
    /// Objects live outside namespaces.
    #[serde(default)]
    pub cluster: bool,
    /// A small valid object, without apiVersion, kind and metadata.name.
    #[serde(default)]
    pub object: Map<String, Value>,
    /// A merge patch that changes it.
    pub change: Value,
    /// A merge patch that makes it invalid.
    pub invalid: Option<Value>,
    /// A merge patch for its status subresource.
    pub status: Option<Value>,
    /// Objects can be scaled.
    #[serde(default)]
    pub scale: bool,
    /// The kind is defined by a custom resource definition.
    #[serde(default)]
    pub custom: bool,
}

/// A template: a script and what a kind must have for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    name: String,
    #[serde(default)]
    needs: Vec<Need>,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Need {
    Namespaced,
    Status,
    Scale,
    Invalid,
    Builtin,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "about")]
    _about: String,
    templates: Vec<Template>,
}

impl Kind {
    fn has(&self, need: Need) -> bool {
        match need {
            Need::Namespaced => !self.cluster,
            Need::Status => self.status.is_some(),
            Need::Scale => self.scale,
            Need::Invalid => self.invalid.is_some(),
            Need::Builtin => !self.custom,
        }
    }

    fn group_path(&self) -> String {
        let root = if self.api.contains('/') {
            "apis"
        } else {
            "api"
        };
        format!("/{root}/{}", self.api)
    }

    /// The path of its collection, of one namespace when it has any.
    pub(crate) fn path(&self) -> String {
        let place = if self.cluster { "" } else { "/namespaces/{ns}" };
        format!("{}{place}/{}", self.group_path(), self.plural)
    }

    /// The words a template may use in a text.
    fn words(&self) -> [(&'static str, String); 7] {
        let name = if self.cluster { "{ns}-" } else { "" };
        [
            ("{path}", self.path()),
            (
                "{absent}",
                format!(
                    "{}/namespaces/{{ns}}-absent/{}",
                    self.group_path(),
                    self.plural
                ),
            ),
            ("{all}", format!("{}/{}", self.group_path(), self.plural)),
            ("{name}", name.to_owned()),
            ("{kind}", self.kind.clone()),
            ("{api}", self.api.clone()),
            ("{plural}", self.plural.clone()),
        ]
    }

    /// A small valid object without a name.
    pub(crate) fn example(&self) -> Value {
        let mut object = self.object.clone();
        object.insert("apiVersion".to_owned(), self.api.as_str().into());
        object.insert("kind".to_owned(), self.kind.as_str().into());
        object.into()
    }

    /// The tree that `$` in a body stands for.
    fn tree(&self, word: &str) -> Option<Value> {
        match word {
            "object" => Some(self.example()),
            "change" => Some(self.change.clone()),
            "invalid" => self.invalid.clone(),
            "status" => self.status.clone(),
            _ => None,
        }
    }

    fn fill_text(&self, text: &mut String) {
        for (word, value) in self.words() {
            *text = text.replace(word, &value);
        }
    }

    fn fill(&self, tree: &mut Value) {
        match tree {
            Value::String(text) => self.fill_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|value| self.fill(value));
                let base = fields.remove("$");
                let word = base.as_ref().and_then(Value::as_str).unwrap_or_default();
                if let Some(base) = self.tree(word) {
                    let over = std::mem::replace(tree, base);
                    merge(tree, over);
                    self.fill(tree);
                }
            }
            _ => {}
        }
    }

    fn script(&self, template: &Script) -> Script {
        let mut script = template.clone();
        script.name = format!("{} {}: {}", self.api, self.kind, script.name);
        for step in &mut script.steps {
            for text in [&mut step.request, &mut step.watch].into_iter().flatten() {
                self.fill_text(text);
            }
            if let Some(body) = &mut step.body {
                self.fill(body);
            }
        }
        script
    }
}

/// Lays `over` on `base`, map by map.
fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (name, value) in over {
                merge(base.entry(name).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

/// The kinds of a table.
///
/// # Errors
/// A file that cannot be read, with its path, line and column.
pub fn kinds(table: &Path) -> Result<Vec<Kind>> {
    serde_saphyr::from_str(&read(table)?).with_context(|| table.display().to_string())
}

/// Every template of `folder` for each of `kinds` that has what it needs.
///
/// # Errors
/// A file that cannot be read, with its path, line and column.
pub fn expand(folder: &Path, kinds: &[Kind]) -> Result<Vec<Placed>> {
    let mut files = Vec::new();
    script::walk(folder, &mut files)?;
    files.sort();
    let mut scripts = Vec::new();
    for path in files {
        let place = || path.display().to_string();
        let file: File = serde_saphyr::from_str(&read(&path)?).with_context(place)?;
        for Template { name, needs, steps } in file.templates {
            let template = Script { name, steps };
            script::check(&template).with_context(place)?;
            let fitting = kinds
                .iter()
                .filter(|kind| needs.iter().all(|need| kind.has(*need)));
            scripts.extend(fitting.map(|kind| Placed {
                file: path.strip_prefix(folder).unwrap_or(&path).to_owned(),
                script: kind.script(&template),
            }));
        }
    }
    Ok(scripts)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lease() -> Kind {
        Kind {
            kind: "Lease".to_owned(),
            api: "coordination.k8s.io/v1".to_owned(),
            plural: "leases".to_owned(),
            cluster: false,
            object: Map::from_iter([("spec".to_owned(), json!({"holderIdentity": "a"}))]),
            change: json!({"spec": {"holderIdentity": "b"}}),
            invalid: None,
            status: None,
            scale: false,
            custom: false,
        }
    }

    #[test]
    fn a_template_takes_its_paths_and_objects_from_the_kind() {
        let mut body = json!({"$": "object", "metadata": {"name": "{name}a"}});
        lease().fill(&mut body);
        assert_eq!(
            body,
            json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"}, "spec": {"holderIdentity": "a"}})
        );
        let mut path = "{path}/{name}a".to_owned();
        lease().fill_text(&mut path);
        assert_eq!(
            path,
            "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/a"
        );
    }

    #[test]
    fn a_kind_without_status_has_no_script_for_it() {
        assert!(!lease().has(Need::Status));
        assert!(lease().has(Need::Namespaced));
    }
}
