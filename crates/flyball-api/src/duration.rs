//! Durations in Go's text form, `1m30s`, held in milliseconds: flags and configuration use them.

use thiserror::Error;

use crate::go_text::quote;

/// A text that is no duration, in the words of Go's `time.ParseDuration`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseDurationError {
    /// The text has not the shape of a duration, or names one of more than 292 years.
    #[error("time: invalid duration {}", quote(.0))]
    Invalid(String),
    /// A number has no unit.
    #[error("time: missing unit in duration {}", quote(.0))]
    MissingUnit(String),
    /// A unit is none of `ns us ms s m h`.
    #[error("time: unknown unit {} in duration {}", quote(unit), quote(text))]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

/// Milliseconds of a text such as `300ms`, `-1.5h` or `2h45m`; finer parts are dropped. Upstream: Go `time.ParseDuration`.
pub fn parse_millis(text: &str) -> Result<i64, ParseDurationError> {
    let invalid = || ParseDurationError::Invalid(text.to_owned());
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut nanos: i64 = 0;
    while !rest.is_empty() {
        let (whole, after) = split_digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), split_digits);
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let end = after
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        if unit.is_empty() {
            return Err(ParseDurationError::MissingUnit(text.to_owned()));
        }
        let unknown = || ParseDurationError::UnknownUnit {
            unit: unit.to_owned(),
            text: text.to_owned(),
        };
        let unit_nanos = nanos_of(unit).ok_or_else(unknown)?;
        let size = part(whole, fraction, unit_nanos).ok_or_else(invalid)?;
        nanos = nanos.checked_add(size).ok_or_else(invalid)?;
        rest = after;
    }
    let millis = nanos / 1_000_000;
    Ok(if text.starts_with('-') {
        -millis
    } else {
        millis
    })
}

/// Nanoseconds of a number and its unit, none if they do not fit.
fn part(whole: &str, fraction: &str, unit_nanos: i64) -> Option<i64> {
    let whole = if whole.is_empty() {
        0
    } else {
        whole.parse::<i64>().ok()?
    };
    // Go computes fractions in floating point too.
    let fraction = format!("0.{fraction}0").parse::<f64>().ok()?;
    whole
        .checked_mul(unit_nanos)?
        .checked_add((fraction * unit_nanos as f64) as i64)
}

fn nanos_of(unit: &str) -> Option<i64> {
    Some(match unit {
        "ns" => 1,
        // Micro sign and Greek mu.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The text of a duration: `0s`, `100ms`, `1.5s`, `1m0s`, `1h0m0s`. Upstream: Go `time.Duration.String`.
pub fn format_millis(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "" };
    let size = millis.unsigned_abs();
    if size == 0 {
        return "0s".to_owned();
    }
    if size < 1000 {
        return format!("{sign}{size}ms");
    }
    let (hours, minutes, seconds) = (size / 3_600_000, size / 60_000 % 60, size / 1000 % 60);
    let fraction = match size % 1000 {
        0 => String::new(),
        part => format!(".{part:03}").trim_end_matches('0').to_owned(),
    };
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}{fraction}s"),
        (0, _) => format!("{sign}{minutes}m{seconds}{fraction}s"),
        _ => format!("{sign}{hours}h{minutes}m{seconds}{fraction}s"),
    }
}

/// The age of something for a table: two units at most, the finer one only while it tells.
///
/// Upstream: apimachinery util/duration/duration.go `HumanDuration`.
pub fn human(millis: i64) -> String {
    let (seconds, minutes, hours) = (millis / 1000, millis / 60_000, millis / 3_600_000);
    let days = hours / 24;
    let two = |coarse: i64, unit: &str, fine: i64, fine_unit: &str| match fine {
        0 => format!("{coarse}{unit}"),
        _ => format!("{coarse}{unit}{fine}{fine_unit}"),
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        _ if seconds < 120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => two(days, "d", hours % 24, "h"),
        _ if hours < 24 * 365 * 2 => format!("{days}d"),
        _ if hours < 24 * 365 * 8 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written_as_go_does() {
        let rows = [
            ("0", 0, "0s"),
            ("0s", 0, "0s"),
            ("-0", 0, "0s"),
            ("999us", 0, "0s"),
            ("100ms", 100, "100ms"),
            ("1.5s", 1500, "1.5s"),
            (".5s", 500, "500ms"),
            ("1.s", 1000, "1s"),
            ("60s", 60_000, "1m0s"),
            ("-90m", -5_400_000, "-1h30m0s"),
            ("2h45m0.25s", 9_900_250, "2h45m0.25s"),
            ("1s1s", 2000, "2s"),
            ("+5m", 300_000, "5m0s"),
            ("1000\u{b5}s", 1, "1ms"),
            ("2562047h", 9_223_369_200_000, "2562047h0m0s"),
        ];
        for (text, millis, written) in rows {
            assert_eq!(parse_millis(text).expect(text), millis, "{text}");
            assert_eq!(format_millis(millis), written, "{text}");
        }
    }

    #[test]
    fn each_malformed_text_has_gos_words() {
        let rows = [
            ("", r#"time: invalid duration """#),
            ("-", r#"time: invalid duration "-""#),
            ("s", r#"time: invalid duration "s""#),
            (".s", r#"time: invalid duration ".s""#),
            ("1", r#"time: missing unit in duration "1""#),
            ("1s2", r#"time: missing unit in duration "1s2""#),
            ("1 s", r#"time: unknown unit " s" in duration "1 s""#),
            ("1d", r#"time: unknown unit "d" in duration "1d""#),
            ("2562048h", r#"time: invalid duration "2562048h""#),
            (
                "99999999999999999999s",
                r#"time: invalid duration "99999999999999999999s""#,
            ),
        ];
        for (text, error) in rows {
            assert_eq!(parse_millis(text).expect_err(text).to_string(), error);
        }
    }

    #[test]
    fn ages_lose_their_finer_unit_as_they_grow() {
        const MINUTE: i64 = 60_000;
        const DAY: i64 = 1440 * MINUTE;
        let rows = [
            (-2000, "<invalid>"),
            (-1999, "0s"),
            (-1, "0s"),
            (119_999, "119s"),
            (2 * MINUTE, "2m"),
            (2 * MINUTE + 1000, "2m1s"),
            (10 * MINUTE + 59_000, "10m"),
            (179 * MINUTE, "179m"),
            (180 * MINUTE, "3h"),
            (181 * MINUTE, "3h1m"),
            (8 * 60 * MINUTE + MINUTE, "8h"),
            (2 * DAY, "2d"),
            (2 * DAY + 60 * MINUTE, "2d1h"),
            (8 * DAY + 60 * MINUTE, "8d"),
            (730 * DAY, "2y"),
            (731 * DAY, "2y1d"),
            (8 * 365 * DAY + DAY, "8y"),
        ];
        for (millis, age) in rows {
            assert_eq!(human(millis), age, "{millis}");
        }
    }
}
