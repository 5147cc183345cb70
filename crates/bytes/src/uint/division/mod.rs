//! Schoolbook division of 256 and 512 bits by up to 256 bits, one 64-bit quotient limb at a time.
//!
//! Limbs least significant first. Source: [Knuth2] §4.3.1 Algorithm D, with the quotient limb estimated from
//! three limbs by two and a reciprocal, [MG10] Algorithms 4 to 6, so that it is at most one too large.
//! Constant time: no, public amounts.

#[cfg(all(target_arch = "x86_64", not(miri), not(lydite_backend = "portable")))]
mod x86_64;

use core::hint::select_unpredictable;

/// Returns the quotient. `divisor` must not be 0. Call [`one_limb_quotient`] first.
///
/// This function is separate from [`div_rem`], and neither is inlined, so that the limbs stay in registers until they
/// are stored at the caller's destination. Going through a temporary that is copied with vector instructions would cost
/// more than a short division.
#[inline(never)]
pub(super) fn quotient(numerator: [u64; 4], divisor: [u64; 4]) -> [u64; 4] {
    divide(&numerator, &divisor).0
}

/// Returns the quotient if it is one limb: with one division, usually no multiplication, and no branch that depends on
/// the lengths. Also returns `None` for some quotients near 2^64, and for a `divisor` of 0. Inlined, so that a short
/// quotient, the common case for prices and amounts, never goes through memory, where loading its words as vectors
/// would wait for the stores.
///
/// The estimate `q` is the top two limbs of the normalised numerator divided by the top limb of the normalised divisor,
/// with remainder `r`. It is never too small. The part of the divisor that it ignores contributes less than `q` units
/// of `r`, so `q` is correct if `r >= q`, which nearly always holds for short quotients. It is also correct if the
/// ignored part is zero. It is at most one too large if `q` is not above the top limb of the normalised divisor.
/// `CORRECT` selects whether to determine which case holds or to return `None`: a plain division must stay small, while
/// a price is often a round quotient minus one.
#[inline(always)]
pub(super) fn one_limb_quotient<const CORRECT: bool>(
    numerator: [u64; 4],
    divisor: [u64; 4],
) -> Option<u64> {
    let [n0, n1, n2, n3] = numerator;
    let [d0, d1, d2, d3] = divisor;
    let (two, three, four) = (d1 != 0, d2 != 0, d3 != 0);
    // Select from the limbs by the number of limbs of the divisor, from one to four.
    let pick = |limbs: [u64; 4]| {
        let low = select_unpredictable(two, limbs[1], limbs[0]);
        let low = select_unpredictable(three, limbs[2], low);
        select_unpredictable(four, limbs[3], low)
    };
    let (divisor, below) = (pick([d0, d1, d2, d3]), pick([0, d0, d1, d2]));
    let (above, high, low) = (
        pick([n1, n2, n3, 0]),
        pick([n0, n1, n2, n3]),
        pick([0, n0, n1, n2]),
    );
    // Otherwise the quotient is below 2^64, and the shift loses no bit of `above`.
    if pick([n2 | n3, n3, 0, 0]) != 0 || above >= divisor {
        return None;
    }
    let shift = divisor.leading_zeros();
    // The high limb of `high * 2^64 + low` shifted left. The double shift is correct for a shift of 0.
    let shifted = |high: u64, low: u64| high << shift | low >> 1 >> (63 - shift);
    let divisor = shifted(divisor, below);
    let (estimate, remainder) = div_2_by_1(shifted(above, high), shifted(high, low), divisor);
    if remainder >= estimate || !(two | three | four) {
        return Some(estimate);
    }
    if !CORRECT || estimate > divisor {
        return None;
    }
    // With the estimate minus one, the remainder is `remainder + divisor`, which is enough. Determine which of the two
    // is correct.
    let too_large = product_exceeds(estimate, [d0, d1, d2, d3], [n0, n1, n2, n3]);
    Some(estimate - u64::from(too_large))
}

/// Whether `factor * divisor > numerator`. Rare, so not inlined.
#[inline(never)]
fn product_exceeds(factor: u64, divisor: [u64; 4], numerator: [u64; 4]) -> bool {
    let (low, rest) = super::mul_add_row(factor, divisor, [0; 4]);
    let product = [low, rest[0], rest[1], rest[2]];
    let mut borrow = false;
    for (limb, product) in numerator.into_iter().zip(product) {
        (_, borrow) = super::sub_with_borrow(limb, product, borrow);
    }
    borrow || rest[3] != 0
}

/// Returns the low four limbs of the quotient, which is the whole quotient if the high half of `numerator` is below
/// `divisor`. `divisor` must not be 0.
#[inline(always)]
pub(super) fn low_quotient(numerator: &[u64; 8], divisor: &[u64; 4]) -> [u64; 4] {
    let [q0, q1, q2, q3, ..] = divide(numerator, divisor).0;
    [q0, q1, q2, q3]
}

/// Returns quotient and remainder. `divisor` must not be 0.
#[inline(never)]
pub(super) fn div_rem<const N: usize>(
    numerator: &[u64; N],
    divisor: &[u64; 4],
) -> ([u64; N], [u64; 4]) {
    divide(numerator, divisor)
}

#[inline(always)]
fn divide<const N: usize>(numerator: &[u64; N], divisor: &[u64; 4]) -> ([u64; N], [u64; 4]) {
    let [d0, d1, d2, d3] = *divisor;
    if d1 | d2 | d3 == 0 {
        let (quotient, remainder) = by_limb(numerator, d0);
        (quotient, [remainder, 0, 0, 0])
    } else if d2 | d3 == 0 {
        if numerator[2..].iter().all(|&limb| limb == 0) {
            let (limb, remainder) = two_by_two(join(numerator[1], numerator[0]), join(d1, d0));
            let mut quotient = [0; N];
            quotient[0] = limb;
            return (quotient, [remainder as u64, (remainder >> 64) as u64, 0, 0]);
        }
        let (quotient, [r0, r1]) = by_limbs(numerator, [d0, d1]);
        (quotient, [r0, r1, 0, 0])
    } else if d3 == 0 {
        let (quotient, [r0, r1, r2]) = by_limbs(numerator, [d0, d1, d2]);
        (quotient, [r0, r1, r2, 0])
    } else {
        by_limbs(numerator, *divisor)
    }
}

#[inline(always)]
fn join(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// Divides by a divisor of at least 2^64, so that the quotient fits in a limb. [Warren] §9-5: the estimate from the top
/// limb of the normalised divisor, minus one, is correct or one too small.
#[inline(always)]
fn two_by_two(numerator: u128, divisor: u128) -> (u64, u128) {
    let shift = ((divisor >> 64) as u64).leading_zeros();
    let top = (divisor << shift >> 64) as u64;
    let half = numerator >> 1;
    let (estimate, _) = div_2_by_1((half >> 64) as u64, half as u64, top);
    let mut quotient = (u128::from(estimate) << shift >> 63).saturating_sub(1) as u64;
    // quotient * divisor <= numerator.
    let mut remainder = numerator.wrapping_sub(divisor.wrapping_mul(u128::from(quotient)));
    if remainder >= divisor {
        quotient += 1;
        remainder -= divisor;
    }
    (quotient, remainder)
}

#[inline(always)]
pub(super) fn by_limb<const N: usize>(numerator: &[u64; N], divisor: u64) -> ([u64; N], u64) {
    let mut quotient = [0; N];
    let mut remainder = 0;
    for i in (0..N).rev() {
        if remainder == 0 && numerator[i] < divisor {
            remainder = numerator[i];
        } else {
            (quotient[i], remainder) = div_2_by_1(remainder, numerator[i], divisor);
        }
    }
    (quotient, remainder)
}

/// Divides `high * 2^64 + low` by `divisor`. Requires `high < divisor`.
#[inline(always)]
fn div_2_by_1(high: u64, low: u64, divisor: u64) -> (u64, u64) {
    assert!(high < divisor);
    #[cfg(all(target_arch = "x86_64", not(miri), not(lydite_backend = "portable")))]
    {
        // SAFETY: `high < divisor` is asserted above.
        unsafe { x86_64::div_2_by_1(high, low, divisor) }
    }
    #[cfg(target_arch = "aarch64")]
    {
        div_by_halves(high, low, divisor)
    }
    #[cfg(not(any(
        target_arch = "aarch64",
        all(target_arch = "x86_64", not(miri), not(lydite_backend = "portable"))
    )))]
    {
        let (numerator, divisor) = (join(high, low), u128::from(divisor));
        ((numerator / divisor) as u64, (numerator % divisor) as u64)
    }
}

/// [`div_2_by_1`] with two divisions of 64-bit words, for targets that have these but no longer ones. [Knuth2] §4.3.1
/// Algorithm D with 32-bit digits.
#[cfg(any(test, target_arch = "aarch64"))]
#[inline(always)]
pub(super) fn div_by_halves(high: u64, low: u64, divisor: u64) -> (u64, u64) {
    let shift = divisor.leading_zeros();
    let divisor = divisor << shift;
    // Divides `high * 2^32 + next` by the divisor.
    let digit = |high: u64, next: u64| {
        let (top, rest) = (divisor >> 32, divisor & u64::from(u32::MAX));
        // At most two too large, and at most 2^32 + 1, so that the product fits.
        let mut quotient = high / top;
        let value = (high % top) << 32 | next;
        let (mut remainder, negative) = value.overflowing_sub(quotient * rest);
        if negative {
            let positive;
            quotient -= 1;
            (remainder, positive) = remainder.overflowing_add(divisor);
            if !positive {
                quotient -= 1;
                remainder = remainder.wrapping_add(divisor);
            }
        }
        (quotient, remainder)
    };
    // The double shift is correct for a shift of 0.
    let (high, low) = (high << shift | low >> 1 >> (63 - shift), low << shift);
    let (first, remainder) = digit(high, low >> 32);
    let (second, remainder) = digit(remainder, low & u64::from(u32::MAX));
    (first << 32 | second, remainder >> shift)
}

/// Divides by a divisor of `W >= 2` limbs, whose top limb must not be 0. The remainder window of `W` limbs stays below
/// the normalised divisor; every step shifts in one limb of the numerator. All indices are constants once the loops are
/// unrolled, so the limbs stay in registers.
#[inline(always)]
fn by_limbs<const N: usize, const W: usize>(
    numerator: &[u64; N],
    divisor: [u64; W],
) -> ([u64; N], [u64; W]) {
    let mut quotient = [0; N];
    let shift = divisor[W - 1].leading_zeros();
    // The high limb of `high * 2^64 + low` shifted left. The double shift is correct for a shift of 0.
    let shifted = |high: u64, low: u64| high << shift | low >> 1 >> (63 - shift);
    let d: [u64; W] =
        core::array::from_fn(|i| shifted(divisor[i], if i > 0 { divisor[i - 1] } else { 0 }));
    let top = join(d[W - 1], d[W - 2]);
    let mut reciprocal = None;

    // The top limb is less than 2^shift <= 2^63 <= d[W - 1], so the window starts below d.
    let mut window: [u64; W] = core::array::from_fn(|i| {
        let at = N - W + 1 + i;
        shifted(if at < N { numerator[at] } else { 0 }, numerator[at - 1])
    });
    let next = |i: usize| shifted(numerator[i], if i > 0 { numerator[i - 1] } else { 0 });
    if N <= 4 {
        // Not a loop: it would not be unrolled, and would keep the quotient in memory, written as words and read as
        // vectors.
        if W + 2 <= N {
            quotient[2] = quotient_word(&mut window, next(2), &d, top, &mut reciprocal);
        }
        if W < N {
            quotient[1] = quotient_word(&mut window, next(1), &d, top, &mut reciprocal);
        }
        quotient[0] = quotient_word(&mut window, next(0), &d, top, &mut reciprocal);
    } else {
        for i in (0..=N - W).rev() {
            quotient[i] = quotient_word(&mut window, next(i), &d, top, &mut reciprocal);
        }
    }
    let remainder = core::array::from_fn(|i| {
        let above = if i + 1 < W { window[i + 1] } else { 0 };
        window[i] >> shift | above << 1 << (63 - shift)
    });
    (quotient, remainder)
}

/// Returns the next limb of the quotient. The reciprocal is computed for the first non-zero limb.
#[inline(always)]
fn quotient_word<const W: usize>(
    window: &mut [u64; W],
    next: u64,
    d: &[u64; W],
    top: u128,
    reciprocal: &mut Option<u64>,
) -> u64 {
    if window[W - 1] == 0 && window[W - 2] < d[W - 1] {
        // The value is below d without using its top limb.
        *window = core::array::from_fn(|j| if j > 0 { window[j - 1] } else { next });
        return 0;
    }
    let reciprocal = *reciprocal.get_or_insert_with(|| reciprocal_3_by_2(d[W - 1], d[W - 2]));
    let limb;
    (limb, *window) = step(*window, next, d, top, reciprocal);
    limb
}

/// Divides `window * 2^64 + next` by `d`, whose top limbs are `top`. Returns one quotient limb and the remainder.
#[inline(always)]
fn step<const W: usize>(
    window: [u64; W],
    next: u64,
    d: &[u64; W],
    top: u128,
    reciprocal: u64,
) -> (u64, [u64; W]) {
    let third = if W == 2 { next } else { window[W - 3] };
    let equal = window[W - 1] == d[W - 1] && window[W - 2] == d[W - 2];
    let (mut q, rest) = if equal {
        // The estimate would be 2^64. The quotient is then 2^64 - 1, and the rest of the top limbs is top * 2^64 +
        // third - (2^64 - 1) * top, modulo 2^128; see below for why this suffices.
        (u64::MAX, top.wrapping_add(u128::from(third)))
    } else {
        div_3_by_2(window[W - 1], window[W - 2], third, top, reciprocal)
    };
    // Subtract q times the low W - 2 limbs of d from the low limbs of window and next.
    let mut low = [0; W];
    let mut carry = 0u64;
    for j in 0..W - 2 {
        let limb = if j == 0 { next } else { window[j - 1] };
        let product = u128::from(q) * u128::from(d[j]) + u128::from(carry);
        let (difference, borrow) = limb.overflowing_sub(product as u64);
        low[j] = difference;
        carry = (product >> 64) as u64 + u64::from(borrow);
    }
    let (mut rest, negative) = rest.overflowing_sub(u128::from(carry));
    // Not if equal: there the true remainder is non-negative and below d, so arithmetic modulo 2^128 is exact.
    if negative && !equal {
        q -= 1;
        let mut carry = false;
        for j in 0..W - 2 {
            (low[j], carry) = super::add_with_carry(low[j], d[j], carry);
        }
        rest = rest.wrapping_add(top).wrapping_add(u128::from(carry));
    }
    low[W - 2] = rest as u64;
    low[W - 1] = (rest >> 64) as u64;
    (q, low)
}

/// [MG10] (1): `floor((2^128 - 1) / divisor) - 2^64`. The top bit of `divisor` must be 1.
#[inline(always)]
fn reciprocal_2_by_1(divisor: u64) -> u64 {
    debug_assert!(divisor >> 63 == 1);
    div_2_by_1(!divisor, u64::MAX, divisor).0
}

/// [MG10] Algorithm 6: `floor((2^192 - 1) / d) - 2^64` for the two limbs of `d`, whose top bit must be 1.
#[inline(always)]
fn reciprocal_3_by_2(d1: u64, d0: u64) -> u64 {
    let mut v = reciprocal_2_by_1(d1);
    let mut p = d1.wrapping_mul(v).wrapping_add(d0);
    if p < d0 {
        v = v.wrapping_sub(1);
        if p >= d1 {
            v = v.wrapping_sub(1);
            p = p.wrapping_sub(d1);
        }
        p = p.wrapping_sub(d1);
    }
    let t = u128::from(v) * u128::from(d0);
    let (p, carry) = p.overflowing_add((t >> 64) as u64);
    if carry {
        v = v.wrapping_sub(1);
        if join(p, t as u64) >= join(d1, d0) {
            v = v.wrapping_sub(1);
        }
    }
    v
}

/// [MG10] Algorithm 4: quotient and remainder of three limbs divided by the two of `d`. Requires `(u2, u1) < d`.
#[inline(always)]
fn div_3_by_2(u2: u64, u1: u64, u0: u64, d: u128, reciprocal: u64) -> (u64, u128) {
    debug_assert!(join(u2, u1) < d);
    let (d1, d0) = ((d >> 64) as u64, d as u64);
    // At most (2^64 - 1) u2 + 2^64 u2 + u1; `u2 <= d1` keeps it below 2^128 ([MG10] §3).
    let q = u128::from(reciprocal) * u128::from(u2);
    let q = q.wrapping_add(join(u2, u1));
    let (mut q1, q0) = ((q >> 64) as u64, q as u64);
    let r1 = u1.wrapping_sub(q1.wrapping_mul(d1));
    let mut r = join(r1, u0)
        .wrapping_sub(u128::from(d0) * u128::from(q1))
        .wrapping_sub(d);
    q1 = q1.wrapping_add(1);
    if (r >> 64) as u64 >= q0 {
        q1 = q1.wrapping_sub(1);
        r = r.wrapping_add(d);
    }
    if r >= d {
        q1 = q1.wrapping_add(1);
        r -= d;
    }
    (q1, r)
}
