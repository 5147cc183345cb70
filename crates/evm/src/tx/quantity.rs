//! Integers in JSON-RPC's form: hexadecimal without leading zeros.

use lydite_bytes::U256;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Writes an integer of fewer than 256 bits as a quantity.
pub(super) fn quantity<T: Copy + Into<U256>, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    (*value).into().serialize(serializer)
}

/// An integer of fewer than 256 bits as a quantity.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(bound(serialize = "T: Copy + Into<U256>"))]
pub(super) struct Quantity<T>(#[serde(serialize_with = "quantity")] pub(super) T);

impl<'de, T: TryFrom<u128>> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = u128::try_from(U256::deserialize(deserializer)?).ok();
        let value = value.and_then(|value| T::try_from(value).ok());
        value.map(Self).ok_or_else(|| {
            let bits = 8 * size_of::<T>();
            D::Error::custom(format_args!("expected an integer of at most {bits} bits"))
        })
    }
}

macro_rules! into_integer {
    ($($type:ty)*) => {$(
        impl From<Quantity<$type>> for $type {
            fn from(quantity: Quantity<$type>) -> Self {
                quantity.0
            }
        }
    )*};
}
into_integer!(u8 u64);
