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
    field::Element,
};
use crate::lanes::LANES;

/// The limit of limbs 1 to 3.
const LOW: u64 = (1 << 50) + (1 << 15);

impl Inspect for Element {
    fn values(&self, _: u32) -> [BigUint; LANES] {
        let lanes = self.lanes();
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

/// All combinations of the limbs' limits, in every lane.
#[test]
fn edges() {
    if Avx2Fma::detect().is_none() {
        return;
    }
    let edges = |limit: u64| {
        let limit = limit as f64;
        [-limit, 1.0 - limit, -1.0, 0.0, 1.0, limit - 1.0, limit]
    };
    let (high, low) = (edges(1 << 51), edges(LOW));
    let element = |seed: usize| {
        Element::from_lanes(core::array::from_fn(|part| {
            core::array::from_fn(|i| {
                core::array::from_fn(|lane| {
                    // A linear congruential generator; the first elements have all limbs at one edge.
                    let mixed = (seed * LANES + 4 * part + lane) * 0x2545_f491 + i * 0x9e37_79b9;
                    let edge = if seed < 7 { seed } else { (mixed >> 7) % 7 };
                    if i == 0 || i == 4 {
                        high[edge]
                    } else {
                        low[edge]
                    }
                })
            })
        }))
    };
    let all: Vec<Element> = (0..40).map(element).collect();
    for a in &all {
        for b in &all {
            check(a, b, 1);
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
            check(&Element::load(&reduced(&a)), &Element::load(&reduced(&b)), 1);
        }
    }
}
