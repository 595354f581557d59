//! The two streams: data on stdout, talk on stderr. A closed stream is an error of stdout and nobody's loss on stderr.

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};

/// Writes one line of data. When the reader has gone the error is of kind `BrokenPipe`, which ends the command in peace.
pub(crate) fn data(line: impl fmt::Display) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

/// Writes one line of talk.
pub(crate) fn talk(line: impl fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Who speaks in the log when `-v` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A service among others: what it does is in the log.
    Service,
    /// A program at a terminal that tells decisions itself: only what it cannot tell.
    Terminal,
}

/// Sends the libraries' log to stderr. `verbosity` is `-v` as kube-controller-manager counts it: from 4 on, each sync;
/// from 6 on, whatever there is.
pub(crate) fn log(voice: Voice, verbosity: u8) {
    let directives = match (verbosity, voice) {
        (0, Voice::Terminal) => "warn,flyball_controller::reconcile=off",
        (0..4, _) => "warn,flyball=info",
        (4..6, _) => "info,flyball=debug",
        _ => "debug,flyball=trace",
    };
    // A second subscriber in one process is refused; the first one stays.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(directives))
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .try_init();
}
