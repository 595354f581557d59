//! Times as they stand in objects. Not here: the clock.

use flyball_clock::UnixMs;
use jiff::Timestamp;

/// `2006-01-02T15:04:05Z`: metav1.Time has seconds.
pub(crate) fn seconds(now_ms: UnixMs) -> String {
    stamp(now_ms.div_euclid(1000).saturating_mul(1000)).to_string()
}

/// Milliseconds since the epoch of a time in an object, `None` when it is not one.
pub(crate) fn parse_ms(text: &str) -> Option<UnixMs> {
    text.parse::<Timestamp>()
        .ok()
        .map(Timestamp::as_millisecond)
}

fn stamp(ms: UnixMs) -> Timestamp {
    let ms = ms.clamp(
        Timestamp::MIN.as_millisecond(),
        Timestamp::MAX.as_millisecond(),
    );
    Timestamp::from_millisecond(ms).expect("clamped to the range of timestamps")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_seconds() {
        assert_eq!(seconds(1_500_999), "1970-01-01T00:25:00Z");

        assert_eq!(parse_ms("1970-01-01T00:25:00Z"), Some(1_500_000));
        assert_eq!(parse_ms("yesterday"), None);
    }
}
