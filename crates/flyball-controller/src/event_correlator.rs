//! Which events become objects: repeats are counted on one object, floods of similar ones are grouped, and what is
//! still too much is dropped. Pure; time is passed in.
//! Not here: writing ([`crate::event_sink`]).
//!
//! Source: client-go tools/record/events_cache.go, v0.37.2 (EventAggregator, eventLogger,
//! EventSourceObjectSpamFilter). Where upstream drops an arbitrary message of a group, this drops the first.

use std::collections::BTreeSet;

use flyball_clock::UnixMs;

use crate::event::{Event, EventType, Regarding, StoredEvent};
use crate::lru::Lru;
use crate::token_bucket::TokenBucket;

/// Entries per cache (maxLruCacheEntries).
const CACHE_ENTRIES: usize = 4096;
/// From this many different messages of one reason on, they share an object (defaultAggregateMaxEvents).
const GROUP_FROM: usize = 10;
/// A group ends after this time without an event (defaultAggregateIntervalInSeconds).
const GROUP_INTERVAL_MS: i64 = 600_000;
/// Events of one type an object may have at once (defaultSpamBurst) …
const SPAM_BURST: u32 = 25;
/// … and per second thereafter: one in five minutes (defaultSpamQPS).
const SPAM_PER_SECOND: f64 = 1.0 / 300.0;

/// What to write for an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correlated {
    /// A new object.
    Create(StoredEvent),
    /// One more occurrence of an object written earlier.
    Repeat(StoredEvent),
    /// Nothing: the object has had too many events.
    Drop,
}

/// An object without its resourceVersion, which does not make another object of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct About {
    api_version: String,
    kind: String,
    namespace: String,
    name: String,
    uid: String,
    event_type: EventType,
}

/// Which occurrences are counted together: one message, or (`None`) a whole group of similar ones.
type SeriesKey = (About, String, Option<String>);

#[derive(Debug)]
struct Group {
    messages: BTreeSet<String>,
    last_ms: UnixMs,
}

#[derive(Clone, Debug)]
struct Series {
    name: String,
    first_ms: UnixMs,
    count: u32,
}

/// The state behind the three rules. **Bound:** 4096 entries in each of three caches, at most ten messages a group.
#[derive(Debug)]
pub struct EventCorrelator {
    groups: Lru<(About, String), Group>,
    series: Lru<SeriesKey, Series>,
    buckets: Lru<About, TokenBucket>,
    /// Keeps names apart that are made in the same millisecond.
    serial: u32,
}

impl Default for EventCorrelator {
    fn default() -> Self {
        Self {
            groups: Lru::new(CACHE_ENTRIES),
            series: Lru::new(CACHE_ENTRIES),
            buckets: Lru::new(CACHE_ENTRIES),
            serial: 0,
        }
    }
}

impl EventCorrelator {
    /// Decides what to write for `event` about `regarding`, and counts it.
    pub fn correlate(&mut self, regarding: &Regarding, event: Event, now_ms: UnixMs) -> Correlated {
        let about = About::new(regarding, event.event_type);
        let grouped = self.joins_group(&about, &event, now_ms);
        let (event, distinguished) = if grouped {
            let message = format!("(combined from similar events): {}", event.message);
            (Event { message, ..event }, None)
        } else {
            let message = event.message.clone();
            (event, Some(message))
        };
        let key = (about.clone(), event.reason.clone(), distinguished);
        let (stored, repeats) = self.count(key, regarding, event, now_ms);
        match (self.passes_bucket(about, now_ms), repeats) {
            (false, _) => Correlated::Drop,
            (true, false) => Correlated::Create(stored),
            (true, true) => Correlated::Repeat(stored),
        }
    }

    /// Whether the event is one of too many different ones of its reason.
    fn joins_group(&mut self, about: &About, event: &Event, now_ms: UnixMs) -> bool {
        let key = (about.clone(), event.reason.clone());
        let fresh = self
            .groups
            .get(&key)
            .is_none_or(|group| now_ms - group.last_ms > GROUP_INTERVAL_MS);
        if fresh {
            let messages = BTreeSet::from([event.message.clone()]);
            self.groups.put(
                key,
                Group {
                    messages,
                    last_ms: now_ms,
                },
            );
            return false;
        }
        let Some(group) = self.groups.get(&key) else {
            return false;
        };
        group.messages.insert(event.message.clone());
        group.last_ms = now_ms;
        let grouped = group.messages.len() >= GROUP_FROM;
        if grouped {
            group.messages.pop_first();
        }
        grouped
    }

    /// The object for one more occurrence, and whether there were earlier ones.
    fn count(
        &mut self,
        key: SeriesKey,
        regarding: &Regarding,
        event: Event,
        now_ms: UnixMs,
    ) -> (StoredEvent, bool) {
        let earlier = self.series.get(&key).cloned();
        let repeats = earlier.is_some();
        let mut series = earlier.unwrap_or_else(|| Series {
            name: self.fresh_name(&regarding.name, now_ms),
            first_ms: now_ms,
            count: 0,
        });
        series.count += 1;
        self.series.put(key, series.clone());
        let stored = StoredEvent {
            name: series.name,
            regarding: regarding.clone(),
            event,
            first_ms: series.first_ms,
            last_ms: now_ms,
            count: series.count,
        };
        (stored, repeats)
    }

    fn passes_bucket(&mut self, about: About, now_ms: UnixMs) -> bool {
        if let Some(bucket) = self.buckets.get(&about) {
            return bucket.try_take(now_ms);
        }
        let mut bucket = TokenBucket::new(SPAM_PER_SECOND, SPAM_BURST, now_ms);
        let passes = bucket.try_take(now_ms);
        self.buckets.put(about, bucket);
        passes
    }

    /// `<object>.<nanoseconds in hex>`, as client-go names events; the serial stands where the clock has no digits.
    fn fresh_name(&mut self, object: &str, now_ms: UnixMs) -> String {
        self.serial = (self.serial + 1) % 1_000_000;
        let nanoseconds = i128::from(now_ms) * 1_000_000 + i128::from(self.serial);
        format!("{object}.{nanoseconds:x}")
    }
}

impl About {
    fn new(regarding: &Regarding, event_type: EventType) -> Self {
        let Regarding {
            api_version,
            kind,
            namespace,
            name,
            uid,
            ..
        } = regarding.clone();
        Self {
            api_version,
            kind,
            namespace,
            name,
            uid,
            event_type,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regarding() -> Regarding {
        Regarding {
            api_version: "autoscaling/v2".to_owned(),
            kind: "HorizontalPodAutoscaler".to_owned(),
            namespace: "default".to_owned(),
            name: "web".to_owned(),
            uid: "u1".to_owned(),
            resource_version: "1".to_owned(),
        }
    }

    fn warning(message: &str) -> Event {
        let reason = "FailedGetResourceMetric".to_owned();
        Event {
            event_type: EventType::Warning,
            reason,
            message: message.to_owned(),
        }
    }

    fn send(correlator: &mut EventCorrelator, message: &str, now_ms: UnixMs) -> Correlated {
        correlator.correlate(&regarding(), warning(message), now_ms)
    }

    fn created(correlated: Correlated) -> StoredEvent {
        match correlated {
            Correlated::Create(stored) => stored,
            other => panic!("not created: {other:?}"),
        }
    }

    fn repeated(correlated: Correlated) -> StoredEvent {
        match correlated {
            Correlated::Repeat(stored) => stored,
            other => panic!("not a repeat: {other:?}"),
        }
    }

    #[test]
    fn the_same_event_is_counted_on_its_first_object() {
        let mut correlator = EventCorrelator::default();
        let first = created(send(&mut correlator, "no metrics", 1_000));
        let second = repeated(send(&mut correlator, "no metrics", 16_000));
        assert_eq!(first.name, "web.3b9aca01");
        assert_eq!((second.name, second.count), (first.name, 2));
        assert_eq!((second.first_ms, second.last_ms), (1_000, 16_000));
    }

    #[test]
    fn another_version_of_the_object_is_the_same_object() {
        let mut correlator = EventCorrelator::default();
        created(send(&mut correlator, "no metrics", 0));
        let newer = Regarding {
            resource_version: "2".to_owned(),
            ..regarding()
        };
        let second = repeated(correlator.correlate(&newer, warning("no metrics"), 1));
        assert_eq!(second.regarding.resource_version, "2");
    }

    #[test]
    fn the_tenth_message_of_a_reason_starts_a_group() {
        let mut correlator = EventCorrelator::default();
        for index in 0..9 {
            created(send(&mut correlator, &format!("message {index}"), 0));
        }
        let tenth = created(send(&mut correlator, "message 9", 0));
        assert_eq!(
            tenth.event.message,
            "(combined from similar events): message 9"
        );
        let eleventh = repeated(send(&mut correlator, "message 10", 5_000));
        assert_eq!(
            eleventh.event.message,
            "(combined from similar events): message 10"
        );
        assert_eq!((eleventh.name, eleventh.count), (tenth.name, 2));
    }

    #[test]
    fn a_group_ends_after_ten_minutes_of_silence() {
        let mut correlator = EventCorrelator::default();
        for index in 0..10 {
            send(&mut correlator, &format!("message {index}"), 0);
        }
        send(&mut correlator, "message 10", 600_000);
        let later = created(send(&mut correlator, "message 11", 1_200_001));
        assert_eq!(later.event.message, "message 11");
    }

    #[test]
    fn an_object_has_25_events_of_a_type_and_one_more_every_five_minutes() {
        let mut correlator = EventCorrelator::default();
        let passed = (0..30).filter(|_| send(&mut correlator, "no metrics", 0) != Correlated::Drop);
        assert_eq!(passed.count(), 25);
        let normal = Event {
            event_type: EventType::Normal,
            ..warning("rescaled")
        };
        assert_ne!(
            correlator.correlate(&regarding(), normal, 0),
            Correlated::Drop
        );
        assert_eq!(
            send(&mut correlator, "no metrics", 299_000),
            Correlated::Drop
        );
        let next = repeated(send(&mut correlator, "no metrics", 300_000));
        assert_eq!(next.count, 32, "dropped occurrences are counted");
    }

    #[test]
    fn objects_made_in_the_same_millisecond_have_different_names() {
        let mut correlator = EventCorrelator::default();
        let one = created(send(&mut correlator, "a", 5));
        let two = created(send(&mut correlator, "b", 5));
        assert_ne!(one.name, two.name);
    }
}
