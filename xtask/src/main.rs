//! The project's own commands, reached as `cargo xtask NAME`. One file a command.
//!
//! Not part of the product, and not a build system: everything here calls cargo and reads files.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line talks to its terminal"
)]

mod conform;
mod golang;
mod oracle;
mod project;
mod realplane;
mod recorder;
mod step;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--quick]        every check and test, cheap ones first; --quick leaves out the slow ones
  tidy                  rules of the source: crate edges, sizes, names, words, table rows
  conform [DIR]         run vectors (default: fixtures/vectors)
  conform oracle FILE   replay timelines of the genuine controller
  conform plane         ask the genuine kube-apiserver and the embedded plane the same
  oracle [SEED [COUNT]] record timelines of the genuine controller and compare
  realplane COMMAND     build, up, down: the genuine control plane on loopback
  recorder              instruction count with the recorder off against a build without one
  tools                 install what the tests need beyond Rust under target/tools";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test"] => test::run(test::Extent::Whole),
        ["test", "--quick"] => test::run(test::Extent::Quick),
        ["tidy"] => tidy::run(),
        ["conform", "plane", rest @ ..] => conform::plane(rest),
        ["conform", rest @ ..] => conform::run(rest),
        ["recorder"] => recorder::run(),
        ["oracle", rest @ ..] => oracle::run(rest),
        ["realplane", rest @ ..] => realplane::run(rest),
        ["tools"] => tools::run(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
