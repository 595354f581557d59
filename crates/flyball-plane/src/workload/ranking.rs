//! Which pods of a ReplicaSet die first when there are too many (upstream controller.ActivePodsWithRanks).
//! Not here: how many die.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::object::{
    annotation, count, created_ms, is_active, is_ready, items, name, ready_since, text,
};

/// The annotation by which a pod asks to live longer: a higher cost dies later.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Orders `pods` so that the first is the first to delete. `related` are the pods of all ReplicaSets with the same owner: a pod
/// that shares its node with more of them dies before one that shares it with fewer.
///
/// Note: where both are ready or both are not, upstream compares times by the binary logarithm of the age and breaks ties by uid,
/// which is random. Newest first is one of the orders that allows; it is the one taken here, so that equal runs are equal.
pub(crate) fn by_deletion_preference(pods: &mut [Arc<Value>], related: &[Arc<Value>]) {
    let mut neighbours: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in related.iter().filter(|pod| is_active(pod)) {
        *neighbours.entry(text(pod, "/spec/nodeName")).or_default() += 1;
    }
    pods.sort_by(|left, right| compare(left, right, &neighbours));
}

fn compare(left: &Value, right: &Value, neighbours: &BTreeMap<&str, usize>) -> Ordering {
    let assigned = |pod| !text(pod, "/spec/nodeName").is_empty();
    let crowd = |pod| {
        Reverse(
            neighbours
                .get(text(pod, "/spec/nodeName"))
                .copied()
                .unwrap_or(0),
        )
    };
    assigned(left)
        .cmp(&assigned(right))
        .then_with(|| phase_rank(left).cmp(&phase_rank(right)))
        .then_with(|| is_ready(left).cmp(&is_ready(right)))
        .then_with(|| deletion_cost(left).cmp(&deletion_cost(right)))
        .then_with(|| crowd(left).cmp(&crowd(right)))
        .then_with(|| newest_first(ready_since(left), ready_since(right)))
        .then_with(|| restarts(right).cmp(&restarts(left)))
        .then_with(|| newest_first(Some(created_ms(left)), Some(created_ms(right))))
        .then_with(|| name(left).cmp(name(right)))
}

/// A time that is not known counts as newest (upstream afterOrZero).
fn newest_first(left: Option<i64>, right: Option<i64>) -> Ordering {
    right.unwrap_or(i64::MAX).cmp(&left.unwrap_or(i64::MAX))
}

/// Pending < Unknown < Running; other phases rank as Pending (upstream podPhaseToOrdinal).
fn phase_rank(pod: &Value) -> u8 {
    match text(pod, "/status/phase") {
        "Running" => 2,
        "Unknown" => 1,
        _ => 0,
    }
}

/// An unreadable cost is 0, as is one with a leading plus or zero (upstream helper.GetDeletionCostFromPodAnnotations).
fn deletion_cost(pod: &Value) -> i32 {
    let text = annotation(pod, DELETION_COST).unwrap_or_default();
    if text.starts_with(['-', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        text.parse().unwrap_or(0)
    } else {
        0
    }
}

/// The most restarts of one container, then of one sidecar: an init container that is always restarted
/// (upstream maxContainerRestarts).
fn restarts(pod: &Value) -> (i64, i64) {
    let is_sidecar = |status: &&Value| {
        items(pod, "/spec/initContainers").iter().any(|container| {
            container["name"] == status["name"] && container["restartPolicy"] == "Always"
        })
    };
    let most = |counts: &mut dyn Iterator<Item = &Value>| {
        counts
            .map(|status| count(status, "/restartCount"))
            .max()
            .unwrap_or(0)
    };
    (
        most(&mut items(pod, "/status/containerStatuses").iter()),
        most(
            &mut items(pod, "/status/initContainerStatuses")
                .iter()
                .filter(is_sidecar),
        ),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(name: &str, change: impl FnOnce(&mut Value)) -> Arc<Value> {
        let mut pod = json!({
            "metadata": {"name": name, "creationTimestamp": "2026-01-01T00:00:10Z", "annotations": {}},
            "spec": {"nodeName": "n1", "initContainers": [{"name": "setup"}, {"name": "proxy", "restartPolicy": "Always"}]},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:01:00Z"}],
                "containerStatuses": [{"restartCount": 1}],
                "initContainerStatuses": [{"name": "setup", "restartCount": 0}, {"name": "proxy", "restartCount": 1}],
            },
        });
        change(&mut pod);
        Arc::new(pod)
    }

    #[test]
    fn each_rule_decides_against_all_the_rules_after_it() {
        type Row = (&'static str, fn(&mut Value));
        let rows: [Row; 9] = [
            ("unassigned", |pod| pod["spec"]["nodeName"] = json!("")),
            ("pending", |pod| pod["status"]["phase"] = json!("Pending")),
            ("unknown", |pod| pod["status"]["phase"] = json!("Unknown")),
            ("not ready", |pod| {
                pod["status"]["conditions"][0]["status"] = json!("False");
            }),
            ("cheap", |pod| {
                pod["metadata"]["annotations"][DELETION_COST] = json!("-1");
            }),
            ("ready later", |pod| {
                pod["status"]["conditions"][0]["lastTransitionTime"] =
                    json!("2026-01-01T00:01:01Z");
            }),
            ("restarted more", |pod| {
                pod["status"]["containerStatuses"][0]["restartCount"] = json!(2);
            }),
            ("sidecar restarted more", |pod| {
                pod["status"]["initContainerStatuses"][1]["restartCount"] = json!(2);
            }),
            ("newer", |pod| {
                pod["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:11Z");
            }),
        ];
        for (index, (rule, change)) in rows.iter().enumerate() {
            // The rival has every weaker reason to die, and the earlier name.
            let rival = pod("a", |pod| {
                rows[index + 1..].iter().for_each(|(_, weaker)| weaker(pod));
            });
            let mut pods = vec![rival, pod("b", change)];
            by_deletion_preference(&mut pods, &[]);
            assert_eq!(name(&pods[0]), "b", "{rule}");
        }
    }

    #[test]
    fn restarts_of_an_init_container_that_ends_do_not_count() {
        let rival = pod("b", |pod| {
            pod["status"]["initContainerStatuses"][0]["restartCount"] = json!(9);
        });
        let mut pods = vec![rival, pod("a", |_| ())];
        by_deletion_preference(&mut pods, &[]);
        assert_eq!(name(&pods[0]), "a");
    }

    #[test]
    fn a_pod_on_a_crowded_node_dies_before_one_on_a_quiet_node() {
        let quiet = pod("a", |pod| pod["spec"]["nodeName"] = json!("n2"));
        let mut pods = vec![quiet, pod("b", |_| ())];
        let related = [pods.clone(), vec![pod("c", |_| ())]].concat();
        by_deletion_preference(&mut pods, &related);
        assert_eq!(name(&pods[0]), "b");
    }

    #[test]
    fn a_deletion_cost_that_is_no_plain_integer_is_zero() {
        for (text, expected) in [
            ("5", 5),
            ("-5", -5),
            ("+5", 0),
            ("05", 0),
            ("x", 0),
            ("0", 0),
        ] {
            let pod = pod("a", |pod| {
                pod["metadata"]["annotations"][DELETION_COST] = json!(text);
            });
            assert_eq!(deletion_cost(&pod), expected, "{text}");
        }
    }
}
