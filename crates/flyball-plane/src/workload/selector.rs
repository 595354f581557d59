//! Which objects a workload's selector matches, over JSON. The rules are `flyball_api::selector`'s; here are only the readings
//! that controllers need.

use flyball_api::selector::{LabelSelector, Selector};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// True when a LabelSelector object (`matchLabels`, `matchExpressions`) matches the labels of `object`.
///
/// An absent, empty or unreadable selector matches nothing here: a controller that selects by mistake must not claim everything.
pub(crate) fn selects(selector: &Value, object: &Value) -> bool {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    matches_labels(selector, labels)
}

/// True when a LabelSelector object matches a label map; see [`selects`].
pub(crate) fn matches_labels(selector: &Value, labels: Option<&Map<String, Value>>) -> bool {
    let compiled = LabelSelector::deserialize(selector)
        .ok()
        .and_then(|object| LabelSelector::compile(Some(&object)).ok())
        .filter(|compiled| !compiled.is_everything());
    compiled.is_some_and(|compiled| meets(&compiled, labels))
}

/// True when the label map meets a compiled selector.
pub(crate) fn meets(selector: &Selector, labels: Option<&Map<String, Value>>) -> bool {
    selector.matches_with(|key| labels?.get(key)?.as_str())
}

/// The selector that matches exactly the given labels, from a plain label map.
pub(crate) fn of_labels(labels: Option<&Value>) -> Value {
    json!({ "matchLabels": labels.cloned().unwrap_or_else(|| json!({})) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_matches_by_labels_and_expressions() {
        let pod = json!({"metadata": {"labels": {"app": "web", "tier": "front"}}});
        let rows = [
            (json!({}), false),
            (json!({"matchLabels": {"app": "web"}}), true),
            (json!({"matchLabels": {"app": "db"}}), false),
            (json!({"matchLabels": {"app": "web", "zone": "a"}}), false),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["db", "web"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}),
                false,
            ),
            (
                json!({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}),
                false,
            ),
        ];
        for (selector, expected) in rows {
            assert_eq!(selects(&selector, &pod), expected, "{selector}");
        }
    }
}
