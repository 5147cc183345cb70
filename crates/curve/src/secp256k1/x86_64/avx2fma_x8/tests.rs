//! The field against integer arithmetic, on elements whose limbs are at the limits of the invariant.

#![allow(clippy::unwrap_used)]

use alloc::vec::Vec;

use lydite_hash::cpu::Avx2Fma;
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;

use super::{
    super::super::{
        field::FieldElement,
        tests::{config, to_big, to_words, words},
    },
    field::{Element, Lanes},
};
use crate::{field::LazyField, lanes::LANES};

const P: [u64; 4] = [0xffff_fffe_ffff_fc2f, u64::MAX, u64::MAX, u64::MAX];

/// The value of each lane, reduced modulo p.
fn values(lanes: &Lanes) -> [BigUint; LANES] {
    let p = BigInt::from(to_big(&P));
    core::array::from_fn(|lane| {
        let limbs = lanes[lane / 4].map(|limb| limb[lane % 4] as i64);
        let half = limbs
            .iter()
            .rev()
            .fold(BigInt::ZERO, |sum, limb| (sum << 51) + limb);
        let residue: BigInt = half * 2 % &p;
        ((residue + &p) % &p).to_biguint().unwrap()
    })
}

fn stored(element: &Element) -> [BigUint; LANES] {
    // SAFETY: the caller holds evidence of AVX2 and FMA.
    unsafe { element.store() }.map(|x: FieldElement| to_big(&x.to_words()))
}

/// Asserts the invariant that products rely on.
fn assert_limits(lanes: &Lanes) {
    for (i, limit) in [1_u64 << 51, LOW, LOW, LOW, 1 << 51]
        .into_iter()
        .enumerate()
    {
        for limb in lanes.iter().flat_map(|part| part[i]) {
            assert!(
                limb.abs() <= limit as f64 && limb.fract() == 0.0,
                "limb {i}: {limb}"
            );
        }
    }
}

/// The limit of limbs 1 to 3.
const LOW: u64 = (1 << 50) + (1 << 15);

/// Compares every operation with integer arithmetic.
fn check(_: Avx2Fma, a: &Element, b: &Element) {
    let p = to_big(&P);
    // SAFETY: the argument is evidence of AVX2 and FMA.
    let (x, y) = unsafe { (values(&a.lanes()), values(&b.lanes())) };
    let same = |name: &str, got: Element, expected: &dyn Fn(&BigUint, &BigUint) -> BigUint| {
        // SAFETY: the argument of `check` is evidence of AVX2 and FMA.
        let lanes = unsafe { got.lanes() };
        assert_limits(&lanes);
        let expected: [BigUint; LANES] = core::array::from_fn(|i| expected(&x[i], &y[i]) % &p);
        assert_eq!(values(&lanes), expected, "{name} {x:x?} {y:x?}");
        assert_eq!(stored(&got), expected, "store {name}");
    };
    same("mul", a.mul(b), &|x, y| x * y);
    same("square", a.square(), &|x, _| x * x);
    same("add", a.add(b), &|x, y| x + y);
    same("sub", a.sub(b, 1), &|x, y| x + &p - y);
    same("half", a.half(), &|x, _| x * ((&p + 1u8) >> 1));
    same("negate", a.negate(1), &|x, _| &p - x);
    same("one", a.mul(&Element::ONE), &|x, _| x.clone());
    same("zero", a.mul(&Element::ZERO), &|_, _| BigUint::ZERO);
}

/// All combinations of the limbs' limits, in every lane.
#[test]
fn edges() {
    let Some(fma) = Avx2Fma::detect() else { return };
    let edges = |limit: u64| {
        let limit = limit as f64;
        [-limit, 1.0 - limit, -1.0, 0.0, 1.0, limit - 1.0, limit]
    };
    let (high, low) = (edges(1 << 51), edges(LOW));
    let element = |seed: usize| {
        // SAFETY: `fma` is evidence of AVX2 and FMA.
        unsafe {
            Element::from_lanes(core::array::from_fn(|part| {
                core::array::from_fn(|i| {
                    core::array::from_fn(|lane| {
                        // A linear congruential generator; the first elements have all limbs at one edge.
                        let mixed =
                            (seed * LANES + 4 * part + lane) * 0x2545_f491 + i * 0x9e37_79b9;
                        let edge = if seed < 7 { seed } else { (mixed >> 7) % 7 };
                        if i == 0 || i == 4 {
                            high[edge]
                        } else {
                            low[edge]
                        }
                    })
                })
            }))
        }
    };
    let all: Vec<Element> = (0..40).map(element).collect();
    for a in &all {
        for b in &all {
            check(fma, a, b);
        }
    }
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn operations_are_those_of_integers(
        a in prop::array::uniform8(words(P)),
        b in prop::array::uniform8(words(P)),
    ) {
        if let Some(fma) = Avx2Fma::detect() {
            let p = to_big(&P);
            let reduced = |x: &[[u64; 4]; LANES]| x.map(|x| to_words(&(to_big(&x) % &p)));
            let (a, b) = (reduced(&a), reduced(&b));
            // SAFETY: `fma` is evidence of AVX2 and FMA.
            let (x, y) = unsafe { (Element::load(&a), Element::load(&b)) };
            prop_assert_eq!(stored(&x), a.map(|a| to_big(&a)));
            check(fma, &x, &y);
        }
    }
}
