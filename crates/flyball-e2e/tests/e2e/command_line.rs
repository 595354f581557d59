//! The command line: exit codes, streams, the data directory, ends.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::kubectl::Cluster;
use crate::process::{flyball, run};

/// Runs flyball, which must fail with this code and say this on stderr and nothing on stdout.
#[track_caller]
fn refused(command: &mut Command, code: i32, said: &str) {
    let (found, out, err) = run(command);
    assert_eq!((found, out.as_str()), (Some(code), ""), "{err}");
    assert!(err.contains(said), "{said:?} is not in:\n{err}");
}

#[test]
fn an_unknown_flag_or_value_is_a_matter_of_the_command_line() {
    refused(
        flyball().args(["up", "--bogus"]),
        2,
        "unexpected argument '--bogus'",
    );
    refused(
        flyball().args(["load", "web", "--cpu", "6"]),
        2,
        "must be KIND/NAME",
    );
    refused(
        flyball().args(["load", "deploy/web"]),
        2,
        "required arguments were not provided",
    );
    let gate = "--feature-gates=HPAConfigurableTolerance=false";
    refused(
        flyball().args(["controller", gate]),
        2,
        "feature is locked to true",
    );
}

#[test]
fn a_busy_port_and_an_exposed_address_are_a_matter_of_the_address() {
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = busy.local_addr().unwrap().port().to_string();
    let in_memory = ["plane", "--in-memory"];
    let said = "--port N takes another port";
    refused(flyball().args(in_memory).args(["--port", &port]), 3, said);
    let said = "--expose-to-everybody-on-the-network";
    refused(
        flyball().args(in_memory).args(["--listen", "0.0.0.0"]),
        3,
        said,
    );
}

#[test]
fn a_foreign_directory_is_refused_and_not_wiped() {
    let directory = tempfile::tempdir().unwrap();
    let notes = directory.path().join("notes.txt");
    std::fs::write(&notes, "mine").unwrap();
    let up = |flags: &[&str]| {
        let mut command = flyball();
        command
            .args(["up", "--data-dir"])
            .arg(directory.path())
            .args(flags);
        command
    };
    refused(&mut up(&[]), 4, "choose an empty folder");
    refused(
        &mut up(&["--reset"]),
        4,
        "is not a data directory of flyball",
    );
    assert_eq!(std::fs::read_to_string(notes).unwrap(), "mine");
}

#[test]
fn a_directory_in_use_is_refused_and_not_wiped() {
    let cluster = Cluster::plane();
    let mut command = flyball();
    command.args(["up", "--data-dir"]).arg(cluster.data());
    refused(&mut command, 4, "in use by another process");
    refused(command.arg("--reset"), 4, "in use by another process");
    assert!(cluster.ok("get namespaces").contains("default"));
}

#[test]
fn a_kubeconfig_that_cannot_be_used_is_a_matter_of_the_cluster() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let broken = directory.path().join("broken");
    std::fs::write(&broken, "clusters: 7").unwrap();
    for file in [&missing, &broken] {
        let mut controller = flyball();
        controller.args(["controller", "--kubeconfig"]).arg(file);
        refused(&mut controller, 5, "name another one with --kubeconfig");
        let mut load = flyball();
        load.args(["load", "deploy/web", "--cpu=6", "--kubeconfig"])
            .arg(file);
        refused(&mut load, 5, "start `flyball up` first");
    }
    let mut cluster = Cluster::plane();
    cluster.take_process().kill_9();
    let mut load = flyball();
    load.args(["load", "deploy/web", "--cpu=6", "--data-dir"])
        .arg(cluster.data());
    refused(&mut load, 5, "the API server does not answer");
}

#[test]
fn a_load_needs_an_object_to_be_on() {
    let cluster = Cluster::plane();
    let mut load = flyball();
    load.args(["load", "deploy/web", "--cpu=6", "--data-dir"])
        .arg(cluster.data());
    refused(&mut load, 6, "deployments.apps \"web\" not found");
}

#[test]
fn the_kubeconfig_is_private_and_stays_the_same() {
    let mut cluster = Cluster::plane();
    let kubeconfig = cluster.data().join("kubeconfig");
    let before = std::fs::read_to_string(&kubeconfig).unwrap();
    let mode = kubeconfig.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    cluster.ok("create configmap kept");
    cluster.process().signal("TERM");
    assert_eq!(cluster.take_process().wait().code(), Some(0));
    cluster.serve_again();
    assert_eq!(std::fs::read_to_string(&kubeconfig).unwrap(), before);
    cluster.ok("get configmap kept");
}

#[test]
fn a_reset_starts_afresh() {
    let mut cluster = Cluster::plane();
    cluster.ok("create configmap old");
    cluster.process().signal("TERM");
    assert_eq!(cluster.take_process().wait().code(), Some(0));
    cluster.start(&["up", "--reset"]);
    cluster.process().line_that(|line| line.starts_with("web "));
    assert_eq!(
        cluster.ok("get configmaps,hpa -o name"),
        "horizontalpodautoscaler.autoscaling/web\n"
    );
}

#[test]
fn a_plane_in_memory_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = flyball();
    command.args(["plane", "--in-memory"]);
    let plane = crate::process::Process::start(&mut command, &directory.path().join("stderr"));
    let kubeconfig = std::path::PathBuf::from(plane.line());
    assert!(kubeconfig.exists());
    plane.signal("INT");
    assert_eq!(plane.wait().code(), Some(0));
    assert!(!kubeconfig.exists());
}

#[test]
fn a_reader_that_goes_away_ends_the_command_in_peace() {
    let directory = tempfile::tempdir().unwrap();
    let binary = flyball().get_program().to_owned();
    let script = "\"$0\" up --horizontal-pod-autoscaler-sync-period=1s --data-dir \"$1\" 2>\"$1.err\" | head -n 1; echo \"${PIPESTATUS[0]}\"";
    let mut command = Command::new("bash");
    command
        .args(["-c", script])
        .arg(binary)
        .arg(directory.path().join("data"));
    let (code, out, err) = run(&mut command);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        (code, lines.len(), lines.last()),
        (Some(0), 2, Some(&"0")),
        "{out}{err}"
    );
    let talk = std::fs::read_to_string(directory.path().join("data.err")).unwrap();
    assert!(!talk.contains("panicked"), "{talk}");
}
