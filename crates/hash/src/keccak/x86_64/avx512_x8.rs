//! Eight Keccak-f\[1600\] side by side with AVX-512F: lane `i` of message `j` is word `j` of vector `i`.
//!
//! Per round 60 `vpternlogq` and 29 `vprolq`: the five-input parities, theta's three-way XOR, and chi are each made of truth
//! tables. The arithmetic is the limit, not the compiler's spills: the same rounds in hand-placed registers took as long.
//! Blocks are absorbed by transposing 8 x 8 words. Constant time: no branch or index depends on the lanes.

use core::arch::x86_64::*;

use super::super::batch::{LANES, Wide};
use super::super::portable::ROUND_CONSTANTS;

/// Truth table of `a ^ b ^ c`.
const XOR3: i32 = 0x96;
/// Truth table of `a ^ (!b & c)`.
const CHI: i32 = 0xd2;

/// Clears the messages whose `keep` is zero (it is zero or all ones), XORs one block into each, and permutes.
#[target_feature(enable = "avx512f")]
pub(in super::super) fn absorb<const RATE: usize>(
    state: &mut Wide<8>,
    blocks: &[&[u8; RATE]; 8],
    keep: &[u64; 8],
) {
    let keep = load(keep);
    let mut a = [_mm512_setzero_si512(); LANES];
    for (vector, lane) in a.iter_mut().zip(&state.0) {
        *vector = _mm512_and_si512(load(lane), keep);
    }
    for half in 0..2 {
        let words = transpose(blocks.map(|block| load_words(block, half)));
        for (vector, word) in a[8 * half..].iter_mut().zip(words) {
            *vector = _mm512_xor_si512(*vector, word);
        }
    }
    // The words past the sixteenth: one for a rate of 136 bytes, five for 168
    for (word, vector) in a.iter_mut().enumerate().take(RATE / 8).skip(16) {
        let mut words = [0; 8];
        for (out, block) in words.iter_mut().zip(blocks) {
            *out = u64::from_le_bytes(block.as_chunks().0[word]);
        }
        *vector = _mm512_xor_si512(*vector, load(&words));
    }
    let a = permute(a);
    for (lane, vector) in state.0.iter_mut().zip(a) {
        store(lane, vector);
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn permute(mut a: [__m512i; LANES]) -> [__m512i; LANES] {
    let xor3 = |a, b, c| _mm512_ternarylogic_epi64::<XOR3>(a, b, c);
    let chi = |a, b, c| _mm512_ternarylogic_epi64::<CHI>(a, b, c);
    macro_rules! rol {
        ($x:expr, $n:literal) => {
            _mm512_rol_epi64::<$n>($x)
        };
    }
    for constant in ROUND_CONSTANTS {
        // theta: lane x of a row takes parity x - 1 and the rotated parity x + 1
        let c0 = xor3(xor3(a[0], a[5], a[10]), a[15], a[20]);
        let c1 = xor3(xor3(a[1], a[6], a[11]), a[16], a[21]);
        let c2 = xor3(xor3(a[2], a[7], a[12]), a[17], a[22]);
        let c3 = xor3(xor3(a[3], a[8], a[13]), a[18], a[23]);
        let c4 = xor3(xor3(a[4], a[9], a[14]), a[19], a[24]);
        let (r0, r1, r2, r3, r4) = (
            rol!(c0, 1),
            rol!(c1, 1),
            rol!(c2, 1),
            rol!(c3, 1),
            rol!(c4, 1),
        );
        // theta's end, rho and pi
        let b00 = xor3(a[0], c4, r1);
        let b01 = rol!(xor3(a[6], c0, r2), 44);
        let b02 = rol!(xor3(a[12], c1, r3), 43);
        let b03 = rol!(xor3(a[18], c2, r4), 21);
        let b04 = rol!(xor3(a[24], c3, r0), 14);
        let b10 = rol!(xor3(a[3], c2, r4), 28);
        let b11 = rol!(xor3(a[9], c3, r0), 20);
        let b12 = rol!(xor3(a[10], c4, r1), 3);
        let b13 = rol!(xor3(a[16], c0, r2), 45);
        let b14 = rol!(xor3(a[22], c1, r3), 61);
        let b20 = rol!(xor3(a[1], c0, r2), 1);
        let b21 = rol!(xor3(a[7], c1, r3), 6);
        let b22 = rol!(xor3(a[13], c2, r4), 25);
        let b23 = rol!(xor3(a[19], c3, r0), 8);
        let b24 = rol!(xor3(a[20], c4, r1), 18);
        let b30 = rol!(xor3(a[4], c3, r0), 27);
        let b31 = rol!(xor3(a[5], c4, r1), 36);
        let b32 = rol!(xor3(a[11], c0, r2), 10);
        let b33 = rol!(xor3(a[17], c1, r3), 15);
        let b34 = rol!(xor3(a[23], c2, r4), 56);
        let b40 = rol!(xor3(a[2], c1, r3), 62);
        let b41 = rol!(xor3(a[8], c2, r4), 55);
        let b42 = rol!(xor3(a[14], c3, r0), 39);
        let b43 = rol!(xor3(a[15], c4, r1), 41);
        let b44 = rol!(xor3(a[21], c0, r2), 2);
        // chi and iota
        a = [
            _mm512_xor_si512(
                chi(b00, b01, b02),
                _mm512_set1_epi64(constant.cast_signed()),
            ),
            chi(b01, b02, b03),
            chi(b02, b03, b04),
            chi(b03, b04, b00),
            chi(b04, b00, b01),
            chi(b10, b11, b12),
            chi(b11, b12, b13),
            chi(b12, b13, b14),
            chi(b13, b14, b10),
            chi(b14, b10, b11),
            chi(b20, b21, b22),
            chi(b21, b22, b23),
            chi(b22, b23, b24),
            chi(b23, b24, b20),
            chi(b24, b20, b21),
            chi(b30, b31, b32),
            chi(b31, b32, b33),
            chi(b32, b33, b34),
            chi(b33, b34, b30),
            chi(b34, b30, b31),
            chi(b40, b41, b42),
            chi(b41, b42, b43),
            chi(b42, b43, b44),
            chi(b43, b44, b40),
            chi(b44, b40, b41),
        ];
    }
    a
}

/// Rows to columns: word `j` of output `i` is word `i` of input `j`.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(rows: [__m512i; 8]) -> [__m512i; 8] {
    let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
    // Words of two rows interleaved: even words in the first of each pair, odd words in the second.
    let even_odd = |a, b| (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let (e0, o0) = even_odd(r0, r1);
    let (e1, o1) = even_odd(r2, r3);
    let (e2, o2) = even_odd(r4, r5);
    let (e3, o3) = even_odd(r6, r7);
    // Then the four 128-bit quarters of four such vectors, as a 4 x 4 transpose.
    let quarters = |a, b, c, d| {
        let ab_low = _mm512_shuffle_i64x2::<0x44>(a, b);
        let ab_high = _mm512_shuffle_i64x2::<0xee>(a, b);
        let cd_low = _mm512_shuffle_i64x2::<0x44>(c, d);
        let cd_high = _mm512_shuffle_i64x2::<0xee>(c, d);
        [
            _mm512_shuffle_i64x2::<0x88>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
            _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high),
        ]
    };
    let [t0, t2, t4, t6] = quarters(e0, e1, e2, e3);
    let [t1, t3, t5, t7] = quarters(o0, o1, o2, o3);
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

/// Words `8 * half ..` of a block; `half` is 0 or 1.
#[target_feature(enable = "avx512f")]
#[inline]
fn load_words<const RATE: usize>(block: &[u8; RATE], half: usize) -> __m512i {
    let (vectors, _) = block.as_chunks::<64>();
    // SAFETY: the reference is to 64 readable bytes, and the load has no alignment requirement.
    unsafe { _mm512_loadu_si512(vectors[half].as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load has no alignment requirement.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(words: &mut [u64; 8], vector: __m512i) {
    // SAFETY: the reference is to 64 writable bytes, and the store has no alignment requirement.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
}
