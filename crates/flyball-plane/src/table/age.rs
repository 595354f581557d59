//! Ages as upstream shows them: two units at most, coarser the older.

use flyball_clock::UnixMs;
use serde_json::Value;

use crate::time::parse_ms;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The age of an object since its creation.
pub(super) fn of(object: &Value, now_ms: UnixMs) -> Value {
    since(&object["metadata"]["creationTimestamp"], now_ms).into()
}

/// The time since an instant in an object, `<unknown>` where it has none (upstream: `translateTimestampSince`).
pub(super) fn since(time: &Value, now_ms: UnixMs) -> String {
    match time.as_str().and_then(parse_ms) {
        Some(then) => human(now_ms.saturating_sub(then)),
        None => "<unknown>".into(),
    }
}

/// Upstream: apimachinery util/duration `HumanDuration`.
pub(super) fn human(ms: i64) -> String {
    let seconds = ms / 1000;
    let pair = |large: i64, unit: char, rest: i64, of: char| match rest {
        0 => format!("{large}{unit}"),
        rest => format!("{large}{unit}{rest}{of}"),
    };
    match seconds {
        ..-1 => "<invalid>".into(),
        -1 => "0s".into(),
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => pair(s / MINUTE, 'm', s % MINUTE, 's'),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => pair(s / HOUR, 'h', s % HOUR / MINUTE, 'm'),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => pair(s / DAY, 'd', s % DAY / HOUR, 'h'),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => pair(s / YEAR, 'y', s % YEAR / DAY, 'd'),
        s => format!("{}y", s / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_grow_coarser() {
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (130, "2m10s"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 61, "3h1m"),
            (8 * HOUR + 60, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + HOUR, "2d1h"),
            (8 * DAY + HOUR, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR + DAY, "8y"),
        ] {
            assert_eq!(human(seconds * 1000), text, "{seconds}");
        }
        assert_eq!(human(-1999), "0s");
        assert_eq!(human(-500), "0s");
    }

    #[test]
    fn a_missing_time_has_no_age() {
        assert_eq!(since(&Value::Null, 0), "<unknown>");
    }
}
