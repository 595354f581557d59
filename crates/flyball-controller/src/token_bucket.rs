//! A token bucket on passed-in time: how long to wait for the next token, or whether there is one.
//! Not here: waiting.
//!
//! Source: golang.org/x/time/rate as used by client-go's util/flowcontrol.

use std::time::Duration;

use flyball_clock::UnixMs;

/// A bucket that starts full.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    tokens_per_ms: f64,
    burst: f64,
    tokens: f64,
    last_ms: UnixMs,
}

impl TokenBucket {
    /// A full bucket of `burst` tokens, refilled with `tokens_per_second`; without a refill rate nobody waits, as
    /// `--kube-api-qps -1` asks for.
    pub fn new(tokens_per_second: f64, burst: u32, now_ms: UnixMs) -> Self {
        let burst = f64::from(burst);
        Self {
            tokens_per_ms: tokens_per_second / 1000.0,
            burst,
            tokens: burst,
            last_ms: now_ms,
        }
    }

    /// Takes a token if there is one.
    pub fn try_take(&mut self, now_ms: UnixMs) -> bool {
        self.refill(now_ms);
        let available = self.tokens >= 1.0;
        if available {
            self.tokens -= 1.0;
        }
        available
    }

    /// Takes a token, in advance if need be; returns how long its owner has to wait for it.
    pub fn reserve(&mut self, now_ms: UnixMs) -> Duration {
        self.refill(now_ms);
        self.tokens -= 1.0;
        if self.tokens >= 0.0 || self.tokens_per_ms <= 0.0 {
            return Duration::ZERO;
        }
        Duration::from_millis((-self.tokens / self.tokens_per_ms).ceil() as u64)
    }

    fn refill(&mut self, now_ms: UnixMs) {
        let passed_ms = now_ms.saturating_sub(self.last_ms).max(0);
        self.last_ms = self.last_ms.max(now_ms);
        self.tokens = (self.tokens + passed_ms as f64 * self.tokens_per_ms).min(self.burst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_the_rest_waits_for_the_refill() {
        let mut bucket = TokenBucket::new(20.0, 30, 0);
        let waits: Vec<_> = (0..33).map(|_| bucket.reserve(0).as_millis()).collect();
        assert!(waits[..30].iter().all(|wait| *wait == 0));
        assert_eq!(waits[30..], [50, 100, 150]);
        assert_eq!(bucket.reserve(150).as_millis(), 50);
    }

    #[test]
    fn without_a_rate_nobody_waits() {
        let mut bucket = TokenBucket::new(-1.0, 1, 0);
        assert!((0..9).all(|_| bucket.reserve(0).is_zero()));
    }

    #[test]
    fn a_refused_token_is_not_owed() {
        let mut bucket = TokenBucket::new(1.0 / 300.0, 2, 0);
        let taken: Vec<_> = [0, 0, 0, 299_000, 300_000, 300_000]
            .map(|at| bucket.try_take(at))
            .into();
        assert_eq!(taken, [true, true, false, false, true, false]);
    }
}
