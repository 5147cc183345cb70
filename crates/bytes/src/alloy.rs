//! Conversions from and to the types of alloy-primitives that have the same values. Its `U256` is ruint's
//! `Uint<256, 4>`, so the conversions are also those of ruint's type.

#![forbid(unsafe_code)]

use crate::{Address, Bytes, FixedBytes, I256, U256};
use alloy_primitives as alloy;

macro_rules! convert {
    ($([$($generics:tt)*] $type:ty, $theirs:ty, |$a:ident| $from:expr, |$b:ident| $to:expr;)*) => {$(
        impl<$($generics)*> From<$theirs> for $type {
            #[inline]
            fn from($a: $theirs) -> Self {
                $from
            }
        }

        impl<$($generics)*> From<$type> for $theirs {
            #[inline]
            fn from($b: $type) -> Self {
                $to
            }
        }
    )*};
}

convert! {
    [] Address, alloy::Address, |a| Self(a.into_array()), |a| Self::new(a.0);
    [const N: usize] FixedBytes<N>, alloy::FixedBytes<N>, |a| Self(a.0), |a| Self(a.0);
    [] Bytes, alloy::Bytes, |a| Self(a.into()), |a| Self::from(a.0);
    [] U256, alloy::U256, |a| Self::from_limbs(a.into_limbs()), |a| Self::from_limbs(*a.limbs());
    [] I256, alloy::I256, |a| Self(a.into_raw().into()), |a| Self::from_raw(a.0.into());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn same_values(limbs: [u64; 4], address: [u8; 20], word: [u8; 32], bytes: alloc::vec::Vec<u8>) {
            let number = U256::from_limbs(limbs);
            // Also the type of programs that depend on ruint alone.
            let theirs: alloy::ruint::Uint<256, 4> = number.into();
            prop_assert_eq!(theirs.to_string(), number.to_string());
            prop_assert_eq!(U256::from(theirs), number);

            let signed = I256(number);
            let theirs: alloy::I256 = signed.into();
            prop_assert_eq!(theirs.to_string(), signed.to_string());
            prop_assert_eq!(I256::from(theirs), signed);

            let address = Address(address);
            let theirs = alloy::Address::from(address);
            prop_assert_eq!(theirs.to_string(), address.to_string());
            prop_assert_eq!(Address::from(theirs), address);

            let word = FixedBytes(word);
            let theirs = alloy::B256::from(word);
            prop_assert_eq!(theirs.to_string(), word.to_string());
            prop_assert_eq!(FixedBytes::from(theirs), word);

            let bytes = Bytes(bytes);
            let theirs = alloy::Bytes::from(bytes.clone());
            prop_assert_eq!(theirs.to_string(), bytes.to_string());
            prop_assert_eq!(Bytes::from(theirs), bytes);
        }
    }
}
