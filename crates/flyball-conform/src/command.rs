//! `plane`: the command line of the differential runs.

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use flyball_clock::Clock;
use flyball_conform::plane::difference::{Difference, Differences};
use flyball_conform::plane::matrix::{Cell, Matrix};
use flyball_conform::plane::random;
use flyball_conform::plane::run::{self, Pair};
use flyball_conform::plane::script::{self, Placed};
use flyball_conform::plane::search;
use flyball_conform::plane::server::Server;
use flyball_conform::plane::template::{self, Kind};
use flyball_conform::report::Tally;

/// The project's own scripts, templates and kinds.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/plane");

const USAGE: &str = "plane --real STATE.json [--script TEXT | --seed N] [--random N] [--only N]: \
    --script runs what has TEXT in its file's path or its name and nothing random; \
    --seed and --only repeat random scripts; --random is how many requests they make";

/// Random requests of a run that does not say.
const RANDOM: u64 = 10_000;

#[derive(Default)]
struct Args {
    real: Option<PathBuf>,
    script: Option<String>,
    seed: Option<u64>,
    random: Option<u64>,
    only: Option<u64>,
}

fn parse(args: &[PathBuf]) -> Result<Args> {
    let mut parsed = Args::default();
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        let value = rest.next().context(USAGE)?;
        let number = || value.display().to_string().parse::<u64>().context(USAGE);
        match flag.to_str() {
            Some("--real") => parsed.real = Some(value.clone()),
            Some("--script") => parsed.script = Some(value.display().to_string()),
            Some("--seed") => parsed.seed = Some(number()?),
            Some("--random") => parsed.random = Some(number()?),
            Some("--only") => parsed.only = Some(number()?),
            _ => bail!(USAGE),
        }
    }
    Ok(parsed)
}

impl Args {
    /// The scripts that are written down.
    fn written(&self, kinds: &[Kind]) -> Result<Vec<Placed>> {
        if self.only.is_some() {
            return Ok(Vec::new());
        }
        let folder = Path::new(FOLDER);
        let mut scripts = script::read_all(&folder.join("scripts"))?;
        scripts.extend(template::expand(&folder.join("templates"), kinds)?);
        if let Some(text) = &self.script {
            scripts.retain(|placed| {
                format!("{}: {}", placed.file.display(), placed.script.name).contains(text)
            });
        }
        Ok(scripts)
    }

    /// The random ones.
    fn random(&self, kinds: &[Kind], seed: u64) -> Vec<Placed> {
        let make = |number| random::script(kinds, seed, number);
        match (self.only, &self.script) {
            (Some(number), _) => vec![make(number)],
            (None, Some(_)) => Vec::new(),
            (None, None) => {
                let requests = self.random.unwrap_or(RANDOM);
                (0..requests.div_ceil(random::STEPS as u64))
                    .map(make)
                    .collect()
            }
        }
    }
}

/// Asks both servers the same.
pub(crate) fn run(args: &[PathBuf]) -> Result<Tally> {
    let args = parse(args)?;
    let real = args.real.as_deref().context(USAGE)?;
    let folder = Path::new(FOLDER);
    let kinds = template::kinds(&folder.join("kinds.yaml"))?;
    let now_ms = Clock::system().now_ms();
    let seed = args
        .seed
        .unwrap_or_else(|| now_ms.unsigned_abs() % 1_000_000_000);
    let (written, random) = (args.written(&kinds)?, args.random(&kinds, seed));
    let mut matrix = Matrix::with_reasons(&folder.join("coverage.yaml"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let tally = runtime.block_on(async {
        let (plane, ours) = Server::plane(now_ms.unsigned_abs()).await?;
        let genuine = Server::genuine(real)?;
        genuine.ready().await?;
        let mut pair = Pair {
            differences: Differences::read(&folder.join("differences.yaml"))?,
            genuine,
            plane: ours,
            run: format!("{:x}", now_ms / 100),
            now_s: now_ms / 1000,
        };
        let mut out = stdout().lock();
        let mut tally = run::scripts(&pair, &written, &mut matrix, &mut out).await?;
        writeln!(out, "{} written requests", tally.passed + tally.failed)?;
        // The random scripts have namespaces of their own.
        pair.run.push('r');
        let found = search::scripts(&pair, &random, &mut matrix, &mut out).await?;
        writeln!(
            out,
            "{} random requests of seed {seed}",
            found.passed + found.failed
        )?;
        tally.add(found);
        plane.shutdown().await;
        if args.script.is_none() && args.only.is_none() {
            tally.failed += conclude(&matrix, &pair.differences, &mut out)?;
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
