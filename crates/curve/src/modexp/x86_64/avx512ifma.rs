//! Montgomery products of up to 8320 bits with eight limbs of 52 bits a vector: AVX-512 IFMA.
//!
//! A product goes by the limbs of its second factor, from the lowest: the multiples of the first factor and of the modulus
//! are added to accumulators that stay in registers and move one limb down each time. What the next quotient waits for,
//! the lowest limb, is kept in a general register beside them. Limbs are carried once, at the end; elements are below
//! twice the modulus, and 2^(52 limbs) is above four times it, so that nothing is subtracted in between.
//!
//! Source: \[GK12\].

use alloc::{vec, vec::Vec};
use core::arch::x86_64::*;

use super::super::{
    Reduction,
    limbs::{Rows, compare, divide, negative_inverse_word, sub_in_place},
};
use crate::lanes::{LANES, LIMB_MASK};

const MASK: u64 = LIMB_MASK as u64;
/// The most vectors, whose accumulators fit in registers.
const MOST: usize = 20;
/// The fewest bits that pay.
const FROM_BITS: usize = 900;

/// Eight limbs.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(in super::super) struct Block([u64; LANES]);

/// Arithmetic modulo an odd number.
pub(in super::super) struct Ifma<'a> {
    words: &'a [u64],
    modulus: Vec<Block>,
    /// -1 / modulus mod 2^52.
    inverse: u64,
    limbs: usize,
}

type Multiply = unsafe fn(&mut [Block], &[Block], &[Block], &[Block], u64, usize);

impl<'a> Ifma<'a> {
    /// For a modulus of a length that this pays for. Only where the CPU has AVX-512F and AVX-512IFMA.
    pub(in super::super) fn new(words: &'a [u64]) -> Option<Self> {
        debug_assert!(crate::cpu::has_avx512ifma());
        let bits = 64 * words.len() - words.last()?.leading_zeros() as usize;
        let limbs = (bits + 2).div_ceil(52);
        let blocks = blocks_for(limbs);
        (bits >= FROM_BITS && blocks <= MOST).then(|| Self {
            words,
            modulus: to_limbs(words, blocks),
            inverse: negative_inverse_word(words[0]) & MASK,
            limbs,
        })
    }
}

/// How many blocks so many limbs take; an even number, as there are kernels for.
fn blocks_for(limbs: usize) -> usize {
    limbs.div_ceil(LANES).next_multiple_of(2)
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

    fn enter<R: Rows>(&self, base: &[u64]) -> Vec<Block> {
        // base 2^(52 limbs) mod modulus, by a division.
        let (words, shift) = (52 * self.limbs / 64, 52 * self.limbs % 64);
        let mut dividend = vec![0; words + base.len() + 1];
        let mut low = 0;
        for (out, word) in dividend[words..].iter_mut().zip(base.iter().chain([&0])) {
            *out = word << shift | low;
            low = word >> 1 >> (63 - shift);
        }
        to_limbs(&divide::<R>(dividend, self.words), self.modulus.len())
    }

    fn leave(&mut self, element: &[Block]) -> Vec<u64> {
        let mut one = vec![Block::default(); element.len()];
        one[0].0[0] = 1;
        let mut limbs = one.clone();
        self.multiply(&mut limbs, element, &one);
        // At most the modulus.
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
        let kernel: Multiply = match self.modulus.len() {
            4 => multiply::<4>,
            6 => multiply::<6>,
            8 => multiply::<8>,
            10 => multiply::<10>,
            12 => multiply::<12>,
            14 => multiply::<14>,
            16 => multiply::<16>,
            18 => multiply::<18>,
            _ => multiply::<20>,
        };
        // SAFETY: the CPU has the instructions, as whoever made this has asked.
        unsafe { kernel(out, a, b, &self.modulus, self.inverse, self.limbs) }
    }

    fn square(&mut self, out: &mut [Block], a: &[Block]) {
        self.multiply(out, a, a);
    }
}

/// `a b / 2^(52 limbs)` modulo the modulus, for slices of V blocks.
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply<const V: usize>(
    out: &mut [Block],
    a: &[Block],
    b: &[Block],
    modulus: &[Block],
    inverse: u64,
    limbs: usize,
) {
    let (a, modulus): (&[Block; V], &[Block; V]) = match (a.first_chunk(), modulus.first_chunk()) {
        (Some(a), Some(modulus)) => (a, modulus),
        _ => return,
    };
    let (a0, m0) = (a[0].0[0], modulus[0].0[0]);
    let load = |block: &Block| crate::lanes::load(&block.0);
    let mut sums = [_mm512_setzero_si512(); V];
    // The lowest limb of the sum; what lane 0 of the first vector holds is not used.
    let mut lowest = 0u64;
    for &limb in b.iter().flat_map(|block| &block.0).take(limbs) {
        // Below 2^104 and 2^63.
        let product = u128::from(a0) * u128::from(limb) + u128::from(lowest);
        let quotient = (product as u64).wrapping_mul(inverse) & MASK;
        let carry = ((product + u128::from(m0) * u128::from(quotient)) >> 52) as u64;

        let factor = _mm512_set1_epi64(limb.cast_signed());
        let q = _mm512_set1_epi64(quotient.cast_signed());
        for v in 0..V {
            sums[v] = _mm512_madd52lo_epu64(sums[v], load(&a[v]), factor);
        }
        for v in 0..V {
            sums[v] = _mm512_madd52lo_epu64(sums[v], load(&modulus[v]), q);
        }
        for v in 0..V - 1 {
            sums[v] = _mm512_alignr_epi64::<1>(sums[v + 1], sums[v]);
        }
        sums[V - 1] = _mm512_alignr_epi64::<1>(_mm512_setzero_si512(), sums[V - 1]);
        lowest =
            carry.wrapping_add(_mm_cvtsi128_si64(_mm512_castsi512_si128(sums[0])).cast_unsigned());
        for v in 0..V {
            sums[v] = _mm512_madd52hi_epu64(sums[v], load(&a[v]), factor);
        }
        for v in 0..V {
            sums[v] = _mm512_madd52hi_epu64(sums[v], load(&modulus[v]), q);
        }
    }
    let mut carry = 0;
    for (i, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
        let mut block = crate::lanes::store(sum);
        if i == 0 {
            block[0] = lowest;
        }
        for limb in &mut block {
            let sum = *limb + carry;
            *limb = sum & MASK;
            carry = sum >> 52;
        }
        out.0 = block;
    }
}
