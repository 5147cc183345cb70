//! Full 128-bit products of two words. Constant-time if the multiplication instruction is.
//!
//! On 32-bit targets and in WebAssembly, the compiler turns a 128-bit product into a call with its result in memory.
//! There, the product is assembled from half words in registers.

/// `a b`.
#[inline(always)]
pub(crate) const fn unsigned(a: u64, b: u64) -> u128 {
    if cfg!(target_pointer_width = "32") {
        unsigned_by_halves(a, b)
    } else {
        a as u128 * b as u128
    }
}

/// `a b`.
#[inline(always)]
pub(crate) const fn signed(a: i64, b: i64) -> i128 {
    if cfg!(target_pointer_width = "32") {
        signed_by_halves(a, b)
    } else {
        a as i128 * b as i128
    }
}

const LOW: u64 = u32::MAX as u64;

const fn unsigned_by_halves(a: u64, b: u64) -> u128 {
    let (a1, a0, b1, b0) = (a >> 32, a & LOW, b >> 32, b & LOW);
    let low = a0 * b0;
    // Each sum is below 2^64: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
    let middle = a1 * b0 + (low >> 32);
    let other = a0 * b1 + (middle & LOW);
    let high = a1 * b1 + (middle >> 32) + (other >> 32);
    (high as u128) << 64 | (other << 32 | low & LOW) as u128
}

const fn signed_by_halves(a: i64, b: i64) -> i128 {
    let (a1, a0, b1, b0) = (a >> 32, a as u64 & LOW, b >> 32, b as u64 & LOW);
    let low = a0 * b0;
    // The upper halves are signed; by the same bound, sums fit in 63 bits and a sign.
    let middle = a1 * b0 as i64 + (low >> 32) as i64;
    let other = a0 as i64 * b1 + (middle as u64 & LOW) as i64;
    let high = a1 * b1 + (middle >> 32) + (other >> 32);
    (high as i128) << 64 | ((other as u64) << 32 | low & LOW) as i128
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            Just(0),
            Just(1),
            Just(u64::MAX),
            Just(LOW),
            Just(LOW + 1),
            Just(1 << 63),
            Just((1 << 63) - 1),
            Just(LOW << 32),
        ]
    }

    proptest! {
        #[test]
        fn halves_give_the_whole(a in word(), b in word()) {
            prop_assert_eq!(unsigned_by_halves(a, b), a as u128 * b as u128);
            prop_assert_eq!(signed_by_halves(a as i64, b as i64), i128::from(a as i64) * i128::from(b as i64));
        }
    }
}
