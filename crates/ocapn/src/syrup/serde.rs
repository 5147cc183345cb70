//! Syrup for types that implement `serde`'s traits. Feature `serde`.
//!
//! | `serde` | Syrup |
//! |---|---|
//! | booleans, integers up to 128 bits, `f32`, `f64` | the same; `f32` is not in OCapN |
//! | `char`, `str` | string |
//! | [`Symbol`] of text | symbol |
//! | bytes (`serde_bytes`) | byte array |
//! | sequences, tuples, tuple structs | list |
//! | maps, structs | dictionary, sorted; the keys of a struct are strings |
//! | variants of an enum | record: the variant's name as a symbol, then its values; one dictionary for a struct variant |
//! | `()`, unit structs, `None` | the record `<4'null>`, which is how Endo writes null; `Some` adds nothing |
//!
//! To describe a record, use an enum with tuple variants, renamed if the label is not a Rust identifier. Reading is as
//! strict as [`decode`](super::decode()): the input must be canonical, a string is not accepted as a symbol, and keys
//! must be in order. Sets are read as sequences but never written. Integers beyond 128 bits require
//! [`Integer`](super::Integer) and [`decode`](super::decode()).
//!
//! ```
//! use lydite_ocapn::syrup::{Symbol, serde::{from_slice, to_vec}};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! enum Message<'a> {
//!     #[serde(rename = "op:get")]
//!     Get(Target, &'a str, Option<u64>),
//! }
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! enum Target {
//!     #[serde(rename = "desc:export")]
//!     Export(u64),
//! }
//!
//! let get = Message::Get(Target::Export(42), "host", Some(7));
//! let encoded = to_vec(&get)?;
//! assert_eq!(encoded, b"<6'op:get<11'desc:export42+>4\"host7+>");
//! assert_eq!(from_slice::<Message>(&encoded)?, get);
//!
//! let error = from_slice::<Vec<u8>>(b"[1+300+]").unwrap_err();
//! assert_eq!(error.to_string(), "byte 7: invalid value: integer `300`, expected u8");
//! let error = from_slice::<Symbol<&str>>(b"3\"cat").unwrap_err();
//! assert_eq!(error.to_string(), "byte 0: value is not of the expected type");
//! # Ok::<(), lydite_ocapn::syrup::serde::Error>(())
//! ```

use alloc::{boxed::Box, string::ToString, vec::Vec};
use core::fmt;

use serde::de::{self, Deserialize, DeserializeOwned, Visitor};
use serde::ser::{self, Serialize};

use super::scan;
use super::{Encode, ErrorKind, Kind, Reader, Symbol, Value, encode, encode_append};

/// An error and its position.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The input is not canonical, or has a value of an unexpected type.
    Syrup(super::Error),
    /// An error reported by the type's `serde` implementation.
    Type {
        /// The message.
        message: Box<str>,
        /// Number of input bytes read so far; 0 when encoding.
        offset: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syrup(error) => error.fmt(f),
            Self::Type { message, offset } => write!(f, "byte {offset}: {message}"),
        }
    }
}

impl core::error::Error for Error {}

impl From<super::Error> for Error {
    fn from(error: super::Error) -> Self {
        Self::Syrup(error)
    }
}

fn custom(message: impl fmt::Display) -> Error {
    Error::Type {
        message: message.to_string().into_boxed_str(),
        offset: 0,
    }
}

impl ser::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        custom(message)
    }
}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        custom(message)
    }
}

/// Returns the canonical encoding of `value`.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    value.serialize(Serializer { out: &mut out })?;
    Ok(out)
}

/// Converts `value` to a tree.
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, Error> {
    Ok(Value::decode(&to_vec(value)?)?)
}

/// Decodes `input`, which must be exactly one canonical value.
///
/// # Errors
///
/// [`Error::Syrup`] if the bytes are not canonical or a value has an unexpected type; [`Error::Type`] if the type
/// rejects a value.
pub fn from_slice<'de, T: Deserialize<'de>>(input: &'de [u8]) -> Result<T, Error> {
    let mut deserializer = Deserializer {
        reader: Reader::new(input),
    };
    let value = T::deserialize(&mut deserializer).map_err(|error| match error {
        Error::Type { message, .. } => Error::Type {
            message,
            offset: deserializer.reader.offset(),
        },
        error => error,
    })?;
    deserializer.reader.finish()?;
    Ok(value)
}

/// Converts a tree to a type that owns its data.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    from_slice(&encode(value)?)
}

/// The newtype struct name that marks a symbol's text.
const SYMBOL: &str = "$lydite::syrup::Symbol";
/// The label of the record for null.
const NULL: &str = "null";

impl<T: Serialize> Serialize for Symbol<T> {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(SYMBOL, &self.0)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Symbol<T> {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<T>(core::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Text<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a symbol")
            }

            fn visit_newtype_struct<D: de::Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<T, D::Error> {
                T::deserialize(deserializer)
            }
        }
        let text = Text(core::marker::PhantomData);
        deserializer
            .deserialize_newtype_struct(SYMBOL, text)
            .map(Symbol)
    }
}

struct Serializer<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Serializer<'o> {
    fn put<T: Encode + ?Sized>(self, value: &T) -> Result<(), Error> {
        Ok(encode_append(value, self.out)?)
    }

    fn null(self) -> Result<(), Error> {
        self.record(NULL)?.close()
    }

    fn record(self, label: &str) -> Result<List<'o>, Error> {
        self.out.push(b'<');
        encode_append(&Symbol(label), self.out)?;
        Ok(List {
            out: self.out,
            close: b'>',
        })
    }

    fn list(self) -> List<'o> {
        self.out.push(b'[');
        List {
            out: self.out,
            close: b']',
        }
    }

    fn dictionary(self, close: &'static [u8]) -> Dictionary<'o> {
        Dictionary {
            out: self.out,
            entries: Vec::new(),
            close,
        }
    }
}

/// A list or record being written.
struct List<'o> {
    out: &'o mut Vec<u8>,
    close: u8,
}

impl List<'_> {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(Serializer { out: self.out })
    }

    fn close(self) -> Result<(), Error> {
        self.out.push(self.close);
        Ok(())
    }
}

/// A dictionary being collected: pairs of encoded key and encoded value.
struct Dictionary<'o> {
    out: &'o mut Vec<u8>,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// The bracket that closes it, followed by that of the surrounding record if it is a variant.
    close: &'static [u8],
}

impl Dictionary<'_> {
    fn add<T: Serialize + ?Sized>(&mut self, key: Vec<u8>, value: &T) -> Result<(), Error> {
        self.entries.push((key, to_vec(value)?));
        Ok(())
    }

    fn close(mut self) -> Result<(), Error> {
        self.entries.sort_unstable();
        if self.entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(ErrorKind::Duplicate.at(0).into());
        }
        self.out.push(b'{');
        for (key, value) in &self.entries {
            self.out.extend_from_slice(key);
            self.out.extend_from_slice(value);
        }
        self.out.extend_from_slice(self.close);
        Ok(())
    }
}

macro_rules! put {
    ($($method:ident $type:ty)*) => {$(
        fn $method(self, value: $type) -> Result<(), Error> {
            self.put(&value)
        }
    )*};
}

impl<'o> ser::Serializer for Serializer<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = List<'o>;
    type SerializeTuple = List<'o>;
    type SerializeTupleStruct = List<'o>;
    type SerializeTupleVariant = List<'o>;
    type SerializeMap = Dictionary<'o>;
    type SerializeStruct = Dictionary<'o>;
    type SerializeStructVariant = Dictionary<'o>;

    put! {
        serialize_bool bool
        serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64 serialize_i128 i128
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64 serialize_u128 u128
        serialize_f32 f32 serialize_f64 f64
        serialize_str &str serialize_bytes &[u8]
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.put::<str>(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.null()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.null()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.null()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.record(variant)?.close()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        if name != SYMBOL {
            return value.serialize(self);
        }
        // Write a string first. Its length shows where the marker is.
        let start = self.out.len();
        value.serialize(Serializer { out: self.out })?;
        let text = &mut self.out[start..];
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match text.get_mut(digits) {
            Some(marker @ b'"') => *marker = b'\'',
            _ => return Err(custom("expected text as a symbol")),
        }
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut record = self.record(variant)?;
        record.add(value)?;
        record.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'o>, Error> {
        Ok(self.list())
    }

    fn serialize_tuple(self, _: usize) -> Result<List<'o>, Error> {
        Ok(self.list())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List<'o>, Error> {
        Ok(self.list())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<List<'o>, Error> {
        self.record(variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Dictionary<'o>, Error> {
        Ok(self.dictionary(b"}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Dictionary<'o>, Error> {
        Ok(self.dictionary(b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Dictionary<'o>, Error> {
        let record = self.record(variant)?;
        Ok(Serializer { out: record.out }.dictionary(b"}>"))
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! lists {
    ($($trait:ident $method:ident)*) => {$(
        impl ser::$trait for List<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.add(value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}
lists! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! structs {
    ($($trait:ident)*) => {$(
        impl ser::$trait for Dictionary<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.add(encode(key)?, value)
            }

            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}
structs!(SerializeStruct SerializeStructVariant);

impl ser::SerializeMap for Dictionary<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.entries.push((to_vec(key)?, Vec::new()));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let entry = self
            .entries
            .last_mut()
            .ok_or_else(|| custom("expected a key, found a value"))?;
        entry.1 = to_vec(value)?;
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

struct Deserializer<'de> {
    reader: Reader<'de>,
}

/// The values inside an open container.
struct Inside<'d, 'de> {
    deserializer: &'d mut Deserializer<'de>,
    container: Kind,
    /// The previous key or member, for containers with an order.
    previous: &'de [u8],
    ended: bool,
}

impl<'de> Deserializer<'de> {
    /// Enters a container, calls `visit` with its contents, and leaves it.
    fn enter<T>(
        &mut self,
        container: Kind,
        visit: impl FnOnce(&mut Inside<'_, 'de>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.reader.begin(container)?;
        let mut inside = Inside {
            deserializer: self,
            container,
            previous: &[],
            ended: false,
        };
        let value = visit(&mut inside)?;
        if !inside.ended {
            self.reader.end(container)?;
        }
        Ok(value)
    }

    /// Consumes the next value if it is null. Returns whether it was.
    fn null(&mut self) -> bool {
        self.reader.literal(b"<4'null>")
    }

    fn integer<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let offset = self.reader.offset();
        let integer = self.reader.integer()?;
        if let Ok(value) = u64::try_from(&integer) {
            visitor.visit_u64(value)
        } else if let Ok(value) = i64::try_from(&integer) {
            visitor.visit_i64(value)
        } else if let Ok(value) = u128::try_from(&integer) {
            visitor.visit_u128(value)
        } else if let Ok(value) = i128::try_from(&integer) {
            visitor.visit_i128(value)
        } else {
            Err(ErrorKind::IntegerOutOfRange.at(offset).into())
        }
    }
}

macro_rules! text {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_borrowed_str(self.reader.string()?)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for &mut Deserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.reader.kind()? {
            Kind::Boolean => visitor.visit_bool(self.reader.bool()?),
            Kind::Integer => self.integer(visitor),
            Kind::Float64 => visitor.visit_f64(self.reader.f64()?),
            Kind::Float32 => visitor.visit_f32(self.reader.f32()?),
            Kind::Bytes => visitor.visit_borrowed_bytes(self.reader.bytes()?),
            Kind::String => visitor.visit_borrowed_str(self.reader.string()?),
            Kind::Symbol => visitor.visit_borrowed_str(self.reader.symbol()?),
            container @ (Kind::List | Kind::Set) => {
                self.enter(container, |inside| visitor.visit_seq(inside))
            }
            Kind::Dictionary => self.enter(Kind::Dictionary, |inside| visitor.visit_map(inside)),
            Kind::Record if self.null() => visitor.visit_unit(),
            Kind::Record => self.enter(Kind::Record, |inside| visitor.visit_enum(inside)),
        }
    }

    text!(deserialize_str deserialize_string deserialize_char deserialize_identifier);

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.null() {
            visitor.visit_unit()
        } else {
            let offset = self.reader.offset();
            self.reader.raw()?;
            Err(ErrorKind::WrongType.at(offset).into())
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        if name == SYMBOL {
            let text = self.reader.symbol()?;
            visitor.visit_newtype_struct(de::value::BorrowedStrDeserializer::new(text))
        } else {
            visitor.visit_newtype_struct(self)
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.enter(Kind::Record, |inside| visitor.visit_enum(inside))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.reader.raw()?;
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 bytes byte_buf seq tuple tuple_struct map struct
    }
}

impl<'de> Inside<'_, 'de> {
    /// Reads the next value, unless the container ends. If `ordered`, it must sort after the previous one.
    fn next<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
        ordered: bool,
    ) -> Result<Option<S::Value>, Error> {
        if self.ended || self.deserializer.reader.try_end(self.container) {
            self.ended = true;
            return Ok(None);
        }
        let start = self.deserializer.reader;
        let value = seed.deserialize(&mut *self.deserializer)?;
        if ordered {
            let length = self.deserializer.reader.offset() - start.offset();
            let encoded = &start.rest()[..length];
            if !self.previous.is_empty() {
                scan::order::<{ scan::STRICT }>(self.previous, encoded)
                    .map_err(|kind| kind.at(start.offset()))?;
            }
            self.previous = encoded;
        }
        Ok(Some(value))
    }
}

impl<'de> de::SeqAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Error;

    fn next_element_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.next(seed, self.container == Kind::Set)
    }
}

impl<'de> de::MapAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Error;

    fn next_key_seed<S: de::DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.next(seed, true)
    }

    fn next_value_seed<S: de::DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let reader = self.deserializer.reader;
        if { reader }.try_end(self.container) {
            return Err(ErrorKind::MissingValue.at(reader.offset()).into());
        }
        seed.deserialize(&mut *self.deserializer)
    }
}

impl<'de> de::EnumAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: de::DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Error> {
        let label = self.deserializer.reader.symbol()?;
        Ok((
            seed.deserialize(de::value::BorrowedStrDeserializer::<Error>::new(label))?,
            self,
        ))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<S: de::DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(&mut *self.deserializer)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(self)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        de::Deserializer::deserialize_map(&mut *self.deserializer, visitor)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeMap;
    use std::{string::String, vec, vec::Vec};

    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::syrup::tests::vectors;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Everything {
        truth: bool,
        small: i8,
        wide: u128,
        single: f32,
        double: f64,
        letter: char,
        text: String,
        symbol: Symbol<String>,
        none: Option<u8>,
        some: Option<u8>,
        unit: (),
        pair: (u8, String),
        map: BTreeMap<i64, Vec<u16>>,
        shapes: Vec<Shape>,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Shape {
        Nothing,
        One(u8),
        Two(u8, Symbol<String>),
        Named { y: u8, x: u8 },
    }

    fn everything() -> Everything {
        Everything {
            truth: true,
            small: -5,
            wide: u128::MAX,
            single: 1.5,
            double: -0.0,
            letter: 'ß',
            text: "größe".into(),
            symbol: Symbol("cat".into()),
            none: None,
            some: Some(3),
            unit: (),
            pair: (1, "x".into()),
            map: [(10, vec![1]), (-1, vec![]), (9, vec![2, 3])].into(),
            shapes: vec![
                Shape::Nothing,
                Shape::One(1),
                Shape::Two(2, Symbol("s".into())),
                Shape::Named { y: 1, x: 2 },
            ],
        }
    }

    #[test]
    fn every_shape_comes_back_and_is_canonical() {
        let encoded = to_vec(&everything()).unwrap();
        assert_eq!(from_slice::<Everything>(&encoded), Ok(everything()));
        let tree = Value::decode(&encoded).unwrap();
        assert_eq!(encode(&tree).unwrap(), encoded);
        assert_eq!(to_value(&everything()), Ok(tree.clone()));
        assert_eq!(from_value(&tree), Ok(everything()));
        // No prefix of it is a valid value, and no byte can be removed.
        for end in 0..encoded.len() {
            from_slice::<Everything>(&encoded[..end]).unwrap_err();
            let mut shorter = encoded.clone();
            shorter.remove(end);
            assert_ne!(from_slice::<Everything>(&shorter), Ok(everything()));
        }
    }

    #[test]
    fn on_the_wire() {
        let encoded = |shape: &Shape| String::from_utf8(to_vec(shape).unwrap()).unwrap();
        assert_eq!(encoded(&Shape::Nothing), "<7'Nothing>");
        assert_eq!(encoded(&Shape::One(1)), "<3'One1+>");
        assert_eq!(encoded(&Shape::Two(2, Symbol("s".into()))), "<3'Two2+1's>");
        assert_eq!(
            encoded(&Shape::Named { y: 1, x: 2 }),
            "<5'Named{1\"x2+1\"y1+}>"
        );
        assert_eq!(to_vec(&None::<u8>).unwrap(), b"<4'null>");
        assert_eq!(
            to_vec(&BTreeMap::from([(10, 1), (9, 2)])).unwrap(),
            b"{10+1+9+2+}"
        );
    }

    #[test]
    fn what_is_refused() {
        fn refused<'a, T: Deserialize<'a> + fmt::Debug>(input: &'a str, why: &str) {
            let error = from_slice::<T>(input.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), why, "{input}");
        }
        type Map = BTreeMap<String, u8>;
        refused::<Map>("{1\"b1+1\"a2+}", "byte 6: key or set member out of order");
        refused::<Map>("{1\"a1+1\"a2+}", "byte 6: duplicate key or set member");
        refused::<Map>("{1\"a}", "byte 4: key without a value");
        refused::<Map>("{1'a1+}", "byte 1: value is not of the expected type");
        refused::<u8>("01+", "byte 0: leading zero");
        refused::<u8>("1+1+", "byte 2: unexpected bytes after the value");
        refused::<(u8, u8)>(
            "[1+]",
            "byte 4: invalid length 1, expected a tuple of size 2",
        );
        refused::<(u8, u8)>("[1+2+3+]", "byte 5: length does not match the type");
        refused::<()>("<4'void>", "byte 0: value is not of the expected type");
        refused::<String>("3'cat", "byte 0: value is not of the expected type");
        refused::<Vec<u8>>("#2+1+$", "byte 3: key or set member out of order");
        refused::<Shape>("<3'One1+2+>", "byte 8: length does not match the type");
        refused::<Shape>("<7'Nothing1+>", "byte 10: length does not match the type");
        refused::<Shape>(
            "<5'Other>",
            "byte 8: unknown variant `Other`, expected one of `Nothing`, `One`, `Two`, `Named`",
        );
        let error = to_vec(&Symbol(1)).unwrap_err();
        assert_eq!(error.to_string(), "byte 0: expected text as a symbol");
        // Exactly as deep as the limit, and no deeper: the recursion is bounded.
        #[derive(Debug, Deserialize)]
        struct Nested(#[allow(dead_code)] Vec<Nested>);
        let deep = |levels| [vec![b'['; levels], vec![b']'; levels]].concat();
        assert!(from_slice::<Nested>(&deep(128)).is_ok());
        let error = from_slice::<Nested>(&deep(100_000)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "byte 128: containers are nested deeper than the limit"
        );
    }

    /// It accepts exactly what the strict decoder accepts.
    #[test]
    fn as_strict_as_the_decoder_on_every_vector() {
        for vector in vectors() {
            let ignored = from_slice::<de::IgnoredAny>(&vector.bytes);
            let strict = Value::decode(&vector.bytes);
            assert_eq!(
                ignored.map(|_| ()).map_err(|error| match error {
                    Error::Syrup(error) => error,
                    Error::Type { .. } => ErrorKind::UnexpectedByte.at(usize::MAX),
                }),
                strict.map(|_| ()),
                "{}",
                vector.id
            );
        }
    }
}
