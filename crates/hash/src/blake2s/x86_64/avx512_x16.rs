//! Sixteen messages in parallel with AVX-512F: word `i` of message `l` is lane `l` of vector `i`.
//!
//! Lower bound: 80 steps of 14 instructions, four of them rotations.

use core::arch::x86_64::*;

use super::super::{Column, Columns, INITIAL, second_half};

#[target_feature(enable = "avx512f")]
pub(in super::super) fn compress_lanes<const W: usize>(
    state: &mut Columns<8>,
    block: [&Column; W],
    counter: u64,
    last: bool,
) {
    let h = state.each_ref().map(|column| load(column));
    for (column, word) in state.iter_mut().zip(compress(h, block, counter, last)) {
        store(column, word);
    }
}

#[target_feature(enable = "avx512f")]
pub(in super::super) fn compress_first<const W: usize, const N: usize>(
    block: [&Column; W],
    counter: u64,
    last: bool,
    out: &mut Columns<N>,
) {
    let h = INITIAL.map(|word| _mm512_set1_epi32(word.cast_signed()));
    for (column, word) in out.iter_mut().zip(compress(h, block, counter, last)) {
        store(column, word);
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn compress<const W: usize>(
    h: [__m512i; 8],
    block: [&Column; W],
    counter: u64,
    last: bool,
) -> [__m512i; 8] {
    let mut m = [_mm512_setzero_si512(); 16];
    for (word, column) in m.iter_mut().zip(block) {
        *word = load(column);
    }
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
    core::array::from_fn(|i| xor(h[i], xor(v[i], v[i + 8])))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(column: &Column) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load has no alignment requirement.
    unsafe { _mm512_loadu_si512(column.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(column: &mut Column, vector: __m512i) {
    // SAFETY: the reference is to 64 writable bytes, and the store has no alignment requirement.
    unsafe { _mm512_storeu_si512(column.as_mut_ptr().cast(), vector) };
}
