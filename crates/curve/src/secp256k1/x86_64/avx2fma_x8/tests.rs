//! The field against integer arithmetic, on elements whose limbs are at the limits of the invariant.

#![allow(clippy::unwrap_used)]

use alloc::vec::Vec;

use lydite_hash::cpu::Avx2Fma;
use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;

use super::{
    super::{
        super::tests::{config, to_big, to_words, words},
        field_x8::{
            FieldX8,
            tests::{Inspect, P, check},
        },
    },
    element::Element,
};
use crate::{field::LazyField, lanes::LANES};

/// The limits of the limbs.
const LIMITS: [u64; 5] = {
    let middle = (1 << 50) + (1 << 4);
    [
        (1 << 50) + (1 << 34),
        middle,
        middle,
        middle,
        (1 << 51) + (1 << 4),
    ]
};

impl Inspect for Element {
    fn values(&self, _: u32) -> [BigUint; LANES] {
        let lanes = self.lanes();
        for (i, limit) in LIMITS.into_iter().enumerate() {
            for limb in lanes.iter().flat_map(|part| part[i]) {
                assert!(
                    limb.abs() <= limit as f64 && limb.fract() == 0.0,
                    "limb {i}: {limb}"
                );
            }
        }
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
}

/// Compares the point formulas, on any coordinates, with integer arithmetic.
fn check_points(a: &Element, b: &Element) {
    let p = to_big(&P);
    let [z, scale] = [a.mul(b), b.square()];
    let same = |name: &str, got: &[Element], expected: &dyn Fn(usize) -> Vec<BigUint>| {
        let got: Vec<_> = got.iter().map(|x| x.values(1)).collect();
        for lane in 0..LANES {
            let got: Vec<_> = got.iter().map(|x| x[lane].clone()).collect();
            let expected: Vec<_> = expected(lane).iter().map(|x| x % &p).collect();
            assert_eq!(
                got,
                expected,
                "{name}, lane {lane}: {a:?} {b:?}",
                a = a.lanes(),
                b = b.lanes()
            );
        }
    };
    let minus = |x: &BigUint| &p - x % &p;
    let (a_values, b_values) = (a.values(1), b.values(1));
    let (z_values, scale_values) = (z.values(1), scale.values(1));

    let [mut x, mut y, mut doubled_z] = [*a, *b, z];
    assert!(Element::double_point([&mut x, &mut y, &mut doubled_z]));
    same("double", &[x, y, doubled_z], &|lane| {
        let (x, y, z) = (&a_values[lane], &b_values[lane], &z_values[lane]);
        let e = x * x * 3u8 * ((&p + 1u8) >> 1) % &p;
        let d = x * y * y % &p;
        let x = (&e * &e + minus(&d) * 2u8) % &p;
        let yyyy = y.pow(4) % &p;
        let z = y * z;
        [&x, &(e * (d + minus(&x)) + minus(&yyyy)), &z]
            .map(Clone::clone)
            .into()
    });

    for scale in [None, Some(&scale)] {
        let [mut x, mut y, mut sum_z] = [*a, *b, z];
        let h = Element::add_point([&mut x, &mut y, &mut sum_z], [b, a], scale);
        same("add", &[x, y, sum_z, h.unwrap()], &|lane| {
            let (x, y, z) = (&a_values[lane], &b_values[lane], &z_values[lane]);
            let other_z = if scale.is_some() {
                &scale_values[lane]
            } else {
                z
            };
            let h = (y * other_z.pow(2) + minus(x)) % &p;
            let r = (x * other_z.pow(3) + minus(y)) % &p;
            let hhh = h.pow(3) % &p;
            let v = x * &h * &h % &p;
            let sum_x = (&r * &r + minus(&hhh) + minus(&v) * 2u8) % &p;
            let sum_y = r * (v + minus(&sum_x)) + minus(&(hhh * y));
            [&sum_x, &sum_y, &(z * &h), &h].map(Clone::clone).into()
        });
    }
}

/// All combinations of the limbs' limits, in every lane.
#[test]
fn edges() {
    if Avx2Fma::detect().is_none() {
        return;
    }
    let edges = LIMITS.map(|limit| {
        let limit = limit as f64;
        [-limit, 1.0 - limit, -1.0, 0.0, 1.0, limit - 1.0, limit]
    });
    let element = |seed: usize| {
        Element::from_lanes(core::array::from_fn(|part| {
            core::array::from_fn(|i| {
                core::array::from_fn(|lane| {
                    // A linear congruential generator; the first elements have all limbs at one edge.
                    let mixed = (seed * LANES + 4 * part + lane) * 0x2545_f491 + i * 0x9e37_79b9;
                    let edge = if seed < 7 { seed } else { (mixed >> 7) % 7 };
                    edges[i][edge]
                })
            })
        }))
    };
    let all: Vec<Element> = (0..40).map(element).collect();
    for a in &all {
        for b in &all {
            check(a, b, 1);
            check_points(a, b);
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
        if Avx2Fma::detect().is_some() {
            let p = to_big(&P);
            let reduced = |x: &[[u64; 4]; LANES]| x.map(|x| to_words(&(to_big(&x) % &p)));
            let [a, b] = [a, b].map(|x| Element::load(&reduced(&x)));
            check(&a, &b, 1);
            check_points(&a, &b);
        }
    }
}
