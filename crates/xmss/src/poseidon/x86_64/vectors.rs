//! Vectors of 32-bit words, for kernels that are written once for AVX2 and AVX-512.
//!
//! The operations must be inlined into a function with the target feature; [`super::avx2_x8`] and
//! [`super::avx512_x16`] have these functions.

use core::arch::asm;
use core::arch::x86_64::*;

use lydite_hash::cpu::{Avx2, Avx512};

use super::super::LANES;

/// The instructions of one width. A value is evidence that the CPU has them.
pub(super) trait Vectors: Copy {
    /// Words of 32 bits, or half as many of 64 bits.
    type Vector: Copy;
    /// Number of vectors for [`LANES`] words.
    const PARTS: usize;

    /// Reads vector `part` of the words.
    fn load(self, words: &[u32; LANES], part: usize) -> Self::Vector;
    /// Writes vector `part` of the words.
    fn store(self, words: &mut [u32; LANES], part: usize, vector: Self::Vector);
    /// The same 32-bit word everywhere.
    fn splat(self, word: i32) -> Self::Vector;
    /// The same 64-bit word everywhere.
    fn splat64(self, word: i64) -> Self::Vector;
    /// The even words of the first vector and the odd words of the second.
    fn blend32(self, even: Self::Vector, odd: Self::Vector) -> Self::Vector;
    /// The even 16-bit words of the first vector and the odd ones of the second.
    fn blend16(self, even: Self::Vector, odd: Self::Vector) -> Self::Vector;
    /// The even words, with zero for the odd ones.
    fn even(self, a: Self::Vector) -> Self::Vector;
    /// `a`, plus `b` where `a` is odd.
    fn add_where_odd(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a` times 2^`count`.
    fn shl(self, a: Self::Vector, count: i32) -> Self::Vector;
    /// `a` divided by 2^`count`.
    fn shr(self, a: Self::Vector, count: i32) -> Self::Vector;
    /// `a` divided by 2^`count`, as a signed number.
    fn shr_signed(self, a: Self::Vector, count: i32) -> Self::Vector;
    /// The upper halves of 64-bit words.
    fn upper(self, a: Self::Vector) -> Self::Vector;
    /// `a` + `b`.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a` - `b`.
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a` + `b` of 64-bit words.
    fn add64(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a` - `b` of 64-bit words.
    fn sub64(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The lesser of two unsigned words.
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The bits that are set in both.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The bits that differ.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// 64-bit products of the even words, unsigned.
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// 64-bit products of the even words, signed.
    fn mul_signed(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Sums of two neighbouring products of signed 16-bit words.
    fn dot16(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Sums, of 16 bits, of two neighbouring products of an unsigned byte and a signed one.
    fn dot8(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Rounded products of signed 16-bit words, divided by 2^15.
    fn mul_high16(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
}

/// Products in assembly. To LLVM, the intrinsics are products of 64-bit words that were extended before. Where it
/// extends a constant outside of a loop, it forgets inside that the upper half needs no product.
macro_rules! products {
    ($($name:ident $instruction:literal $feature:literal $register:ident $vector:ty;)+) => {
        $(
            #[target_feature(enable = $feature)]
            #[inline]
            fn $name(a: $vector, b: $vector) -> $vector {
                let product;
                // SAFETY: one instruction on registers, which has no other effect.
                unsafe {
                    asm!(
                        concat!($instruction, " {}, {}, {}"),
                        lateout($register) product,
                        in($register) a,
                        in($register) b,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                }
                product
            }
        )+
    };
}

products! {
    mul_256 "vpmuludq" "avx2" ymm_reg __m256i;
    mul_signed_256 "vpmuldq" "avx2" ymm_reg __m256i;
    mul_512 "vpmuludq" "avx512f" zmm_reg __m512i;
    mul_signed_512 "vpmuldq" "avx512f" zmm_reg __m512i;
}

macro_rules! operations {
    ($($name:ident($($argument:ident: $type:ty),+) = $body:expr;)+) => {
        $(
            #[inline(always)]
            fn $name(self, $($argument: $type),+) -> Self::Vector {
                // SAFETY: `self` is evidence of the instructions.
                unsafe { $body }
            }
        )+
    };
}

impl Vectors for Avx2 {
    type Vector = __m256i;
    const PARTS: usize = 2;

    #[inline(always)]
    fn load(self, words: &[u32; LANES], part: usize) -> __m256i {
        let words = &words.as_chunks::<8>().0[part];
        // SAFETY: `self` is evidence of the instruction; the reference is to 32 readable bytes, and the load has no
        // alignment requirement.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, words: &mut [u32; LANES], part: usize, vector: __m256i) {
        let words = &mut words.as_chunks_mut::<8>().0[part];
        // SAFETY: `self` is evidence of the instruction; the reference is to 32 writable bytes, and the store has no
        // alignment requirement.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
    }

    operations! {
        splat(word: i32) = _mm256_set1_epi32(word);
        splat64(word: i64) = _mm256_set1_epi64x(word);
        blend32(even: __m256i, odd: __m256i) = _mm256_blend_epi32::<0xaa>(even, odd);
        blend16(even: __m256i, odd: __m256i) = _mm256_blend_epi16::<0xaa>(even, odd);
        even(a: __m256i) = _mm256_blend_epi32::<0xaa>(a, _mm256_setzero_si256());
        add_where_odd(a: __m256i, b: __m256i) = {
            let odd = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(a, _mm256_set1_epi32(1)));
            _mm256_add_epi32(a, _mm256_and_si256(odd, b))
        };
        // With a constant, LLVM makes these the instructions with an immediate.
        shl(a: __m256i, count: i32) = _mm256_sll_epi32(a, _mm_cvtsi32_si128(count));
        shr(a: __m256i, count: i32) = _mm256_srl_epi32(a, _mm_cvtsi32_si128(count));
        shr_signed(a: __m256i, count: i32) = _mm256_sra_epi32(a, _mm_cvtsi32_si128(count));
        upper(a: __m256i) = _mm256_srli_epi64::<32>(a);
        add(a: __m256i, b: __m256i) = _mm256_add_epi32(a, b);
        sub(a: __m256i, b: __m256i) = _mm256_sub_epi32(a, b);
        add64(a: __m256i, b: __m256i) = _mm256_add_epi64(a, b);
        sub64(a: __m256i, b: __m256i) = _mm256_sub_epi64(a, b);
        min(a: __m256i, b: __m256i) = _mm256_min_epu32(a, b);
        and(a: __m256i, b: __m256i) = _mm256_and_si256(a, b);
        xor(a: __m256i, b: __m256i) = _mm256_xor_si256(a, b);
        mul(a: __m256i, b: __m256i) = mul_256(a, b);
        mul_signed(a: __m256i, b: __m256i) = mul_signed_256(a, b);
        dot16(a: __m256i, b: __m256i) = _mm256_madd_epi16(a, b);
        dot8(a: __m256i, b: __m256i) = _mm256_maddubs_epi16(a, b);
        mul_high16(a: __m256i, b: __m256i) = _mm256_mulhrs_epi16(a, b);
    }
}

impl Vectors for Avx512 {
    type Vector = __m512i;
    const PARTS: usize = 1;

    #[inline(always)]
    fn load(self, words: &[u32; LANES], part: usize) -> __m512i {
        let words = &words.as_chunks::<16>().0[part];
        // SAFETY: `self` is evidence of the instruction; the reference is to 64 readable bytes, and the load has no
        // alignment requirement.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, words: &mut [u32; LANES], part: usize, vector: __m512i) {
        let words = &mut words.as_chunks_mut::<16>().0[part];
        // SAFETY: `self` is evidence of the instruction; the reference is to 64 writable bytes, and the store has no
        // alignment requirement.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
    }

    operations! {
        splat(word: i32) = _mm512_set1_epi32(word);
        splat64(word: i64) = _mm512_set1_epi64(word);
        blend32(even: __m512i, odd: __m512i) = _mm512_mask_blend_epi32(0xaaaa, even, odd);
        blend16(even: __m512i, odd: __m512i) = _mm512_mask_blend_epi16(0xaaaa_aaaa, even, odd);
        even(a: __m512i) = _mm512_maskz_mov_epi32(0x5555, a);
        add_where_odd(a: __m512i, b: __m512i) = {
            let odd = _mm512_test_epi32_mask(a, _mm512_set1_epi32(1));
            _mm512_mask_add_epi32(a, odd, a, b)
        };
        // With a constant, LLVM makes these the instructions with an immediate.
        shl(a: __m512i, count: i32) = _mm512_sll_epi32(a, _mm_cvtsi32_si128(count));
        shr(a: __m512i, count: i32) = _mm512_srl_epi32(a, _mm_cvtsi32_si128(count));
        shr_signed(a: __m512i, count: i32) = _mm512_sra_epi32(a, _mm_cvtsi32_si128(count));
        upper(a: __m512i) = _mm512_srli_epi64::<32>(a);
        add(a: __m512i, b: __m512i) = _mm512_add_epi32(a, b);
        sub(a: __m512i, b: __m512i) = _mm512_sub_epi32(a, b);
        add64(a: __m512i, b: __m512i) = _mm512_add_epi64(a, b);
        sub64(a: __m512i, b: __m512i) = _mm512_sub_epi64(a, b);
        min(a: __m512i, b: __m512i) = _mm512_min_epu32(a, b);
        and(a: __m512i, b: __m512i) = _mm512_and_si512(a, b);
        xor(a: __m512i, b: __m512i) = _mm512_xor_si512(a, b);
        mul(a: __m512i, b: __m512i) = mul_512(a, b);
        mul_signed(a: __m512i, b: __m512i) = mul_signed_512(a, b);
        dot16(a: __m512i, b: __m512i) = _mm512_madd_epi16(a, b);
        dot8(a: __m512i, b: __m512i) = _mm512_maddubs_epi16(a, b);
        mul_high16(a: __m512i, b: __m512i) = _mm512_mulhrs_epi16(a, b);
    }
}
