//! The owned tree.
use alloc::{boxed::Box, string::String, vec::Vec};

use super::Integer;

/// A value of any type.
///
/// Dictionaries and sets may hold their entries in any order. Encoding sorts them and fails on duplicates. Strings,
/// symbols and byte arrays are distinct types: values with equal text are not equal across types.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `t` or `f`.
    Boolean(bool),
    /// `42+`, `1-`.
    Integer(Integer),
    /// `D` and 8 bytes, big-endian. Every NaN is encoded as `7ff8000000000000`.
    Float64(f64),
    /// `F` and 4 bytes, big-endian: in Syrup, not in OCapN. Every NaN is encoded as `7fc00000`.
    Float32(f32),
    /// `3:cat`.
    Bytes(Vec<u8>),
    /// `3"cat`.
    String(String),
    /// `3'cat`.
    Symbol(String),
    /// `[` values `]`.
    List(Vec<Value>),
    /// `{` key value key value `}`. In OCapN the keys of a struct are strings.
    Dictionary(Vec<(Value, Value)>),
    /// `#` values `$`: in Syrup, not in OCapN.
    Set(Vec<Value>),
    /// `<` label fields `>`.
    Record(Box<Record>),
}

/// A label and its fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Usually a symbol.
    pub label: Value,
    /// Any number of values.
    pub fields: Vec<Value>,
}

impl Value {
    /// Creates a record labelled with a symbol.
    ///
    /// ```
    /// use lydite_ocapn::syrup::{self, Value};
    ///
    /// let export = Value::record("desc:export", [42.into()]);
    /// assert_eq!(syrup::encode(&export)?, b"<11'desc:export42+>");
    /// # Ok::<(), syrup::Error>(())
    /// ```
    pub fn record(label: impl Into<String>, fields: impl Into<Vec<Value>>) -> Self {
        Self::Record(Box::new(Record {
            label: Self::Symbol(label.into()),
            fields: fields.into(),
        }))
    }

    /// Creates a symbol.
    pub fn symbol(text: impl Into<String>) -> Self {
        Self::Symbol(text.into())
    }

    /// Creates a byte array.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes(bytes.into())
    }

    pub(super) fn is_container(&self) -> bool {
        matches!(
            self,
            Self::List(_) | Self::Dictionary(_) | Self::Set(_) | Self::Record(_)
        )
    }

    /// How many keys and set members are nested in each other in this value.
    pub(super) fn key_nesting(&self) -> usize {
        let most = |values: &[Self]| values.iter().map(Self::key_nesting).max().unwrap_or(0);
        match self {
            Self::List(items) => most(items),
            Self::Record(record) => record.label.key_nesting().max(most(&record.fields)),
            Self::Set(members) => 1 + most(members),
            Self::Dictionary(entries) => {
                let nesting =
                    |(key, value): &(Self, Self)| (1 + key.key_nesting()).max(value.key_nesting());
                entries.iter().map(nesting).max().unwrap_or(0)
            }
            _ => 0,
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}
from! {
    bool => Boolean
    u8 => Integer u16 => Integer u32 => Integer u64 => Integer u128 => Integer
    i8 => Integer i16 => Integer i32 => Integer i64 => Integer i128 => Integer
    Integer => Integer
    f64 => Float64
    &str => String String => String
    Vec<Value> => List
}
