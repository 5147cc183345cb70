//! The kernels of [`super::super::single`] for NEON: two words of a state per vector.

use core::arch::aarch64::*;

use lydite_hash::cpu::Neon;

use super::super::single::{Column, Rows, Words, kernels};
use crate::koalabear::{MODULUS, R};

/// p^-1 mod 2^32
const INVERSE: u32 = 0x8100_0001;

impl Rows for Neon {
    type Vector = int64x2_t;
    const WORDS: usize = 2;

    #[inline(always)]
    fn load(&self, words: &Words, index: usize) -> int64x2_t {
        let words = &words.as_chunks::<2>().0[index];
        // SAFETY: `self` is evidence of the instruction, and the reference is to two readable words.
        unsafe { vld1q_s64(words.as_ptr()) }
    }

    #[inline(always)]
    fn store(&self, words: &mut Words, index: usize, vector: int64x2_t) {
        let words = &mut words.as_chunks_mut::<2>().0[index];
        // SAFETY: `self` is evidence of the instruction, and the reference is to two writable words.
        unsafe { vst1q_s64(words.as_mut_ptr(), vector) }
    }

    #[inline(always)]
    fn splat(&self, word: i64) -> int64x2_t {
        // SAFETY: `self` is evidence of the instruction.
        unsafe { vdupq_n_s64(word) }
    }

    #[inline(always)]
    fn add(&self, a: int64x2_t, b: int64x2_t) -> int64x2_t {
        // SAFETY: `self` is evidence of the instruction.
        unsafe { vaddq_s64(a, b) }
    }

    #[inline(always)]
    fn sub(&self, a: int64x2_t, b: int64x2_t) -> int64x2_t {
        // SAFETY: `self` is evidence of the instruction.
        unsafe { vsubq_s64(a, b) }
    }

    #[inline(always)]
    fn mul(&self, a: int64x2_t, b: int64x2_t) -> int64x2_t {
        // SAFETY: `self` is evidence of the instructions.
        unsafe { vmull_s32(vmovn_s64(a), vmovn_s64(b)) }
    }

    #[inline(always)]
    fn add_products(
        &self,
        sum: int64x2_t,
        column: &Column,
        index: usize,
        by: int64x2_t,
    ) -> int64x2_t {
        let column = &column.as_chunks::<2>().0[index];
        // SAFETY: `self` is evidence of the instructions, and the reference is to two readable words.
        unsafe { vmlal_s32(sum, vld1_s32(column.as_ptr()), vmovn_s64(by)) }
    }

    #[inline(always)]
    fn fold(&self, t: int64x2_t) -> int64x2_t {
        // SAFETY: `self` is evidence of the instructions.
        unsafe {
            let low = vandq_s64(t, vdupq_n_s64(0xffff_ffff));
            vmlal_s32(low, vshrn_n_s64::<32>(t), vdup_n_s32(R.cast_signed()))
        }
    }

    #[inline(always)]
    fn reduce(&self, t: int64x2_t) -> int64x2_t {
        // SAFETY: `self` is evidence of the instructions.
        unsafe {
            let q = vmul_s32(vmovn_s64(t), vdup_n_s32(INVERSE.cast_signed()));
            let t = vmlsl_s32(t, q, vdup_n_s32(MODULUS.cast_signed()));
            vshrq_n_s64::<32>(t)
        }
    }
}

kernels!("neon", Neon, 2, core::convert::identity);
