//! Waiting for something that must become true. The condition is looked at again at once: looking takes a process, which is
//! pause enough.

use std::time::{Duration, Instant};

/// Calls `look` until it answers, and ends the test with the last thing it said when that takes longer than `within`.
#[track_caller]
#[expect(
    clippy::disallowed_methods,
    reason = "a deadline of a whole process is real time"
)]
pub(crate) fn until<T>(within: Duration, mut look: impl FnMut() -> Result<T, String>) -> T {
    let start = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(last) if start.elapsed() > within => {
                panic!("not within {} s; last seen:\n{last}", within.as_secs())
            }
            Err(_) => {}
        }
    }
}
