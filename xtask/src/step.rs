//! A list of steps that each print one line: name, result, time. Output goes to a log file and is
//! shown only when the step failed. A failed step does not keep the later ones from running.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::project;

/// Lines of a failing step's log that are shown.
const TAIL_LINES: usize = 80;

/// Runs steps and remembers how they ended.
pub(crate) struct Steps {
    logs: PathBuf,
    ended: Vec<Ended>,
}

struct Ended {
    name: &'static str,
    passed: bool,
    seconds: f64,
}

impl Steps {
    pub(crate) fn new() -> Result<Self> {
        let logs = project::root().join("target/xtask-logs");
        fs::create_dir_all(&logs).with_context(|| format!("cannot create {}", logs.display()))?;
        Ok(Self {
            logs,
            ended: Vec::new(),
        })
    }

    /// Runs cargo with these arguments as one step.
    pub(crate) fn cargo(&mut self, name: &'static str, args: &[&str]) -> Result<()> {
        self.step(name, |log| log.run(&mut project::cargo(args)))
    }

    /// Runs `work` as one step; only trouble with the log file itself is an error here.
    #[expect(
        clippy::disallowed_methods,
        reason = "the time a step took is for reading only"
    )]
    pub(crate) fn step(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&Log) -> Result<()>,
    ) -> Result<()> {
        let log = Log {
            path: self.logs.join(format!("{name}.log")),
        };
        File::create(&log.path)?;
        let start = Instant::now();
        let result = work(&log);
        let seconds = start.elapsed().as_secs_f64();
        let ended = Ended {
            name,
            passed: result.is_ok(),
            seconds,
        };
        println!("{}", ended.line());
        if let Err(error) = result {
            println!(
                "{}{error:#}\n(all of it: {})",
                log.tail()?,
                log.path.display()
            );
        }
        self.ended.push(ended);
        Ok(())
    }

    /// Whether a step has failed so far.
    pub(crate) fn failed(&self) -> bool {
        self.ended.iter().any(|ended| !ended.passed)
    }

    /// Prints every step again, one line each, the sum, and the exit code that matches.
    pub(crate) fn finish(self) -> ExitCode {
        println!("---");
        for ended in &self.ended {
            println!("{}", ended.line());
        }
        let failed = self.ended.iter().filter(|ended| !ended.passed).count();
        println!("{} passed, {failed} failed", self.ended.len() - failed);
        if failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

impl Ended {
    fn line(&self) -> String {
        let word = if self.passed { "ok" } else { "FAILED" };
        format!("{:<12} {word:<6} {:>7.1} s", self.name, self.seconds)
    }
}

/// The log of one step.
pub(crate) struct Log {
    path: PathBuf,
}

impl Log {
    /// Runs a command with both outputs appended to the log.
    pub(crate) fn run(&self, command: &mut Command) -> Result<()> {
        let file = File::options().append(true).open(&self.path)?;
        let typed = project::typed(command);
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let status = command
            .status()
            .with_context(|| format!("cannot start `{typed}`"))?;
        ensure!(status.success(), "`{typed}` ended with {status}");
        Ok(())
    }

    fn tail(&self) -> Result<String> {
        let text = String::from_utf8_lossy(&fs::read(&self.path)?).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let from = lines.len().saturating_sub(TAIL_LINES);
        Ok(lines[from..].join("\n") + "\n")
    }
}
