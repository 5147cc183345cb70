//! `hashStruct` of a JSON object, hashed while it is read: no tree is built.
//!
//! The members of the structs and arrays that are open lie on one stack of words; a struct or array that closes leaves its hash as
//! one word of the one around it. A document that is valid holds every member of every struct that it opens, so the stack is
//! bounded by the document's length. Depth is bounded by the JSON reader (127 levels).

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt;

use lydite_bytes::{Address, B256, I256, U256, hex, uint};
use lydite_hash::keccak256;
use serde_core::de::{
    self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use super::error::{Reason, Trace, TypedDataError};
use super::schema::{Base, Type, TypedSchema};

/// `hashStruct` of the object `json`, which starts at byte `start` of the document and is called `root` in errors.
pub(super) fn hash_struct(
    schema: &TypedSchema,
    index: usize,
    root: &str,
    json: &str,
    start: usize,
) -> Result<B256, TypedDataError> {
    let mut hasher = Hasher {
        schema,
        words: Vec::with_capacity(16),
        seen: Vec::with_capacity(16),
        limit: json.len() + 1,
        trace: Trace::at(root),
    };
    let mut reader = serde_json::Deserializer::from_str(json);
    let word = ValueSeed {
        hasher: &mut hasher,
        ty: Type::of_struct(index),
    }
    .deserialize(&mut reader);
    match word.and_then(|word| reader.end().map(|()| word)) {
        Ok(word) => Ok(B256::from(word)),
        Err(error) => Err(hasher.trace.error(&error, json, start)),
    }
}

struct Hasher<'s> {
    schema: &'s TypedSchema,
    words: Vec<[u8; 32]>,
    /// For each struct that is open: which members have been read.
    seen: Vec<bool>,
    /// The most words there can be. A member takes at least 5 bytes of text (`"a":1`) and a struct two (`{}`).
    limit: usize,
    trace: Trace<'s>,
}

/// One value of a type; the result is its word in `encodeData`.
struct ValueSeed<'h, 's> {
    hasher: &'h mut Hasher<'s>,
    ty: Type,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_> {
    type Value = [u8; 32];

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<[u8; 32], D::Error> {
        match self.ty.base {
            Base::Uint(bits) if !self.ty.is_array() => self.integer(reader, bits, false),
            Base::Int(bits) if !self.ty.is_array() => self.integer(reader, bits, true),
            _ => reader.deserialize_any(self),
        }
    }
}

impl ValueSeed<'_, '_> {
    /// Reads the digits as text: a JSON number may be larger than any machine number.
    fn integer<'de, D: Deserializer<'de>>(
        self,
        reader: D,
        bits: u16,
        signed: bool,
    ) -> Result<[u8; 32], D::Error> {
        let raw = <&RawValue>::deserialize(reader)?.get();
        let text = match raw.as_bytes() {
            [b'"', .., b'"'] if !raw.contains('\\') => Cow::Borrowed(&raw[1..raw.len() - 1]),
            [b'"', ..] => {
                Cow::Owned(serde_json::from_str::<String>(raw).map_err(de::Error::custom)?)
            }
            [b'-' | b'0'..=b'9', ..] => Cow::Borrowed(raw),
            _ => {
                let sign = if signed { "" } else { "u" };
                let message = format!(
                    "expected {sign}int{bits} (a number, or a string of decimal or 0x hexadecimal digits)"
                );
                return Err(self.hasher.trace.fail(Reason::Json(message)));
            }
        };
        match parse_integer(&text, bits, signed) {
            Ok(value) => Ok(value.to_be_bytes()),
            Err(uint::Error::Overflow) => {
                Err(self.hasher.trace.fail(Reason::Range { signed, bits }))
            }
            Err(error) => Err(self.hasher.trace.fail(Reason::Integer(error))),
        }
    }

    fn wrong_kind<E: de::Error>(&self, found: de::Unexpected<'_>) -> E {
        E::invalid_type(found, self)
    }
}

/// An integer in two's complement.
fn parse_integer(text: &str, bits: u16, signed: bool) -> Result<U256, uint::Error> {
    if text.starts_with("-0x") {
        return Err(uint::Error::InvalidDigit {
            offset: 2,
            byte: b'x',
        });
    }
    if signed || text.starts_with('-') {
        let value: I256 = text.parse()?;
        let fits = if signed {
            value.fits(u32::from(bits))
        } else {
            value == I256::default()
        };
        return if fits {
            Ok(value.0)
        } else {
            Err(uint::Error::Overflow)
        };
    }
    let value: U256 = text.parse()?;
    if value.bit_len() <= u32::from(bits) {
        Ok(value)
    } else {
        Err(uint::Error::Overflow)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_> {
    type Value = [u8; 32];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ty.is_array() {
            return f.write_str("an array");
        }
        match self.ty.base {
            Base::Bool => f.write_str("bool (true or false)"),
            Base::Address => f.write_str("address (a string of 0x and 40 digits)"),
            Base::FixedBytes(length) => write!(
                f,
                "bytes{length} (a string of 0x and {} digits)",
                2 * length
            ),
            Base::Bytes => f.write_str("bytes (a string of 0x and digits)"),
            Base::String => f.write_str("string"),
            Base::Uint(bits) => write!(f, "uint{bits}"),
            Base::Int(bits) => write!(f, "int{bits}"),
            Base::Struct(index) => {
                write!(f, "{} (an object)", self.hasher.schema.struct_name(index))
            }
        }
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<[u8; 32], E> {
        if self.ty.is_array() || self.ty.base != Base::Bool {
            return Err(self.wrong_kind(de::Unexpected::Bool(value)));
        }
        let mut word = [0; 32];
        word[31] = u8::from(value);
        Ok(word)
    }

    /// `null` stands for a struct that is not there (recursive types end so); the message itself must be there.
    fn visit_unit<E: de::Error>(self) -> Result<[u8; 32], E> {
        if self.ty.is_array()
            || !matches!(self.ty.base, Base::Struct(_))
            || self.hasher.trace.is_root()
        {
            return Err(self.wrong_kind(de::Unexpected::Other("null")));
        }
        Ok([0; 32])
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<[u8; 32], E> {
        if self.ty.is_array() {
            return Err(self.wrong_kind(de::Unexpected::Str(text)));
        }
        let word = match self.ty.base {
            Base::String => Ok(keccak256(text.as_bytes())),
            Base::Address => address_word(text),
            Base::FixedBytes(length) => fixed_bytes_word(text, usize::from(length)),
            Base::Bytes => bytes_word(text),
            _ => return Err(self.wrong_kind(de::Unexpected::Str(text))),
        };
        word.map_err(|reason| self.hasher.trace.fail(reason))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<[u8; 32], A::Error> {
        if !self.ty.is_array() {
            return Err(self.wrong_kind(de::Unexpected::Seq));
        }
        let hasher = self.hasher;
        let (expected, ty) = hasher.schema.array(self.ty);
        let start = hasher.words.len();
        let mut count = 0;
        loop {
            hasher.trace.enter_index(count);
            let word = list.next_element_seed(ValueSeed {
                hasher: &mut *hasher,
                ty,
            })?;
            hasher.trace.leave();
            let Some(word) = word else { break };
            hasher.words.push(word);
            count += 1;
            if expected != 0 && count > expected {
                break;
            }
        }
        if expected != 0 && count != expected {
            return Err(hasher.trace.fail(Reason::ArrayLength {
                expected,
                actual: count,
            }));
        }
        Ok(hasher.close(start))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<[u8; 32], A::Error> {
        let Base::Struct(index) = self.ty.base else {
            return Err(self.wrong_kind(de::Unexpected::Map));
        };
        if self.ty.is_array() {
            return Err(self.wrong_kind(de::Unexpected::Map));
        }
        let hasher = self.hasher;
        let schema = hasher.schema;
        let (start, seen) = (hasher.words.len(), hasher.seen.len());
        let count = schema.member_count(index);
        if start + count + 1 > hasher.limit {
            return Err(hasher.trace.fail(Reason::TooShort));
        }
        hasher.words.resize(start + 1 + count, [0; 32]);
        hasher.words[start] = *schema.struct_type_hash(index);
        hasher.seen.resize(seen + count, false);

        let mut guess = 0;
        while let Some(position) = map.next_key_seed(KeySeed {
            hasher: &mut *hasher,
            index,
            guess,
        })? {
            let (name, ty) = schema.member(index, position);
            hasher.trace.enter_key(name);
            if core::mem::replace(&mut hasher.seen[seen + position], true) {
                return Err(hasher.trace.fail(Reason::Duplicate));
            }
            hasher.words[start + 1 + position] = map.next_value_seed(ValueSeed {
                hasher: &mut *hasher,
                ty,
            })?;
            hasher.trace.leave();
            guess = position + 1;
        }
        if let Some(position) = hasher.seen[seen..].iter().position(|seen| !seen) {
            hasher.trace.enter_key(schema.member(index, position).0);
            return Err(hasher.trace.fail(Reason::Missing));
        }
        hasher.seen.truncate(seen);
        Ok(hasher.close(start))
    }
}

impl Hasher<'_> {
    /// Takes the words from `start` on off the stack and hashes them.
    fn close(&mut self, start: usize) -> [u8; 32] {
        let word = keccak256(self.words[start..].as_flattened());
        self.words.truncate(start);
        word
    }
}

/// Bytes in JSON always carry `0x`: text without it may be meant as text.
fn prefixed(text: &str) -> Result<&str, Reason> {
    if text.starts_with("0x") {
        Ok(text)
    } else {
        Err(Reason::Prefix)
    }
}

/// The checksum is not looked at, as nothing in EIP-712 asks for it.
fn address_word(text: &str) -> Result<[u8; 32], Reason> {
    let address = Address::from_hex(prefixed(text)?).map_err(Reason::Address)?;
    Ok(address.into_word().0)
}

fn fixed_bytes_word(text: &str, length: usize) -> Result<[u8; 32], Reason> {
    let mut word = [0; 32];
    match hex::decode_to_slice(prefixed(text)?, &mut word[..length]) {
        Ok(()) => Ok(word),
        Err(hex::Error::Length { actual, .. }) if actual % 2 == 0 => Err(Reason::BytesLength {
            expected: length,
            actual: actual / 2,
        }),
        Err(error) => Err(Reason::Hex(error)),
    }
}

fn bytes_word(text: &str) -> Result<[u8; 32], Reason> {
    Ok(keccak256(
        &hex::decode(prefixed(text)?).map_err(Reason::Hex)?,
    ))
}

/// A key of an object; the result is the member's position.
struct KeySeed<'h, 's> {
    hasher: &'h mut Hasher<'s>,
    index: usize,
    guess: usize,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<usize, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed<'_, '_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<usize, E> {
        self.hasher
            .schema
            .find_member(self.index, name, self.guess)
            .ok_or_else(|| {
                self.hasher.trace.enter_key(String::from(name));
                self.hasher.trace.fail(Reason::Unknown)
            })
    }
}
