//! Choices that follow from a seed and a number alone.

/// A source of choices.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// The choices of the `number`th script of `seed`.
    pub fn new(seed: u64, number: u64) -> Self {
        Self(mix(seed) ^ mix(number.wrapping_add(0x5851_f42d_4c95_7f2d)))
    }

    /// A number below `end`, which is above zero.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) % end as u64) as usize
    }

    /// True once in `times`.
    pub fn chance(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`, which are not none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

/// The finalizer of `SplitMix64`.
fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
