//! `flyball controller` beside an API server of another process, as it runs in a cluster. Not here: several of them (`leadership`).

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::deadline::until;
use crate::kubectl::Cluster;
use crate::process::{Process, flyball};

const SOON: Duration = Duration::from_mins(1);

fn start(cluster: &Cluster) -> Process {
    let mut command = flyball();
    command
        .args(["controller", "--admin-address=127.0.0.1:0"])
        .arg("--horizontal-pod-autoscaler-sync-period=1s")
        .arg("--kubeconfig")
        .arg(cluster.data().join("kubeconfig"))
        .arg("--leader-elect=false");
    Process::start(&mut command, &cluster.path("controller"))
}

/// The answer of the admin endpoint, whose address is on stderr.
fn admin(controller: &Process, path: &str) -> Result<String, String> {
    let talk = controller.stderr();
    let address = talk
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.lines().next());
    let mut stream = TcpStream::connect(address.ok_or("no address yet")?).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    Ok(answer)
}

#[test]
fn it_scales_and_shows_its_metrics() {
    let cluster = Cluster::plane();
    let controller = start(&cluster);
    cluster.ok("apply -f shop.yaml");
    cluster.until_size("deploy shop", "shop", 5);
    until(SOON, || {
        let answer = admin(&controller, "/readyz")?;
        if answer.starts_with("HTTP/1.1 200") {
            Ok(())
        } else {
            Err(answer)
        }
    });
    let metrics = admin(&controller, "/metrics").unwrap();
    let scaled = "horizontal_pod_autoscaler_controller_reconciliations_total{action=\"scale_up\",error=\"none\"} ";
    assert!(metrics.contains(scaled), "{metrics}");
    controller.signal("TERM");
    assert_eq!(controller.wait().code(), Some(0));
}

#[test]
fn it_outlives_its_api_server() {
    let mut cluster = Cluster::plane();
    let controller = start(&cluster);
    cluster.ok("apply -f shop.yaml");
    cluster.until_size("deploy shop", "shop", 5);
    cluster.take_process().kill_9();
    cluster.serve_again();
    cluster.ok("patch hpa shop -p '{\"spec\":{\"maxReplicas\":2}}'");
    until(SOON, || {
        let replicas = cluster.object("deploy shop")["spec"]["replicas"].clone();
        if replicas == 2 {
            Ok(())
        } else {
            Err(controller.stderr())
        }
    });
}
