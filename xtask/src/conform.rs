//! `cargo xtask conform`: builds flyball-conform and hands it the arguments. Compares nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::{project, realplane};

pub(crate) fn run(args: &[&str]) -> Result<ExitCode> {
    let status = vectors(args).status().context("cannot start cargo")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The same requests to the genuine kube-apiserver, started for it, and to the plane.
pub(crate) fn plane(args: &[&str]) -> Result<ExitCode> {
    let status = with_real_plane(args, |command| {
        command.status().context("cannot start cargo")
    })?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Starts the genuine plane, lets `ask` run the comparison against it, and stops it whatever came of it.
pub(crate) fn with_real_plane<T>(
    args: &[&str],
    ask: impl FnOnce(&mut Command) -> Result<T>,
) -> Result<T> {
    let state = realplane::up("")?;
    let mut command = vectors(&["plane", "--real"]);
    command.arg(state).args(args);
    let asked = ask(&mut command);
    let stopped = realplane::down();
    // What was found counts more than how the servers ended.
    let found = asked?;
    stopped?;
    Ok(found)
}

/// The call of flyball-conform with these arguments; none means the project's own vectors.
pub(crate) fn vectors(args: &[&str]) -> Command {
    let mut command = project::cargo(&["run", "--quiet", "--package", "flyball-conform", "--"]);
    command.args(args);
    command
}

/// The replay of every timeline in the project.
pub(crate) fn all_timelines() -> Result<Command> {
    timelines(&project::root().join("fixtures/oracle"))
}

/// The replay of every timeline in a folder.
pub(crate) fn timelines(folder: &Path) -> Result<Command> {
    let mut files = Vec::new();
    for entry in folder
        .read_dir()
        .with_context(|| format!("cannot read {}", folder.display()))?
    {
        files.push(entry?.path());
    }
    files.retain(|path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let mut command = vectors(&["oracle"]);
    command.args(files);
    Ok(command)
}
