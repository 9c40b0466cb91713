//! A sequence of bits that looks random and is given by its seed: `SplitMix64` (Steele, Lea, Flood, 2014). Process ids are drawn from it; it
//! guards no secret.

use std::sync::atomic::{AtomicU64, Ordering};

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The sequence.
#[derive(Debug)]
pub(crate) struct Random(AtomicU64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The next 32 bits.
    pub(crate) fn draw(&self) -> u32 {
        let state = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        u32::try_from((mixed ^ (mixed >> 31)) >> 32).expect("the upper half of 64 bits fits 32")
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_sequence_is_the_published_one() {
        // First output of `SplitMix64` for seed 0 is 0xE220A8397B1DCDAF.
        assert_eq!(Random::new(0).draw(), 0xE220_A839);
    }
}
