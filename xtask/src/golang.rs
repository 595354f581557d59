//! Go, for the genuine programs the project is compared with: found, and asked to build.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::project;

/// The release the pinned modules want; Go 1.21 and later fetch it by themselves.
const TOOLCHAIN: &str = "go1.27.3";

/// A go call in `module` with the wanted release.
pub(crate) fn command(module: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("go");
    command
        .current_dir(module)
        .args(args)
        .env("GOTOOLCHAIN", TOOLCHAIN)
        .env("GOFLAGS", "-buildvcs=false");
    command
}

/// Builds `package` of the module in `module` into the file `out`.
pub(crate) fn build(module: &Path, package: &str, flags: &str, out: &Path) -> Result<()> {
    let out = out.to_string_lossy();
    let args = ["build", "-ldflags", flags, "-o", &out, package];
    project::stdout(&mut command(module, &args))
        .map(drop)
        .context("building Go programs needs Go 1.21 or later on the PATH (Debian: golang-go of trixie or of bookworm-backports)")
}
