//! A map that holds a fixed number of entries and drops the one unused for longest.
//! Not here: expiry by time.

use std::collections::BTreeMap;

/// The map. **Bound:** never more than `capacity` entries.
#[derive(Debug)]
pub struct Lru<K, V> {
    capacity: usize,
    stamp: u64,
    entries: BTreeMap<K, (V, u64)>,
    by_age: BTreeMap<u64, K>,
}

impl<K: Ord + Clone, V> Lru<K, V> {
    /// An empty map for `capacity` entries.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            stamp: 0,
            entries: BTreeMap::new(),
            by_age: BTreeMap::new(),
        }
    }

    /// The value of `key`, which counts as used.
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        let (value, stamp) = self.entries.get_mut(key)?;
        self.by_age.remove(stamp);
        self.stamp += 1;
        *stamp = self.stamp;
        self.by_age.insert(self.stamp, key.clone());
        Some(value)
    }

    /// Sets the value of `key`, which counts as used; drops the oldest entry if there are too many.
    pub fn put(&mut self, key: K, value: V) {
        self.stamp += 1;
        if let Some((_, old)) = self.entries.insert(key.clone(), (value, self.stamp)) {
            self.by_age.remove(&old);
        }
        self.by_age.insert(self.stamp, key);
        if self.entries.len() > self.capacity
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.entries.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_unused_for_longest_is_dropped() {
        let mut map = Lru::new(2);
        map.put("a", 1);
        map.put("b", 2);
        assert_eq!(map.get(&"a"), Some(&mut 1));
        map.put("c", 3);
        assert_eq!(map.get(&"b"), None);
        assert_eq!(
            (map.get(&"a").copied(), map.get(&"c").copied()),
            (Some(1), Some(3))
        );
        map.put("c", 4);
        assert_eq!(map.entries.len(), 2);
    }
}
