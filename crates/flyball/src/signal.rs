//! Ctrl-C and SIGTERM as one token. The first asks everything to end; the second ends the process at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What shells report for a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// A token that is cancelled when the process is asked to end.
pub(crate) fn stop_token() -> std::io::Result<CancellationToken> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        // Two rounds: asked, and asked again.
        for again in [false, true] {
            tokio::select! {
                biased;
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if again {
                std::process::exit(INTERRUPTED);
            }
            asked.cancel();
        }
    });
    Ok(stop)
}
