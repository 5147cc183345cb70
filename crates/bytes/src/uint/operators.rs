//! The operator traits of [`U256`]: the EVM's arithmetic.

use super::U256;
use core::{iter, ops};

macro_rules! binary {
    ($($operator:ident $function:ident $assign:ident $assign_function:ident: $body:expr;)*) => {$(
        impl ops::$operator for U256 {
            type Output = Self;

            #[inline]
            fn $function(self, rhs: Self) -> Self {
                let body: fn(Self, Self) -> Self = $body;
                body(self, rhs)
            }
        }

        impl ops::$assign for U256 {
            #[inline]
            fn $assign_function(&mut self, rhs: Self) {
                *self = ops::$operator::$function(*self, rhs);
            }
        }
    )*};
}

binary! {
    Add add AddAssign add_assign: U256::wrapping_add;
    Sub sub SubAssign sub_assign: U256::wrapping_sub;
    Mul mul MulAssign mul_assign: U256::wrapping_mul;
    Div div DivAssign div_assign: |a, b| a.checked_div(b).unwrap_or(U256::ZERO);
    Rem rem RemAssign rem_assign: |a, b| a.checked_rem(b).unwrap_or(U256::ZERO);
    BitAnd bitand BitAndAssign bitand_assign: |a, b| U256(core::array::from_fn(|i| a.0[i] & b.0[i]));
    BitOr bitor BitOrAssign bitor_assign: |a, b| U256(core::array::from_fn(|i| a.0[i] | b.0[i]));
    BitXor bitxor BitXorAssign bitxor_assign: |a, b| U256(core::array::from_fn(|i| a.0[i] ^ b.0[i]));
}

impl ops::Not for U256 {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|limb| !limb))
    }
}

impl ops::Shl<u32> for U256 {
    type Output = Self;

    #[inline]
    fn shl(self, bits: u32) -> Self {
        self.wrapping_shl(bits)
    }
}

impl ops::Shr<u32> for U256 {
    type Output = Self;

    #[inline]
    fn shr(self, bits: u32) -> Self {
        self.wrapping_shr(bits)
    }
}

impl ops::ShlAssign<u32> for U256 {
    #[inline]
    fn shl_assign(&mut self, bits: u32) {
        *self = *self << bits;
    }
}

impl ops::ShrAssign<u32> for U256 {
    #[inline]
    fn shr_assign(&mut self, bits: u32) {
        *self = *self >> bits;
    }
}

impl iter::Sum for U256 {
    /// Modulo 2^256.
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(Self::ZERO, Self::wrapping_add)
    }
}
