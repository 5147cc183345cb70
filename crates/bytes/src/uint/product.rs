//! Combined multiplication and division, `floor(a * b / d)` with the full product, and two Uniswap formulas based on
//! it.

use super::{U256, division, mul_add};

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

/// Computes the tokens that Uniswap V2 pays out for `amount_in` with its fee of 0.3 %:
/// `floor(amount_in * 997 * reserve_out / (reserve_in * 1000 + amount_in * 997))`
/// (Uniswap V2 periphery, `UniswapV2Library.getAmountOut`).
///
/// Returns `None` where the contract reverts: if `amount_in` or a reserve is 0, or an intermediate result is 2^256 or
/// more.
#[inline(always)]
pub fn uniswap_v2_amount_out(amount_in: U256, reserve_in: U256, reserve_out: U256) -> Option<U256> {
    // The pair contract stores reserves in 112 bits. Both sums then fit in 128 bits, and the product is short.
    let ([a0, a1, a2, a3], [r0, r1, r2, r3]) = (*amount_in.limbs(), *reserve_in.limbs());
    let [o0, o1, o2, o3] = *reserve_out.limbs();
    let above_112 = (a1 | r1 | o1) >> 48 | a2 | a3 | r2 | r3 | o2 | o3;
    let zero = a0 | a1 == 0 || r0 | r1 == 0 || o0 | o1 == 0;
    if above_112 != 0 || zero {
        return Some(
            long_amount_out(
                amount_in.by_limbs(),
                reserve_in.by_limbs(),
                reserve_out.by_limbs(),
            )?
            .by_limbs(),
        );
    }
    let join = |low, high| u128::from(high) << 64 | u128::from(low);
    let with_fee = join(a0, a1) * 997;
    let numerator = U256::product_128(with_fee, join(o0, o1));
    numerator.checked_div(U256::from(join(r0, r1) * 1000 + with_fee))
}

/// The general case of [`uniswap_v2_amount_out`].
#[inline(never)]
fn long_amount_out(amount_in: U256, reserve_in: U256, reserve_out: U256) -> Option<U256> {
    if amount_in.is_zero() || reserve_in.is_zero() || reserve_out.is_zero() {
        return None;
    }
    let with_fee = amount_in.checked_mul(U256::from(997u64))?;
    let numerator = with_fee.checked_mul(reserve_out)?;
    let denominator = reserve_in
        .checked_mul(U256::from(1000u64))?
        .checked_add(with_fee)?;
    numerator.checked_div(denominator)
}

/// Computes the square root price after a swap of `amount_in` of token 0 in Uniswap V3 and V4:
/// `floor(liquidity * sqrt_price / (liquidity + amount_in * sqrt_price))`, with product and sum of the denominator
/// modulo 2^256, like the benchmarks of the reports. `sqrt_price` and the result have the same scale.
///
/// Returns `None` if the denominator is 0 or the result is 2^256 or more.
#[inline(always)]
pub fn uniswap_v4_next_sqrt_price(
    liquidity: U256,
    sqrt_price: U256,
    amount_in: U256,
) -> Option<U256> {
    // The pool contract stores liquidity in 128 bits and the price in 160. With these, and an equally small amount, the
    // products are short.
    let ([l0, l1, l2, l3], [s0, s1, s2, s3]) = (*liquidity.limbs(), *sqrt_price.limbs());
    let [a0, a1, a2, a3] = *amount_in.limbs();
    if l2 | l3 | s3 | a2 | a3 == 0 {
        let [n0, n1, n2, n3, n4] = two_by_three([l0, l1], [s0, s1, s2]);
        if n4 == 0 {
            let [d0, d1, d2, d3, _] = two_by_three([a0, a1], [s0, s1, s2]);
            let denominator = liquidity.wrapping_add(U256::from_limbs([d0, d1, d2, d3]));
            return U256::from_limbs([n0, n1, n2, n3]).quotient::<true>(denominator);
        }
    }
    let price = long_next_sqrt_price(
        liquidity.by_limbs(),
        sqrt_price.by_limbs(),
        amount_in.by_limbs(),
    );
    Some(price?.by_limbs())
}

/// The general case of [`uniswap_v4_next_sqrt_price`].
#[inline(never)]
fn long_next_sqrt_price(liquidity: U256, sqrt_price: U256, amount_in: U256) -> Option<U256> {
    let denominator = liquidity.wrapping_add(amount_in.wrapping_mul(sqrt_price));
    mul_div(liquidity, sqrt_price, denominator)
}

/// The product of two limbs and three limbs.
#[inline(always)]
fn two_by_three(a: [u64; 2], b: [u64; 3]) -> [u64; 5] {
    let (r0, carry) = mul_add(a[0], b[0], 0, 0);
    let (r1, carry) = mul_add(a[0], b[1], carry, 0);
    let (r2, r3) = mul_add(a[0], b[2], carry, 0);
    let (r1, carry) = mul_add(a[1], b[0], r1, 0);
    let (r2, carry) = mul_add(a[1], b[1], r2, carry);
    let (r3, r4) = mul_add(a[1], b[2], r3, carry);
    [r0, r1, r2, r3, r4]
}
