//! `plane`: the command line of the differential runs.

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use flyball_clock::Clock;
use flyball_conform::plane::difference::{Difference, Differences};
use flyball_conform::plane::matrix::{Cell, Matrix};
use flyball_conform::plane::run::{self, Pair};
use flyball_conform::plane::script;
use flyball_conform::plane::server::Server;
use flyball_conform::plane::template;
use flyball_conform::report::Tally;

/// The project's own scripts, templates and kinds.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/plane");

const USAGE: &str = "plane --real STATE.json [--script TEXT]: \
    --script runs what has TEXT in its file's path or its name";

#[derive(Default)]
struct Args {
    real: Option<PathBuf>,
    script: String,
}

fn parse(args: &[PathBuf]) -> Result<Args> {
    let mut parsed = Args::default();
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        let value = rest.next().context(USAGE)?;
        match flag.to_str() {
            Some("--real") => parsed.real = Some(value.clone()),
            Some("--script") => parsed.script = value.display().to_string(),
            _ => bail!(USAGE),
        }
    }
    Ok(parsed)
}

/// Runs the scripts on both servers.
pub(crate) fn run(args: &[PathBuf]) -> Result<Tally> {
    let args = parse(args)?;
    let real = args.real.as_deref().context(USAGE)?;
    let folder = Path::new(FOLDER);
    let mut scripts = script::read_all(&folder.join("scripts"))?;
    scripts.extend(template::expand(
        &folder.join("templates"),
        &folder.join("kinds.yaml"),
    )?);
    scripts.retain(|placed| {
        let text = format!("{}: {}", placed.file.display(), placed.script.name);
        text.contains(&args.script)
    });
    let mut matrix = Matrix::with_reasons(&folder.join("coverage.yaml"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let tally = runtime.block_on(async {
        let now_ms = Clock::system().now_ms();
        let (plane, ours) = Server::plane(now_ms.unsigned_abs()).await?;
        let genuine = Server::genuine(real)?;
        genuine.ready().await?;
        let pair = Pair {
            differences: Differences::read(&folder.join("differences.yaml"))?,
            genuine,
            plane: ours,
            run: format!("{:x}", now_ms / 100),
            now_s: now_ms / 1000,
        };
        let mut tally = run::scripts(&pair, &scripts, &mut matrix, &mut stdout().lock()).await?;
        plane.shutdown().await;
        if args.script.is_empty() {
            tally.failed += conclude(&matrix, &pair.differences, &mut stdout().lock())?;
        }
        anyhow::Ok(tally)
    })?;
    writeln!(stdout().lock(), "{tally}")?;
    Ok(tally)
}

/// Prints the matrix and the meant differences of a whole run. What it finds wrong with them counts as failed: a cell
/// without a request and a reason, a difference that is none any more.
fn conclude(
    matrix: &Matrix,
    differences: &Differences,
    out: &mut impl std::io::Write,
) -> Result<usize> {
    writeln!(out, "{matrix}")?;
    let mut failed = 0;
    for (difference, uses) in differences.used() {
        let Difference { id, reason, .. } = difference;
        writeln!(out, "meant to differ: {id} ({uses} answers): {reason}")?;
        if uses == 0 {
            failed += 1;
            writeln!(
                out,
                "FAILED {id}: no answer differs so any more; take the entry out"
            )?;
        }
    }
    for hole in matrix.holes() {
        failed += 1;
        let Cell {
            resource,
            verb,
            outcome,
        } = hole;
        writeln!(
            out,
            "FAILED {verb} of {resource} with {outcome}: add a request or, to coverage.yaml, a reason"
        )?;
    }
    writeln!(out)?;
    Ok(failed)
}
