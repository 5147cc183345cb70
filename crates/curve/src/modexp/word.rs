//! Powers modulo a number of one word, without allocations.
//!
//! The modulus is an odd number times 2^k. The power modulo the odd number is computed in Montgomery form, the one
//! modulo 2^64 next to it, and the Chinese remainder theorem combines them.
//!
//! Source: \[Mon85\]; fixed windows: \[MOV96\] algorithm 14.82; \[Koc94\] (even moduli).

use super::{Exponent, limbs::negative_inverse_word};
use crate::words::product;

/// Computes the power modulo a number above 1. The base has its most significant word first.
pub(super) fn power(base: impl Iterator<Item = u64>, exponent: &Exponent<'_>, modulus: u64) -> u64 {
    let k = modulus.trailing_zeros();
    let odd = modulus >> k;
    let (mut reduced, mut low) = (0, 0);
    for word in base {
        reduced = ((u128::from(reduced) << 64 | u128::from(word)) % u128::from(odd)) as u64;
        low = word;
    }
    let inverse = negative_inverse_word(odd).wrapping_neg();
    let [high, low] = if odd >> 62 == 0 {
        Parts::<true> { odd, inverse }.power(reduced, low, exponent)
    } else {
        Parts::<false> { odd, inverse }.power(reduced, low, exponent)
    };
    if k == 0 {
        return high;
    }
    // high + odd ((low - high) / odd mod 2^k).
    let factor = low.wrapping_sub(high).wrapping_mul(inverse);
    high + odd * (factor & u64::MAX >> (64 - k))
}

/// Pairs of a residue modulo an odd number, where x is stored as `2^64 x`, and one modulo 2^64. The first is below the
/// odd number. With `LOOSE`, it is below twice the odd number, which is below 2^62.
struct Parts<const LOOSE: bool> {
    odd: u64,
    /// 1 / odd mod 2^64.
    inverse: u64,
}

impl<const LOOSE: bool> Parts<LOOSE> {
    fn power(&self, reduced: u64, low: u64, exponent: &Exponent<'_>) -> [u64; 2] {
        let base = [self.to_montgomery(reduced), low];
        let [high, low] = if exponent.window() < 3 {
            let bits = (0..exponent.bits.saturating_sub(1)).rev();
            bits.fold(base, |power, i| {
                let square = self.multiply(power, power);
                match exponent.bit(i) {
                    0 => square,
                    _ => self.multiply(square, base),
                }
            })
        } else {
            // Four bits at a time, including zero digits: a mispredicted branch costs more than a multiplication.
            let mut table = [[self.to_montgomery(1), 1]; 16];
            for i in 1..16 {
                table[i] = self.multiply(table[i - 1], base);
            }
            exponent.bytes.iter().fold(table[0], |power, byte| {
                [byte >> 4, byte & 15].iter().fold(power, |power, digit| {
                    let power = (0..4).fold(power, |power, _| self.multiply(power, power));
                    self.multiply(power, table[usize::from(*digit)])
                })
            })
        };
        let [high, _] = self.multiply([high, 0], [1, 0]);
        [if high == self.odd { 0 } else { high }, low]
    }

    fn to_montgomery(&self, number: u64) -> u64 {
        ((u128::from(number) << 64) % u128::from(self.odd)) as u64
    }

    #[inline(always)]
    fn multiply(&self, a: [u64; 2], b: [u64; 2]) -> [u64; 2] {
        // Subtract the multiple of the odd number with the same lower half, which avoids carries.
        let wide = product(a[0], b[0]);
        let factor = (wide as u64).wrapping_mul(self.inverse);
        let (high, multiple) = ((wide >> 64) as u64, product(factor, self.odd));
        let multiple = (multiple >> 64) as u64;
        let residue = if LOOSE {
            // No comparison, because it would lengthen the dependency chain of consecutive products.
            high + self.odd - multiple
        } else {
            let (rest, below) = high.overflowing_sub(multiple);
            if below {
                rest.wrapping_add(self.odd)
            } else {
                rest
            }
        };
        [residue, a[1].wrapping_mul(b[1])]
    }
}
