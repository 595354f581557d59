//! Rows of every kind, at one instant.

use serde_json::{Value, json};

use super::*;

/// 2026-01-02T00:00:00Z
const NOW_MS: UnixMs = 1_767_312_000_000;

fn created(mut object: Value) -> Value {
    object["metadata"]["name"] = "web".into();
    object["metadata"]["creationTimestamp"] = "2026-01-01T23:50:00Z".into();
    object
}

fn options(include: IncludeObject, headers: Headers) -> Options {
    Options {
        include,
        headers,
        now_ms: NOW_MS,
    }
}

fn print(printer: &Printer, object: &Value, options: Options) -> Value {
    let item = Item {
        printed: object,
        served: object,
    };
    printer.table(&[item], &json!({"resourceVersion": "7"}), options)
}

#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rows read better without borrows"
)]
fn check(group: &str, kind: &str, object: Value, wanted: Value) {
    let printer = Printer::of(Gvk::new(group, "v1", kind));
    let table = print(
        &printer,
        &created(object),
        options(IncludeObject::None, Headers::Shown),
    );
    assert_eq!(table["rows"][0]["cells"], wanted);
    let columns = table["columnDefinitions"].as_array().map(Vec::len);
    assert_eq!(columns, wanted.as_array().map(Vec::len));
}

/// Cells READY, STATUS and RESTARTS of a pod with a container `a`.
#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rows read better without borrows"
)]
fn check_pod(spec: Value, status: Value, wanted: [&str; 3]) {
    let mut pod = json!({"kind": "Pod", "spec": {"containers": [{"name": "a"}]}, "status": status});
    for (field, value) in spec.as_object().expect("an object") {
        pod["spec"][field] = value.clone();
    }
    let table = print(
        &Printer::of(Gvk::new("", "v1", "Pod")),
        &created(pod),
        options(IncludeObject::None, Headers::Omitted),
    );
    let cells: Vec<&str> = (1..4)
        .map(|at| table["rows"][0]["cells"][at].as_str().expect("text"))
        .collect();
    assert_eq!(cells, wanted);
}

fn template() -> Value {
    json!({
        "metadata": {"labels": {"b": "2", "a": "1"}},
        "spec": {"containers": [{"name": "x", "image": "i:1"}, {"name": "y", "image": "j:2"}]},
    })
}

#[test]
fn a_table_describes_its_columns_and_carries_metadata() {
    let object = created(json!({"kind": "ConfigMap", "data": {"a": "1"}}));
    let printer = Printer::of(Gvk::new("", "v1", "ConfigMap"));
    let table = print(
        &printer,
        &object,
        options(IncludeObject::Metadata, Headers::Shown),
    );
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["apiVersion"], "meta.k8s.io/v1");
    assert_eq!(table["metadata"], json!({"resourceVersion": "7"}));
    assert_eq!(table["columnDefinitions"][0]["format"], "name");
    let description = table["columnDefinitions"][1]["description"]
        .as_str()
        .expect("text");
    assert!(
        description.starts_with("Data contains the configuration data."),
        "{description}"
    );
    assert_eq!(
        table["rows"][0]["object"],
        json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
    );
}

#[test]
fn a_row_carries_what_was_asked_for() {
    let object = created(json!({"kind": "ConfigMap"}));
    let printer = Printer::of(Gvk::new("", "v1", "ConfigMap"));
    for (include, wanted) in [
        (IncludeObject::None, Value::Null),
        (IncludeObject::Object, object.clone()),
    ] {
        let table = print(&printer, &object, options(include, Headers::Omitted));
        assert_eq!(table["rows"][0]["object"], wanted);
        assert_eq!(table["columnDefinitions"], Value::Null);
    }
    assert_eq!(IncludeObject::parse("Everything"), None);
}

#[test]
fn workloads_show_counts_and_in_wide_output_containers() {
    let selector = json!({"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "In", "values": ["y", "x"]}]});
    let spec = json!({"replicas": 3, "selector": selector, "template": template()});
    let status =
        json!({"replicas": 2, "readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1});
    check(
        "apps",
        "Deployment",
        json!({"spec": spec, "status": status}),
        json!([
            "web",
            "1/3",
            2,
            1,
            "10m",
            "x,y",
            "i:1,j:2",
            "a=1,b in (x,y)"
        ]),
    );
    check(
        "apps",
        "ReplicaSet",
        json!({"spec": spec, "status": status}),
        json!(["web", 3, 2, 1, "10m", "x,y", "i:1,j:2", "a=1,b in (x,y)"]),
    );
    check(
        "apps",
        "StatefulSet",
        json!({"spec": spec, "status": status}),
        json!(["web", "1/3", "10m", "x,y", "i:1,j:2"]),
    );
    check(
        "",
        "ReplicationController",
        json!({"spec": {"replicas": 3, "selector": {"b": "2", "a": "1"}, "template": template()}, "status": status}),
        json!(["web", 3, 2, 1, "10m", "x,y", "i:1,j:2", "a=1,b=2"]),
    );
}

#[test]
fn an_empty_or_bad_selector_prints_as_its_kind_prints_it() {
    let bad = json!({"matchExpressions": [{"key": "b", "operator": "Near"}]});
    for (kind, selector, wanted) in [
        ("Deployment", json!({}), ""),
        ("Deployment", bad.clone(), "<invalid>"),
        ("ReplicaSet", json!({}), "<none>"),
        ("ReplicaSet", bad, "<error>"),
    ] {
        let object = created(json!({"spec": {"selector": selector}}));
        let printer = Printer::of(Gvk::new("apps", "v1", kind));
        let table = print(
            &printer,
            &object,
            options(IncludeObject::None, Headers::Shown),
        );
        assert_eq!(table["rows"][0]["cells"][7], wanted, "{kind}");
    }
}

#[test]
fn templates_and_revisions_name_what_they_belong_to() {
    check(
        "",
        "PodTemplate",
        json!({"template": template()}),
        json!(["web", "x,y", "i:1,j:2", "a=1,b=2"]),
    );
    let owner =
        json!({"controller": true, "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db"});
    check(
        "apps",
        "ControllerRevision",
        json!({"metadata": {"ownerReferences": [owner]}, "revision": 4}),
        json!(["web", "statefulset.apps/db", 4, "10m"]),
    );
}

#[test]
fn small_kinds_show_name_and_age() {
    check(
        "",
        "Namespace",
        json!({"status": {"phase": "Active"}}),
        json!(["web", "Active", "10m"]),
    );
    check(
        "",
        "ConfigMap",
        json!({"data": {"a": "1"}, "binaryData": {"b": "Mg=="}}),
        json!(["web", 2, "10m"]),
    );
    check(
        "",
        "Secret",
        json!({"type": "Opaque", "data": {"a": "MQ=="}}),
        json!(["web", "Opaque", 1, "10m"]),
    );
    check("", "ServiceAccount", json!({}), json!(["web", "10m"]));
    check(
        "coordination.k8s.io",
        "Lease",
        json!({"spec": {"holderIdentity": "me"}}),
        json!(["web", "me", "10m"]),
    );
    check(
        "autoscaling",
        "Scale",
        json!({"spec": {"replicas": 3}, "status": {"replicas": 2}}),
        json!(["web", 3, 2, "10m"]),
    );
    check(
        "example.org",
        "Thing",
        json!({}),
        json!(["web", "2026-01-01T23:50:00Z"]),
    );
}

#[test]
fn services_show_addresses_and_ports() {
    let ports = json!([{"port": 80, "protocol": "TCP"}, {"port": 53, "nodePort": 30053, "protocol": "UDP"}]);
    check(
        "",
        "Service",
        json!({"spec": {"type": "NodePort", "clusterIPs": ["10.0.0.1"], "ports": ports, "selector": {"a": "1"}}}),
        json!([
            "web",
            "NodePort",
            "10.0.0.1",
            "<none>",
            "80/TCP,53:30053/UDP",
            "10m",
            "a=1"
        ]),
    );
    check(
        "",
        "Service",
        json!({"spec": {"type": "LoadBalancer"}}),
        json!([
            "web",
            "LoadBalancer",
            "<none>",
            "<pending>",
            "<none>",
            "10m",
            "<none>"
        ]),
    );
    check(
        "",
        "Service",
        json!({
            "spec": {"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]},
            "status": {"loadBalancer": {"ingress": [{"hostname": "lb"}, {"ip": "1.2.3.4"}]}},
        }),
        json!([
            "web",
            "LoadBalancer",
            "<none>",
            "1.2.3.4,lb,9.9.9.9",
            "<none>",
            "10m",
            "<none>"
        ]),
    );
    check(
        "",
        "Service",
        json!({"spec": {"type": "ExternalName", "externalName": "db.example.org"}}),
        json!([
            "web",
            "ExternalName",
            "<none>",
            "db.example.org",
            "<none>",
            "10m",
            "<none>"
        ]),
    );
}

#[test]
fn events_show_when_they_were_seen_and_by_whom() {
    let about = json!({"kind": "Pod", "name": "p", "fieldPath": "spec.containers{a}"});
    check(
        "",
        "Event",
        json!({
            "firstTimestamp": "2026-01-01T23:00:00Z", "lastTimestamp": "2026-01-01T23:59:55Z", "count": 5, "type": "Normal",
            "reason": "Pulled", "message": " ready\n", "involvedObject": about, "source": {"component": "kubelet", "host": "n"},
        }),
        json!([
            "5s",
            "Normal",
            "Pulled",
            "pod/p",
            "spec.containers{a}",
            "kubelet, n",
            "ready",
            "60m",
            5,
            "web"
        ]),
    );
    check(
        "events.k8s.io",
        "Event",
        json!({
            "eventTime": "2026-01-01T23:59:00.5Z", "type": "Normal", "reason": "Scaled", "note": "done",
            "regarding": {"kind": "Deployment"}, "reportingController": "c", "reportingInstance": "c-0",
        }),
        json!([
            "59s",
            "Normal",
            "Scaled",
            "deployment",
            "",
            "c, c-0",
            "done",
            "59s",
            1,
            "web"
        ]),
    );
    check(
        "",
        "Event",
        json!({
            "eventTime": "2026-01-01T23:58:00Z", "series": {"count": 9, "lastObservedTime": "2026-01-01T23:59:59Z"},
            "involvedObject": {"kind": "Node", "name": "n"}, "reportingComponent": "c",
        }),
        json!(["1s", "", "", "node/n", "", "c", "", "2m", 9, "web"]),
    );
}

/// One autoscaler's TARGETS.
#[track_caller]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rows read better without borrows"
)]
fn check_targets(metrics: Value, current: Value, wanted: &str) {
    check(
        "autoscaling",
        "HorizontalPodAutoscaler",
        json!({
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 9, "metrics": metrics},
            "status": {"currentReplicas": 3, "currentMetrics": current},
        }),
        json!(["web", "Deployment/d", wanted, "<unset>", 9, 3, "10m"]),
    );
}

fn metric(kind: &str, source: &str, target: &Value) -> Value {
    json!({"type": kind, source: {"name": "cpu", "target": target}})
}

#[test]
fn autoscalers_show_their_targets_and_counts() {
    let used = json!({"averageUtilization": 80});
    check_targets(json!([]), json!([]), "<none>");
    check_targets(
        json!([metric("Resource", "resource", &used)]),
        json!([{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 50}}}]),
        "cpu: 50%/80%",
    );
}

#[test]
fn a_pods_state_is_what_its_containers_say() {
    let running = json!({"name": "a", "ready": true, "state": {"running": {}}});
    check_pod(
        json!({}),
        json!({"phase": "Pending"}),
        ["0/1", "Pending", "0"],
    );
    check_pod(
        json!({}),
        json!({"phase": "Running", "containerStatuses": [running]}),
        ["1/1", "Running", "0"],
    );
    for (state, wanted) in [
        (
            json!({"waiting": {"reason": "ContainerCreating"}}),
            "ContainerCreating",
        ),
        (
            json!({"terminated": {"reason": "OOMKilled", "exitCode": 137}}),
            "OOMKilled",
        ),
        (json!({"terminated": {"exitCode": 3}}), "ExitCode:3"),
        (
            json!({"terminated": {"exitCode": 0, "signal": 9}}),
            "Signal:9",
        ),
    ] {
        let status =
            json!({"phase": "Running", "containerStatuses": [{"name": "a", "state": state}]});
        check_pod(json!({}), status, ["0/1", wanted, "0"]);
    }
}

#[test]
fn a_completed_container_does_not_hide_a_running_one() {
    let done = json!({"state": {"terminated": {"reason": "Completed", "exitCode": 0}}});
    let failed = json!({"state": {"terminated": {"reason": "Error", "exitCode": 1}}});
    let running = json!({"ready": true, "state": {"running": {}}});
    let ready = json!([{"type": "Ready", "status": "True"}]);
    for (statuses, conditions, wanted) in [
        (json!([done, running]), ready, ["1/1", "Running", "0"]),
        (json!([done, running]), json!([]), ["1/1", "NotReady", "0"]),
        (json!([done, failed]), json!([]), ["0/1", "Error", "0"]),
    ] {
        let status =
            json!({"phase": "Running", "conditions": conditions, "containerStatuses": statuses});
        check_pod(json!({}), status, wanted);
    }
}

#[test]
fn restarts_tell_when_the_last_one_was() {
    let last = json!({"terminated": {"finishedAt": "2026-01-01T23:57:30Z"}});
    let status = json!({"phase": "Running", "containerStatuses": [
        {"restartCount": 2, "lastState": last, "ready": true, "state": {"running": {}}},
        {"restartCount": 1, "ready": true, "state": {"running": {}}},
    ]});
    check_pod(
        json!({"containers": [{"name": "a"}, {"name": "b"}]}),
        status,
        ["2/2", "Running", "3 (2m30s ago)"],
    );
}

#[test]
fn init_containers_show_how_far_they_are() {
    let spec = json!({"initContainers": [{"name": "i"}, {"name": "j"}]});
    let done = json!({"name": "i", "restartCount": 1, "state": {"terminated": {"exitCode": 0}}});
    for (second, wanted) in [
        (json!({"running": {}}), "Init:1/2"),
        (
            json!({"waiting": {"reason": "PodInitializing"}}),
            "Init:1/2",
        ),
        (
            json!({"waiting": {"reason": "ErrImagePull"}}),
            "Init:ErrImagePull",
        ),
        (
            json!({"terminated": {"exitCode": 1, "reason": "Error"}}),
            "Init:Error",
        ),
        (json!({"terminated": {"exitCode": 1}}), "Init:ExitCode:1"),
    ] {
        let status = json!({"phase": "Pending", "initContainerStatuses": [done, {"name": "j", "state": second}]});
        check_pod(spec.clone(), status, ["0/1", wanted, "1"]);
    }
    let status = json!({
        "phase": "Running",
        "initContainerStatuses": [done],
        "containerStatuses": [{"ready": true, "state": {"running": {}}}],
    });
    check_pod(spec, status, ["1/1", "Running", "0"]);
}

#[test]
fn a_sidecar_counts_as_a_container() {
    let spec = json!({"initContainers": [{"name": "s", "restartPolicy": "Always"}]});
    let status = json!({
        "phase": "Running",
        "initContainerStatuses": [{"name": "s", "started": true, "ready": true, "restartCount": 2, "state": {"running": {}}}],
        "containerStatuses": [{"ready": true, "restartCount": 1, "state": {"running": {}}}],
    });
    check_pod(spec, status, ["2/2", "Running", "3"]);
}

#[test]
fn a_pod_on_its_way_out_is_terminating() {
    let table = |status: Value| {
        let mut pod = created(json!({"kind": "Pod", "status": status}));
        pod["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z".into();
        let printer = Printer::of(Gvk::new("", "v1", "Pod"));
        print(
            &printer,
            &pod,
            options(IncludeObject::None, Headers::Omitted),
        )
    };
    for (status, wanted) in [
        (json!({"phase": "Running"}), "Terminating"),
        (json!({"phase": "Running", "reason": "NodeLost"}), "Unknown"),
        (json!({"phase": "Failed"}), "Failed"),
    ] {
        assert_eq!(table(status)["rows"][0]["cells"][2], wanted);
    }
}

#[test]
fn an_ended_pod_has_the_condition_of_a_completed_row() {
    let pod = created(json!({"kind": "Pod", "status": {"phase": "Succeeded"}}));
    let printer = Printer::of(Gvk::new("", "v1", "Pod"));
    let table = print(
        &printer,
        &pod,
        options(IncludeObject::None, Headers::Omitted),
    );
    assert_eq!(
        table["rows"][0]["conditions"],
        json!([{"type": "Completed", "status": "True", "reason": "Succeeded", "message": "The pod has completed successfully."}])
    );
}

#[test]
fn wide_output_shows_where_a_pod_runs() {
    check(
        "",
        "Pod",
        json!({
            "spec": {"containers": [{"name": "a"}], "nodeName": "n", "readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}]},
            "status": {"phase": "Running", "podIPs": [{"ip": "10.1.1.1"}], "conditions": [{"type": "x", "status": "True"}]},
        }),
        json!([
            "web", "0/1", "Running", "0", "10m", "10.1.1.1", "n", "<none>", "1/2"
        ]),
    );
}
