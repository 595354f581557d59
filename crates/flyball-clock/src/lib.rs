//! The one source of time. Everything that waits or stamps takes a [`Clock`]; nothing else reads the host's clock.
//! Not here: durations, formats, schedules.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Milliseconds since the Unix epoch; negative before 1970.
pub type UnixMs = i64;

/// The time of one process or of one simulation. Cheap to clone.
///
/// Built on tokio's clock, so a runtime started with paused time is a virtual clock: `now` and `sleep`
/// move together and a ten-hour run takes as long as its work.
#[derive(Clone)]
pub struct Clock {
    shared: Arc<Origin>,
}

struct Origin {
    epoch_ms: UnixMs,
    start: tokio::time::Instant,
}

impl Clock {
    /// A clock that shows the host's wall time now and advances with tokio's time.
    pub fn system() -> Self {
        Self::starting_at(jiff_now_ms())
    }

    /// A clock that shows `epoch_ms` now and advances with tokio's time; for virtual time.
    pub fn starting_at(epoch_ms: UnixMs) -> Self {
        Self {
            shared: Arc::new(Origin {
                epoch_ms,
                start: tokio::time::Instant::now(),
            }),
        }
    }

    /// Milliseconds since the Unix epoch. Never goes back within a process.
    pub fn now_ms(&self) -> UnixMs {
        let elapsed = self.shared.start.elapsed().as_millis();
        self.shared
            .epoch_ms
            .saturating_add(i64::try_from(elapsed).unwrap_or(i64::MAX))
    }

    /// Time since the clock was made, for measuring how long something took.
    pub fn elapsed(&self) -> Duration {
        self.shared.start.elapsed()
    }

    /// Waits for `duration`.
    pub async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Waits until [`Clock::now_ms`] is at least `at_ms`; returns at once when it is.
    pub async fn sleep_until(&self, at_ms: UnixMs) {
        let wait_ms = at_ms.saturating_sub(self.shared.epoch_ms);
        let wait = Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0));
        tokio::time::sleep_until(self.shared.start + wait).await;
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock")
            .field("now_ms", &self.now_ms())
            .finish()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the host's clock"
)]
fn jiff_now_ms() -> UnixMs {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn virtual_time_moves_only_by_sleeping() {
        let clock = Clock::starting_at(1_000);
        assert_eq!(clock.now_ms(), 1_000);
        clock.sleep(Duration::from_hours(1)).await;
        assert_eq!(clock.now_ms(), 3_601_000);
        clock.sleep_until(3_700_000).await;
        assert_eq!(clock.now_ms(), 3_700_000);
        clock.sleep_until(5).await;
        assert_eq!(clock.now_ms(), 3_700_000);
    }
}
