//! `cargo xtask recorder`: the explanation must cost nothing when nobody asks for it.
//!
//! The same decisions are counted twice under callgrind: as built, with the recorder that is off,
//! and with `--cfg flyball_recorder_removed`, which takes the recorder out of the source. Counts of
//! instructions do not depend on the machine's load, so a narrow limit holds.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};

use crate::{project, tools};

/// Largest accepted difference, in thousandths.
const LIMIT_MILLI: u64 = 10;
const EXAMPLE: &str = "decide_cost";

pub(crate) fn run() -> Result<ExitCode> {
    println!("{}", check()?);
    Ok(ExitCode::SUCCESS)
}

/// Builds and counts both forms; the text tells the figures.
pub(crate) fn check() -> Result<String> {
    let valgrind = tools::valgrind()?;
    let off = instructions(&valgrind, &build("off", "")?)?;
    let removed = instructions(
        &valgrind,
        &build("removed", "--cfg flyball_recorder_removed")?,
    )?;
    let text = format!("{off} instructions with the recorder off, {removed} without one");
    ensure!(
        off.abs_diff(removed) * 1000 <= removed * LIMIT_MILLI,
        "{text}: more than 1 % apart"
    );
    Ok(text)
}

fn build(form: &str, flags: &str) -> Result<PathBuf> {
    let folder = project::root().join("target/recorder").join(form);
    let args = [
        "build",
        "--quiet",
        "--release",
        "--package",
        "flyball-core",
        "--example",
        EXAMPLE,
    ];
    let mut command = project::cargo(&args);
    command
        .arg("--target-dir")
        .arg(&folder)
        .env("RUSTFLAGS", flags);
    project::stdout(&mut command)?;
    Ok(folder.join("release/examples").join(EXAMPLE))
}

fn instructions(valgrind: &Path, program: &Path) -> Result<u64> {
    let mut command = Command::new(valgrind);
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program);
    let output = command
        .output()
        .with_context(|| format!("cannot start `{}`", project::typed(&command)))?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "`{}` failed: {text}",
        project::typed(&command)
    );
    let (_, rest) = text
        .split_once("Collected :")
        .context("callgrind printed no count")?;
    rest.split_whitespace()
        .next()
        .and_then(|word| word.parse().ok())
        .with_context(|| format!("callgrind printed a count that is no number: {rest}"))
}
