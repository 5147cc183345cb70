//! Division of 256 and 512 bits by up to 256 bits, schoolbook, one 64-bit quotient limb at a time.
//!
//! Limbs least significant first. Source: [Knuth2] §4.3.1 Algorithm D, with the quotient limb estimated from
//! three limbs by two and a reciprocal, [MG10] Algorithms 4 to 6, so that it is at most one too large.
//! Constant time: no, public amounts.

/// Quotient and remainder. `divisor` is not 0.
#[inline]
pub(super) fn div_rem<const N: usize>(
    numerator: &[u64; N],
    divisor: &[u64; 4],
) -> ([u64; N], [u64; 4]) {
    match *divisor {
        [d0, 0, 0, 0] => {
            let (quotient, remainder) = by_limb(numerator, d0);
            (quotient, [remainder, 0, 0, 0])
        }
        [d0, d1, 0, 0] => {
            let (quotient, [r0, r1]) = by_limbs(numerator, [d0, d1]);
            (quotient, [r0, r1, 0, 0])
        }
        [d0, d1, d2, 0] => {
            let (quotient, [r0, r1, r2]) = by_limbs(numerator, [d0, d1, d2]);
            (quotient, [r0, r1, r2, 0])
        }
        _ => by_limbs(numerator, *divisor),
    }
}

/// Number of limbs without leading zeros.
#[inline]
fn significant<const N: usize>(limbs: &[u64; N]) -> usize {
    limbs
        .iter()
        .rposition(|&limb| limb != 0)
        .map_or(0, |i| i + 1)
}

#[inline]
pub(super) fn by_limb<const N: usize>(numerator: &[u64; N], divisor: u64) -> ([u64; N], u64) {
    let mut quotient = [0; N];
    let mut remainder = 0;
    for i in (0..significant(numerator)).rev() {
        (quotient[i], remainder) = div_2_by_1(remainder, numerator[i], divisor);
    }
    (quotient, remainder)
}

/// `high * 2^64 + low` by `divisor`; `high < divisor`.
#[inline]
fn div_2_by_1(high: u64, low: u64, divisor: u64) -> (u64, u64) {
    debug_assert!(high < divisor);
    let numerator = u128::from(high) << 64 | u128::from(low);
    let divisor = u128::from(divisor);
    ((numerator / divisor) as u64, (numerator % divisor) as u64)
}

/// By a divisor of `W >= 2` limbs, the top one not 0. The remainder window of `W` limbs stays below the
/// normalised divisor; every step brings one limb of the numerator down.
#[inline]
fn by_limbs<const N: usize, const W: usize>(
    numerator: &[u64; N],
    divisor: [u64; W],
) -> ([u64; N], [u64; W]) {
    let mut quotient = [0; N];
    let length = significant(numerator);
    if length < W {
        let mut remainder = [0; W];
        remainder[..length].copy_from_slice(&numerator[..length]);
        return (quotient, remainder);
    }
    let shift = divisor[W - 1].leading_zeros();
    // Limb i of a number shifted left by `shift`; the double shift is right for a shift of 0.
    let shifted = |limbs: &[u64], i: usize| {
        let below = if i > 0 { limbs[i - 1] } else { 0 };
        let own = if i < limbs.len() { limbs[i] } else { 0 };
        own << shift | below >> 1 >> (63 - shift)
    };
    let d: [u64; W] = core::array::from_fn(|i| shifted(&divisor, i));
    let top = u128::from(d[W - 1]) << 64 | u128::from(d[W - 2]);
    let reciprocal = reciprocal_3_by_2(d[W - 1], d[W - 2]);

    // The top limb holds less than 2^shift <= 2^63 <= d[W - 1], so the window starts below d.
    let numerator = &numerator[..length];
    let mut window: [u64; W] = core::array::from_fn(|i| shifted(numerator, length - W + 1 + i));
    for i in (0..=length - W).rev() {
        let next = shifted(numerator, i);
        let third = if W == 2 { next } else { window[W - 3] };
        let equal = window[W - 1] == d[W - 1] && window[W - 2] == d[W - 2];
        let (mut q, rest) = if equal {
            // The estimate would be 2^64. Then 2^64 - 1 is the quotient, and what is left of the top is
            // top * 2^64 + third - (2^64 - 1) * top, modulo 2^128; see below why that suffices.
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
        // Not for the equal case: there the true rest is not negative and below d, so modulo 2^128 is exact.
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
        window = low;
        quotient[i] = q;
    }
    let remainder = core::array::from_fn(|i| {
        let above = if i + 1 < W { window[i + 1] } else { 0 };
        window[i] >> shift | above << 1 << (63 - shift)
    });
    (quotient, remainder)
}

/// [MG10] (1): `floor((2^128 - 1) / divisor) - 2^64`. The top bit of `divisor` is 1.
#[inline]
fn reciprocal_2_by_1(divisor: u64) -> u64 {
    debug_assert!(divisor >> 63 == 1);
    div_2_by_1(!divisor, u64::MAX, divisor).0
}

/// [MG10] Algorithm 6: `floor((2^192 - 1) / d) - 2^64` for the two limbs of `d`, its top bit 1.
#[inline]
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
        let rest = u128::from(p) << 64 | u128::from(t as u64);
        if rest >= (u128::from(d1) << 64 | u128::from(d0)) {
            v = v.wrapping_sub(1);
        }
    }
    v
}

/// [MG10] Algorithm 4: quotient and remainder of three limbs by the two of `d`; `(u2, u1) < d`.
#[inline]
fn div_3_by_2(u2: u64, u1: u64, u0: u64, d: u128, reciprocal: u64) -> (u64, u128) {
    debug_assert!((u128::from(u2) << 64 | u128::from(u1)) < d);
    let (d1, d0) = ((d >> 64) as u64, d as u64);
    // At most (2^64 - 1) u2 + 2^64 u2 + u1, but u2 <= d1 keeps it below 2^128 ([MG10] §3).
    let q = u128::from(reciprocal) * u128::from(u2);
    let q = q.wrapping_add(u128::from(u2) << 64 | u128::from(u1));
    let (mut q1, q0) = ((q >> 64) as u64, q as u64);
    let r1 = u1.wrapping_sub(q1.wrapping_mul(d1));
    let mut r = (u128::from(r1) << 64 | u128::from(u0))
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
