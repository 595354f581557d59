//! The `flyball` command: reads the command line, runs one subcommand, and turns its end into an exit code ([`exit`]).
//! Data goes to stdout, talk to stderr. Not here: anything a library could do.

mod cluster;
mod cmd;
mod data_dir;
mod exit;
mod go_flag;
mod leader;
mod output;
mod sample;
mod signal;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::exit::Exit;

/// A Kubernetes Horizontal Pod Autoscaler whose every decision can be explained, and a cluster small enough to try it on.
#[derive(Debug, Parser)]
#[command(name = "flyball", version, after_help = exit::HELP, max_term_width = 120)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Up(cmd::up::Args),
    Plane(cmd::plane::Args),
    Controller(Box<cmd::controller::Args>),
    Load(cmd::load::Args),
    Version(cmd::version::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help and version are no refusals; clap knows which goes to which stream. A closed stream is nobody's loss.
            let _ = refusal.print();
            let exit = if refusal.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
            return exit.into();
        }
    };
    match run(cli.command) {
        Ok(()) => Exit::Done.into(),
        Err(error) => {
            let exit = Exit::of(&error);
            if exit != Exit::Done {
                output::talk(format_args!("flyball: {error:#}"));
                if let Some(advice) = exit::advice(&error) {
                    output::talk(format_args!("flyball: {advice}"));
                }
            }
            exit.into()
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Version(args) => cmd::version::run(&args),
        Command::Up(args) => block_on(cmd::up::run(args)),
        Command::Plane(args) => block_on(cmd::plane::run(args)),
        Command::Controller(args) => block_on(cmd::controller::run(*args)),
        Command::Load(args) => block_on(cmd::load::run(args)),
    }
}

fn block_on(command: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(command)
}
