//! Montgomery products of up to 8320 bits, with eight 52-bit limbs per vector: AVX-512 IFMA.
//!
//! A product processes the limbs of its second factor from the lowest: multiples of the first factor and of the modulus
//! are added to accumulators that stay in registers and shift down. The lowest limbs, on which the next quotient
//! depends, are kept in general registers: there, a limb and the quotient take one multiplication modulo 2^64 each,
//! because their factors are multiplied by 2^12. Limbs are carried once, at the end. Elements are below twice the
//! modulus, and 2^(52 limbs) is above four times the modulus, so no subtraction is needed in between.
//!
//! Source: \[GK12\].

use alloc::{vec, vec::Vec};
use core::arch::{asm, x86_64::*};

use lydite_hash::cpu::Avx512Ifma;

use super::super::{
    Reduction,
    limbs::{MulKernel, compare, divide, negative_inverse_word, sub_in_place},
};
use crate::lanes::{LANES, LIMB_MASK, load, store};

const MASK: u64 = LIMB_MASK as u64;
/// A modular product for a fixed number of blocks.
type Kernel = unsafe fn(&Ifma<'_>, &mut [Block], &[Block], &[Block]);
/// For each kernel, its number of blocks and how many of their limbs must be unused. More accumulators would not fit in
/// registers.
const KERNELS: [(usize, usize, Kernel); 11] = [
    (2, 2, multiply_short::<2>),
    (3, 2, multiply_short::<3>),
    (4, 2, multiply_short::<4>),
    (6, 2, multiply_short::<6>),
    (8, 0, multiply_long::<8>),
    (10, 0, multiply_long::<10>),
    (12, 0, multiply_long::<12>),
    (14, 0, multiply_long::<14>),
    (16, 0, multiply_long::<16>),
    (18, 0, multiply_long::<18>),
    (20, 0, multiply_long::<20>),
];

/// Eight limbs.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(in super::super) struct Block([u64; LANES]);

/// Arithmetic modulo an odd number.
pub(in super::super) struct Ifma<'a> {
    words: &'a [u64],
    modulus: Vec<Block>,
    /// -1 / modulus mod 2^52, times 2^12.
    inverse: u64,
    limbs: usize,
    kernel: Kernel,
    _evidence: Avx512Ifma,
}

impl<'a> Ifma<'a> {
    /// Returns `None` if there is no kernel for the modulus.
    pub(in super::super) fn new(evidence: Avx512Ifma, words: &'a [u64]) -> Option<Self> {
        let bits = 64 * words.len() - words.last()?.leading_zeros() as usize;
        let limbs = (bits + 2).div_ceil(52).next_multiple_of(2);
        let (blocks, _, kernel) = KERNELS
            .into_iter()
            .find(|(blocks, spare, _)| limbs + spare <= blocks * LANES)?;
        Some(Self {
            words,
            modulus: to_limbs(words, blocks),
            inverse: negative_inverse_word(words[0]) << 12,
            limbs,
            kernel,
            _evidence: evidence,
        })
    }
}

fn to_limbs(words: &[u64], blocks: usize) -> Vec<Block> {
    let mut out = vec![Block::default(); blocks];
    for (i, limb) in out.iter_mut().flat_map(|block| &mut block.0).enumerate() {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        let low = words.get(word).map_or(0, |word| word >> shift);
        let high = words
            .get(word + 1)
            .map_or(0, |word| word << 1 << (63 - shift));
        *limb = (low | high) & MASK;
    }
    out
}

impl Reduction for Ifma<'_> {
    type Digit = Block;

    fn to_montgomery<R: MulKernel>(&self, base: &[u64]) -> Vec<Block> {
        // base 2^(52 limbs) mod modulus, with a division.
        let (words, shift) = (52 * self.limbs / 64, 52 * self.limbs % 64);
        let mut dividend = vec![0; words + base.len() + 1];
        let mut low = 0;
        for (out, word) in dividend[words..].iter_mut().zip(base.iter().chain([&0])) {
            *out = word << shift | low;
            low = word >> 1 >> (63 - shift);
        }
        to_limbs(&divide::<R>(dividend, self.words), self.modulus.len())
    }

    fn from_montgomery(&mut self, element: &[Block]) -> Vec<u64> {
        let mut one = vec![Block::default(); element.len()];
        one[0].0[0] = 1;
        let mut limbs = one.clone();
        self.multiply(&mut limbs, element, &one);
        // The result is at most the modulus.
        let mut words = vec![0; self.words.len()];
        for (i, limb) in limbs.iter().flat_map(|block| block.0).enumerate() {
            let (word, shift) = (52 * i / 64, 52 * i % 64);
            if let Some(word) = words.get_mut(word) {
                *word |= limb << shift;
            }
            if let Some(word) = words.get_mut(word + 1) {
                *word |= limb >> 1 >> (63 - shift);
            }
        }
        if compare(&words, self.words).is_ge() {
            sub_in_place(&mut words, self.words);
        }
        words
    }

    fn multiply(&mut self, out: &mut [Block], a: &[Block], b: &[Block]) {
        // SAFETY: the kernels require AVX-512F and IFMA, of which `self` holds evidence.
        unsafe { (self.kernel)(self, out, a, b) }
    }

    fn square(&mut self, out: &mut [Block], a: &[Block]) {
        self.multiply(out, a, a);
    }
}

/// Returns the upper limb of the product of a limb and one that is multiplied by 2^12.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// Returns the lower limb of the same product.
#[inline(always)]
fn low(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) >> 12
}

/// Returns the carry of a limb to which a multiple of the modulus is added to make it divisible by 2^52, without the
/// upper limb of that multiple.
#[inline(always)]
fn carry(limb: u64) -> u64 {
    (limb >> 52) + u64::from(limb & MASK != 0)
}

/// Computes `a b / 2^(52 limbs)` modulo the modulus for V blocks. The number of limbs must be even, and at least two
/// below that of V blocks.
///
/// For few blocks, the latency of a quotient exceeds the time of the products. So each iteration handles two limbs, and
/// the contributions of a quotient to the next two limbs are computed in general registers, which gives the vectors the
/// time of three quotients.
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_short<const V: usize>(field: &Ifma<'_>, out: &mut [Block], a: &[Block], b: &[Block]) {
    let Some([a, b, modulus]) = of_length::<V>([a, b, &field.modulus]) else {
        return;
    };
    let (inverse, limbs) = (field.inverse, field.limbs);
    let [a0, a1, ..] = a[0].0;
    let [m0, m1, m2, ..] = modulus[0].0;
    let (a, modulus) = (moved(a), moved(modulus));
    let mut sum = [_mm512_setzero_si512(); V];
    let mut multiple = [_mm512_setzero_si512(); V];
    // The two lowest limbs of both sums. Lanes 0 and 1 of the vectors are not used.
    let (mut lowest, mut second) = (0, 0);
    for i in (0..limbs.min(V * LANES)).step_by(2) {
        let block = &b[i / LANES].0;
        let (b0, b1) = (block[i % LANES], block[i % LANES + 1]);
        add_products(&mut sum, [&a[0], &a[1]], b0);
        add_products(&mut sum, [&a[1], &a[2]], b1);
        let third = lane_2(&sum) + lane_2(&multiple);
        let (b0, b1) = (b0 << 12, b1 << 12);

        let limb = lowest + low(a0, b0);
        let q0 = limb.wrapping_mul(inverse);
        let rest = low(a1, b0) + low(a0, b1) + high(a0, b0) + carry(limb);
        let limb = first(rest + low(m1, q0)) + high(m0, q0) + second;
        add_products(&mut multiple, [&modulus[0], &modulus[1]], q0 >> 12);
        let fourth = lane_3(&sum) + lane_3(&multiple);

        let q1 = limb.wrapping_mul(inverse);
        let rest = low(m2, q0) + high(m1, q0) + carry(limb);
        lowest = first(rest + low(m1, q1)) + high(m0, q1) + third;
        second = first(low(m2, q1) + high(m1, q1)) + fourth;
        add_products(&mut multiple, [&modulus[1], &modulus[2]], q1 >> 12);
        shift::<2, V>(&mut sum);
        shift::<2, V>(&mut multiple);
    }
    for (sum, multiple) in sum.iter_mut().zip(multiple) {
        *sum = _mm512_add_epi64(*sum, multiple);
    }
    sum[0] = _mm512_mask_set1_epi64(sum[0], 2, second.cast_signed());
    write(sum, lowest, out);
}

/// Like [`multiply_short`], for many blocks, where the products take longer: one limb per iteration, and one sum vector
/// per block.
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_long<const V: usize>(field: &Ifma<'_>, out: &mut [Block], a: &[Block], b: &[Block]) {
    let Some([a, b, modulus]) = of_length::<V>([a, b, &field.modulus]) else {
        return;
    };
    let (inverse, limbs) = (field.inverse, field.limbs);
    let a0 = a[0].0[0];
    let [m0, m1, ..] = modulus[0].0;
    let mut sum = [_mm512_setzero_si512(); V];
    // The lowest limb. Lane 0 of the first vector is not used.
    let mut lowest = 0;
    for i in 0..limbs.min(V * LANES) {
        let limb = b[i / LANES].0[i % LANES];
        let factor = _mm512_set1_epi64(limb.cast_signed());
        for v in 0..V {
            sum[v] = _mm512_madd52lo_epu64(sum[v], load(&a[v].0), factor);
        }
        let pair = _mm512_castsi512_si128(sum[0]);
        let second = _mm_cvtsi128_si64(_mm_unpackhi_epi64(pair, pair)).cast_unsigned();

        let b = limb << 12;
        let limb = lowest + low(a0, b);
        let q = limb.wrapping_mul(inverse);
        lowest = first(high(a0, b) + carry(limb) + low(m1, q) + high(m0, q)) + second;

        let q = _mm512_set1_epi64((q >> 12).cast_signed());
        for v in 0..V {
            sum[v] = _mm512_madd52lo_epu64(sum[v], load(&modulus[v].0), q);
        }
        shift::<1, V>(&mut sum);
        for v in 0..V {
            sum[v] = _mm512_madd52hi_epu64(sum[v], load(&a[v].0), factor);
        }
        for v in 0..V {
            sum[v] = _mm512_madd52hi_epu64(sum[v], load(&modulus[v].0), q);
        }
    }
    write(sum, lowest, out);
}

#[inline(always)]
fn of_length<const V: usize>(slices: [&[Block]; 3]) -> Option<[&[Block; V]; 3]> {
    let [a, b, c] = slices.map(<[Block]>::first_chunk);
    Some([a?, b?, c?])
}

/// Makes the compiler compute this value before adding values that are available later.
#[inline(always)]
fn first(mut value: u64) -> u64 {
    // SAFETY: contains no instruction.
    unsafe {
        asm!("/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags));
    }
    value
}

/// Shifts the limbs down.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn shift<const BY: i32, const V: usize>(sum: &mut [__m512i; V]) {
    for v in 0..V - 1 {
        sum[v] = _mm512_alignr_epi64::<BY>(sum[v + 1], sum[v]);
    }
    sum[V - 1] = _mm512_alignr_epi64::<BY>(_mm512_setzero_si512(), sum[V - 1]);
}

/// Returns the limbs as they are, and shifted up by one and by two limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn moved<const V: usize>(blocks: &[Block; V]) -> [[__m512i; V]; 3] {
    let mut moved = [[_mm512_setzero_si512(); V]; 3];
    let mut below = _mm512_setzero_si512();
    for (v, block) in blocks.iter().enumerate() {
        let limbs = load(&block.0);
        moved[0][v] = limbs;
        moved[1][v] = _mm512_alignr_epi64::<7>(limbs, below);
        moved[2][v] = _mm512_alignr_epi64::<6>(limbs, below);
        below = limbs;
    }
    moved
}

/// Adds the lower limbs of the products with `low` and the upper limbs of the products with `high`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn add_products<const V: usize>(
    sum: &mut [__m512i; V],
    [low, high]: [&[__m512i; V]; 2],
    factor: u64,
) {
    let factor = _mm512_set1_epi64(factor.cast_signed());
    for v in 0..V {
        sum[v] = _mm512_madd52lo_epu64(sum[v], low[v], factor);
    }
    for v in 0..V {
        sum[v] = _mm512_madd52hi_epu64(sum[v], high[v], factor);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn lane_2<const V: usize>(sum: &[__m512i; V]) -> u64 {
    _mm_cvtsi128_si64(_mm512_extracti32x4_epi32::<1>(sum[0])).cast_unsigned()
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn lane_3<const V: usize>(sum: &[__m512i; V]) -> u64 {
    let pair = _mm512_extracti32x4_epi32::<1>(sum[0]);
    _mm_cvtsi128_si64(_mm_unpackhi_epi64(pair, pair)).cast_unsigned()
}

/// Writes the carried sum, with its lowest limb replaced by `lowest`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn write<const V: usize>(mut sum: [__m512i; V], lowest: u64, out: &mut [Block]) {
    let (mask, one) = (_mm512_set1_epi64(LIMB_MASK), _mm512_set1_epi64(1));
    let (mut below, mut carry) = (_mm512_setzero_si512(), 0);
    sum[0] = _mm512_mask_set1_epi64(sum[0], 1, lowest.cast_signed());
    for (out, limbs) in out.iter_mut().zip(sum) {
        let above = _mm512_srli_epi64::<52>(limbs);
        let carried = _mm512_alignr_epi64::<7>(above, below);
        below = above;
        let limbs = _mm512_add_epi64(_mm512_and_si512(limbs, mask), carried);
        // The remaining carry is at most 1. It comes from limbs that are too large and passes through limbs that are
        // all ones.
        let too_large = u32::from(_mm512_cmpgt_epu64_mask(limbs, mask));
        let all_ones = u32::from(_mm512_cmpeq_epi64_mask(limbs, mask));
        let total = all_ones + (too_large << 1 | carry);
        carry = total >> 8;
        let limbs = _mm512_mask_add_epi64(limbs, (total ^ all_ones) as u8, limbs, one);
        out.0 = store(_mm512_and_si512(limbs, mask));
    }
}
