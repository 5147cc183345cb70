//! Integers as slices of words, lowest first.

use alloc::{vec, vec::Vec};
use core::cmp::Ordering;

use super::Exponent;
use crate::words::{add_carry, multiply_add, sub_borrow};

/// An implementation of multiply-accumulate on rows of words.
pub(super) trait MulKernel: Copy {
    /// Adds `factor` times `a`, and `carry`, to `t`, and returns the carry. `t` must be as long as `a`.
    fn add_multiple(t: &mut [u64], a: &[u64], factor: u64, carry: u64) -> u64;

    /// Computes the whole power modulo an odd number, if there is a kernel for it.
    fn power(_: &[u64], _: &Exponent<'_>, _modulus: &[u64]) -> Option<Vec<u64>> {
        None
    }
}

/// The implementation in safe Rust, for every target.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl MulKernel for Portable {
    #[inline]
    fn add_multiple(t: &mut [u64], a: &[u64], factor: u64, mut carry: u64) -> u64 {
        debug_assert_eq!(t.len(), a.len());
        for (t, &a) in t.iter_mut().zip(a) {
            (*t, carry) = multiply_add(a, factor, *t, carry);
        }
        carry
    }
}

/// Subtracts `b` from `a`, which must have the same length, modulo 2^(64 length).
pub(super) fn sub_in_place(a: &mut [u64], b: &[u64]) {
    debug_assert_eq!(a.len(), b.len());
    let mut borrow = false;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, borrow) = sub_borrow(*a, *b, borrow);
    }
}

/// Compares two slices, which must have the same length.
pub(super) fn compare(a: &[u64], b: &[u64]) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

/// Computes the product. `out` must be as long as both factors together.
pub(super) fn multiply<R: MulKernel>(out: &mut [u64], a: &[u64], b: &[u64]) {
    out.fill(0);
    for (i, &word) in b.iter().enumerate() {
        out[i + a.len()] = R::add_multiple(&mut out[i..i + a.len()], a, word, 0);
    }
}

/// Computes the square. `out` must be twice as long as `a`.
pub(super) fn square<R: MulKernel>(out: &mut [u64], a: &[u64]) {
    let n = a.len();
    out.fill(0);
    // The cross products once, then doubled, then the squares.
    for i in 0..n {
        out[i + n] = R::add_multiple(&mut out[2 * i + 1..i + n], &a[i + 1..], a[i], 0);
    }
    let (mut top, mut carry) = (0, false);
    for (i, &a) in a.iter().enumerate() {
        let square = u128::from(a) * u128::from(a);
        for (word, square) in [(2 * i, square as u64), (2 * i + 1, (square >> 64) as u64)] {
            let doubled = out[word] << 1 | top;
            top = out[word] >> 63;
            (out[word], carry) = add_carry(doubled, square, carry);
        }
    }
}

/// Computes the product modulo 2^(64 n), for n words. All three slices have this length.
pub(super) fn multiply_low<R: MulKernel>(out: &mut [u64], a: &[u64], b: &[u64]) {
    let n = out.len();
    out.fill(0);
    for (i, &word) in b.iter().enumerate() {
        R::add_multiple(&mut out[i..], &a[..n - i], word, 0);
    }
}

/// Computes `-1 / odd mod 2^64` with Newton's iteration.
pub(super) fn negative_inverse_word(odd: u64) -> u64 {
    // Correct in 3 bits; each step doubles their number.
    let mut inverse = odd;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg()
}

/// Computes `1 / odd` modulo 2^(64 n), for n words, with Newton's iteration.
pub(super) fn low_inverse<R: MulKernel>(odd: &[u64]) -> Vec<u64> {
    let mut inverse = vec![negative_inverse_word(odd[0]).wrapping_neg()];
    while inverse.len() < odd.len() {
        let n = (2 * inverse.len()).min(odd.len());
        inverse.resize(n, 0);
        // inverse (2 - odd inverse).
        let mut product = vec![0; n];
        multiply_low::<R>(&mut product, &odd[..n], &inverse);
        let mut factor = vec![0; n];
        factor[0] = 2;
        sub_in_place(&mut factor, &product);
        let previous = core::mem::replace(&mut inverse, vec![0; n]);
        multiply_low::<R>(&mut inverse, &previous, &factor);
    }
    inverse
}

/// Returns `floor((2^128 - 1) / d) - 2^64`. The top bit of d must be set. Source: [MG10] §3.1.
fn reciprocal(d: u64) -> u64 {
    (u128::MAX / u128::from(d)) as u64
}

/// Divides `(high, low)` by d, given d's reciprocal. `high` must be below d. Source: [MG10] algorithm 4.
#[inline(always)]
fn divide_2_by_1(high: u64, low: u64, d: u64, reciprocal: u64) -> u64 {
    let q = u128::from(reciprocal) * u128::from(high) + (u128::from(high) << 64 | u128::from(low));
    let mut quotient = ((q >> 64) as u64).wrapping_add(1);
    let mut rest = low.wrapping_sub(quotient.wrapping_mul(d));
    if rest > q as u64 {
        quotient = quotient.wrapping_sub(1);
        rest = rest.wrapping_add(d);
    }
    if rest >= d {
        quotient = quotient.wrapping_add(1);
    }
    quotient
}

/// Returns the remainder of `dividend` divided by `divisor`, as long as the divisor, whose top word must not be 0.
/// Source: [Knuth2] §4.3.1, algorithm D.
pub(super) fn divide<R: MulKernel>(mut dividend: Vec<u64>, divisor: &[u64]) -> Vec<u64> {
    let n = divisor.len();
    let shift = divisor[n - 1].leading_zeros();
    let shift_left = |words: &mut [u64]| {
        let mut low = 0;
        for word in words {
            let next = *word >> 1 >> (63 - shift);
            *word = *word << shift | low;
            low = next;
        }
    };
    let mut divisor = divisor.to_vec();
    shift_left(&mut divisor);
    dividend.push(0);
    shift_left(&mut dividend);
    if dividend.len() <= n {
        dividend.resize(n + 1, 0);
    }
    let top = divisor[n - 1];
    let second = if n > 1 { divisor[n - 2] } else { 0 };
    let inverse = reciprocal(top);
    // Work on the complement: adding to it subtracts from the dividend.
    let complement = |words: &mut [u64]| words.iter_mut().for_each(|word| *word = !*word);
    complement(&mut dividend);
    for i in (n..dividend.len()).rev() {
        let (high, low) = (!dividend[i], !dividend[i - 1]);
        let below = if n > 1 { !dividend[i - 2] } else { 0 };
        // An estimate from the top words, corrected with the second word; it is at most one too large.
        let mut quotient = u64::MAX;
        if high < top {
            quotient = divide_2_by_1(high, low, top, inverse);
            let rest = low.wrapping_sub(quotient.wrapping_mul(top));
            let mut rest = u128::from(rest);
            while rest >> 64 == 0
                && u128::from(quotient) * u128::from(second) > (rest << 64 | u128::from(below))
            {
                quotient -= 1;
                rest += u128::from(top);
            }
        }
        let part = &mut dividend[i - n..=i];
        let borrow = R::add_multiple(&mut part[..n], &divisor, quotient, 0);
        let mut negative = high < borrow;
        part[n] = !high.wrapping_sub(borrow);
        if negative {
            // Rare: the estimate was too large.
            let mut rest = high.wrapping_sub(borrow);
            complement(&mut part[..n]);
            while negative {
                let carry = R::add_multiple(&mut part[..n], &divisor, 1, 0);
                let (sum, overflow) = rest.overflowing_add(carry);
                rest = sum;
                negative = !overflow;
            }
            complement(&mut part[..n]);
            part[n] = !rest;
        }
    }
    dividend.truncate(n);
    complement(&mut dividend);
    // Shift back.
    for i in 0..n {
        let next = dividend.get(i + 1).copied().unwrap_or(0);
        dividend[i] = dividend[i] >> shift | next << 1 << (63 - shift);
    }
    dividend
}
