//! Where the project lies, and how to call cargo inside it. Knows no command.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The workspace's root, whatever folder the command was started in.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// A cargo call for this workspace that keeps the caller's working directory.
///
/// Note: cargo tells this process about the package `xtask` by environment variables. Build scripts
/// of some dependencies watch those, and would run again each time; they are taken away.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    let (name, rest) = args.split_first().unwrap_or((&"help", &[]));
    command
        .arg(name)
        .arg("--manifest-path")
        .arg(root().join("Cargo.toml"))
        .args(rest);
    for (key, _) in std::env::vars_os() {
        let key = key.to_string_lossy();
        let own = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
            "CARGO_PRIMARY_",
        ];
        if own.iter().any(|prefix| key.starts_with(prefix)) {
            command.env_remove(&*key);
        }
    }
    command
}

/// A command as one would type it.
pub(crate) fn typed(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command and returns its stdout; its stderr becomes the error.
pub(crate) fn stdout(command: &mut Command) -> Result<String> {
    let typed = typed(command);
    let output = command
        .output()
        .with_context(|| format!("cannot start `{typed}`"))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{typed}` failed: {stderr}");
    String::from_utf8(output.stdout).with_context(|| format!("`{typed}` did not print text"))
}

/// `cargo metadata` of the workspace with the resolved graph.
pub(crate) fn metadata() -> Result<serde_json::Value> {
    let text = stdout(&mut cargo(&["metadata", "--format-version", "1"]))?;
    serde_json::from_str(&text).context("cannot read the output of cargo metadata")
}
