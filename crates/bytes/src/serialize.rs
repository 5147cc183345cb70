//! `serde`: every type as its `0x…` string. Integers are written as quantities of JSON-RPC (no leading zeros) and
//! read from decimal strings, too.

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

macro_rules! as_text {
    ($([$($generics:tt)*] $type:ty, $format:literal;)*) => {$(
        impl<$($generics)*> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&format_args!($format, self))
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text(PhantomData))
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
