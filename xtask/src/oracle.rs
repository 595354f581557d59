//! `cargo xtask oracle`: timelines of the genuine controller from a fresh seed, compared with this one's.
//! Not here: the comparison (`flyball-conform`), the scenarios (`conformance/oracle`).

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};

use crate::{conform, golang, project};

/// Scenarios of a run that does not say.
const COUNT: u32 = 200;

pub(crate) fn run(args: &[&str]) -> Result<ExitCode> {
    let number = |text: &str| {
        text.parse()
            .context("usage: cargo xtask oracle [SEED [COUNT]]")
    };
    let (seed, count) = match args {
        [] => (fresh_seed()?, COUNT),
        [seed] => (number(seed)?, COUNT),
        [seed, count] => (number(seed)?, number(count)?),
        _ => bail!("usage: cargo xtask oracle [SEED [COUNT]]"),
    };
    println!("seed {seed}");
    let status = compare(seed, count)?
        .status()
        .context("cannot start cargo")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The step of the tests: a mismatch tells the seed.
pub(crate) fn check() -> Result<()> {
    let seed = fresh_seed()?;
    let told = project::stdout(&mut compare(seed, COUNT)?);
    told.map(drop)
        .with_context(|| format!("seed {seed}: `cargo xtask oracle {seed}` repeats it"))
}

/// The comparison of `count` scenarios of `seed`, recorded now.
fn compare(seed: u32, count: u32) -> Result<Command> {
    let program = build()?;
    let folder = project::root().join("target/oracle/timelines");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut record = Command::new(program);
    record
        .args([
            "gen",
            "-seed",
            &seed.to_string(),
            "-count",
            &count.to_string(),
        ])
        .arg("-out")
        .arg(&folder);
    project::stdout(&mut record)?;
    conform::timelines(&folder)
}

/// Builds the program, unless its sources are those it was built from.
fn build() -> Result<PathBuf> {
    let module = project::root().join("conformance/oracle");
    let home = project::root().join("target/oracle");
    let (program, stamp) = (home.join("oracle"), home.join("built-from"));
    let mut sources = Vec::new();
    for entry in fs::read_dir(&module)? {
        sources.push(entry?.path());
    }
    sources.sort();
    let texts = sources.iter().map(fs::read_to_string);
    let pins: String = texts.collect::<std::io::Result<_>>()?;
    if program.exists() && fs::read_to_string(&stamp).is_ok_and(|from| from == pins) {
        return Ok(program);
    }
    fs::create_dir_all(&home)?;
    golang::build(&module, ".", "-s -w", &program)?;
    fs::write(stamp, pins)?;
    Ok(program)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the seed of a run has to be another one each time, and is printed"
)]
fn fresh_seed() -> Result<u32> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos())
}
