//! The seeded random generator for all drawn inputs: xoshiro256**, seeded by SplitMix64.
//!
//! Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021. Not cryptographically secure.

/// A reproducible stream of random numbers.
pub struct Random([u64; 4]);

impl Random {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }))
    }

    /// 64 random bits.
    pub fn word(&mut self) -> u64 {
        let s = &mut self.0;
        let out = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// A number in `0..bound` (`bound` > 0); the bias is below 2^-32 for the bounds used here and is ignored.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.word()) * bound as u128) >> 64) as usize
    }

    /// A number in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// One of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// `len` random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(len + 8);
        while out.len() < len {
            out.extend_from_slice(&self.word().to_le_bytes());
        }
        out.truncate(len);
        out
    }

    /// Shuffles the items (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_published_generator() {
        // First outputs of SplitMix64(0) and of xoshiro256** on that state, as in the authors' C code
        // (and in the crates rand_xoshiro and Java's SplittableRandom tests).
        let random = Random::new(0);
        assert_eq!(
            random.0,
            [
                0xe220_a839_7b1d_cdaf,
                0x6e78_9e6a_a1b9_65f4,
                0x06c4_5d18_8009_454f,
                0xf88b_b8a8_724c_81ec
            ]
        );
        assert_eq!(Random::new(0).word(), 0x99ec_5f36_cb75_f2b4);
        assert_eq!(Random::new(1).word(), 0xb3f2_af6d_0fc7_10c5);
    }

    #[test]
    fn ranges_hold() {
        let mut random = Random::new(7);
        let mut seen = [0usize; 5];
        for _ in 0..5000 {
            seen[random.between(1, 5) - 1] += 1;
        }
        assert!(seen.iter().all(|&n| n > 800), "{seen:?}");
        let mut order: Vec<usize> = (0..50).collect();
        random.shuffle(&mut order);
        assert_ne!(order, (0..50).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
    }
}
