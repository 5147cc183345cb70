//! Product and quotient in one: `floor(a * b / d)` with the product in full, and the two formulas of Uniswap
//! that are made of it.

use super::{U256, division};

/// `floor(a * b / d)` with the exact 512-bit product; `None` for `d = 0` or a quotient of 2^256 or more.
///
/// ```
/// use lydite_bytes::{U256, mul_div};
///
/// assert_eq!(mul_div(U256::MAX, U256::from(6u64), U256::from(9u64)), Some(U256::MAX / U256::from(3u64) * U256::from(2u64)));
/// assert_eq!(mul_div(U256::MAX, U256::MAX, U256::ONE), None);
/// ```
#[inline]
pub fn mul_div(a: U256, b: U256, d: U256) -> Option<U256> {
    let product = a.widening_mul(b);
    let (low, high) = product.split();
    if high >= d {
        // Covers d = 0.
        return None;
    }
    Some(U256::from_limbs(if high.is_zero() {
        division::quotient(low.limbs(), d.limbs())
    } else {
        division::low_quotient(product.limbs(), d.limbs())
    }))
}

/// The tokens that Uniswap V2 pays out for `amount_in` with its fee of 0.3 %:
/// `floor(amount_in * 997 * reserve_out / (reserve_in * 1000 + amount_in * 997))`
/// (Uniswap V2 periphery, `UniswapV2Library.getAmountOut`).
///
/// As that contract, which reverts: `None` if `amount_in` or a reserve is 0, or an intermediate is 2^256 or more.
#[inline]
pub fn uniswap_v2_amount_out(amount_in: U256, reserve_in: U256, reserve_out: U256) -> Option<U256> {
    if amount_in.is_zero() || reserve_in.is_zero() || reserve_out.is_zero() {
        return None;
    }
    // The pair contract keeps reserves in 112 bits: then both sums fit 128 bits, and the product is short.
    if let (Some(amount), Some(reserve), Some(out)) = (
        uint112(amount_in),
        uint112(reserve_in),
        uint112(reserve_out),
    ) {
        let with_fee = amount * 997;
        let numerator = U256::product_128(with_fee, out);
        return Some(numerator / U256::from(reserve * 1000 + with_fee));
    }
    let with_fee = amount_in.checked_mul(U256::from(997u64))?;
    let numerator = with_fee.checked_mul(reserve_out)?;
    let denominator = reserve_in
        .checked_mul(U256::from(1000u64))?
        .checked_add(with_fee)?;
    numerator.checked_div(denominator)
}

#[inline]
fn uint112(value: U256) -> Option<u128> {
    value.to_u128().filter(|value| value >> 112 == 0)
}

/// The square root price after a swap of `amount_in` of token 0 in Uniswap V3 and V4:
/// `floor(liquidity * sqrt_price / (liquidity + amount_in * sqrt_price))`, with product and sum of the
/// denominator modulo 2^256, as the reports' benchmarks have it. `sqrt_price` and the result share one scale.
///
/// `None` for a denominator of 0 or a result of 2^256 or more.
#[inline]
pub fn uniswap_v4_next_sqrt_price(
    liquidity: U256,
    sqrt_price: U256,
    amount_in: U256,
) -> Option<U256> {
    mul_div(liquidity, sqrt_price, liquidity + amount_in * sqrt_price)
}
