//! Powers modulo an odd number of a few words, with Montgomery products whose loops the compiler unrolls. Elements stay
//! in registers if there are enough.
//!
//! Source: \[Mon85\]; word by word with interleaved reduction (CIOS): \[KAK96\]; fixed windows: \[MOV96\] algorithm
//! 14.82.

use alloc::{vec, vec::Vec};

use super::{
    Exponent,
    limbs::{MulKernel, divide, negative_inverse_word},
};
use crate::words::{multiply_add, sub_borrow};

/// Computes the power modulo N words.
pub(super) fn power<R: MulKernel, const N: usize>(
    base: &[u64],
    exponent: &Exponent<'_>,
    modulus: &[u64],
) -> Vec<u64> {
    power_with::<R, Montgomery<N>, N>(base, exponent, modulus)
}

/// As [`power`], with an implementation of the products.
pub(super) fn power_with<R: MulKernel, P: Product<N>, const N: usize>(
    base: &[u64],
    exponent: &Exponent<'_>,
    modulus: &[u64],
) -> Vec<u64> {
    let mut words = [0; N];
    words.copy_from_slice(modulus);
    let modulus = words;
    let mut field = P::new(&modulus);
    let base = to_montgomery::<R, N>(base, &modulus);
    let power = if exponent.window() < 3 {
        let bits = (0..exponent.bits - 1).rev();
        bits.fold(base, |power, i| {
            let square = field.square(&power);
            match exponent.bit(i) {
                0 => square,
                _ => field.multiply(&square, &base),
            }
        })
    } else {
        // Four bits at a time, including zero digits: a mispredicted branch costs more than a multiplication.
        let mut table = [to_montgomery::<R, N>(&[1], &modulus); 16];
        table[1] = base;
        for i in 2..16 {
            table[i] = field.multiply(&table[i - 1], &base);
        }
        let (first, rest) = exponent.bytes.split_first().unwrap_or((&0, &[]));
        let mut power = table[usize::from(first >> 4)];
        let mut window = |digit: u8| {
            for _ in 0..4 {
                power = field.square(&power);
            }
            power = field.multiply(&power, &table[usize::from(digit)]);
        };
        window(first & 15);
        for byte in rest {
            window(byte >> 4);
            window(byte & 15);
        }
        power
    };
    let mut one = [0; N];
    one[0] = 1;
    field.multiply(&power, &one).to_vec()
}

/// Returns `number 2^(64 N)` modulo the modulus.
fn to_montgomery<R: MulKernel, const N: usize>(number: &[u64], modulus: &[u64; N]) -> [u64; N] {
    let mut dividend = vec![0; N + number.len()];
    dividend[N..].copy_from_slice(number);
    let mut element = [0; N];
    element.copy_from_slice(&divide::<R>(dividend, modulus));
    element
}

/// Products modulo an odd number of N words. x is stored as `x 2^(64 N)`.
pub(super) trait Product<const N: usize> {
    fn new(modulus: &[u64; N]) -> Self;

    /// Returns `a b / 2^(64 N)`.
    fn multiply(&mut self, a: &[u64; N], b: &[u64; N]) -> [u64; N];

    /// Returns `a^2 / 2^(64 N)`.
    #[inline(always)]
    fn square(&mut self, a: &[u64; N]) -> [u64; N] {
        self.multiply(a, a)
    }
}

/// Elements are below the modulus.
struct Montgomery<const N: usize> {
    modulus: [u64; N],
    /// -1 / modulus mod 2^64.
    inverse: u64,
}

impl<const N: usize> Product<N> for Montgomery<N> {
    fn new(modulus: &[u64; N]) -> Self {
        Self {
            modulus: *modulus,
            inverse: negative_inverse_word(modulus[0]),
        }
    }

    #[inline(always)]
    fn multiply(&mut self, a: &[u64; N], b: &[u64; N]) -> [u64; N] {
        let (m, mut t, mut top) = (&self.modulus, [0; N], 0);
        for &word in b {
            let mut carry = 0;
            for j in 0..N {
                (t[j], carry) = multiply_add(a[j], word, t[j], carry);
            }
            let (high, first) = carry.overflowing_add(top);
            let factor = t[0].wrapping_mul(self.inverse);
            let (_, mut carry) = multiply_add(m[0], factor, t[0], 0);
            for j in 1..N {
                (t[j - 1], carry) = multiply_add(m[j], factor, t[j], carry);
            }
            let second;
            (t[N - 1], second) = high.overflowing_add(carry);
            top = u64::from(first | second);
        }
        // The result is below twice the modulus.
        let (mut reduced, mut borrow) = ([0; N], false);
        for j in 0..N {
            (reduced[j], borrow) = sub_borrow(t[j], m[j], borrow);
        }
        if top == 0 && borrow { t } else { reduced }
    }
}
