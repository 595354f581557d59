//! Dropping fields a schema does not know. Source: apiextensions apiserver/schema/pruning/algorithm.go.

use serde_json::Value;

use super::schema::{Additional, Schema};

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops what `schema` does not know from a whole object and tells the paths of what it dropped, sorted.
pub(crate) fn prune(object: &mut Value, schema: &Schema) -> Vec<String> {
    let mut walk = Walk {
        dropped: Vec::new(),
    };
    walk.value(
        object,
        schema,
        At {
            path: "",
            is_resource: true,
        },
    );
    walk.dropped.sort();
    walk.dropped
}

/// Drops what a schema does not know from a part of an object, a default for instance; tells whether there was any.
pub(crate) fn prune_part(part: &mut Value, schema: &Schema) -> bool {
    let mut walk = Walk {
        dropped: Vec::new(),
    };
    let is_resource = schema.embedded;
    walk.value(
        part,
        schema,
        At {
            path: "?",
            is_resource,
        },
    );
    !walk.dropped.is_empty()
}

#[derive(Clone, Copy)]
struct At<'a> {
    path: &'a str,
    is_resource: bool,
}

struct Walk {
    dropped: Vec<String>,
}

impl Walk {
    fn value(&mut self, value: &mut Value, schema: &Schema, at: At<'_>) {
        match value {
            Value::Object(fields) => {
                let mut unknown = Vec::new();
                for (name, inner) in fields.iter_mut() {
                    let is_meta = META.contains(&name.as_str());
                    if at.is_resource && is_meta {
                        continue;
                    }
                    let path = child(at.path, name);
                    if let Some(known) = schema.field(name) {
                        let is_resource = known.embedded;
                        self.value(
                            inner,
                            known,
                            At {
                                path: &path,
                                is_resource,
                            },
                        );
                    } else if matches!(schema.additional, Additional::Allowed) && !schema.preserves
                    {
                        self.strip(inner, &path);
                    } else if !schema.preserves {
                        unknown.push(name.clone());
                        self.dropped.push(path);
                    }
                }
                for name in unknown {
                    fields.remove(&name);
                }
            }
            Value::Array(items) => {
                for (index, inner) in items.iter_mut().enumerate() {
                    let path = format!("{}[{index}]", at.path);
                    match &schema.items {
                        Some(known) => {
                            let is_resource = known.embedded;
                            self.value(
                                inner,
                                known,
                                At {
                                    path: &path,
                                    is_resource,
                                },
                            );
                        }
                        None if schema.preserves => {}
                        None => self.strip(inner, &path),
                    }
                }
            }
            _ => {}
        }
    }

    /// Nothing is known of what is in `value`: its fields go.
    fn strip(&mut self, value: &mut Value, path: &str) {
        match value {
            Value::Object(fields) => {
                self.dropped
                    .extend(fields.keys().map(|name| child(path, name)));
                fields.clear();
            }
            Value::Array(items) => {
                for (index, inner) in items.iter_mut().enumerate() {
                    self.strip(inner, &format!("{path}[{index}]"));
                }
            }
            _ => {}
        }
    }
}

fn child(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
