//! Stock kubectl against one cluster, and clusters to use it on.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::{self, Process, flyball, workspace};

/// The version the transcripts were taken with.
const VERSION: &str = "v1.37.";

/// kubectl from `FLYBALL_KUBECTL`, else where `cargo xtask tools` puts it.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let named = std::env::var_os("FLYBALL_KUBECTL").map(PathBuf::from);
        let program = named.unwrap_or_else(|| workspace().join("target/tools/bin/kubectl"));
        assert!(
            program.exists(),
            "kubectl is not at {}: `cargo xtask tools` installs it, FLYBALL_KUBECTL names another one",
            program.display()
        );
        let ask = ["version", "--client", "--output", "json"];
        let (_, version, _) = process::run(Command::new(&program).args(ask));
        let version: Value = serde_json::from_str(&version).unwrap();
        let version = version["clientVersion"]["gitVersion"].as_str().unwrap();
        assert!(version.starts_with(VERSION), "kubectl is {version}; the transcripts need {VERSION}x");
        program
    })
}

/// A process that serves a cluster, its directory, and kubectl for it.
pub(crate) struct Cluster {
    /// Before the directory, so that the process ends first.
    process: Option<Process>,
    directory: TempDir,
}

impl Cluster {
    /// A plane without an autoscaler.
    pub(crate) fn plane() -> Self {
        let mut cluster = Self {
            process: None,
            directory: tempfile::tempdir().unwrap(),
        };
        cluster.serve_again();
        cluster
    }

    /// Starts the plane, again if it was ended.
    pub(crate) fn serve_again(&mut self) {
        self.start(&["plane"]);
        self.process().line();
    }

    /// A plane with an autoscaler that syncs every second, remembers high recommendations for four, and has no sample in
    /// the way.
    pub(crate) fn autoscaled() -> Self {
        let mut cluster = Self {
            process: None,
            directory: tempfile::tempdir().unwrap(),
        };
        cluster.autoscale();
        cluster.ok("delete hpa,deploy web");
        cluster
    }

    /// Starts the autoscaled process, again if it was killed.
    pub(crate) fn autoscale(&mut self) {
        self.start(&[
            "up",
            "--horizontal-pod-autoscaler-sync-period=1s",
            "--horizontal-pod-autoscaler-downscale-stabilization=4s",
        ]);
        self.process().line_that(|line| line.starts_with("web "));
    }

    /// Starts the binary on the cluster's data directory.
    pub(crate) fn start(&mut self, arguments: &[&str]) {
        let mut command = flyball();
        command.args(arguments).arg("--data-dir").arg(self.data());
        self.process = Some(Process::start(&mut command, &self.path("stderr")));
    }

    /// The serving process.
    pub(crate) fn process(&self) -> &Process {
        self.process.as_ref().unwrap()
    }

    /// Takes the serving process away; what it kept stays.
    pub(crate) fn take_process(&mut self) -> Process {
        self.process.take().unwrap()
    }

    /// A path in the cluster's own directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// kubectl, in the folder of the manifests.
    pub(crate) fn kubectl(&self) -> Command {
        let mut command = Command::new(program());
        command
            .env_clear()
            .env("HOME", self.directory.path())
            .env("KUBECONFIG", self.data().join("kubeconfig"))
            .env("KUBECACHEDIR", self.path("cache"))
            .env("TZ", "UTC")
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/manifests"));
        command
    }

    /// Runs kubectl with these words; single quotes keep words together.
    pub(crate) fn run(&self, line: &str) -> (Option<i32>, String, String) {
        process::run(self.kubectl().args(words(line)))
    }

    /// Runs kubectl, which must succeed, and gives its stdout.
    #[track_caller]
    pub(crate) fn ok(&self, line: &str) -> String {
        let (code, out, err) = self.run(line);
        assert_eq!(code, Some(0), "kubectl {line}\n{out}{err}");
        out
    }

    /// The object as kubectl prints it in JSON.
    #[track_caller]
    pub(crate) fn object(&self, name: &str) -> Value {
        serde_json::from_str(&self.ok(&format!("get {name} -o json"))).unwrap()
    }
}

/// Splits a line as a shell would that knows single quotes only.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn quotes_keep_words_together() {
    assert_eq!(words("get  x -o 'a b' ''"), ["get", "x", "-o", "a b", ""]);
}
