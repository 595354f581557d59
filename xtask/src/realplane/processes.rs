//! Child processes that outlive this one and are found again: their numbers stand in a file, and a number is trusted only
//! while its program is the one that was started.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// Between two looks at a process.
const PAUSE: Duration = Duration::from_millis(250);
/// Looks at which a process is not there before it counts as ended.
const MISSING_MAX: usize = 4;
/// Looks until a process that was asked to end is killed.
const END_TRIES: usize = 60;

/// What runs in one folder, which holds a log for each.
#[derive(Debug)]
pub(super) struct Processes {
    run: PathBuf,
    /// Number and program.
    started: Vec<(u32, String)>,
}

impl Processes {
    pub(super) fn new(run: &Path) -> Self {
        Self {
            run: run.to_owned(),
            started: Vec::new(),
        }
    }

    /// Those that an earlier call has started in `run`.
    pub(super) fn remembered(run: &Path) -> Self {
        let text = fs::read_to_string(run.join("pids")).unwrap_or_default();
        let started = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(pid, program)| Some((pid.parse().ok()?, program.to_owned())))
            .collect();
        Self {
            run: run.to_owned(),
            started,
        }
    }

    /// Starts one in a group of its own, so that an interrupt at the terminal does not end it.
    pub(super) fn start(&mut self, name: &str, command: &mut Command) -> Result<()> {
        let log = File::create(self.log(name))?;
        let child = command
            .current_dir(&self.run)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let program = command.get_program().to_string_lossy().into_owned();
        self.started.push((child.id(), program));
        let lines = self
            .started
            .iter()
            .map(|(pid, program)| format!("{pid} {program}\n"));
        fs::write(self.run.join("pids"), lines.collect::<String>())?;
        Ok(())
    }

    /// Waits until `ready`, and fails when the one that was started last ends before.
    pub(super) fn wait(&self, name: &str, tries: usize, ready: impl Fn() -> bool) -> Result<()> {
        // A process that has just begun may not show its command line yet.
        let mut missing = 0;
        for _ in 0..tries {
            let last = self.started.last();
            let there = last.is_some_and(|(pid, program)| runs(*pid, program));
            missing = if there { 0 } else { missing + 1 };
            if missing == MISSING_MAX {
                bail!("{name} has ended; its log is {}", self.log(name).display());
            }
            if there && ready() {
                return Ok(());
            }
            std::thread::sleep(PAUSE);
        }
        bail!(
            "{name} is not ready; its log is {}",
            self.log(name).display()
        )
    }

    /// Ends all of them, the one that was started last first.
    pub(super) fn stop(&self) {
        for (pid, program) in self.started.iter().rev() {
            for look in 0..=END_TRIES {
                if !runs(*pid, program) {
                    break;
                }
                if look == 0 || look == END_TRIES {
                    let signal = if look == 0 { "-TERM" } else { "-KILL" };
                    // A process that is gone by now needs no signal.
                    let _ = Command::new("kill")
                        .args([signal, &pid.to_string()])
                        .status();
                }
                std::thread::sleep(PAUSE);
            }
        }
    }

    fn log(&self, name: &str) -> PathBuf {
        self.run.join(format!("{name}.log"))
    }
}

/// True while `pid` is a process of `program` that has not ended.
fn runs(pid: u32, program: &str) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // The command line of one that has ended and is not yet collected is empty.
    line.split(|byte| *byte == 0).next() == Some(program.as_bytes()) && !line.is_empty()
}
