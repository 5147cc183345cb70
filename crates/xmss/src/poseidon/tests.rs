//! Tests every backend against the reference, the reference against vectors, and the constants against their generator.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::vec::Vec;

use proptest::prelude::*;

use super::constants::{ROUND_CONSTANTS_16, ROUND_CONSTANTS_24};
use super::*;
use crate::koalabear::MODULUS;

macro_rules! check_kind {
    ($backend:expr, $specification:expr, $state:expr, $all:ident, $one:ident) => {{
        let state: &Lanes<_> = $state;
        let mut permuted = *state;
        $backend.$all(&mut permuted);
        for l in 0..LANES {
            let expected = reference::permute($specification, state.lane(l));
            assert_eq!(permuted.lane(l), expected, "{:?} lane {l}", $backend);
        }
        let mut one = state.lane(3);
        $backend.$one(&mut one);
        assert_eq!(one, permuted.lane(3), "{:?} one", $backend);
    }};
}

fn check(next: &mut impl FnMut() -> u32) {
    let narrow = Lanes::<16>(core::array::from_fn(|_| core::array::from_fn(|_| next())));
    let wide = Lanes::<24>(core::array::from_fn(|_| core::array::from_fn(|_| next())));
    for backend in Backend::available() {
        check_kind!(
            backend,
            &POSEIDON1_16,
            &narrow,
            poseidon1_16,
            poseidon1_16_one
        );
        check_kind!(
            backend,
            &POSEIDON1_24,
            &wide,
            poseidon1_24,
            poseidon1_24_one
        );
        check_kind!(
            backend,
            &POSEIDON2_16,
            &narrow,
            poseidon2_16,
            poseidon2_16_one
        );
        check_kind!(
            backend,
            &POSEIDON2_24,
            &wide,
            poseidon2_24,
            poseidon2_24_one
        );
    }
}

#[test]
fn extreme_elements() {
    const EXTREMES: [u32; 6] = [0, 1, MODULUS - 1, MODULUS / 2, MODULUS / 2 + 1, 0x7eff_ffff];
    for extreme in EXTREMES {
        check(&mut || extreme);
    }
    let mut index = 0;
    check(&mut || {
        index += 1;
        EXTREMES[(index * index + index / 7) % EXTREMES.len()]
    });
}

#[test]
fn first_values() {
    // Known answers of leanSig c08a3ba for 0, 1, 2, ...
    let state = reference::permute(&POSEIDON1_16, core::array::from_fn(|i| i as u32));
    assert_eq!(state[..3], [610_090_613, 935_319_874, 1_893_335_292]);
    let state = reference::permute(&POSEIDON1_24, core::array::from_fn(|i| i as u32));
    assert_eq!(state[..3], [511_672_087, 215_882_318, 237_782_537]);
}

/// The Grain LFSR in self-shrinking mode, for a prime field and the S-box x^3 [POSEIDON §F].
fn grain(width: u16, partial_rounds: u16, count: usize) -> Vec<u32> {
    let mut bits: Vec<bool> = Vec::new();
    for (value, length) in [
        (1_u32, 2),
        (0, 4),
        (31, 12),
        (u32::from(width), 12),
        (8, 10),
        (u32::from(partial_rounds), 10),
        (0x3fff_ffff, 30),
    ] {
        bits.extend((0..length).rev().map(|bit| value >> bit & 1 == 1));
    }
    let mut step = move || {
        let bit = [0, 13, 23, 38, 51, 62]
            .iter()
            .fold(false, |sum, &i| sum ^ bits[i]);
        bits.remove(0);
        bits.push(bit);
        bit
    };
    for _ in 0..160 {
        step();
    }
    let mut next_bit = move || {
        while !step() {
            step();
        }
        step()
    };
    core::iter::repeat_with(|| (0..31).fold(0, |value, _| value << 1 | u32::from(next_bit())))
        .filter(|&value| value < MODULUS)
        .take(count)
        .collect()
}

#[test]
fn constants_from_their_generator() {
    assert_eq!(ROUND_CONSTANTS_16.as_flattened(), grain(16, 20, 28 * 16));
    assert_eq!(ROUND_CONSTANTS_24.as_flattened(), grain(24, 23, 31 * 24));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 1 } else { 200 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_elements(seed in any::<u64>()) {
        let mut state = seed;
        check(&mut || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % u64::from(MODULUS)) as u32
        });
    }
}
