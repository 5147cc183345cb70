//! `serde` support: every type is serialized as its `0x…` string. Integers are written as JSON-RPC quantities (no
//! leading zeros) and may also be read from decimal strings.

use crate::{Address, Bytes, FixedBytes, U256};
use core::{fmt, marker::PhantomData, str::FromStr};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> de::Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 0x-prefixed hexadecimal string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Parses a string with `FromStr`. Shared with the crates whose types are also strings.
#[doc(hidden)]
pub fn deserialize_text<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_str(Text(PhantomData))
}

macro_rules! as_text {
    ($([$($generics:tt)*] $type:ty, $format:literal;)*) => {$(
        impl<$($generics)*> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&format_args!($format, self))
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize_text(deserializer)
            }
        }
    )*};
}

as_text! {
    [] Address, "{:x}";
    [] Bytes, "{}";
    [] U256, "{:#x}";
    [const N: usize] FixedBytes<N>, "{}";
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use alloc::string::ToString;
    use serde_json::{from_str, to_string};

    #[test]
    fn round_trips() {
        let address = Address([0xab; 20]);
        let text = "\"0xabababababababababababababababababababab\"";
        assert_eq!(to_string(&address).unwrap(), text);
        assert_eq!(from_str::<Address>(text).unwrap(), address);
        assert_eq!(to_string(&Bytes::from([1, 2])).unwrap(), "\"0x0102\"");
        assert_eq!(from_str::<Bytes>("\"0x0102\"").unwrap().0, [1, 2]);
        assert_eq!(to_string(&FixedBytes([0xfe])).unwrap(), "\"0xfe\"");
        assert_eq!(from_str::<FixedBytes<1>>("\"0xfe\"").unwrap().0, [0xfe]);
        assert_eq!(to_string(&U256::ZERO).unwrap(), "\"0x0\"");
        assert_eq!(to_string(&U256::from(1000u64)).unwrap(), "\"0x3e8\"");
        assert_eq!(from_str::<U256>("\"0x03e8\"").unwrap(), U256::from(1000u64));
        assert_eq!(from_str::<U256>("\"1000\"").unwrap(), U256::from(1000u64));
    }

    #[test]
    fn errors_keep_their_message() {
        let error = from_str::<Address>("\"0x12\"").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("expected 40 hexadecimal digits, found 2"),
            "{error}"
        );
        assert!(from_str::<U256>("12").is_err());
        assert!(from_str::<FixedBytes<1>>("\"0xzz\"").is_err());
    }
}
