//! The newest watch events in the form that most watchers get, JSON of the whole object, so that each is made once for all of
//! them. Upstream: storage/cacher's `cachingObject`. Not here: which event a watcher gets.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;

use crate::store::Revision;

/// Bytes kept. A thousand watchers of small objects are at most some hundred events apart.
const BYTES_MAX: usize = 8 << 20;

/// What tells one frame from another: the change, what it is called, and the served version.
pub(super) type FrameKey = (Revision, &'static str, Arc<str>);

/// The frames.
#[derive(Debug, Default)]
pub(crate) struct Frames(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    frames: BTreeMap<FrameKey, Bytes>,
    bytes: usize,
}

impl Frames {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().expect("no holder of this lock panics")
    }

    /// The frame of `key`; `make` makes it when nobody has.
    pub(super) fn get_or_make(&self, key: FrameKey, make: impl FnOnce() -> Bytes) -> Bytes {
        if let Some(found) = self.kept().frames.get(&key) {
            return found.clone();
        }
        // Not under the lock: two watchers may make the same one, but none waits for another's.
        let frame = make();
        let mut kept = self.kept();
        kept.bytes += frame.len();
        if let Some(before) = kept.frames.insert(key, frame.clone()) {
            kept.bytes -= before.len();
        }
        while kept.bytes > BYTES_MAX
            && let Some((_, oldest)) = kept.frames.pop_first()
        {
            kept.bytes -= oldest.len();
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(revision: Revision) -> FrameKey {
        (revision, "ADDED", "v1".into())
    }

    #[test]
    fn a_frame_is_made_once_and_the_oldest_go_when_there_are_too_many_bytes() {
        let frames = Frames::default();
        let large = Bytes::from(vec![b'x'; BYTES_MAX / 4]);
        for revision in 1..=5 {
            frames.get_or_make(key(revision), || large.clone());
        }
        let again = frames.get_or_make(key(5), || unreachable!("it is kept"));
        assert_eq!(again, large);
        let gone = frames.get_or_make(key(1), || "made anew".into());
        assert_eq!(gone, "made anew");
        assert!(frames.kept().bytes <= BYTES_MAX);
    }
}
