//! What the admission plugins that are on by default do to a new pod, in upstream's order. Source: plugin/pkg/admission
//! {serviceaccount, priority, defaulttolerationseconds}. Not here: defaults that belong to the type (`pod_template`).

use serde_json::{Map, Value, json};

use crate::kind::Surroundings;
use crate::object::{self, default_field};
use crate::refusal::{Refusal, Subject};

/// Volumes of this prefix hold the token of the pod's account.
const TOKEN_VOLUME: &str = "kube-api-access-";
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Source: serviceaccount `WarnOnlyBoundTokenExpirationSeconds`.
const TOKEN_SECONDS: u32 = 3607;
/// Source: `--default-not-ready-toleration-seconds`, `--default-unreachable-toleration-seconds`.
const TOLERATED_SECONDS: u32 = 300;
/// Taints of nodes that may come back.
const TOLERATED: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];
/// Classes there always are, with their priorities. Source: apis/scheduling `SystemPriorityClasses`.
const CLASSES: [(&str, u32); 2] = [
    ("system-node-critical", 2_000_001_000),
    ("system-cluster-critical", 2_000_000_000),
];

/// Settles a new pod.
///
/// # Errors
/// 403 for an account or a priority class that is not there.
pub(super) fn admit(pod: &mut Value, around: &Surroundings<'_>) -> Result<(), Refusal> {
    let name = object::name(pod).to_owned();
    let subject = Subject {
        group: "",
        resource: "pods",
        name: &name,
    };
    account(pod, around).map_err(|why| Refusal::forbidden(subject, &why))?;
    priority(object::child(pod, "spec")).map_err(|why| Refusal::forbidden(subject, &why))?;
    tolerations(object::child(pod, "spec"));
    Ok(())
}

fn account(pod: &mut Value, around: &Surroundings<'_>) -> Result<(), String> {
    let namespace = object::namespace(pod).to_owned();
    let spec = object::child(pod, "spec");
    default_field(spec, "serviceAccountName", "default");
    let name = spec["serviceAccountName"].clone();
    spec.insert("serviceAccount".to_owned(), name.clone());
    let name = name.as_str().unwrap_or_default();
    let Some(account) = around.object("serviceaccounts", &namespace, name) else {
        return Err(format!(
            "error looking up service account {namespace}/{name}: serviceaccount {name:?} not found"
        ));
    };
    let said = |object: &Map<String, Value>| {
        object
            .get("automountServiceAccountToken")
            .and_then(Value::as_bool)
    };
    let secrets = account.get("imagePullSecrets").cloned();
    if said(spec)
        .or_else(|| account.as_object().and_then(said))
        .unwrap_or(true)
    {
        mount_token(spec, around);
    }
    if let Some(secrets) = secrets {
        default_field(spec, "imagePullSecrets", secrets);
    }
    Ok(())
}

fn mount_token(spec: &mut Map<String, Value>, around: &Surroundings<'_>) {
    let volumes = spec.get("volumes").and_then(Value::as_array);
    let there = volumes
        .into_iter()
        .flatten()
        .filter_map(|volume| volume.get("name")?.as_str())
        .find(|name| name.starts_with(TOKEN_VOLUME))
        .map(str::to_owned);
    let is_new = there.is_none();
    let volume = there.unwrap_or_else(|| format!("{TOKEN_VOLUME}{}", around.suffix()));
    let mut used = false;
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            used |= mount(container, &volume);
        }
    }
    if is_new
        && used
        && let Value::Array(volumes) = spec.entry("volumes").or_insert_with(|| json!([]))
    {
        volumes.push(token_volume(&volume));
    }
}

/// Mounts the volume unless something is mounted at its place.
fn mount(container: &mut Value, volume: &str) -> bool {
    let mounts = object::fields(container)
        .entry("volumeMounts")
        .or_insert_with(|| json!([]));
    let Value::Array(mounts) = mounts else {
        return false;
    };
    if mounts.iter().any(|mount| mount["mountPath"] == TOKEN_PATH) {
        return false;
    }
    mounts.push(json!({"name": volume, "readOnly": true, "mountPath": TOKEN_PATH}));
    true
}

fn token_volume(name: &str) -> Value {
    json!({
        "name": name,
        "projected": {
            "defaultMode": 420,
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [
                    {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
                ]}},
            ],
        },
    })
}

fn priority(spec: &mut Map<String, Value>) -> Result<(), String> {
    let class = spec.get("priorityClassName").and_then(Value::as_str);
    let value = match class {
        None | Some("") => 0,
        Some(class) => CLASSES
            .iter()
            .find(|(name, _)| *name == class)
            .map(|(_, value)| *value)
            .ok_or_else(|| format!("no PriorityClass with name {class} was found"))?,
    };
    if spec
        .get("priority")
        .is_some_and(|given| given.as_u64() != Some(u64::from(value)))
    {
        return Err(format!(
            "the integer value of priority ({}) must not be provided in pod spec; priority admission controller computed {value} from the given PriorityClass name",
            spec["priority"]
        ));
    }
    spec.insert("priority".to_owned(), value.into());
    default_field(spec, "preemptionPolicy", "PreemptLowerPriority");
    Ok(())
}

fn tolerations(spec: &mut Map<String, Value>) {
    let Value::Array(list) = spec.entry("tolerations").or_insert_with(|| json!([])) else {
        return;
    };
    let text = |toleration: &Value, field: &str| {
        toleration
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    for key in TOLERATED {
        let there = list.iter().any(|one| {
            [key, ""].contains(&text(one, "key").as_str())
                && ["NoExecute", ""].contains(&text(one, "effect").as_str())
        });
        if !there {
            list.push(json!({
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": TOLERATED_SECONDS,
            }));
        }
    }
}
