//! Times as they stand in objects, in the milliseconds that the plane counts in; how they read is the API crate's.
//! Not here: the clock.

use flyball_api::time::Time;
use flyball_clock::UnixMs;

/// A time as metav1.Time prints it: RFC 3339 in UTC, whole seconds, truncated.
pub(crate) fn print(at_ms: UnixMs) -> String {
    Time::from_millis(at_ms).to_string()
}

/// An RFC 3339 time of any precision, `None` when the text is none.
pub(crate) fn parse(text: &str) -> Option<UnixMs> {
    Time::parse(text).ok().map(Time::millis)
}
