//! Custom resources: kinds made of CustomResourceDefinitions. A definition is compiled into one [`crate::kind::Kind`] whose rules
//! are its schemas'. Not here: the kind CustomResourceDefinition itself (`kinds`), and when definitions take effect
//! (`definitions`).

pub(crate) mod compile;
pub(crate) mod default;
pub(crate) mod jsonpath;
pub(crate) mod list_type;
pub(crate) mod printer;
pub(crate) mod prune;
pub(crate) mod schema;
pub(crate) mod strategy;
pub(crate) mod structural;
pub(crate) mod validate;

/// How deep a custom resource may nest. A body read as JSON nests at most 128 deep, patches could add to that; what is stored
/// must stay readable when the log is.
pub(crate) const DEPTH_MAX: usize = 100;

/// True when `value` nests deeper than [`DEPTH_MAX`].
pub(crate) fn is_too_deep(value: &serde_json::Value) -> bool {
    let mut todo = vec![(value, 0)];
    while let Some((value, depth)) = todo.pop() {
        if depth > DEPTH_MAX {
            return true;
        }
        match value {
            serde_json::Value::Array(items) => {
                todo.extend(items.iter().map(|one| (one, depth + 1)));
            }
            serde_json::Value::Object(fields) => {
                todo.extend(fields.values().map(|one| (one, depth + 1)));
            }
            _ => {}
        }
    }
    false
}
