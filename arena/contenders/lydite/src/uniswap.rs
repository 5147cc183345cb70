//! Uniswap's formulas on the library's integers, with a short path for the numbers that its contracts store.

use lydite::bytes::{U256, mul_div};

/// Computes the tokens that Uniswap V2 pays out for `amount_in` with its fee of 0.3 %:
/// `floor(amount_in * 997 * reserve_out / (reserve_in * 1000 + amount_in * 997))`
/// (Uniswap V2 periphery, `UniswapV2Library.getAmountOut`).
///
/// Returns `None` where the contract reverts: if `amount_in` or a reserve is 0, or an intermediate result is 2^256 or
/// more.
#[inline(always)]
pub fn v2_amount_out(amount_in: U256, reserve_in: U256, reserve_out: U256) -> Option<U256> {
    // The pair contract stores reserves in 112 bits. Both sums then fit in 128 bits, and the product is short.
    let ([a0, a1, a2, a3], [r0, r1, r2, r3]) = (*amount_in.limbs(), *reserve_in.limbs());
    let [o0, o1, o2, o3] = *reserve_out.limbs();
    let above_112 = (a1 | r1 | o1) >> 48 | a2 | a3 | r2 | r3 | o2 | o3;
    let zero = a0 | a1 == 0 || r0 | r1 == 0 || o0 | o1 == 0;
    if above_112 != 0 || zero {
        let [amount_in, reserve_in, reserve_out] =
            [amount_in, reserve_in, reserve_out].map(by_limbs);
        return long_amount_out(amount_in, reserve_in, reserve_out).map(by_limbs);
    }
    let join = |low, high| u128::from(high) << 64 | u128::from(low);
    let with_fee = join(a0, a1) * 997;
    let numerator = U256::from(with_fee).wrapping_mul(U256::from(join(o0, o1)));
    numerator.checked_div(U256::from(join(r0, r1) * 1000 + with_fee))
}

/// The general case of [`v2_amount_out`].
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
pub fn v4_next_sqrt_price(liquidity: U256, sqrt_price: U256, amount_in: U256) -> Option<U256> {
    // The pool contract stores liquidity in 128 bits and the price in 160. With these, and an equally small amount, the
    // compiler leaves out the products of the limbs that are 0.
    let ([l0, l1, l2, l3], [s0, s1, s2, s3]) = (*liquidity.limbs(), *sqrt_price.limbs());
    let [a0, a1, a2, a3] = *amount_in.limbs();
    if l2 | l3 | s3 | a2 | a3 == 0 {
        let [liquidity, sqrt_price, amount_in] =
            [[l0, l1, 0, 0], [s0, s1, s2, 0], [a0, a1, 0, 0]].map(U256::from_limbs);
        let denominator = liquidity.wrapping_add(amount_in.wrapping_mul(sqrt_price));
        return mul_div(liquidity, sqrt_price, denominator);
    }
    let [liquidity, sqrt_price, amount_in] = [liquidity, sqrt_price, amount_in].map(by_limbs);
    long_next_sqrt_price(liquidity, sqrt_price, amount_in).map(by_limbs)
}

/// The general case of [`v4_next_sqrt_price`].
#[inline(never)]
fn long_next_sqrt_price(liquidity: U256, sqrt_price: U256, amount_in: U256) -> Option<U256> {
    let denominator = liquidity.wrapping_add(amount_in.wrapping_mul(sqrt_price));
    mul_div(liquidity, sqrt_price, denominator)
}

/// The same number, copied limb by limb, for arguments and results of calls off the short path. Otherwise the compiler
/// keeps the number in memory on the short path too.
#[inline(always)]
fn by_limbs(number: U256) -> U256 {
    let [a, b, c, d] = *number.limbs();
    U256::from_limbs([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas for numbers that a contract stores, against those for all numbers.
    #[test]
    fn short_numbers_are_no_special_case() {
        let powers =
            [0, 1, 63, 64, 111, 112, 127, 128, 159, 160, 255].map(|bits| U256::ONE << bits);
        let numbers: Vec<U256> = powers
            .into_iter()
            .flat_map(|power| [power, power - U256::ONE])
            .collect();
        for &a in &numbers {
            for &b in &numbers {
                for &c in &numbers {
                    assert_eq!(
                        v2_amount_out(a, b, c),
                        long_amount_out(a, b, c),
                        "{a} {b} {c}"
                    );
                    assert_eq!(
                        v4_next_sqrt_price(a, b, c),
                        long_next_sqrt_price(a, b, c),
                        "{a} {b} {c}"
                    );
                }
            }
        }
    }
}
