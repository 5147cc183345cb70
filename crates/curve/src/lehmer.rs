//! Modular inversion with Lehmer's algorithm. Variable-time: for public numbers only.
//!
//! The extended Euclidean algorithm on the modulus m and x. Its quotients are computed from the top 64 bits of both
//! numbers, about 32 bits of progress at a time, and collected as a 2x2 matrix of half words, which is then applied to
//! the numbers and to the cofactors of x.
//!
//! Source: [Knu97] §4.5.2, algorithm L; [Jeb95] §2, Collins' condition under which a quotient of the top bits is that of
//! the whole numbers.
//!
//! Invariants: `a > b`. With `sign` = 1 or -1, `a = sign * u x` and `b = -sign * v x` modulo m, where `u b + v a = m`,
//! so that no cofactor exceeds m.

use crate::words;

/// Numbers of N words, least significant first.
type Words<const N: usize> = [u64; N];

/// A matrix of quotients: `(a, b) <- (p0 a - q0 b, q1 b - p1 a)`, or with the opposite signs if `odd`.
struct Transition {
    p0: u64,
    q0: u64,
    p1: u64,
    q1: u64,
    odd: bool,
}

/// Computes `x^-1` modulo an odd prime for x below it; 0 for x = 0. Variable-time.
pub(crate) fn invert_vartime<const N: usize>(x: &Words<N>, modulus: &Words<N>) -> Words<N> {
    if *x == [0; N] {
        return [0; N];
    }
    let (mut a, mut b) = (*modulus, *x);
    let (mut u, mut v) = ([0; N], [0; N]);
    v[0] = 1;
    let mut positive = false;
    // The highest word of a that is not zero.
    let mut top = N - 1;
    loop {
        while a[top] == 0 && top > 0 {
            top -= 1;
        }
        if top == 0 {
            break;
        }
        let t = quotients(high(&a, top, a[top]), high(&b, top, a[top]));
        if t.q0 == 0 {
            divide(&mut a, &b, &mut u, &v);
            (a, b, u, v) = (b, a, v, u);
            positive = !positive;
            continue;
        }
        (a, b) = if t.odd {
            (
                difference(t.q0, &b, t.p0, &a),
                difference(t.p1, &a, t.q1, &b),
            )
        } else {
            (
                difference(t.p0, &a, t.q0, &b),
                difference(t.q1, &b, t.p1, &a),
            )
        };
        (u, v) = (sum(t.p0, &u, t.q0, &v), sum(t.p1, &u, t.q1, &v));
        positive ^= t.odd;
    }
    let (p, q, odd) = last_quotients(a[0], b[0]);
    let inverse = sum(p, &u, q, &v);
    if positive ^ odd {
        inverse
    } else {
        difference(1, modulus, 1, &inverse)
    }
}

/// The 64 bits of a number from the highest bit of `first` on, a word at the place `top`, which is not 0.
#[inline(always)]
fn high<const N: usize>(number: &Words<N>, top: usize, first: u64) -> u64 {
    let shift = first.leading_zeros();
    // Shifting in two steps is right for a shift of 0 too.
    number[top] << shift | number[top - 1] >> 1 >> (63 - shift)
}

/// The quotients of two numbers with the given top bits, as long as all numbers with these bits have the same. `q0` is 0
/// for fewer than two quotients.
#[inline(always)]
fn quotients(mut a: u64, mut b: u64) -> Transition {
    // Rows of the last three remainders; the matrix consists of the first two, since the last quotient may be wrong.
    let [mut p0, mut p1, mut p2] = [0u64, 1, 0];
    let [mut q0, mut q1, mut q2] = [0u64, 0, 1];
    let mut odd = true;
    while b >= q2 && a - b >= q1 + q2 {
        let quotient = a / b;
        (a, b) = (b, a - quotient * b);
        (p0, p1, p2) = (p1, p2, p1 + quotient * p2);
        (q0, q1, q2) = (q1, q2, q1 + quotient * q2);
        odd = !odd;
    }
    Transition {
        p0,
        q0,
        p1,
        q1,
        odd,
    }
}

/// The row of the last remainder that is not 0, for two numbers of one word.
#[inline(always)]
fn last_quotients(mut a: u64, mut b: u64) -> (u64, u64, bool) {
    let [mut p0, mut p1] = [1u64, 0];
    let [mut q0, mut q1] = [0u64, 1];
    let mut odd = false;
    while b != 0 {
        let quotient = a / b;
        (a, b) = (b, a - quotient * b);
        // The row of remainder 0 may be longer than a word, and is not used.
        (p0, p1) = (p1, p0.wrapping_add(quotient.wrapping_mul(p1)));
        (q0, q1) = (q1, q0.wrapping_add(quotient.wrapping_mul(q1)));
        odd = !odd;
    }
    (p0, q0, odd)
}

/// A step with a quotient of any size: `a <- a mod b`, `u <- u + (a / b) v`. Rare.
#[cold]
fn divide<const N: usize>(a: &mut Words<N>, b: &Words<N>, u: &mut Words<N>, v: &Words<N>) {
    while !is_below(a, b) {
        let mut shift = bits(a) - bits(b);
        if is_below(a, &shifted(b, shift)) {
            shift -= 1;
        }
        *a = difference(1, a, 1, &shifted(b, shift));
        *u = sum(1, u, 1, &shifted(v, shift));
    }
}

/// `p a - q b`, which is not negative.
#[inline(always)]
fn difference<const N: usize>(p: u64, a: &Words<N>, q: u64, b: &Words<N>) -> Words<N> {
    let mut out = [0; N];
    let (mut carry, mut borrow) = (0, 0);
    for i in 0..N {
        let x = words::product(p, a[i]) + carry;
        let y = words::product(q, b[i]) + borrow;
        let (word, below) = (x as u64).overflowing_sub(y as u64);
        out[i] = word;
        carry = x >> 64;
        borrow = (y >> 64) + u128::from(below);
    }
    out
}

/// `p a + q b`, which fits.
#[inline(always)]
fn sum<const N: usize>(p: u64, a: &Words<N>, q: u64, b: &Words<N>) -> Words<N> {
    let mut out = [0; N];
    let (mut first, mut second) = (0, 0);
    for i in 0..N {
        let x = words::product(p, a[i]) + first;
        let y = words::product(q, b[i]) + second + (x as u64 as u128);
        out[i] = y as u64;
        first = x >> 64;
        second = y >> 64;
    }
    out
}

fn bits<const N: usize>(a: &Words<N>) -> u32 {
    let top = (0..N).rev().find(|i| a[*i] != 0);
    top.map_or(0, |i| 64 * (i as u32 + 1) - a[i].leading_zeros())
}

fn shifted<const N: usize>(a: &Words<N>, by: u32) -> Words<N> {
    let (words, by) = ((by / 64) as usize, by % 64);
    let at = |i: usize| i.checked_sub(words).map_or(0, |i| a[i]);
    core::array::from_fn(|i| {
        let below = if i == 0 { 0 } else { at(i - 1) };
        at(i) << by | below >> 1 >> (63 - by)
    })
}

fn is_below<const N: usize>(a: &Words<N>, b: &Words<N>) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;

    fn number<const N: usize>(words: &Words<N>) -> BigUint {
        words
            .iter()
            .rev()
            .fold(BigUint::ZERO, |n, word| (n << 64) + word)
    }

    fn words<const N: usize>(number: &BigUint) -> Words<N> {
        let digits = number.to_u64_digits();
        core::array::from_fn(|i| digits.get(i).copied().unwrap_or(0))
    }

    fn check(x: &BigUint, modulus: &BigUint) {
        let x = x % modulus;
        let one = BigUint::from(u8::from(x != BigUint::ZERO));
        let inverse = number(&invert_vartime::<6>(&words(&x), &words(modulus)));
        assert!(inverse < *modulus);
        assert_eq!(&x * &inverse % modulus, one, "{x}");
        if modulus.bits() <= 256 {
            let short = invert_vartime::<4>(&words(&x), &words(modulus));
            assert_eq!(number(&short), inverse, "{x}");
        }
    }

    /// The primes of secp256k1, bn254 and BLS12-381, and 2^127 - 1.
    fn moduli() -> [BigUint; 4] {
        [
            "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
            "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47",
            "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
            "7fffffffffffffffffffffffffffffff",
        ]
        .map(|hex| BigUint::parse_bytes(hex.as_bytes(), 16).unwrap())
    }

    #[test]
    fn numbers_with_large_quotients() {
        for modulus in moduli() {
            for shift in 0..modulus.bits() {
                let power = BigUint::from(1u8) << shift;
                for x in [
                    power.clone(),
                    &power + 1u8,
                    &power - 1u8,
                    &modulus - &power,
                    &modulus / &power,
                    &modulus / &power + 1u8,
                    &modulus >> 1 << 1 >> shift,
                ] {
                    check(&x, &modulus);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn inverses(mut x in any::<[u64; 6]>(), used in 1usize..7) {
            x[used..].fill(0);
            for modulus in moduli() {
                check(&number(&x), &modulus);
            }
        }

        /// Numbers whose quotients are chosen: mostly 1, and some of any size.
        #[test]
        fn inverses_by_quotients(
            quotients in proptest::collection::vec(
                prop_oneof![3 => 1u64..4, 1 => any::<u64>(), 1 => (1u64 << 31)..(1 << 34)],
                1..60,
            ),
        ) {
            for modulus in moduli() {
                // A fraction near modulus / x has these quotients first.
                let (mut p, mut q) = (BigUint::from(1u8), BigUint::ZERO);
                for quotient in &quotients {
                    let next = &p * *quotient + &q;
                    if next >= modulus {
                        break;
                    }
                    (p, q) = (next, p);
                }
                check(&(&modulus * q / p), &modulus);
            }
        }
    }
}
