//! Sixteen messages in parallel with AVX-512F: word `i` of message `l` is lane `l` of vector `i`.
//!
//! Lower bound: 80 steps of 14 instructions, four of them rotations.

use core::arch::x86_64::*;

use super::super::{Columns, LANES, second_half};

#[target_feature(enable = "avx512f")]
pub(in super::super) fn compress_lanes<const W: usize>(
    state: &mut Columns<8>,
    block: &Columns<W>,
    counter: u64,
    last: bool,
) {
    let mut m = [_mm512_setzero_si512(); 16];
    for (word, column) in m.iter_mut().zip(block) {
        *word = load(column);
    }
    let h = state.each_ref().map(|column| load(column));
    let mut v = [_mm512_setzero_si512(); 16];
    v[..8].copy_from_slice(&h);
    for (vector, word) in v[8..].iter_mut().zip(second_half(counter, last)) {
        *vector = _mm512_set1_epi32(word.cast_signed());
    }
    let add = |a, b| _mm512_add_epi32(a, b);
    let xor = |a, b| _mm512_xor_si512(a, b);
    macro_rules! rotate {
        ($x:expr, $n:literal) => {
            _mm512_ror_epi32::<$n>($x)
        };
    }
    rounds!(v m add xor rotate);
    for (i, column) in state.iter_mut().enumerate() {
        store(column, xor(h[i], xor(v[i], v[i + 8])));
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(column: &[u32; LANES]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load has no alignment requirement.
    unsafe { _mm512_loadu_si512(column.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(column: &mut [u32; LANES], vector: __m512i) {
    // SAFETY: the reference is to 64 writable bytes, and the store has no alignment requirement.
    unsafe { _mm512_storeu_si512(column.as_mut_ptr().cast(), vector) };
}
