//! Combined multiplication and division, `floor(a * b / d)` with the full product.

use super::{U256, division};

/// Computes `floor(a * b / d)` with the exact 512-bit product; `None` if `d = 0` or the quotient is 2^256 or more.
///
/// ```
/// use lydite_bytes::{U256, mul_div};
///
/// assert_eq!(mul_div(U256::MAX, U256::from(6u64), U256::from(9u64)), Some(U256::MAX / U256::from(3u64) * U256::from(2u64)));
/// assert_eq!(mul_div(U256::MAX, U256::MAX, U256::ONE), None);
/// ```
#[inline(always)]
pub fn mul_div(a: U256, b: U256, d: U256) -> Option<U256> {
    let [a0, a1, a2, a3] = *a.limbs();
    if a2 | a3 == 0 {
        let [p0, p1, p2, p3, p4, p5] = b.mul_two_limbs(a0, a1);
        if p4 | p5 == 0 {
            return U256::from_limbs([p0, p1, p2, p3]).quotient::<true>(d);
        }
    }
    Some(long_mul_div(a.by_limbs(), b.by_limbs(), d.by_limbs())?.by_limbs())
}

/// The general case of [`mul_div`].
#[inline(never)]
fn long_mul_div(a: U256, b: U256, d: U256) -> Option<U256> {
    let product = a.widening_mul(b);
    let (low, high) = product.split();
    if high >= d {
        // Covers d = 0.
        return None;
    }
    if high.is_zero() {
        return low.checked_div(d);
    }
    Some(U256::from_limbs(division::low_quotient(
        product.limbs(),
        d.limbs(),
    )))
}
