//! Making a pod from a template (upstream controller.GetPodFromTemplate). Not here: names with ordinals, volumes.

use serde_json::{Value, json};

use super::object::{controller_reference, name, namespace, put};

/// A pod of `template` controlled by `owner`, named `pod_name`.
pub(crate) fn pod_of(template: &Value, owner: &Value, pod_name: &str) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name,
            "generateName": prefix(owner),
            "namespace": namespace(owner),
            "ownerReferences": [controller_reference(owner)],
        },
        "spec": template.pointer("/spec").cloned().unwrap_or_else(|| json!({})),
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.pointer(&format!("/metadata/{field}")) {
            put(&mut pod, &["metadata", field], value.clone());
        }
    }
    pod
}

/// The `generateName` of an owner's pods (upstream getPodsPrefix; a name too long for a dash cannot be stored here).
pub(crate) fn prefix(owner: &Value) -> String {
    format!("{}-", name(owner))
}

/// True when two templates are the same but for the label `pod-template-hash` and absent-or-null fields
/// (upstream deploymentutil.EqualIgnoreHash).
pub(crate) fn same_template(left: &Value, right: &Value) -> bool {
    plain(left) == plain(right)
}

fn plain(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template
        .pointer_mut("/metadata/labels")
        .and_then(Value::as_object_mut)
    {
        labels.remove(HASH_LABEL);
    }
    without_empties(&mut template);
    template
}

/// The label that tells the pods of one ReplicaSet of a Deployment from those of another.
pub(crate) const HASH_LABEL: &str = "pod-template-hash";

/// Semantic.DeepEqual takes nil and empty for the same; so do nulls, `{}` and `[]` here.
fn without_empties(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(without_empties);
            map.retain(|_, value| !is_empty(value));
        }
        Value::Array(list) => list.iter_mut().for_each(without_empties),
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

/// The template of a workload, `{}` when absent.
pub(crate) fn template_of(workload: &Value) -> Value {
    workload
        .pointer("/spec/template")
        .cloned()
        .unwrap_or_else(|| json!({}))
}
