//! What the scripted cluster serves: groups, versions and resources. The same in every scenario.

use serde_json::{Value, json};

/// A group with its one version.
struct Group {
    name: &'static str,
    version: &'static str,
    kinds: &'static [Kind],
}

/// Plural, kind, and whether it can be scaled.
type Kind = (&'static str, &'static str, Scale);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    Yes,
    No,
}

const CORE: &[Kind] = &[
    ("events", "Event", Scale::No),
    ("namespaces", "Namespace", Scale::No),
    ("pods", "Pod", Scale::No),
    (
        "replicationcontrollers",
        "ReplicationController",
        Scale::Yes,
    ),
    ("services", "Service", Scale::No),
];

const APPS: &[Kind] = &[
    ("deployments", "Deployment", Scale::Yes),
    ("replicasets", "ReplicaSet", Scale::Yes),
    ("statefulsets", "StatefulSet", Scale::Yes),
];

const AUTOSCALING: &[Kind] = &[(
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    Scale::No,
)];

const GROUPS: &[Group] = &[
    Group {
        name: "",
        version: "v1",
        kinds: CORE,
    },
    Group {
        name: "apps",
        version: "v1",
        kinds: APPS,
    },
    Group {
        name: "autoscaling",
        version: "v2",
        kinds: AUTOSCALING,
    },
    Group {
        name: "networking.k8s.io",
        version: "v1",
        kinds: &[("ingresses", "Ingress", Scale::No)],
    },
    Group {
        name: "metrics.k8s.io",
        version: "v1beta1",
        kinds: &[("pods", "PodMetrics", Scale::No)],
    },
    Group {
        name: "custom.metrics.k8s.io",
        version: "v1beta2",
        kinds: &[],
    },
    Group {
        name: "external.metrics.k8s.io",
        version: "v1beta1",
        kinds: &[],
    },
];

/// The answer to a discovery request; none when the path is no such request.
pub(super) fn answer(path: &[&str]) -> Option<Value> {
    match path {
        ["version"] => Some(json!({"major": "1", "minor": "37", "gitVersion": "v1.37.2"})),
        ["api"] => Some(json!({"kind": "APIVersions", "versions": ["v1"]})),
        ["apis"] => Some(json!({
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": GROUPS.iter().filter(|group| !group.name.is_empty()).map(group).collect::<Vec<_>>(),
        })),
        ["apis", name] => GROUPS.iter().find(|group| group.name == *name).map(group),
        ["api", version] => resources("", version),
        ["apis", name, version] => resources(name, version),
        _ => None,
    }
}

fn group(group: &Group) -> Value {
    let Group { name, version, .. } = group;
    let preferred = json!({"groupVersion": format!("{name}/{version}"), "version": version});
    json!({"name": name, "versions": [preferred], "preferredVersion": preferred})
}

fn resources(name: &str, version: &str) -> Option<Value> {
    let group = GROUPS
        .iter()
        .find(|group| group.name == name && group.version == version)?;
    let mut list = Vec::new();
    for (plural, kind, scale) in group.kinds {
        let namespaced = *plural != "namespaces";
        list.push(json!({
            "name": plural,
            "singularName": kind.to_lowercase(),
            "namespaced": namespaced,
            "kind": kind,
            "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
        }));
        if *scale == Scale::Yes {
            list.push(json!({
                "name": format!("{plural}/scale"),
                "singularName": "",
                "namespaced": namespaced,
                "group": "autoscaling",
                "version": "v1",
                "kind": "Scale",
                "verbs": ["get", "patch", "update"],
            }));
        }
    }
    let group_version = if name.is_empty() {
        version.to_owned()
    } else {
        format!("{name}/{version}")
    };
    Some(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": list,
    }))
}
