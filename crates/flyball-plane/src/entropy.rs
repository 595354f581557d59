//! The plane's randomness: uids and name suffixes from one seed. Not here: secrets (the token comes from the host).

use std::sync::Mutex;

/// Letters of generated names. Upstream: apimachinery util/rand, without vowels and look-alikes.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// A seeded source; the same seed gives the same names in the same order of requests.
#[derive(Debug)]
pub(crate) struct Entropy {
    state: Mutex<u64>,
}

impl Entropy {
    /// A source from `seed`. `revision` is the store's at start, so that a plane that opens the same data with the
    /// same seed again does not repeat the uids it gave out before.
    pub(crate) fn new(seed: u64, revision: u64) -> Self {
        Self {
            state: Mutex::new(mix(seed) ^ mix(revision.wrapping_add(1))),
        }
    }

    /// A random-looking uid in the form of a version 4 UUID.
    pub(crate) fn uid(&self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }

    /// Five letters or digits for a `generateName`.
    pub(crate) fn suffix(&self) -> String {
        let mut bits = self.next();
        let letters = ALPHABET.len() as u64;
        (0..5)
            .map(|_| {
                let index = (bits % letters) as usize;
                bits /= letters;
                char::from(ALPHABET[index])
            })
            .collect()
    }

    /// A number below `end`, which is above zero.
    pub(crate) fn number_below(&self, end: u32) -> u32 {
        (self.next() % u64::from(end)) as u32
    }

    /// Sixty-four bits: `SplitMix64`, a full-period generator of one word of state.
    fn next(&self) -> u64 {
        let mut state = self.state.lock().expect("no holder of this lock panics");
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(*state)
    }
}

fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_sequence_and_a_restart_continues_elsewhere() {
        let (one, same, later) = (Entropy::new(1, 0), Entropy::new(1, 0), Entropy::new(1, 9));
        let first = one.uid();
        assert_eq!(first, same.uid());
        assert_ne!(first, later.uid());
        assert_ne!(first, one.uid());
        assert_eq!((first.len(), &first[14..15]), (36, "4"));
        assert_eq!(one.suffix().len(), 5);
    }
}
