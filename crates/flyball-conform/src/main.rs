//! The command line of the conformance runs. `cargo xtask conform` calls it; a report goes to stdout and
//! its last line is `N passed, N failed`.
#![expect(clippy::print_stderr, reason = "a command line talks to its terminal")]

mod command;

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use flyball_conform::report::Tally;
use flyball_conform::{timeline, vectors};

const USAGE: &str =
    "give one folder of vectors, or none for the project's own; or `oracle` and files of timelines";

/// The project's own copy of the vectors.
const OWN_VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/vectors");

fn main() -> ExitCode {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let tally = match args.split_first() {
        Some((first, rest)) if first.as_os_str() == "plane" => command::run(rest),
        _ => run(&args),
    };
    match tally {
        Ok(Tally { failed: 0, .. }) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("conform: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[PathBuf]) -> Result<Tally> {
    let mut out = stdout().lock();
    let tally = match args {
        [first, files @ ..] if first.as_os_str() == "oracle" && !files.is_empty() => {
            timeline::run(files, &mut out)?
        }
        [] => vectors::run(Path::new(OWN_VECTORS), &mut out)?,
        [folder] => vectors::run(folder, &mut out)?,
        _ => anyhow::bail!("{USAGE}"),
    };
    writeln!(out, "{tally}")?;
    Ok(tally)
}
