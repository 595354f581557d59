//! Ages of what stands in objects; how a span reads is the API crate's.

use flyball_api::duration;
use flyball_clock::UnixMs;
use serde_json::Value;

use crate::time;

/// The age of an object since its creation.
pub(super) fn of(object: &Value, now_ms: UnixMs) -> Value {
    since(&object["metadata"]["creationTimestamp"], now_ms).into()
}

/// The time since an instant in an object, `<unknown>` where it has none (upstream: `translateTimestampSince`).
pub(super) fn since(time: &Value, now_ms: UnixMs) -> String {
    match time.as_str().and_then(time::parse) {
        Some(then) => duration::human(now_ms.saturating_sub(then)),
        None => "<unknown>".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_time_has_no_age() {
        assert_eq!(since(&Value::Null, 0), "<unknown>");
    }
}
