//! What `flyball up` has to show: a Deployment whose load triples and falls again, and an autoscaler for it.

use std::time::Duration;

use flyball_api::time::Time;
use flyball_clock::Clock;
use flyball_plane::workload::load::LOAD;
use serde_json::{Value, json};

use crate::cluster::{self, ClusterError};

/// What the sample does, for people.
pub(crate) const STORY: &str =
    "deployment web, 2 pods at 80% of their cpu request; in 10 s its load triples for 80 s";

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const AUTOSCALERS: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";

/// The pods need about two seconds; whoever has stopped them does not wait for ever.
const READY_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// 400m on each of two pods, three times that, and back. The first sync after the rise comes within one period, so the
/// first growth is there 25 s after the start; the window below and a few syncs bring the size back in the third minute.
fn load(epoch_ms: i64) -> Value {
    json!({
        "epoch": Time::from_millis(epoch_ms).to_string(),
        "cpu": {"points": [[0, "800m"], [10, "2400m"], [90, "800m"]], "shape": "step"},
    })
}

fn deployment(load: &Value) -> Value {
    let container = json!({
        "name": "app",
        "image": "example/web:1",
        "resources": {"requests": {"cpu": "500m", "memory": "128Mi"}},
    });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "annotations": {LOAD: load.to_string()}},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [container]},
            },
        },
    })
}

/// Half the pods may go every 15 s once no higher recommendation is younger than 30 s.
fn autoscaler() -> Value {
    let down = json!({
        "stabilizationWindowSeconds": 30,
        "policies": [{"type": "Percent", "value": 50, "periodSeconds": 15}],
    });
    let target = json!({"type": "Utilization", "averageUtilization": 80});
    json!({
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 2,
            "maxReplicas": 10,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            "behavior": {"scaleDown": down},
        },
    })
}

/// Makes what is missing of the sample and lets its load begin anew. A load that was changed since is left as it is.
pub(crate) async fn begin(client: &kube::Client, clock: &Clock) -> Result<(), ClusterError> {
    let web = format!("{DEPLOYMENTS}/web");
    make(client, DEPLOYMENTS, &deployment(&load(clock.now_ms()))).await?;
    let until = clock
        .now_ms()
        .saturating_add(READY_WITHIN.as_millis() as i64);
    let mut found = cluster::read(client, &web).await?;
    while found["status"]["readyReplicas"].as_i64().unwrap_or(0) < 1 && clock.now_ms() < until {
        clock.sleep(LOOK_EVERY).await;
        found = cluster::read(client, &web).await?;
    }
    if is_ours(&found) {
        let annotations = json!({LOAD: load(clock.now_ms()).to_string()});
        let patch = json!({"metadata": {"annotations": annotations}});
        cluster::merge(client, &web, &patch).await?;
    }
    // Last, so that its first sync finds pods to measure.
    make(client, AUTOSCALERS, &autoscaler()).await
}

/// Whether the load is still the one made here, at whatever time it began.
fn is_ours(deployment: &Value) -> bool {
    let told = deployment["metadata"]["annotations"][LOAD].as_str();
    let told = told.and_then(|text| serde_json::from_str::<Value>(text).ok());
    told.is_some_and(|told| told["cpu"] == load(0)["cpu"])
}

async fn make(client: &kube::Client, path: &str, object: &Value) -> Result<(), ClusterError> {
    match cluster::create(client, path, object).await {
        Ok(_) | Err(ClusterError::Exists) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_was_changed_is_nobody_elses() {
        assert!(is_ours(&deployment(&load(1_700_000_000_000))));
        assert!(!is_ours(&deployment(&json!({"cpu": "6"}))));
        assert!(!is_ours(&json!({"metadata": {}})));
    }
}
