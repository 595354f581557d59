//! Instants of a timeline: seconds from its second 0, and their text on the wire.

use jiff::Timestamp;

/// Second 0 of every timeline, in Unix seconds: 2000-01-01T00:00:02Z, two seconds after the genuine
/// controller was started.
pub(crate) const ZERO_UNIX_S: i64 = 946_684_802;

/// Seconds from second 0 to the zero time of Go, which an absent time stands for.
const YEAR_ONE_S: i64 = -62_135_596_800 - ZERO_UNIX_S;

/// The wire form of an instant.
pub(crate) fn text(offset_s: i64) -> String {
    Timestamp::from_second(ZERO_UNIX_S + offset_s).map_or_else(
        |_| "0001-01-01T00:00:00Z".to_owned(),
        |instant| instant.to_string(),
    )
}

/// Seconds from second 0 of a time on the wire; the zero time when it is absent or no time.
pub(crate) fn offset_s(wire: Option<&str>) -> i64 {
    wire.and_then(|text| text.parse::<Timestamp>().ok())
        .map_or(YEAR_ONE_S, |instant| instant.as_second() - ZERO_UNIX_S)
}
