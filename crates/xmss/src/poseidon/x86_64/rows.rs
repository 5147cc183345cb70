//! The operations of [`super::super::single`] with AVX2 and AVX-512.

use core::arch::x86_64::*;

use lydite_hash::cpu::{Avx2, Avx512};

use super::super::single::{Column, Rows, Words};
use super::poseidon1::{Numbers, fold, reduce};
use super::vectors::Vectors;

/// The operations that are the same for both.
macro_rules! common {
    ($vector:ty) => {
        type Vector = $vector;

        #[inline(always)]
        fn splat(&self, word: i64) -> $vector {
            self.v.splat64(word)
        }

        #[inline(always)]
        fn add(&self, a: $vector, b: $vector) -> $vector {
            self.v.add64(a, b)
        }

        #[inline(always)]
        fn sub(&self, a: $vector, b: $vector) -> $vector {
            self.v.sub64(a, b)
        }

        #[inline(always)]
        fn mul(&self, a: $vector, b: $vector) -> $vector {
            self.v.mul_signed(a, b)
        }

        #[inline(always)]
        fn add_products(
            &self,
            sum: $vector,
            column: &Column,
            index: usize,
            by: $vector,
        ) -> $vector {
            self.add(sum, self.mul(self.load(column, index), by))
        }

        #[inline(always)]
        fn fold(&self, t: $vector) -> $vector {
            fold(t, self)
        }

        #[inline(always)]
        fn reduce(&self, t: $vector) -> $vector {
            self.v.upper(reduce(t, self))
        }
    };
}

impl Rows for Numbers<Avx2> {
    common!(__m256i);
    const WORDS: usize = 4;

    #[inline(always)]
    fn load(&self, words: &Words, index: usize) -> __m256i {
        let words = &words.as_chunks::<4>().0[index];
        // SAFETY: `self` holds evidence of the instruction; the reference is to 32 readable bytes, and the load has no
        // alignment requirement.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(&self, words: &mut Words, index: usize, vector: __m256i) {
        let words = &mut words.as_chunks_mut::<4>().0[index];
        // SAFETY: `self` holds evidence of the instruction; the reference is to 32 writable bytes, and the store has no
        // alignment requirement.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
    }
}

impl Rows for Numbers<Avx512> {
    common!(__m512i);
    const WORDS: usize = 8;

    #[inline(always)]
    fn load(&self, words: &Words, index: usize) -> __m512i {
        let words = &words.as_chunks::<8>().0[index];
        // SAFETY: `self` holds evidence of the instruction; the reference is to 64 readable bytes, and the load has no
        // alignment requirement.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(&self, words: &mut Words, index: usize, vector: __m512i) {
        let words = &mut words.as_chunks_mut::<8>().0[index];
        // SAFETY: `self` holds evidence of the instruction; the reference is to 64 writable bytes, and the store has no
        // alignment requirement.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
    }

    /// The third vector contains words of both halves.
    #[inline(always)]
    fn sums_and_differences<const N: usize>(&self, x: &[__m512i; N]) -> [__m512i; N] {
        let mut out = *x;
        out[0] = self.add(x[0], x[1]);
        out[1] = self.sub(x[0], x[1]);
        for x in &mut out[2..] {
            // SAFETY: `self` holds evidence of the instructions.
            *x = unsafe {
                let swapped = _mm512_shuffle_i64x2::<0b01_00_11_10>(*x, *x);
                _mm512_mask_sub_epi64(_mm512_add_epi64(*x, swapped), 0xf0, swapped, *x)
            };
        }
        out
    }

    #[inline(always)]
    fn spread<const N: usize>(&self, first: i64, second: i64) -> [__m512i; N] {
        let (first, second) = (self.splat(first), self.splat(second));
        // SAFETY: `self` holds evidence of the instruction.
        let both = unsafe { _mm512_mask_blend_epi64(0xf0, first, second) };
        let mut out = [both; N];
        (out[0], out[1]) = (first, second);
        out
    }
}
