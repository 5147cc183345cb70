//! Fp and Fp2 in eight lanes. An element of size n is below n p.

use core::arch::x86_64::*;

use blst::{blst_fp, blst_fp2};

use super::super::super::fields::{Element, Fp, Fp2, ONE, P};
use crate::{
    field::LazyField,
    lanes::{
        LANES, LIMB_MASK, carried,
        field::{Degree, FieldLanes, One, Prime, Products, Two},
        limbs, store, words,
    },
};

/// Number of limbs of an element.
pub(super) const LIMBS: usize = 8;

/// The modulus p.
#[derive(Clone, Copy)]
pub(in super::super::super) struct Modulus;
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

/// The degree of a field, its elements outside of the kernels, and its products.
pub(in super::super::super) trait Extension: Degree + Sized {
    type Element: LazyField;

    fn split(element: &Self::Element) -> Self::Coefficients<Fp>;
    fn join(coefficients: Self::Coefficients<Fp>) -> Self::Element;

    /// The product. In Fp2, the sizes must be below 20.
    fn mul(a: &Lanes<Self>, b: &Lanes<Self>) -> Lanes<Self>;
    /// The square. In Fp2, the size must be below 20.
    fn square(a: &Lanes<Self>) -> Lanes<Self>;
    /// `a b + c d`. In Fp2, the sizes must be below 20.
    fn sum_of_products(
        a: &Lanes<Self>,
        b: &Lanes<Self>,
        c: &Lanes<Self>,
        d: &Lanes<Self>,
    ) -> Lanes<Self>;
}

impl Extension for One {
    type Element = Fp;

    fn split(element: &Fp) -> [Fp; 1] {
        [*element]
    }

    fn join([element]: [Fp; 1]) -> Fp {
        element
    }

    #[inline(always)]
    fn mul(a: &FpLanes, b: &FpLanes) -> FpLanes {
        // SAFETY: `a` was made by a function that requires AVX-512F and IFMA.
        unsafe { fp_mul(a, b) }
    }

    #[inline(always)]
    fn square(a: &FpLanes) -> FpLanes {
        Self::mul(a, a)
    }

    #[inline(always)]
    fn sum_of_products(a: &FpLanes, b: &FpLanes, c: &FpLanes, d: &FpLanes) -> FpLanes {
        // SAFETY: `a` was made by a function that requires AVX-512F and IFMA.
        unsafe { fp_sum_of_products(a, b, c, d) }
    }
}

impl Extension for Two {
    type Element = Fp2;

    fn split(element: &Fp2) -> [Fp; 2] {
        element.0.fp.map(Element)
    }

    fn join(coefficients: [Fp; 2]) -> Fp2 {
        Element(blst_fp2 {
            fp: coefficients.map(|c| c.0),
        })
    }

    #[inline(always)]
    fn mul(a: &Fp2Lanes, b: &Fp2Lanes) -> Fp2Lanes {
        // SAFETY: `a` was made by a function that requires AVX-512F and IFMA.
        unsafe { fp2_mul(a, b) }
    }

    #[inline(always)]
    fn square(a: &Fp2Lanes) -> Fp2Lanes {
        // SAFETY: `a` was made by a function that requires AVX-512F and IFMA.
        unsafe { fp2_square(a) }
    }

    #[inline(always)]
    fn sum_of_products(a: &Fp2Lanes, b: &Fp2Lanes, c: &Fp2Lanes, d: &Fp2Lanes) -> Fp2Lanes {
        // SAFETY: `a` was made by a function that requires AVX-512F and IFMA.
        unsafe { fp2_sum_of_products(a, b, c, d) }
    }
}

/// The limbs of eight elements of Fp.
pub(super) type Limbs = [__m512i; LIMBS];

/// Eight elements of Fp or Fp2.
pub(super) type Lanes<D> = FieldLanes<Modulus, LIMBS, D>;
pub(super) type FpLanes = Lanes<One>;
pub(super) type Fp2Lanes = Lanes<Two>;

/// `sum a[i] b[i]`, of size 1.1, with strict limbs if `CARRY` is set and limbs below 2^57 otherwise. The sizes of the
/// products must add up to less than 2^30. Not inlined because it is long.
///
/// Products and multiples of p are summed separately, so that only their lowest limb is on the critical path.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn dot<const N: usize, const CARRY: bool>(a: [&Limbs; N], b: [&Limbs; N]) -> Limbs {
    let zero = _mm512_setzero_si512();
    let modulus = Modulus::LIMBS.map(|limb| _mm512_set1_epi64(limb));
    let (inverse, mask) = (_mm512_set1_epi64(INVERSE), _mm512_set1_epi64(LIMB_MASK));
    let (mut products, mut multiples) = ([zero; LIMBS], [zero; LIMBS]);
    for i in 0..LIMBS {
        for (a, b) in a.iter().zip(b) {
            for (product, limb) in products.iter_mut().zip(**a) {
                *product = _mm512_madd52lo_epu64(*product, limb, b[i]);
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
            for (product, limb) in products.iter_mut().zip(**a) {
                *product = _mm512_madd52hi_epu64(*product, limb, b[i]);
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
    /// Multiplies by 2^32. This converts an element from blst's form. A factor multiplied by another 2^32 also converts
    /// the elements in blst's form that it is multiplied with.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn adapted(&self) -> Self {
        self.mul(&Self::splat(&FROM_BLST))
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn load(elements: &[Fp; LANES]) -> FpLanes {
    let mut rows = [[0; LANES]; LIMBS];
    for (lane, Element(element)) in elements.iter().enumerate() {
        for (row, limb) in rows.iter_mut().zip(limbs::<LIMBS>(&element.l)) {
            row[lane] = limb.cast_unsigned();
        }
    }
    FpLanes::from_rows(&rows).adapted()
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn store_limbs(limbs: &Limbs) -> [Fp; LANES] {
    let limbs = dot::<1, true>([limbs], [&FpLanes::splat(&ONE).0[0]]);
    let limbs = limbs.map(|limb| store(limb));
    core::array::from_fn(|lane| {
        let l = words(limbs.map(|limb| limb[lane]));
        Fp::from_below_2p(blst_fp { l })
    })
}

impl<D: Extension> Lanes<D> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn one() -> Self {
        Self::new(D::coefficients(FpLanes::splat(&UNIT), || FpLanes::zero()))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn load(elements: &[D::Element; LANES]) -> Self {
        let coefficient = |k: usize| load(&elements.each_ref().map(|e| D::split(e)[k]));
        Self::new(D::coefficients(coefficient(0), || coefficient(1)))
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn store(&self) -> [D::Element; LANES] {
        let coefficient = |k: usize| store_limbs(&self.0[k]);
        let coefficients = D::coefficients(coefficient(0), || coefficient(1));
        core::array::from_fn(|lane| {
            D::join(D::coefficients(coefficients[0][lane], || {
                coefficients[1][lane]
            }))
        })
    }
}

impl<D: Extension> Products for Lanes<D> {
    #[inline(always)]
    fn mul(&self, other: &Self) -> Self {
        D::mul(self, other)
    }

    #[inline(always)]
    fn square(&self) -> Self {
        D::square(self)
    }

    #[inline(always)]
    fn sum_of_products(a: &Self, b: &Self, c: &Self, d: &Self) -> Self {
        D::sum_of_products(a, b, c, d)
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn fp_mul(a: &FpLanes, b: &FpLanes) -> FpLanes {
    FpLanes::strict(dot::<1, true>([&a.0[0]], [&b.0[0]]))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn fp_sum_of_products(a: &FpLanes, b: &FpLanes, c: &FpLanes, d: &FpLanes) -> FpLanes {
    FpLanes::strict(dot::<2, true>([&a.0[0], &c.0[0]], [&b.0[0], &d.0[0]]))
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn fp2_sum_of_products(a: &Fp2Lanes, b: &Fp2Lanes, c: &Fp2Lanes, d: &Fp2Lanes) -> Fp2Lanes {
    let ([a0, a1], [b0, b1], [c0, c1], [d0, d1]) = (&a.0, &b.0, &c.0, &d.0);
    let minus = [a1, c1].map(|im| FpLanes::strict(*im).negate::<20>());
    Fp2Lanes::from_limbs([
        dot::<4, true>([a0, &minus[0].0[0], c0, &minus[1].0[0]], [b0, b1, d0, d1]),
        dot::<4, true>([a0, a1, c0, c1], [b1, b0, d1, d0]),
    ])
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn fp2_mul(x: &Fp2Lanes, y: &Fp2Lanes) -> Fp2Lanes {
    let ([a, b], [c, d]) = (&x.0, &y.0);
    let minus_b = FpLanes::strict(*b).negate_where::<20>(!0);
    Fp2Lanes::from_limbs([
        dot::<2, true>([a, &minus_b.0[0]], [c, d]),
        dot::<2, true>([a, b], [d, c]),
    ])
}

/// By `(a + b) (a - b)` and `2 a b`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn fp2_square(lanes: &Fp2Lanes) -> Fp2Lanes {
    let [a, b] = lanes.coefficients();
    let (sum, difference, twice) = (a.add(&b), a.minus::<1, 1, 20>(&b), b.add(&b));
    Fp2Lanes::from_limbs([
        dot::<1, true>([&sum.0[0]], [&difference.0[0]]),
        dot::<1, true>([&lanes.0[0]], [&twice.0[0]]),
    ])
}

/// The product of elements of Fp, with uncarried limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn mul_uncarried(a: &Limbs, b: &Limbs) -> Limbs {
    dot::<1, false>([a], [b])
}
