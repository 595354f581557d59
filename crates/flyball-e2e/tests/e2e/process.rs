//! The binary under test as a process with piped output: built once, killed when the test ends.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::deadline::until;

/// A process that has not said anything for so long, with other tests on the same cores, never will.
const SILENCE_MAX: Duration = Duration::from_mins(1);

/// The longest that any test waits for one line among others: the slowest is promised within four minutes.
const PATIENCE: Duration = Duration::from_mins(4);

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The binary, built from the sources as they are.
pub(crate) fn flyball() -> Command {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    Command::new(BINARY.get_or_init(build))
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut cargo = Command::new(cargo);
    // What cargo tells this test about itself would look to build scripts like a change, and rebuild half the graph.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    let built = cargo
        .args([
            "build",
            "--package",
            "flyball",
            "--message-format",
            "json-render-diagnostics",
        ])
        .current_dir(workspace())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(built.status.success(), "the binary does not build");
    let messages = String::from_utf8(built.stdout).unwrap();
    let mut executables = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let ours = message["target"]["name"] == "flyball";
        message["executable"]
            .as_str()
            .filter(|_| ours)
            .map(PathBuf::from)
    });
    executables.next_back().unwrap()
}

/// A running process. Dropping it kills it.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    errors: PathBuf,
}

impl Process {
    /// Starts `command`; what it says on stderr goes into `log`.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Self {
        let file = std::fs::File::options()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                if line.is_err() || tell.send(line.unwrap_or_default()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            errors: log.to_owned(),
        }
    }

    /// The next line on stdout.
    #[track_caller]
    pub(crate) fn line(&self) -> String {
        match self.lines.recv_timeout(SILENCE_MAX) {
            Ok(line) => line,
            Err(error) => panic!("no line: {error}; stderr:\n{}", self.stderr()),
        }
    }

    /// The first line from now on that `fits`.
    #[track_caller]
    pub(crate) fn line_that(&self, fits: impl Fn(&str) -> bool) -> String {
        until(PATIENCE, || {
            let line = self.line();
            if fits(&line) { Ok(line) } else { Err(line) }
        })
    }

    /// What it has said on stderr so far.
    pub(crate) fn stderr(&self) -> String {
        std::fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Sends a signal by name, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill_9(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `command` to its end: exit code, stdout, stderr.
pub(crate) fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut errors = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).unwrap();
        text
    });
    let mut text = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    let status = child.wait().unwrap();
    (status.code(), text, reader.join().unwrap())
}
