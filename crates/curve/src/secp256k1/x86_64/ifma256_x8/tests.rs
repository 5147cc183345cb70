//! The field against integer arithmetic, on elements whose limbs are at the limits of each magnitude, in the form of the
//! multiplier that the dispatch selects.

#![allow(clippy::unwrap_used)]

use alloc::vec::Vec;

use lydite_hash::cpu::{AvxIfma, Ifma256};
use num_bigint::BigUint;
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
use crate::lanes::{LANES, LIMB_MASK};

impl<const VEX: bool> Inspect for Element<VEX> {
    fn values(&self, magnitude: u32) -> [BigUint; LANES] {
        let lanes = self.lanes();
        let unit = (BigUint::from(1u8) << 256) + (BigUint::from(1u8) << 73);
        core::array::from_fn(|lane| {
            let limbs = lanes[lane / 4].map(|limb| limb[lane % 4]);
            assert!(limbs.iter().all(|&limb| limb <= LIMB_MASK as u64));
            let value = limbs
                .iter()
                .rev()
                .fold(BigUint::ZERO, |sum, limb| (sum << 52) + limb);
            assert!(
                value < &unit * magnitude,
                "{value:x} of magnitude {magnitude}"
            );
            value % to_big(&P)
        })
    }
}

/// Runs a check in the form that the dispatch selects.
macro_rules! in_selected_form {
    ($check:ident($($argument:expr),*)) => {
        if Ifma256::detect().is_some() {
            if AvxIfma::detect().is_some() {
                $check::<true>($($argument),*);
            } else {
                $check::<false>($($argument),*);
            }
        }
    };
}

fn edges_in<const VEX: bool>() {
    for magnitude in 1..=4_u32 {
        let top = u64::from(magnitude) << 48;
        let (low, high) = (
            [0, 1, 2, LIMB_MASK as u64 - 1, LIMB_MASK as u64],
            [0, 1, top / 2, top - 2, top - 1],
        );
        let all: Vec<Element<VEX>> = (0..20)
            .map(|seed: usize| {
                Element::from_lanes(core::array::from_fn(|part| {
                    core::array::from_fn(|i| {
                        core::array::from_fn(|lane| {
                            // A linear congruential generator; the first elements have all limbs at one edge.
                            let mixed =
                                (seed * LANES + 4 * part + lane) * 0x2545_f491 + i * 0x9e37_79b9;
                            let edge = if seed < 5 { seed } else { (mixed >> 7) % 5 };
                            if i == 4 { high[edge] } else { low[edge] }
                        })
                    })
                }))
            })
            .collect();
        for a in &all {
            for b in &all {
                check(a, b, magnitude);
            }
        }
    }
}

#[test]
fn edges() {
    in_selected_form!(edges_in());
}

fn compare<const VEX: bool>(a: &[[u64; 4]; LANES], b: &[[u64; 4]; LANES]) {
    check(&Element::<VEX>::load(a), &Element::<VEX>::load(b), 1);
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn operations_are_those_of_integers(
        a in prop::array::uniform8(words(P)),
        b in prop::array::uniform8(words(P)),
    ) {
        let p = to_big(&P);
        let reduced = |x: &[[u64; 4]; LANES]| x.map(|x| to_words(&(to_big(&x) % &p)));
        let (a, b) = (reduced(&a), reduced(&b));
        in_selected_form!(compare(&a, &b));
    }
}
