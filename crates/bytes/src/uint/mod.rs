//! Integers of 256 and 512 bits in little-endian 64-bit limbs.
//!
//! The operators `+ - * / % << >>` follow the EVM: they wrap modulo 2^256, and division by zero gives zero.
//! As for the primitive integers, `checked_`, `overflowing_`, `saturating_` and `wrapping_` select other behaviours.
//!
//! ```
//! use lydite_bytes::{U256, mul_div};
//!
//! let wei: U256 = "1000000000000000000".parse()?;
//! assert_eq!(wei, U256::from(10u64).wrapping_pow(18));
//! assert_eq!(U256::MAX.checked_add(U256::ONE), None);
//! assert_eq!(mul_div(U256::MAX, wei, U256::MAX), Some(wei));
//! # Ok::<(), lydite_bytes::uint::Error>(())
//! ```
//!
//! Constant time: no. Division and text conversion branch on the values, which are public amounts.

mod division;
mod operators;
mod product;
mod signed;
#[cfg(test)]
mod tests;
mod text;
mod wide;

pub use product::mul_div;
pub use signed::I256;
pub use text::Error;
pub use wide::U512;

use crate::{B256, FixedBytes};
use core::cmp::Ordering;

/// An unsigned integer below 2^256: four 64-bit limbs, least significant first.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct U256([u64; 4]);

impl U256 {
    /// 0.
    pub const ZERO: Self = Self([0; 4]);
    /// 1.
    pub const ONE: Self = Self([1, 0, 0, 0]);
    /// 2^256 - 1.
    pub const MAX: Self = Self([u64::MAX; 4]);
    /// The number of bits.
    pub const BITS: u32 = 256;

    /// Creates an integer from limbs, least significant first.
    #[inline]
    pub const fn from_limbs(limbs: [u64; 4]) -> Self {
        Self(limbs)
    }

    /// Returns the limbs, least significant first.
    #[inline]
    pub const fn limbs(&self) -> &[u64; 4] {
        &self.0
    }

    /// Converts 32 bytes, most significant first (ABI, RLP, EVM words).
    #[inline]
    pub fn from_be_bytes(bytes: [u8; 32]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        Self([
            u64::from_be_bytes(words[3]),
            u64::from_be_bytes(words[2]),
            u64::from_be_bytes(words[1]),
            u64::from_be_bytes(words[0]),
        ])
    }

    /// Converts 32 bytes, least significant first.
    #[inline]
    pub fn from_le_bytes(bytes: [u8; 32]) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        Self(core::array::from_fn(|i| u64::from_le_bytes(words[i])))
    }

    /// Converts at most 32 bytes, most significant first; `None` if there are more, whatever their value.
    #[inline]
    pub fn from_be_slice(bytes: &[u8]) -> Option<Self> {
        let mut word = [0; 32];
        word.get_mut(32usize.checked_sub(bytes.len())?..)?
            .copy_from_slice(bytes);
        Some(Self::from_be_bytes(word))
    }

    /// Returns 32 bytes, most significant first.
    #[inline]
    pub fn to_be_bytes(self) -> [u8; 32] {
        crate::word::from_limbs(&self.0)
    }

    /// Returns 32 bytes, least significant first.
    #[inline]
    pub fn to_le_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (word, limb) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(self.0) {
            *word = limb.to_le_bytes();
        }
        bytes
    }

    /// Whether this is 0.
    #[inline]
    pub const fn is_zero(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    /// Returns bit `index` (0 is the least significant); false from 256 on.
    #[inline]
    pub const fn bit(&self, index: u32) -> bool {
        index < 256 && self.0[index as usize / 64] >> (index % 64) & 1 == 1
    }

    /// Returns the number of bits up to the most significant 1; 0 for 0.
    #[inline]
    pub const fn bit_len(&self) -> u32 {
        256 - self.leading_zeros()
    }

    /// Returns the number of zero bits above the most significant 1; 256 for 0.
    #[inline]
    pub const fn leading_zeros(&self) -> u32 {
        let mut i = 4;
        while i > 0 {
            i -= 1;
            if self.0[i] != 0 {
                return (3 - i as u32) * 64 + self.0[i].leading_zeros();
            }
        }
        256
    }

    /// Returns the number of zero bits below the least significant 1; 256 for 0.
    #[inline]
    pub const fn trailing_zeros(&self) -> u32 {
        let mut i = 0;
        while i < 4 {
            if self.0[i] != 0 {
                return i as u32 * 64 + self.0[i].trailing_zeros();
            }
            i += 1;
        }
        256
    }

    /// Returns the number of bytes without leading zeros, as in RLP; 0 for 0.
    #[inline]
    pub const fn byte_len(&self) -> usize {
        self.bit_len().div_ceil(8) as usize
    }

    /// Returns the value if it is below 2^128.
    #[inline]
    pub(crate) const fn to_u128(self) -> Option<u128> {
        if self.0[2] | self.0[3] == 0 {
            Some(self.0[0] as u128 | (self.0[1] as u128) << 64)
        } else {
            None
        }
    }

    /// Returns the sum modulo 2^256, and whether it wrapped.
    #[inline]
    pub const fn overflowing_add(self, rhs: Self) -> (Self, bool) {
        let (a, b) = (self.0, rhs.0);
        if VECTORS {
            return self.add_pairs(rhs);
        }
        let (s0, carry) = add_with_carry(a[0], b[0], false);
        let (s1, carry) = add_with_carry(a[1], b[1], carry);
        let (s2, carry) = add_with_carry(a[2], b[2], carry);
        let (s3, carry) = add_with_carry(a[3], b[3], carry);
        (Self([s0, s1, s2, s3]), carry)
    }

    /// [`overflowing_add`](Self::overflowing_add) in a form that LLVM does not vectorise; see [`VECTORS`].
    #[inline]
    const fn add_pairs(self, rhs: Self) -> (Self, bool) {
        let (a, b) = (self.0, rhs.0);
        let (low, carry) = join(a[0], a[1]).overflowing_add(join(b[0], b[1]));
        let (high, over) = join(a[2], a[3]).overflowing_add(join(b[2], b[3]));
        let (high, carry) = high.overflowing_add(carry as u128);
        let ([s0, s1], [s2, s3]) = (split(low), split(high));
        (Self([s0, s1, s2, s3]), over | carry)
    }

    /// Returns the difference modulo 2^256, and whether it wrapped.
    #[inline]
    pub const fn overflowing_sub(self, rhs: Self) -> (Self, bool) {
        let (a, b) = (self.0, rhs.0);
        if VECTORS {
            return self.sub_pairs(rhs);
        }
        let (d0, borrow) = sub_with_borrow(a[0], b[0], false);
        let (d1, borrow) = sub_with_borrow(a[1], b[1], borrow);
        let (d2, borrow) = sub_with_borrow(a[2], b[2], borrow);
        let (d3, borrow) = sub_with_borrow(a[3], b[3], borrow);
        (Self([d0, d1, d2, d3]), borrow)
    }

    /// The subtraction counterpart of [`add_pairs`](Self::add_pairs).
    #[inline]
    const fn sub_pairs(self, rhs: Self) -> (Self, bool) {
        let (a, b) = (self.0, rhs.0);
        let (low, borrow) = join(a[0], a[1]).overflowing_sub(join(b[0], b[1]));
        let (high, under) = join(a[2], a[3]).overflowing_sub(join(b[2], b[3]));
        let (high, borrow) = high.overflowing_sub(borrow as u128);
        let ([d0, d1], [d2, d3]) = (split(low), split(high));
        (Self([d0, d1, d2, d3]), under | borrow)
    }

    /// Returns the product modulo 2^256, and whether it wrapped.
    #[inline]
    pub const fn overflowing_mul(self, rhs: Self) -> (Self, bool) {
        let (low, high) = self.widening_mul(rhs).split();
        (low, !high.is_zero())
    }

    /// Product modulo 2^256.
    #[inline]
    pub const fn wrapping_mul(self, rhs: Self) -> Self {
        let (a, b) = (self.0, rhs.0);
        let (r0, c) = mul_add(a[0], b[0], 0, 0);
        let (r1, c) = mul_add(a[0], b[1], 0, c);
        let (r2, c) = mul_add(a[0], b[2], 0, c);
        let r3 = a[0].wrapping_mul(b[3]).wrapping_add(c);
        let (r1, c) = mul_add(a[1], b[0], r1, 0);
        let (r2, c) = mul_add(a[1], b[1], r2, c);
        let r3 = r3.wrapping_add(a[1].wrapping_mul(b[2])).wrapping_add(c);
        let (r2, c) = mul_add(a[2], b[0], r2, 0);
        let r3 = r3.wrapping_add(a[2].wrapping_mul(b[1])).wrapping_add(c);
        Self([r0, r1, r2, r3.wrapping_add(a[3].wrapping_mul(b[0]))])
    }

    /// Returns the full product.
    #[inline]
    pub const fn widening_mul(self, rhs: Self) -> U512 {
        let a = self.0;
        let [r0, r1, rest @ ..] = rhs.mul_two_limbs(a[0], a[1]);
        if a[2] | a[3] == 0 {
            // Small amounts are the common case.
            return U512::from_limbs([r0, r1, rest[0], rest[1], rest[2], rest[3], 0, 0]);
        }
        let (r2, rest) = mul_add_row(a[2], rhs.0, rest);
        let (r3, rest) = mul_add_row(a[3], rhs.0, rest);
        U512::from_limbs([r0, r1, r2, r3, rest[0], rest[1], rest[2], rest[3]])
    }

    /// Returns the same number, copied limb by limb: for arguments and results of calls off the short path. Otherwise
    /// the compiler keeps the number in memory on the short path too, written as words and copied as vectors, which
    /// waits for the stores.
    #[inline(always)]
    pub(crate) const fn by_limbs(self) -> Self {
        let [a, b, c, d] = self.0;
        Self([a, b, c, d])
    }

    /// The product with `a1 * 2^64 + a0`.
    #[inline(always)]
    const fn mul_two_limbs(self, a0: u64, a1: u64) -> [u64; 6] {
        let (r0, rest) = mul_add_row(a0, self.0, [0; 4]);
        let (r1, [r2, r3, r4, r5]) = mul_add_row(a1, self.0, rest);
        [r0, r1, r2, r3, r4, r5]
    }

    /// Sum modulo 2^256.
    #[inline]
    pub const fn wrapping_add(self, rhs: Self) -> Self {
        self.overflowing_add(rhs).0
    }

    /// Difference modulo 2^256.
    #[inline]
    pub const fn wrapping_sub(self, rhs: Self) -> Self {
        self.overflowing_sub(rhs).0
    }

    /// `-self` modulo 2^256: the two's complement.
    #[inline]
    pub const fn wrapping_neg(self) -> Self {
        Self::ZERO.wrapping_sub(self)
    }

    /// Returns the sum; `None` if it is 2^256 or more.
    #[inline]
    pub const fn checked_add(self, rhs: Self) -> Option<Self> {
        checked(self.overflowing_add(rhs))
    }

    /// Returns the difference; `None` if it is below 0.
    #[inline]
    pub const fn checked_sub(self, rhs: Self) -> Option<Self> {
        checked(self.overflowing_sub(rhs))
    }

    /// Returns the product; `None` if it is 2^256 or more.
    #[inline]
    pub const fn checked_mul(self, rhs: Self) -> Option<Self> {
        checked(self.overflowing_mul(rhs))
    }

    /// Returns the sum, at most [`U256::MAX`].
    #[inline]
    pub const fn saturating_add(self, rhs: Self) -> Self {
        saturated(self.overflowing_add(rhs), Self::MAX)
    }

    /// Returns the difference, at least 0.
    #[inline]
    pub const fn saturating_sub(self, rhs: Self) -> Self {
        saturated(self.overflowing_sub(rhs), Self::ZERO)
    }

    /// Returns the product, at most [`U256::MAX`].
    #[inline]
    pub const fn saturating_mul(self, rhs: Self) -> Self {
        saturated(self.overflowing_mul(rhs), Self::MAX)
    }

    /// Returns `self` to the power of `exponent` modulo 2^256, and whether it wrapped. `0^0` is 1.
    pub fn overflowing_pow(self, mut exponent: u32) -> (Self, bool) {
        let (mut result, mut wrapped) = (Self::ONE, false);
        let (mut base, mut base_wrapped) = (self, false);
        while exponent != 0 {
            if exponent & 1 == 1 {
                let overflow;
                (result, overflow) = result.overflowing_mul(base);
                wrapped |= overflow | base_wrapped;
            }
            exponent >>= 1;
            let overflow;
            (base, overflow) = base.overflowing_mul(base);
            base_wrapped |= overflow;
        }
        (result, wrapped)
    }

    /// Returns `self` to the power of `exponent` modulo 2^256.
    pub fn wrapping_pow(self, exponent: u32) -> Self {
        self.overflowing_pow(exponent).0
    }

    /// Returns `self` to the power of `exponent`; `None` if it is 2^256 or more.
    pub fn checked_pow(self, exponent: u32) -> Option<Self> {
        checked(self.overflowing_pow(exponent))
    }

    /// Returns quotient and remainder; `None` for a divisor of 0.
    #[inline]
    pub fn div_rem(self, divisor: Self) -> Option<(Self, Self)> {
        if divisor.is_zero() {
            return None;
        }
        let (quotient, remainder) = division::div_rem(&self.0, &divisor.0);
        Some((Self(quotient), Self(remainder)))
    }

    /// Returns the quotient; `None` for a divisor of 0.
    #[inline(always)]
    pub fn checked_div(self, divisor: Self) -> Option<Self> {
        self.quotient::<false>(divisor)
    }

    /// [`U256::checked_div`]. For `CORRECT` see [`division::one_limb_quotient`]; with it, divisors of one limb, such as
    /// the scale 10^18 of most prices, are also divided inline. A plain division must stay small.
    #[inline(always)]
    pub(crate) fn quotient<const CORRECT: bool>(self, divisor: Self) -> Option<Self> {
        if let Some(limb) = division::one_limb_quotient::<CORRECT>(self.0, divisor.0) {
            Some(Self([limb, 0, 0, 0]))
        } else if let (true, [limb, 0, 0, 0]) = (CORRECT, divisor.0) {
            (limb != 0).then(|| Self(division::by_limb(&self.0, limb).0))
        } else if divisor.is_zero() {
            None
        } else {
            let quotient = division::quotient(self.by_limbs().0, divisor.by_limbs().0);
            Some(Self(quotient).by_limbs())
        }
    }

    /// Returns the remainder; `None` for a divisor of 0.
    #[inline]
    pub fn checked_rem(self, divisor: Self) -> Option<Self> {
        Some(self.div_rem(divisor)?.1)
    }

    /// `self * 2^bits` modulo 2^256; 0 for 256 bits or more.
    #[inline]
    pub const fn wrapping_shl(self, bits: u32) -> Self {
        if bits >= 256 {
            return Self::ZERO;
        }
        let (limbs, bits) = (bits as usize / 64, bits % 64);
        let mut result = [0; 4];
        let mut i = limbs;
        while i < 4 {
            let below = if i > limbs { self.0[i - limbs - 1] } else { 0 };
            result[i] = self.0[i - limbs] << bits | below >> 1 >> (63 - bits);
            i += 1;
        }
        Self(result)
    }

    /// `floor(self / 2^bits)`; 0 for 256 bits or more.
    #[inline]
    pub const fn wrapping_shr(self, bits: u32) -> Self {
        if bits >= 256 {
            return Self::ZERO;
        }
        let (limbs, bits) = (bits as usize / 64, bits % 64);
        let mut result = [0; 4];
        let mut i = limbs;
        while i < 4 {
            let above = if i + 1 < 4 { self.0[i + 1] } else { 0 };
            result[i - limbs] = self.0[i] >> bits | above << 1 << (63 - bits);
            i += 1;
        }
        Self(result)
    }
}

impl Ord for U256 {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }

    #[inline]
    fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    #[inline]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl PartialOrd for U256 {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.overflowing_sub(*other).1
    }

    #[inline]
    fn ge(&self, other: &Self) -> bool {
        !self.lt(other)
    }

    #[inline]
    fn gt(&self, other: &Self) -> bool {
        other.lt(self)
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        !other.lt(self)
    }
}

macro_rules! from_small {
    ($($small:ty)*) => {$(
        impl From<$small> for U256 {
            #[inline]
            fn from(value: $small) -> Self {
                Self([u64::from(value), 0, 0, 0])
            }
        }
    )*};
}
from_small!(bool u8 u16 u32 u64);

impl From<u128> for U256 {
    #[inline]
    fn from(value: u128) -> Self {
        Self([value as u64, (value >> 64) as u64, 0, 0])
    }
}

impl From<B256> for U256 {
    /// Interprets the word as a big-endian number.
    #[inline]
    fn from(word: B256) -> Self {
        Self::from_be_bytes(word.0)
    }
}

impl From<U256> for B256 {
    /// Returns the number as a big-endian word.
    #[inline]
    fn from(value: U256) -> Self {
        FixedBytes(value.to_be_bytes())
    }
}

impl TryFrom<U256> for u64 {
    type Error = Error;

    #[inline]
    fn try_from(value: U256) -> Result<Self, Error> {
        if value.0[1] | value.0[2] | value.0[3] == 0 {
            Ok(value.0[0])
        } else {
            Err(Error::Overflow)
        }
    }
}

impl TryFrom<U256> for u128 {
    type Error = Error;

    #[inline]
    fn try_from(value: U256) -> Result<Self, Error> {
        value.to_u128().ok_or(Error::Overflow)
    }
}

const fn checked((value, wrapped): (U256, bool)) -> Option<U256> {
    if wrapped { None } else { Some(value) }
}

const fn saturated((value, wrapped): (U256, bool), limit: U256) -> U256 {
    if wrapped { limit } else { value }
}

/// Whether LLVM may put carries into AVX-512 vectors in this build, which takes three times as long as a chain of
/// `adc`.
const VECTORS: bool = cfg!(target_feature = "avx512f");

#[inline(always)]
const fn join(low: u64, high: u64) -> u128 {
    (high as u128) << 64 | low as u128
}

#[inline(always)]
const fn split(wide: u128) -> [u64; 2] {
    [wide as u64, (wide >> 64) as u64]
}

/// Returns the low word of `a + b + carry`, and the carry.
#[inline(always)]
const fn add_with_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry as u64);
    (sum, first | second)
}

/// Returns the low word of `a - b - borrow`, and the borrow.
#[inline(always)]
const fn sub_with_borrow(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(borrow as u64);
    (difference, first | second)
}

/// Returns the low and the high word of `a * b + c + d`. Cannot overflow: (2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1.
#[inline(always)]
const fn mul_add(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let sum = a as u128 * b as u128 + c as u128 + d as u128;
    (sum as u64, (sum >> 64) as u64)
}

/// Returns the low limb of `a * b + c`, and the four limbs above.
#[inline(always)]
const fn mul_add_row(a: u64, b: [u64; 4], c: [u64; 4]) -> (u64, [u64; 4]) {
    let (r0, carry) = mul_add(a, b[0], c[0], 0);
    let (r1, carry) = mul_add(a, b[1], c[1], carry);
    let (r2, carry) = mul_add(a, b[2], c[2], carry);
    let (r3, r4) = mul_add(a, b[3], c[3], carry);
    (r0, [r1, r2, r3, r4])
}
