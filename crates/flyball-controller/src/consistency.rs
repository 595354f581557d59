//! Whether the cache of HPAs is as new as the controller's own last status write (KEP-5647).
//! Not here: the cache; the gate that turns the check off.
//!
//! Source: pkg/controller/util/consistency/consistency.go, v1.37.2. Only one resource is ever written, so a record
//! holds one version.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use thiserror::Error;

use crate::key::ObjectKey;

/// The cache is older than the controller's own write.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "read version: {read} is not as new as written version: {written} for group resource {GROUP_RESOURCE}"
)]
pub struct StaleCache {
    /// resourceVersion the cache has seen.
    pub read: String,
    /// resourceVersion of the last status write.
    pub written: String,
}

/// The one resource that is written and checked.
const GROUP_RESOURCE: &str = "horizontalpodautoscalers.autoscaling";

/// The last status write per HPA. **Bound:** one record per HPA written since the cache last caught up with it.
#[derive(Debug, Default)]
pub struct ConsistencyStore {
    writes: BTreeMap<ObjectKey, Write>,
}

#[derive(Debug)]
struct Write {
    uid: String,
    version: String,
}

impl ConsistencyStore {
    /// Remembers a write; an older one of the same object does not replace a newer one.
    pub fn wrote(&mut self, key: &ObjectKey, uid: &str, version: &str) {
        let newer = self.writes.get(key).is_some_and(|write| {
            write.uid == uid
                && compare_versions(&write.version, version)
                    .is_some_and(|order| order != Ordering::Less)
        });
        if !newer {
            let write = Write {
                uid: uid.to_owned(),
                version: version.to_owned(),
            };
            self.writes.insert(key.clone(), write);
        }
    }

    /// Forgets the object of `key` with this UID.
    pub fn clear(&mut self, key: &ObjectKey, uid: &str) {
        if self.writes.get(key).is_some_and(|write| write.uid == uid) {
            self.writes.remove(key);
        }
    }

    /// Forgets the object of `key`, whatever its UID.
    pub fn clear_any(&mut self, key: &ObjectKey) {
        self.writes.remove(key);
    }

    /// Fails while a cache at `read_version` has not seen the last write of `key`. Versions that cannot be compared,
    /// and a cache without one, do not block.
    pub fn check(&mut self, key: &ObjectKey, read_version: &str) -> Result<(), StaleCache> {
        let Some(write) = self.writes.get(key) else {
            return Ok(());
        };
        if compare_versions(&write.version, read_version) == Some(Ordering::Greater) {
            return Err(StaleCache {
                read: read_version.to_owned(),
                written: write.version.clone(),
            });
        }
        self.writes.remove(key);
        Ok(())
    }
}

/// Orders two resourceVersions if both are positive decimal numbers
/// (apimachinery/pkg/util/resourceversion, v0.37.2).
fn compare_versions(a: &str, b: &str) -> Option<Ordering> {
    let number = |text: &str| {
        !text.is_empty() && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    (number(a) && number(b)).then(|| a.len().cmp(&b.len()).then_with(|| a.cmp(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> ObjectKey {
        ObjectKey::new("default", "web")
    }

    /// Whether a cache at `read` is ready after a write at `written`.
    fn ready(written: &str, read: &str) -> bool {
        let mut store = ConsistencyStore::default();
        store.wrote(&key(), "u1", written);
        store.check(&key(), read).is_ok()
    }

    #[test]
    fn a_cache_is_ready_once_it_has_seen_the_write() {
        assert!(!ready("10", "9"));
        assert!(ready("10", "10"));
        assert!(ready("9", "10"));
    }

    #[test]
    fn versions_that_cannot_be_compared_do_not_block() {
        assert!(ready("10", ""));
        assert!(ready("10", "09"));
        assert!(ready("x", "9"));
    }

    #[test]
    fn the_error_names_both_versions() {
        let mut store = ConsistencyStore::default();
        store.wrote(&key(), "u1", "12");
        let error = store.check(&key(), "11").expect_err("stale");
        let text = "read version: 11 is not as new as written version: 12 \
                    for group resource horizontalpodautoscalers.autoscaling";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_write_with_another_uid_replaces_the_record_and_an_older_one_does_not() {
        let mut store = ConsistencyStore::default();
        store.wrote(&key(), "u1", "12");
        store.wrote(&key(), "u1", "11");
        assert!(store.check(&key(), "11").is_err());
        store.wrote(&key(), "u2", "10");
        store.clear(&key(), "u1");
        assert!(store.check(&key(), "9").is_err());
        store.clear(&key(), "u2");
        assert!(store.check(&key(), "9").is_ok());
    }
}
