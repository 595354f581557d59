//! `flyball load`: changes the load on a workload of a running plane. The plane reads it from an annotation of the workload.

use std::path::PathBuf;

use clap::ArgGroup;
use flyball_api::Quantity;
use flyball_plane::workload::load::LOAD;
use serde_json::{Map, Value, json};

use crate::cluster::{self, ClusterError};
use crate::{data_dir, output};

/// Change the load on a workload while it runs: what its pods together use from now on.
#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("amount").required(true).multiple(true)))]
pub(crate) struct Args {
    /// The workload, such as deploy/web; also sts, rs, rc and pod
    #[arg(value_name = "KIND/NAME", value_parser = parse_workload)]
    workload: Workload,

    /// Cores all pods use together, such as 6 or 2500m
    #[arg(long, value_name = "QUANTITY", value_parser = parse_amount, group = "amount")]
    cpu: Option<String>,

    /// Memory all pods use together, such as 2Gi
    #[arg(long, value_name = "QUANTITY", value_parser = parse_amount, group = "amount")]
    memory: Option<String>,

    /// Namespace of the workload
    #[arg(short, long, default_value = "default")]
    namespace: String,

    /// Data directory of the plane [default: that of `flyball up`]
    #[arg(long, value_name = "DIR", conflicts_with = "kubeconfig")]
    data_dir: Option<PathBuf>,

    /// Kubeconfig of the plane
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

/// A kind that can bear load, and a name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Workload {
    /// Name as kubectl prints it, such as `deployment.apps`.
    kind: &'static str,
    /// Path of the API group.
    group: &'static str,
    /// Plural.
    resource: &'static str,
    name: String,
}

/// The names kubectl takes for a kind, its printed name, the path of its group, its plural.
const KINDS: [(&[&str], &str, &str, &str); 5] = [
    (
        &[
            "deploy",
            "deployment",
            "deployments",
            "deployment.apps",
            "deployments.apps",
        ],
        "deployment.apps",
        "/apis/apps/v1",
        "deployments",
    ),
    (
        &[
            "sts",
            "statefulset",
            "statefulsets",
            "statefulset.apps",
            "statefulsets.apps",
        ],
        "statefulset.apps",
        "/apis/apps/v1",
        "statefulsets",
    ),
    (
        &[
            "rs",
            "replicaset",
            "replicasets",
            "replicaset.apps",
            "replicasets.apps",
        ],
        "replicaset.apps",
        "/apis/apps/v1",
        "replicasets",
    ),
    (
        &["rc", "replicationcontroller", "replicationcontrollers"],
        "replicationcontroller",
        "/api/v1",
        "replicationcontrollers",
    ),
    (&["po", "pod", "pods"], "pod", "/api/v1", "pods"),
];

fn parse_workload(text: &str) -> Result<Workload, String> {
    let shape = || "must be KIND/NAME, such as deploy/web".to_owned();
    let (kind, name) = text.split_once('/').ok_or_else(shape)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(shape());
    }
    let wanted = kind.to_ascii_lowercase();
    let known = KINDS
        .iter()
        .find(|(names, ..)| names.contains(&wanted.as_str()));
    let (_, kind, group, resource) =
        known.ok_or_else(|| format!("{kind} bears no load; deploy, sts, rs, rc and pod do"))?;
    Ok(Workload {
        kind,
        group,
        resource,
        name: name.to_owned(),
    })
}

fn parse_amount(text: &str) -> Result<String, String> {
    let quantity = Quantity::parse(text).map_err(|error| error.to_string())?;
    if quantity.sign() < 0 {
        return Err("must not be negative".to_owned());
    }
    Ok(text.to_owned())
}

/// A workload that changes is written to by its controllers as well: this often the load is read and put again.
const ATTEMPTS: u32 = 5;

pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let kubeconfig = match args.kubeconfig {
        Some(file) => file,
        None => data_dir::choose(args.data_dir.as_deref())?.join("kubeconfig"),
    };
    let client = cluster::connect(&kubeconfig).await?;
    let told = [("cpu", args.cpu), ("memory", args.memory)];
    let told: Vec<(&str, String)> = told
        .into_iter()
        .filter_map(|(field, amount)| Some((field, amount?)))
        .collect();
    let mut attempt = 1;
    while let Err(error) = put(&client, &args.workload, &args.namespace, &told).await {
        if attempt == ATTEMPTS || !matches!(error, ClusterError::Conflict(_)) {
            return Err(error.into());
        }
        attempt += 1;
    }
    let told: Vec<String> = told
        .iter()
        .map(|(field, amount)| format!("{field} {amount}"))
        .collect();
    let Workload { kind, name, .. } = &args.workload;
    output::data(format_args!("{kind}/{name} bears {}", told.join(", ")))?;
    Ok(())
}

/// Reads the load of a workload and puts it back changed, unless somebody wrote in between.
async fn put(
    client: &kube::Client,
    workload: &Workload,
    namespace: &str,
    told: &[(&str, String)],
) -> Result<(), ClusterError> {
    let Workload {
        kind,
        group,
        resource,
        name,
    } = workload;
    let path = format!("{group}/namespaces/{namespace}/{resource}/{name}");
    let object = cluster::read(client, &path).await?;
    let load = changed(&object, told).map_err(|why| ClusterError::Load {
        object: format!("{kind}/{name}"),
        why,
    })?;
    let change = json!({"metadata": {
        "resourceVersion": object["metadata"]["resourceVersion"],
        "annotations": {LOAD: load},
    }});
    cluster::merge(client, &path, &change).await?;
    Ok(())
}

/// The load annotation with these fields replaced and all others kept.
fn changed(object: &Value, told: &[(&str, String)]) -> Result<String, String> {
    let before = object["metadata"]["annotations"][LOAD].as_str();
    let mut load: Map<String, Value> = match before {
        None => Map::new(),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| format!("its annotation {LOAD} is no JSON object: {error}"))?,
    };
    for (field, amount) in told {
        load.insert((*field).to_owned(), amount.clone().into());
    }
    Ok(Value::Object(load).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_has_the_names_kubectl_takes() {
        for text in ["deploy/web", "Deployment/web", "deployments.apps/web"] {
            let workload = parse_workload(text).unwrap();
            assert_eq!(
                (workload.resource, workload.name.as_str()),
                ("deployments", "web")
            );
        }
        for (text, why) in [
            ("web", "must be KIND/NAME, such as deploy/web"),
            ("deploy/", "must be KIND/NAME, such as deploy/web"),
            ("deploy/../x", "must be KIND/NAME, such as deploy/web"),
            ("cm/web", "cm bears no load; deploy, sts, rs, rc and pod do"),
        ] {
            assert_eq!(parse_workload(text), Err(why.to_owned()));
        }
    }

    #[test]
    fn one_field_of_a_load_is_replaced_and_the_others_stay() {
        let load = r#"{"cpu":{"points":[[0,"1"]]},"epoch":"2026-01-01T00:00:00Z","memory":"1Gi"}"#;
        let object = json!({"metadata": {"annotations": {LOAD: load}}});
        let told = [("cpu", "6".to_owned())];
        let wanted = r#"{"cpu":"6","epoch":"2026-01-01T00:00:00Z","memory":"1Gi"}"#;
        assert_eq!(changed(&object, &told).unwrap(), wanted);
        assert_eq!(changed(&json!({}), &told).unwrap(), r#"{"cpu":"6"}"#);
        let broken = json!({"metadata": {"annotations": {LOAD: "[]"}}});
        assert!(
            changed(&broken, &told)
                .unwrap_err()
                .starts_with("its annotation")
        );
    }
}
