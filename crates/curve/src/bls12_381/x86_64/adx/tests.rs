//! The arithmetic, towers and sums of multiples against blst's, and square roots against squares.
#![allow(clippy::unwrap_used)]

use alloc::vec::Vec;

use blst::*;
use lydite_hash::cpu::Adx;
use proptest::prelude::*;

use super::{
    super::super::{
        fields::{self, Element},
        groups::Group,
    },
    buckets,
    curves::{AdxCurve, G1, G2},
    field::{Fp, P, Words},
    fp2::Fp2,
    maps::Map,
    multiples::{self, FEW},
    tower::{self, Fp12},
};
use crate::{
    field::Field,
    group::{Affine, Jacobian, signed_digits},
    tower::{Fp6, Tower},
};

/// Words below p, often with extreme ones.
fn words() -> impl Strategy<Value = Words> {
    let word = prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()];
    prop::array::uniform6(word).prop_map(|mut words| {
        words[5] %= P[5] + 1;
        let below = words.iter().rev().lt(P.iter().rev());
        if below {
            words
        } else {
            core::array::from_fn(|i| P[i] - u64::from(i == 0))
        }
    })
}

/// Compares all operations of a field with those of another one.
fn compare<F: Field, G: Field>(a: [F; 4], to: impl Fn(&F) -> G) {
    let same = |name: &str, x: F, y: G| assert!(to(&x) == y, "{name}");
    let [b, c, d] = [&a[1], &a[2], &a[3]];
    let a = &a[0];
    let [x, y, z, w] = [a, b, c, d].map(&to);
    same("add", a.add(b), x.add(&y));
    same("sub", a.sub(b), x.sub(&y));
    same("negate", a.negate(), x.negate());
    same("half", a.half(), x.half());
    same("mul", a.mul(b), x.mul(&y));
    same("square", a.square(), x.square());
    same("invert", a.invert(), x.invert());
    same(
        "difference_of_products",
        F::difference_of_products(a, b, c, d),
        G::difference_of_products(&x, &y, &z, &w),
    );
    same(
        "product_minus_square",
        F::product_minus_square(a, b, c),
        G::product_minus_square(&x, &y, &z),
    );
    same("zero", F::ZERO, G::ZERO);
    same("one", F::ONE, G::ONE);
}

/// Compares sums by tables and by buckets with those of blst's multiples. Multipliers have up to `bits` bits.
fn sums<G: Group>(generator: &Affine<G>, bits: u32) {
    if Adx::detect().is_none() {
        return;
    }
    let scalar = |k: u128| {
        let mut scalar = blst_scalar::default();
        scalar.b[..16].copy_from_slice(&k.to_le_bytes());
        scalar
    };
    let points: Vec<Affine<G>> = (1..40)
        .map(|k| G::multiple(generator, &scalar(k)).to_affine().unwrap())
        .flat_map(|point| [point, point.negate_if(true), point])
        .collect();
    for count in [0, 1, 2, 3, 10, 100] {
        for multiplier in [None, Some(0), Some(1), Some(0x5555), Some(u128::MAX)] {
            let terms: Vec<_> = points[..count]
                .iter()
                .enumerate()
                .map(|(i, point)| {
                    let k = multiplier.unwrap_or_else(|| {
                        let hash = lydite_hash::keccak256(&i.to_le_bytes());
                        u128::from_le_bytes(*hash.first_chunk().unwrap()) >> (i % 128)
                    });
                    (*point, k & u128::MAX >> (128 - bits))
                })
                .collect();
            let expected = terms.iter().fold(Jacobian::INFINITY, |sum, (p, k)| {
                sum.add(&G::multiple(p, &scalar(*k)))
            });
            let (points, scalars): (Vec<_>, Vec<_>) =
                terms.iter().map(|(p, k)| (*p, scalar(*k))).unzip();
            if count <= FEW {
                let sum = multiples::sum::<G::Adx>(&points, &scalars);
                assert!(
                    G::Adx::jacobian_to_blst(&sum).equals(&expected),
                    "{count} {multiplier:?}"
                );
            }
            let terms: Vec<_> = terms.iter().map(|(p, k)| (G::Adx::affine(p), *k)).collect();
            let sum = buckets::sum(&terms);
            assert!(
                G::Adx::jacobian_to_blst(&sum).equals(&expected),
                "{count} {multiplier:?}"
            );
        }
    }
}

#[test]
fn sums_of_multiples() {
    // SAFETY: blst returns valid pointers to statics.
    let (g1, g2) = unsafe { (*blst_p1_affine_generator(), *blst_p2_affine_generator()) };
    let [x, y] = [g1.x, g1.y].map(Element);
    sums::<fields::G1>(&Affine { x, y }, 128);
    let [x, y] = [g2.x, g2.y].map(Element);
    sums::<fields::G2>(&Affine { x, y }, 64);
}

#[test]
fn signed_digits_add_up() {
    for width in 2..=16 {
        for bits in 0..=128 {
            let k = u128::MAX.checked_shr(128 - bits).unwrap_or(0);
            for k in [k, k / 2 + 1, k / 3] {
                let digits = signed_digits(k, width).take(bits as usize / width + 1);
                let digits: Vec<i32> = digits.collect();
                let sum = digits.iter().rev().fold(0_u128, |sum, digit| {
                    assert!((-1 << (width - 1)..=1 << (width - 1)).contains(digit));
                    (sum << width).wrapping_add_signed((*digit).into())
                });
                assert_eq!(sum, k, "{width} {bits}");
            }
        }
    }
}

/// The result of one of blst's functions.
fn by_blst(f: impl Fn(*mut blst_fp12, *const blst_fp12), a: &Fp12) -> Fp12 {
    let mut out = blst_fp12::default();
    f(&mut out, &tower::to_blst(a));
    tower::from_blst(&out)
}

fn fp12(parts: &[Words]) -> Fp12 {
    let half = |at| {
        Fp6(core::array::from_fn(|i| {
            Fp2::new([0, 1].map(|part| Fp::from_montgomery(parts[at + 2 * i + part])))
        }))
    };
    Fp12 {
        c0: half(0),
        c1: half(6),
    }
}

proptest! {
    #[test]
    fn tower_is_that_of_blst(
        parts in prop::collection::vec(words(), 24),
        count in 0..20_usize,
    ) {
        if Adx::detect().is_none() {
            return Ok(());
        }
        let (a, b) = (fp12(&parts[..12]), fp12(&parts[12..]));
        let [to_a, to_b] = [&a, &b].map(tower::to_blst);
        // SAFETY: all closures get pointers to field elements.
        unsafe {
            prop_assert!(a.mul(&b) == by_blst(|out, a| blst_fp12_mul(out, a, &to_b), &a));
            prop_assert!(a.square() == by_blst(|out, a| blst_fp12_sqr(out, a), &a));
            prop_assert!(a.invert() == by_blst(|out, a| blst_fp12_inverse(out, a), &a));
            let mut conjugate = to_a;
            blst_fp12_conjugate(&mut conjugate);
            prop_assert!(a.conjugate() == tower::from_blst(&conjugate));
            let mut power = a;
            for n in 1..=3 {
                power = power.frobenius();
                prop_assert!(power == by_blst(|out, a| blst_fp12_frobenius_map(out, a, n), &a));
            }
            let Fp6([x, y, z]) = b.c0;
            for z in [z, Fp2::ONE] {
                let line = blst_fp6 { fp2: [x, y, z].map(|c| G2::to_blst(&c).0) };
                let product = by_blst(|out, a| blst_fp12_mul_by_xy00z0(out, a, &line), &a);
                prop_assert!(a.mul_by_line::<2>(&[x, y, z]) == product);
                if z == Fp2::ONE {
                    prop_assert!(a.mul_by_monic_line(&[x, y]) == product);
                }
            }
            // An element of the cyclotomic subgroup.
            let easy = a.conjugate().mul(&a.invert());
            let easy = easy.frobenius().frobenius().mul(&easy);
            let power = (0..count).fold(easy, |power, _| {
                by_blst(|out, a| blst_fp12_cyclotomic_sqr(out, a), &power)
            });
            prop_assert!(easy.cyclotomic_square_times(count) == power);
        }
        prop_assert!(Fp12::ONE.cyclotomic_square_times(count) == Fp12::ONE);
    }

    #[test]
    fn the_same_as_blst(elements in prop::array::uniform4([words(), words()])) {
        if Adx::detect().is_none() {
            return Ok(());
        }
        let elements = elements.map(|parts| parts.map(Fp::from_montgomery));
        compare(elements.map(|[re, _]| re), G1::to_blst);
        compare(elements.map(Fp2::new), G2::to_blst);
        let [a, b] = elements[0];
        let (mut power, mut product) = (a, a);
        power.square_times(3);
        product.multiply(&b);
        prop_assert!(power == a.square().square().square());
        prop_assert!(product == a.mul(&b));
        let a = Fp2::new([a, b]);
        prop_assert!(a.mul(&a.conjugate()) == Fp2::new([a.norm(), Fp::ZERO]));
        prop_assert!(G2::from_blst(&G2::to_blst(&a)) == a);
    }

    /// `y^2 d^3` is g or else a multiple of it that depends on nothing.
    #[test]
    fn roots(parts in prop::array::uniform4(words()), real in any::<bool>()) {
        if Adx::detect().is_none() {
            return Ok(());
        }
        let [a, b, c, d] = parts.map(Fp::from_montgomery);
        prop_assume!(a != Fp::ZERO && c != Fp::ZERO);
        let (root, inverse, is_first) = G1::root(&a, &c);
        let one = G1::root(&Fp::ONE.negate(), &Fp::ONE);
        prop_assert!(!one.2 && one.1 == Fp::ONE);
        let factor = if is_first { Fp::ONE } else { one.0.square().negate() };
        prop_assert!(inverse.mul(&c) == Fp::ONE);
        prop_assert!(root.square().mul(&c).mul(&c).mul(&c) == a.mul(&factor));

        // Real numbers have roots that are real or imaginary.
        let [b, d] = if real { [Fp::ZERO; 2] } else { [b, d] };
        let (g, d) = (Fp2::new([a, b]), Fp2::new([c, d]));
        let (root, inverse, is_first) = G2::root(&g, &d);
        prop_assert!(inverse.mul(&d) == Fp2::ONE);
        let z = Fp2::new([Fp::ONE.double().negate(), Fp::ONE.negate()]);
        let factor = if is_first { Fp2::ONE } else { z.square().mul(&z) };
        prop_assert!(root.square().mul(&d).mul(&d).mul(&d) == g.mul(&factor));
        prop_assert!(!real || is_first);
    }
}
