//! Constant-time look-up in a window of the generator's comb, AVX-512.
//!
//! An entry is one vector. The 32 entries are halved five times: each bit of the index chooses, by a bitwise select,
//! between neighbours. Every entry is read whatever the index is.
//!
//! Constant time: yes. The masks pass through [`core::hint::black_box`], so that the compiler cannot turn the selects
//! into masked loads.

use core::arch::x86_64::*;

use super::super::generator::ENTRIES;

/// `mask ? yes : no`, bit by bit.
#[inline]
#[target_feature(enable = "avx512f")]
fn select(mask: __m512i, yes: __m512i, no: __m512i) -> __m512i {
    _mm512_ternarylogic_epi64::<0xca>(mask, yes, no)
}

/// Entry `index`, which is below 32.
#[target_feature(enable = "avx512f")]
pub(crate) fn scan(entries: &[[u8; 64]; ENTRIES], index: u64) -> [u64; 8] {
    let mask =
        |bit: u32| _mm512_set1_epi64(core::hint::black_box(-((index >> bit & 1).cast_signed())));
    let load = |i: usize| {
        let entry: &[u8; 64] = &entries[i];
        // SAFETY: reads the 64 bytes of `entry`; the load has no alignment.
        unsafe { _mm512_loadu_si512(entry.as_ptr().cast()) }
    };
    let first = mask(0);
    let mut left: [__m512i; ENTRIES / 2] =
        core::array::from_fn(|i| select(first, load(2 * i + 1), load(2 * i)));
    for (bit, width) in [(1, 8), (2, 4), (3, 2), (4, 1)] {
        let mask = mask(bit);
        for i in 0..width {
            left[i] = select(mask, left[2 * i + 1], left[2 * i]);
        }
    }
    let mut words = [0; 8];
    // SAFETY: writes the 64 bytes of `words`; the store has no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), left[0]) };
    words
}
