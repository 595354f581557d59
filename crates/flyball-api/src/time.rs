//! Instants and durations as the API writes them, held in milliseconds. No clock: a value here came from outside.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::go_text;

/// Go's zero time, 0001-01-01T00:00:00Z, in milliseconds since 1970; upstream writes it as `null`.
const ZERO_MS: i64 = -62_135_596_800_000;

/// A text that is no RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("parsing time {} as \"2006-01-02T15:04:05Z07:00\": cannot parse", go_text::quote(.0))]
pub struct ParseTimeError(String);

/// Milliseconds since 1970 of an RFC 3339 text; finer parts are dropped. The last day of the year 9999 is out of range.
fn parse_millis(text: &str) -> Result<i64, ParseTimeError> {
    let parsed = Parts::split(text).and_then(|parts| {
        let seconds = format!("{}{}", parts.seconds, parts.zone)
            .parse::<Timestamp>()
            .ok()?;
        let places = format!("{:0<3}", parts.fraction);
        Some(seconds.as_millisecond() + places[..3].parse::<i64>().ok()?)
    });
    parsed.ok_or_else(|| ParseTimeError(text.to_owned()))
}

/// A time in the shape that Go's layout asks for: the date library alone would let other notations and leap seconds pass,
/// and refuse fractions that are finer than it can hold.
struct Parts<'a> {
    seconds: &'a str,
    fraction: &'a str,
    zone: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Option<Self> {
        let (seconds, rest) = text.split_at_checked(19)?;
        let zone = rest.trim_start_matches(|c: char| ".,".contains(c) || c.is_ascii_digit());
        let (point, fraction) = rest[..rest.len() - zone.len()]
            .split_at_checked(1)
            .unwrap_or_default();
        let has_fraction =
            [".", ","].contains(&point) && is_shaped(fraction, &"0".repeat(fraction.len().max(1)));
        let zone_fits = zone == "Z" || is_shaped(zone, "+00:00") || is_shaped(zone, "-00:00");
        let fits = is_shaped(seconds, "0000-00-00T00:00:00")
            && !seconds.ends_with(":60")
            && (point.is_empty() || has_fraction)
            && zone_fits;
        fits.then_some(Self {
            seconds,
            fraction,
            zone,
        })
    }
}

/// Whether the text has a digit wherever the shape has a zero, and is the same elsewhere.
fn is_shaped(text: &str, shape: &str) -> bool {
    let fits = |(b, s): (u8, u8)| b == s || (s == b'0' && b.is_ascii_digit());
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

fn timestamp(millis: i64) -> Timestamp {
    // Out of the calendar's range there is nothing to print but its edge.
    let edge = if millis < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Timestamp::from_millisecond(millis).unwrap_or(edge)
}

/// An instant written in whole seconds. Upstream: apimachinery meta/v1/time.go `Time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(i64);

impl Time {
    /// The instant `millis` milliseconds after 1970 began (UTC).
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970 began (UTC).
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 text.
    pub fn parse(text: &str) -> Result<Self, ParseTimeError> {
        parse_millis(text).map(Self)
    }

    /// The instant as it comes back from the API: fractions of a second are gone.
    #[must_use]
    pub const fn in_whole_seconds(self) -> Self {
        Self(self.0 - self.0.rem_euclid(1000))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}", timestamp(self.in_whole_seconds().0))
    }
}

/// An instant written in microseconds. Upstream: apimachinery meta/v1/micro_time.go `MicroTime`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MicroTime(i64);

impl MicroTime {
    /// The instant `millis` milliseconds after 1970 began (UTC).
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970 began (UTC).
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Reads an RFC 3339 text; microseconds are dropped.
    pub fn parse(text: &str) -> Result<Self, ParseTimeError> {
        parse_millis(text).map(Self)
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.6}", timestamp(self.0))
    }
}

macro_rules! instant_in_json {
    ($($instant:ty),*) => {$(
        impl Serialize for $instant {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if self.0 == ZERO_MS { serializer.serialize_none() } else { serializer.collect_str(self) }
            }
        }

        impl<'de> Deserialize<'de> for $instant {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

instant_in_json!(Time, MicroTime);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_any_zone_and_written_in_whole_seconds_of_utc() {
        let rows = [
            (
                "2000-01-01T00:00:00Z",
                946_684_800_000,
                "2000-01-01T00:00:00Z",
            ),
            (
                "2000-01-01T01:00:00.9999+01:00",
                946_684_800_999,
                "2000-01-01T00:00:00Z",
            ),
            (
                "2000-01-01T00:00:00,5Z",
                946_684_800_500,
                "2000-01-01T00:00:00Z",
            ),
            (
                "2000-01-01T00:00:00.1234567890123Z",
                946_684_800_123,
                "2000-01-01T00:00:00Z",
            ),
            ("1969-12-31T23:59:59.5Z", -500, "1969-12-31T23:59:59Z"),
            ("0001-01-01T00:00:00Z", ZERO_MS, "0001-01-01T00:00:00Z"),
        ];
        for (text, millis, written) in rows {
            let time = Time::parse(text).expect(text);
            assert_eq!(
                (time.millis(), time.to_string().as_str()),
                (millis, written)
            );
        }
    }

    #[test]
    fn micro_times_have_six_places() {
        let time = MicroTime::parse("2000-01-01T00:00:00.123456Z").expect("a sound time");
        assert_eq!(
            (time.millis(), time.to_string()),
            (946_684_800_123, "2000-01-01T00:00:00.123000Z".to_owned())
        );
        assert_eq!(
            MicroTime::from_millis(0).to_string(),
            "1970-01-01T00:00:00.000000Z"
        );
    }

    #[test]
    fn other_notations_are_refused() {
        let texts = [
            "",
            "2000-01-01",
            "2000-01-01 00:00:00Z",
            "20000101T000000Z",
            "2000-01-01T00:00:00",
            "2000-01-01T00:00:00z",
            "2000-01-01T00:00:00.Z",
            "2000-01-01T00:00:60Z",
            "2000-02-30T00:00:00Z",
            "2000-01-01T00:00:00+0100",
            "2000-01-01T00:00:00Z[UTC]",
            "é000-01-01T00:00:00Z",
        ];
        for text in texts {
            assert!(Time::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_zero_time_is_null_in_json() {
        let json = |time| serde_json::to_string(&time).expect("a time serialises");
        assert_eq!(json(Time(ZERO_MS)), "null");
        assert_eq!(json(Time(0)), "\"1970-01-01T00:00:00Z\"");
        assert_eq!(
            serde_json::from_str::<Option<Time>>("null").expect("null is no time"),
            None
        );
    }
}
