//! Arithmetic of 64-bit words with carries. Integers of several words have the least significant one first.
//! Constant-time if the multiplication instruction is.

/// Returns `a + b + carry` and the carry.
#[inline(always)]
pub(crate) const fn add_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry as u64);
    (sum, first | second)
}

/// Returns `a - b - borrow` and the borrow.
#[inline(always)]
pub(crate) const fn sub_borrow(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(borrow as u64);
    (difference, first | second)
}

/// Returns the low and the high word of `a b + c + carry`.
#[inline(always)]
pub(crate) const fn multiply_add(a: u64, b: u64, c: u64, carry: u64) -> (u64, u64) {
    let t = product(a, b) + c as u128 + carry as u128;
    (t as u64, (t >> 64) as u64)
}

/// Converts to four words, lowest first.
pub(crate) const fn from_u128(k: u128) -> [u64; 4] {
    [k as u64, (k >> 64) as u64, 0, 0]
}

// Unrolled by hand: here, loops and `array::from_fn` compile to calls and memory accesses.

/// Returns `a + b` and the carry.
#[inline(always)]
pub(crate) const fn add(a: &[u64; 4], b: &[u64; 4]) -> ([u64; 4], bool) {
    let (r0, carry) = a[0].overflowing_add(b[0]);
    let (r1, carry) = add_carry(a[1], b[1], carry);
    let (r2, carry) = add_carry(a[2], b[2], carry);
    let (r3, carry) = add_carry(a[3], b[3], carry);
    ([r0, r1, r2, r3], carry)
}

/// Returns `a - b` and the borrow.
#[inline(always)]
pub(crate) const fn sub(a: &[u64; 4], b: &[u64; 4]) -> ([u64; 4], bool) {
    let (r0, borrow) = a[0].overflowing_sub(b[0]);
    let (r1, borrow) = sub_borrow(a[1], b[1], borrow);
    let (r2, borrow) = sub_borrow(a[2], b[2], borrow);
    let (r3, borrow) = sub_borrow(a[3], b[3], borrow);
    ([r0, r1, r2, r3], borrow)
}

/// Converts 32 big-endian bytes.
#[inline(always)]
pub(crate) fn from_be(bytes: &[u8; 32]) -> [u64; 4] {
    let words = bytes.as_chunks::<8>().0;
    core::array::from_fn(|i| u64::from_be_bytes(words[3 - i]))
}

/// Converts to 32 big-endian bytes.
#[inline(always)]
pub(crate) fn to_be(words: &[u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (bytes, word) in bytes
        .as_chunks_mut::<8>()
        .0
        .iter_mut()
        .zip(words.iter().rev())
    {
        *bytes = word.to_be_bytes();
    }
    bytes
}

// On 32-bit targets and in WebAssembly, the compiler turns a 128-bit product into a call with its result in memory.
// There, the product is assembled from half words in registers.

/// `a b`.
#[inline(always)]
pub(crate) const fn product(a: u64, b: u64) -> u128 {
    if cfg!(target_pointer_width = "32") {
        product_by_halves(a, b)
    } else {
        a as u128 * b as u128
    }
}

/// `a b`.
#[inline(always)]
pub(crate) const fn signed_product(a: i64, b: i64) -> i128 {
    if cfg!(target_pointer_width = "32") {
        signed_product_by_halves(a, b)
    } else {
        a as i128 * b as i128
    }
}

const LOW: u64 = u32::MAX as u64;

const fn product_by_halves(a: u64, b: u64) -> u128 {
    let (a1, a0, b1, b0) = (a >> 32, a & LOW, b >> 32, b & LOW);
    let low = a0 * b0;
    // Each sum is below 2^64: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
    let middle = a1 * b0 + (low >> 32);
    let other = a0 * b1 + (middle & LOW);
    let high = a1 * b1 + (middle >> 32) + (other >> 32);
    (high as u128) << 64 | (other << 32 | low & LOW) as u128
}

const fn signed_product_by_halves(a: i64, b: i64) -> i128 {
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
            prop_assert_eq!(product_by_halves(a, b), a as u128 * b as u128);
            prop_assert_eq!(signed_product_by_halves(a as i64, b as i64), i128::from(a as i64) * i128::from(b as i64));
        }
    }
}
