//! Which labels a workload's selector matches, over JSON. Not here: the `labelSelector=` query grammar, validation.

use serde_json::{Map, Value, json};

use super::object::{items, text};

/// True when a LabelSelector object (`matchLabels`, `matchExpressions`) matches the labels of `object`.
///
/// An absent or empty selector matches nothing here, as controllers need it (upstream: "should match nothing, not everything").
pub fn selects(selector: &Value, object: &Value) -> bool {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    matches_labels(selector, labels)
}

/// True when a LabelSelector object matches a label map; see [`selects`].
pub fn matches_labels(selector: &Value, labels: Option<&Map<String, Value>>) -> bool {
    let value_of = |key: &str| {
        labels
            .and_then(|labels| labels.get(key))
            .and_then(Value::as_str)
    };
    let exact = selector.pointer("/matchLabels").and_then(Value::as_object);
    let rules = items(selector, "/matchExpressions");
    if exact.is_none_or(Map::is_empty) && rules.is_empty() {
        return false;
    }
    let exact_holds = exact
        .into_iter()
        .flatten()
        .all(|(key, wanted)| value_of(key).is_some() && value_of(key) == wanted.as_str());
    exact_holds
        && rules
            .iter()
            .all(|rule| rule_holds(rule, value_of(text(rule, "/key"))))
}

/// The selector that matches exactly the given labels, from a plain label map.
pub fn of_labels(labels: Option<&Value>) -> Value {
    json!({ "matchLabels": labels.cloned().unwrap_or_else(|| json!({})) })
}

fn rule_holds(rule: &Value, value: Option<&str>) -> bool {
    let listed = |value| {
        items(rule, "/values")
            .iter()
            .any(|entry| entry.as_str() == Some(value))
    };
    match text(rule, "/operator") {
        "In" => value.is_some_and(listed),
        "NotIn" => !value.is_some_and(listed),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        _ => false,
    }
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
