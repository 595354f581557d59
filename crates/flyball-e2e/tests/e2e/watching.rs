//! `kubectl get -w`: lines that come while it runs.

use crate::kubectl::Cluster;
use crate::process::Process;

#[test]
fn a_watch_shows_each_change_as_it_comes() {
    let cluster = Cluster::plane();
    cluster.ok("create configmap settings --from-literal=color=red");
    let mut watch = cluster.kubectl();
    watch.args([
        "get",
        "configmap",
        "settings",
        "-w",
        "-o",
        "jsonpath={.data.color}{\"\\n\"}",
    ]);
    let watch = Process::start(&mut watch, &cluster.path("watch"));
    assert_eq!(watch.line(), "red");
    for color in ["green", "blue"] {
        let change = format!(
            "patch configmap settings --type=merge -p '{{\"data\":{{\"color\":\"{color}\"}}}}'"
        );
        cluster.ok(&change);
        assert_eq!(watch.line(), color);
    }
}

#[test]
fn a_watched_table_has_one_row_a_change() {
    let cluster = Cluster::plane();
    cluster.ok("apply -f web.yaml");
    cluster.ok("autoscale deploy web --min=2 --max=5 --cpu=80%");
    let mut watch = cluster.kubectl();
    watch.args(["get", "hpa", "-w"]);
    let watch = Process::start(&mut watch, &cluster.path("watch"));
    assert!(watch.line().starts_with("NAME"));
    assert!(watch.line().contains("<unknown>/80%   2         5"));
    cluster.ok("patch hpa web -p '{\"spec\":{\"maxReplicas\":7}}'");
    assert!(watch.line().contains("<unknown>/80%   2         7"));
}
