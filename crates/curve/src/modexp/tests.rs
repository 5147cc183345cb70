use alloc::{vec, vec::Vec};

use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;

fn check_with(
    modexp: impl Fn(&[u8], &[u8], &[u8], &mut [u8]),
    base: &[u8],
    exponent: &[u8],
    modulus: &[u8],
) {
    let big = BigUint::from_bytes_be;
    let expected = if big(modulus) == BigUint::ZERO {
        BigUint::ZERO
    } else {
        big(base).modpow(&big(exponent), &big(modulus))
    };
    let mut out = vec![0xaa; modulus.len()];
    modexp(base, exponent, modulus, &mut out);
    assert_eq!(
        big(&out),
        expected,
        "{base:02x?} {exponent:02x?} {modulus:02x?}"
    );
}

/// Checks the kernels for this CPU and the portable ones.
fn check(base: &[u8], exponent: &[u8], modulus: &[u8]) {
    check_with(modexp, base, exponent, modulus);
    let portable = |base: &_, exponent: &_, modulus: &_, out: &mut _| {
        Backend::Portable.modexp(base, exponent, modulus, out);
    };
    check_with(portable, base, exponent, modulus);
}

#[test]
fn small_numbers() {
    for base in 0..12u8 {
        for exponent in 0..12u8 {
            for modulus in 0..40u8 {
                check(&[base], &[exponent], &[modulus]);
                check(&[0, 0, base], &[0, exponent], &[0, 0, 0, modulus]);
            }
        }
    }
    modexp(&[], &[], &[], &mut []);
    check(&[], &[], &[7]);
    check(&[], &[3], &[7]);
    check(&[3], &[], &[1]);
}

/// Words of all ones, powers of two and their neighbours, which test carries and quotient estimates.
#[test]
fn edges() {
    let mut numbers: Vec<Vec<u8>> = vec![vec![1], vec![3]];
    for bits in [61, 62, 63, 64, 65, 127, 128, 192, 255, 256, 257, 320] {
        let power: BigUint = BigUint::from(1u8) << bits;
        for number in [&power - 3u8, &power - 1u8, power.clone(), &power + 1u8] {
            numbers.push(number.to_bytes_be());
        }
    }
    for base in &numbers {
        for modulus in &numbers {
            for exponent in [&[1][..], &[2], &[3], &[0x1f, 0xff], &[0xff; 9]] {
                check(base, exponent, modulus);
            }
        }
    }
}

#[test]
fn every_window() {
    for length in [1, 2, 4, 17, 20, 56, 60, 160, 170] {
        let exponent: Vec<u8> = (0..length).map(|i| (i * 37 + 11) as u8).collect();
        check(&[0x77; 40], &exponent, &[0x3b; 33]);
        check(&[0x77; 40], &exponent, &[0x3a; 33]);
    }
}

/// Every length of the short kernels and one more, including even moduli, with long and short exponents.
#[test]
fn few_words() {
    for length in (1..75).step_by(if cfg!(miri) { 19 } else { 1 }) {
        let number = |seed: usize| -> Vec<u8> {
            let mut state = (length * 77 + seed) as u64;
            (0..length)
                .map(|_| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    (state >> 56) as u8
                })
                .collect()
        };
        let (mut odd, mut even) = (number(0), number(1));
        odd[length - 1] |= 1;
        even[length - 1] &= 0xf8;
        for modulus in [odd, even, vec![0xff; length]] {
            for base in [number(2), number(3), vec![0xff; length + 3], vec![2]] {
                for exponent in [&[9][..], &[1, 0, 1], &[0x0f; 31], &[0xb7; 80]] {
                    check(&base, exponent, &modulus);
                }
            }
        }
    }
}

/// Every length of the vector kernels and some more, with moduli and bases whose limbs produce the largest carries.
#[test]
fn long_numbers() {
    let step = if cfg!(miri) { 500 } else { 47 };
    for length in (66..1060).step_by(step) {
        let drawn = |seed: usize| -> Vec<u8> {
            let mut state = (length * 31 + seed) as u64;
            (0..length)
                .map(|_| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    (state >> 56) as u8
                })
                .collect()
        };
        let (mut odd, mut low) = (drawn(0), vec![0; length]);
        odd[length - 1] |= 1;
        (low[0], low[length - 1]) = (1, 1);
        for modulus in [odd, low, vec![0xff; length]] {
            let mut minus_one = modulus.clone();
            minus_one[length - 1] -= 1;
            for base in [drawn(1), minus_one, vec![0xff; length + 9], vec![3]] {
                for exponent in [&[2][..], &[3], &[5], &[1, 0, 1], &[0xb7, 0x5d]] {
                    check(&base, exponent, &modulus);
                }
            }
        }
    }
}

/// Four to eight words with the largest carries, and random ones.
#[test]
fn words_with_carries() {
    let mut state = 1u64;
    let mut word = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        [u64::MAX, 0, 1, 1 << 63, state, !state, state, !state][(state >> 61) as usize]
    };
    for length in 4..=8 {
        for _ in 0..if cfg!(miri) { 4 } else { 2000 } {
            let mut number =
                || -> Vec<u8> { (0..length).flat_map(|_| word().to_be_bytes()).collect() };
            let (base, mut modulus) = (number(), number());
            modulus[8 * length - 1] |= 1;
            for exponent in [&[2][..], &[0xb7, 0x5d, 0x0a, 0xff, 0xf0, 0x01]] {
                check(&base, exponent, &modulus);
            }
        }
    }
}

fn number(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => any::<u8>(), 1 => Just(0), 1 => Just(0xff)];
    proptest::collection::vec(byte, 0..longest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 512 }))]
    #[test]
    fn any_numbers(base in number(200), exponent in number(12), modulus in number(150)) {
        check(&base, &exponent, &modulus);
    }

    #[test]
    fn many_trailing_zeros(base in number(60), exponent in number(9), modulus in number(60), zeros in 0usize..40) {
        let mut modulus = modulus;
        modulus.extend(vec![0; zeros]);
        check(&base, &exponent, &modulus);
    }
}
