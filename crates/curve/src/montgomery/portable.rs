//! Sums of products in safe Rust, for every target.

use core::hint::select_unpredictable;

use super::{Element, Kernel, Modulus};
use crate::words::{self, multiply_add};

/// The kernel in safe Rust, for every target.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Portable;

/// Adds `a b` to t.
#[inline(always)]
const fn add_row(t: &mut [u64; 6], a: u64, b: &[u64; 4]) {
    let (mut carry, mut i) = (0, 0);
    while i < 4 {
        (t[i], carry) = multiply_add(a, b[i], t[i], carry);
        i += 1;
    }
    let (sum, overflow) = t[4].overflowing_add(carry);
    t[4] = sum;
    t[5] += overflow as u64;
}

/// Adds the multiple of p that clears the lowest word, then drops that word.
#[inline(always)]
const fn reduce_row<M: Modulus>(t: &mut [u64; 6]) {
    add_row(t, t[0].wrapping_mul(M::WORDS[4]), &M::P);
    *t = [t[1], t[2], t[3], t[4], t[5], 0];
}

impl Kernel for Portable {
    #[inline(always)]
    fn dot<M: Modulus, const N: usize>(
        a: [&Element<M, Self>; N],
        b: [&Element<M, Self>; N],
    ) -> [u64; 4] {
        let mut t = [0; 6];
        for i in 0..4 {
            for (a, b) in a.iter().zip(b) {
                add_row(&mut t, a.0[i], &b.0);
            }
            reduce_row::<M>(&mut t);
        }
        let mut words = subtract_if_not_below::<M>(&[t[0], t[1], t[2], t[3]], t[4] != 0);
        if N > 4 {
            // The sum is below 3 p instead of 2 p.
            words = subtract_if_not_below::<M>(&words, false);
        }
        words
    }

    #[inline(always)]
    fn add<M: Modulus>(a: &Element<M, Self>, b: &Element<M, Self>) -> [u64; 4] {
        let (sum, carry) = words::add(&a.0, &b.0);
        subtract_if_not_below::<M>(&sum, carry)
    }

    #[inline(always)]
    fn sub<M: Modulus>(a: &Element<M, Self>, b: &Element<M, Self>) -> [u64; 4] {
        let (difference, borrow) = words::sub(&a.0, &b.0);
        let mask = u64::from(borrow).wrapping_neg();
        let p = [
            M::P[0] & mask,
            M::P[1] & mask,
            M::P[2] & mask,
            M::P[3] & mask,
        ];
        words::add(&difference, &p).0
    }
}

/// Returns `x + carry 2^256 - p` if that is not negative, else x.
#[inline(always)]
fn subtract_if_not_below<M: Modulus>(x: &[u64; 4], carry: bool) -> [u64; 4] {
    let (difference, borrow) = words::sub(x, &M::P);
    let keep = borrow & !(carry & !M::SPARE);
    [
        select_unpredictable(keep, x[0], difference[0]),
        select_unpredictable(keep, x[1], difference[1]),
        select_unpredictable(keep, x[2], difference[2]),
        select_unpredictable(keep, x[3], difference[3]),
    ]
}

/// The product, below p, at compile time.
pub(super) const fn multiply_constants<M: Modulus>(a: &[u64; 4], b: &[u64; 4]) -> [u64; 4] {
    let (mut t, mut i) = ([0; 6], 0);
    while i < 4 {
        add_row(&mut t, a[i], b);
        reduce_row::<M>(&mut t);
        i += 1;
    }
    let words = [t[0], t[1], t[2], t[3]];
    let (difference, borrow) = words::sub(&words, &M::P);
    if borrow && t[4] == 0 {
        words
    } else {
        difference
    }
}
