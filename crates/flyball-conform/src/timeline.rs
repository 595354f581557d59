//! Timelines of the genuine controller: the same scenario, the same virtual time, every sync compared.
//!
//! The scripted cluster (`world`, `answer`) is an in-process service; the controller in front of it is the
//! product's own, queue and all.

mod answer;
mod compare;
mod discovery;
pub(crate) mod instant;
mod journal;
mod play;
mod pod;
mod record;
pub(crate) mod scenario;
pub(crate) mod service;
pub(crate) mod world;

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result};

use self::scenario::Line;
use crate::report::{Tally, Verdict};

/// Replays every line of every file and writes a line a file, the first difference of each scenario first.
pub fn run(files: &[PathBuf], out: &mut dyn Write) -> Result<Tally> {
    let mut all = Tally::default();
    for path in files {
        let tally = run_file(path, out)?;
        writeln!(out, "{}: {tally}", path.display())?;
        all.add(tally);
    }
    Ok(all)
}

fn run_file(path: &Path, out: &mut dyn Write) -> Result<Tally> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let mut tally = Tally::default();
    for (name, verdict) in replay_all(&lines) {
        if let Verdict::Failed(difference) = &verdict {
            writeln!(out, "{name}: {difference}")?;
        }
        tally.count(&verdict);
    }
    Ok(tally)
}

/// Replays lines on every processor; the answers come in the order of the lines.
pub fn replay_all(lines: &[&str]) -> Vec<(String, Verdict)> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = lines.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let shares: Vec<_> = lines
            .chunks(share)
            .map(|lines| scope.spawn(|| lines.iter().map(|line| replay(line)).collect::<Vec<_>>()))
            .collect();
        let answers = shares.into_iter().map(thread::ScopedJoinHandle::join);
        answers
            .flat_map(|answer| answer.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

/// Replays one line of a timeline file; the text names the scenario.
pub fn replay(line: &str) -> (String, Verdict) {
    let parsed: Line = match serde_json::from_str(line) {
        Ok(parsed) => parsed,
        Err(error) => {
            return (
                "(a line that cannot be read)".to_owned(),
                Verdict::unreadable(error),
            );
        }
    };
    let (name, note) = (parsed.sc.name.clone(), parsed.sc.note.clone());
    let expected = parsed.out.tl.clone();
    let verdict = match catch_unwind(AssertUnwindSafe(|| play::play(parsed))) {
        Err(_) => Verdict::Failed("the code panicked\n".to_owned()),
        Ok(Err(error)) => Verdict::unreadable(format!("{error:#}")),
        Ok(Ok(actual)) => match compare::first_difference(&expected, &actual) {
            Some(difference) => Verdict::Failed(difference),
            None => Verdict::Passed,
        },
    };
    (
        if note.is_empty() {
            name
        } else {
            format!("{name} ({note})")
        },
        verdict,
    )
}
