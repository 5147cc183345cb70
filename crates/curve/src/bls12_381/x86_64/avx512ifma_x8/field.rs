//! Fp and Fp2 in eight lanes. An element of size n is below n p.

use core::arch::x86_64::*;

use blst::{blst_fp, blst_fp2};

use super::super::super::fields::{Element, Fp, Fp2, ONE, P};
use crate::lanes::{
    LANES, LIMB_MASK, carried,
    field::{self, Prime},
    limbs, store, words,
};

/// Number of limbs of an element.
pub(super) const LIMBS: usize = 8;

/// The modulus p.
#[derive(Clone, Copy)]
pub(super) struct Modulus;
/// `-1/p mod 2^52`.
pub(super) const INVERSE: i64 = 0x3_fffc_fffc_fffd;
/// 2^416 mod p: one in this Montgomery form.
const UNIT: [u64; 6] = [
    0x44f6_480e_a8e9_b9af,
    0xa96f_7d65_766c_8fe4,
    0xe82e_fd42_28b5_40fe,
    0x6723_e5f0_ade5_3b2e,
    0x25ff_6eb6_fdd4_230a,
    0x14c8_ee06_ef23_c24a,
];
/// 2^448 mod p, the factor that converts from blst's form.
const FROM_BLST: [u64; 6] = [
    0x42b7_fde3_7dba_9366,
    0x7784_894e_2752_5bc3,
    0xb2b9_1b9d_c1f5_b1e9,
    0x206f_497d_fcaf_b872,
    0x5941_37cc_89a9_b0bb,
    0x0411_cd9d_20d7_e399,
];

impl Prime<LIMBS> for Modulus {
    const LIMBS: [i64; LIMBS] = limbs(&[P[5], P[4], P[3], P[2], P[1], P[0]]);
}

/// Eight elements of Fp.
pub(super) type FpLanes = field::FieldLanes<Modulus, LIMBS>;

/// Eight elements of Fp2.
pub(super) type Fp2Lanes = field::Fp2Lanes<Modulus, LIMBS>;

/// `sum a[i] b[i]`, of size 1.1, with strict limbs if `CARRY` is set and limbs below 2^57 otherwise. The sizes of the
/// products must add up to less than 2^30. Not inlined because it is long.
///
/// Products and multiples of p are summed separately, so that only their lowest limb is on the critical path.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
fn dot<const N: usize, const CARRY: bool>(a: [&FpLanes; N], b: [&FpLanes; N]) -> [__m512i; LIMBS] {
    let zero = _mm512_setzero_si512();
    let modulus = Modulus::LIMBS.map(|limb| _mm512_set1_epi64(limb));
    let (inverse, mask) = (_mm512_set1_epi64(INVERSE), _mm512_set1_epi64(LIMB_MASK));
    let (mut products, mut multiples) = ([zero; LIMBS], [zero; LIMBS]);
    for i in 0..LIMBS {
        for (a, b) in a.iter().zip(b) {
            for (product, limb) in products.iter_mut().zip(a.0) {
                *product = _mm512_madd52lo_epu64(*product, limb, b.0[i]);
            }
        }
        let lowest = _mm512_add_epi64(products[0], multiples[0]);
        let quotient = _mm512_madd52lo_epu64(zero, lowest, inverse);
        // After adding the multiple of p, the low bits are 2^52 unless they were zero.
        let carry = _mm512_srli_epi64::<52>(_mm512_add_epi64(lowest, mask));
        for j in 1..LIMBS {
            multiples[j] = _mm512_madd52lo_epu64(multiples[j], modulus[j], quotient);
        }
        products = one_lower(products);
        multiples = one_lower(multiples);
        for (a, b) in a.iter().zip(b) {
            for (product, limb) in products.iter_mut().zip(a.0) {
                *product = _mm512_madd52hi_epu64(*product, limb, b.0[i]);
            }
        }
        let high = _mm512_madd52hi_epu64(zero, modulus[0], quotient);
        multiples[0] = _mm512_add_epi64(_mm512_add_epi64(multiples[0], high), carry);
        for j in 1..LIMBS {
            multiples[j] = _mm512_madd52hi_epu64(multiples[j], modulus[j], quotient);
        }
    }
    for j in 0..LIMBS {
        products[j] = _mm512_add_epi64(products[j], multiples[j]);
    }
    if CARRY { carried(products) } else { products }
}

/// Unrolled by hand: a loop would go through memory.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn one_lower([_, l1, l2, l3, l4, l5, l6, l7]: [__m512i; LIMBS]) -> [__m512i; LIMBS] {
    [l1, l2, l3, l4, l5, l6, l7, _mm512_setzero_si512()]
}

impl FpLanes {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one() -> Self {
        Self::splat(&UNIT)
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: &[Fp; LANES]) -> Self {
        let mut rows = [[0; LANES]; LIMBS];
        for (lane, Element(element)) in elements.iter().enumerate() {
            for (row, limb) in rows.iter_mut().zip(limbs::<LIMBS>(&element.l)) {
                row[lane] = limb.cast_unsigned();
            }
        }
        Self::from_rows(&rows).adapted()
    }

    /// Multiplies by 2^32. This converts an element from blst's form. A factor multiplied by another 2^32 also converts
    /// the elements in blst's form that it is multiplied with.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn adapted(&self) -> Self {
        self.mul(&Self::splat(&FROM_BLST))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> [Fp; LANES] {
        let limbs = self.mul(&Self::splat(&ONE)).0;
        let limbs = limbs.map(|limb| store(limb));
        core::array::from_fn(|lane| {
            let l = words(limbs.map(|limb| limb[lane]));
            Fp::from_below_2p(blst_fp { l })
        })
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        Self::strict(dot::<1, true>([self], [other]))
    }

    /// The product with uncarried limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul_uncarried(&self, other: &Self) -> [__m512i; LIMBS] {
        dot::<1, false>([self], [other])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        self.mul(self)
    }
}

impl Fp2Lanes {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one() -> Self {
        Self([FpLanes::one(), FpLanes::zero()])
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: &[Fp2; LANES]) -> Self {
        Self([
            FpLanes::load(&elements.map(|Element(element)| Element(element.fp[0]))),
            FpLanes::load(&elements.map(|Element(element)| Element(element.fp[1]))),
        ])
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> [Fp2; LANES] {
        let [re, im] = [self.0[0].store(), self.0[1].store()];
        core::array::from_fn(|lane| {
            Element(blst_fp2 {
                fp: [re[lane].0, im[lane].0],
            })
        })
    }

    /// The sizes must be below 20.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(&self, other: &Self) -> Self {
        let ([a, b], [c, d]) = (&self.0, &other.0);
        Self([
            FpLanes::strict(dot::<2, true>([a, &b.negate_where::<20>(!0)], [c, d])),
            FpLanes::strict(dot::<2, true>([a, b], [d, c])),
        ])
    }

    /// The size must be below 20.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(&self) -> Self {
        let [a, b] = &self.0;
        // (a + b) (a - b) and 2 a b.
        let re = a.add(b).mul(&a.minus::<1, 1, 20>(b));
        Self([re, a.mul(&b.add(b))])
    }
}
