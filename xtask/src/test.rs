//! `cargo xtask test`: every check of the project in order of cost. The list is the whole of it;
//! continuous integration calls this and nothing else.

use std::process::ExitCode;

use anyhow::Result;

use crate::step::Steps;
use crate::{conform, oracle, realplane, recorder, tidy, tools};

/// Random scripts that agree, so that they go on doing so. A fresh seed may find what nobody has mended yet: that is for
/// `cargo xtask conform plane`, run by hand.
const KEPT_SEED: [&str; 4] = ["--seed", "5", "--random", "1000"];

/// How much to run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything.
    Whole,
    /// What a change should pass before it is committed: no whole processes, no counting.
    Quick,
}

pub(crate) fn run(extent: Extent) -> Result<ExitCode> {
    let mut steps = Steps::new()?;
    steps.step("components", |_| tools::components())?;
    steps.cargo("format", &["fmt", "--all", "--check"])?;
    steps.step("tidy", |_| tidy::check())?;
    if steps.failed() {
        // Seconds so far; what follows takes minutes.
        return Ok(steps.finish());
    }
    steps.cargo(
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    )?;
    steps.cargo(
        "unit",
        &[
            "test",
            "--workspace",
            "--exclude",
            "flyball-e2e",
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--tests",
        ],
    )?;
    steps.cargo("doc-tests", &["test", "--workspace", "--doc"])?;
    steps.step("conform", |log| log.run(&mut conform::vectors(&[])))?;
    if extent == Extent::Whole {
        steps.step("oracle", |log| log.run(&mut conform::all_timelines()?))?;
        steps.step("timelines", |_| oracle::check())?;
        steps.step("realplane", |_| realplane::build().map(drop))?;
        steps.step("plane", |log| {
            conform::with_real_plane(&KEPT_SEED, |command| log.run(command))
        })?;
        steps.step("recorder", |_| recorder::check().map(drop))?;
        steps.step("tools", |_| tools::kubectl().map(drop))?;
        steps.cargo("e2e", &["test", "--package", "flyball-e2e"])?;
    }
    Ok(steps.finish())
}
