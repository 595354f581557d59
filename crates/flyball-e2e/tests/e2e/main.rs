//! The binary as its users meet it: processes, loopback sockets, files, signals, and stock kubectl. Every test has processes
//! and directories of its own. Not here: what a cheaper test can see.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so by ending"
)]

mod autoscaling;
mod command_line;
mod controller;
mod deadline;
mod first_minute;
mod kubectl;
mod leadership;
mod process;
mod redaction;
mod transcript;
mod watching;
