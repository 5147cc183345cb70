//! 512-bit intermediate results.

use super::{U256, add_with_carry, division};
use core::cmp::Ordering;

/// An unsigned integer below 2^512, such as the product of two [`U256`]: eight 64-bit limbs, least significant first.
///
/// ```
/// use lydite_bytes::U256;
///
/// let square = U256::MAX.widening_mul(U256::MAX);
/// let (quotient, remainder) = square.div_rem(U256::MAX).ok_or("division by zero")?;
/// assert_eq!(quotient.to_u256(), Some(U256::MAX));
/// assert_eq!(remainder, U256::ZERO);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct U512([u64; 8]);

impl U512 {
    /// 0.
    pub const ZERO: Self = Self([0; 8]);
    /// 2^512 - 1.
    pub const MAX: Self = Self([u64::MAX; 8]);

    /// Creates an integer from limbs, least significant first.
    #[inline]
    pub const fn from_limbs(limbs: [u64; 8]) -> Self {
        Self(limbs)
    }

    /// Returns the limbs, least significant first.
    #[inline]
    pub const fn limbs(&self) -> &[u64; 8] {
        &self.0
    }

    /// Returns the low and the high 256 bits.
    #[inline]
    pub const fn split(self) -> (U256, U256) {
        let [a, b, c, d, e, f, g, h] = self.0;
        (
            U256::from_limbs([a, b, c, d]),
            U256::from_limbs([e, f, g, h]),
        )
    }

    /// Returns the value if it is below 2^256.
    #[inline]
    pub const fn to_u256(self) -> Option<U256> {
        let (low, high) = self.split();
        if high.is_zero() { Some(low) } else { None }
    }

    /// Returns the sum; `None` if it is 2^512 or more.
    #[inline]
    pub fn checked_add(self, rhs: Self) -> Option<Self> {
        let mut carry = false;
        let sum = core::array::from_fn(|i| {
            let limb;
            (limb, carry) = add_with_carry(self.0[i], rhs.0[i], carry);
            limb
        });
        if carry { None } else { Some(Self(sum)) }
    }

    /// Returns quotient and remainder; `None` for a divisor of 0.
    #[inline]
    pub fn div_rem(self, divisor: U256) -> Option<(Self, U256)> {
        if divisor.is_zero() {
            return None;
        }
        let (quotient, remainder) = division::div_rem(&self.0, divisor.limbs());
        Some((Self(quotient), U256::from_limbs(remainder)))
    }
}

impl From<U256> for U512 {
    #[inline]
    fn from(value: U256) -> Self {
        let [a, b, c, d] = *value.limbs();
        Self([a, b, c, d, 0, 0, 0, 0])
    }
}

impl Ord for U512 {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for U512 {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
