//! Values of types known only at run time, their text form, and the packed encoding.

use alloc::{string::String, vec::Vec};
use core::fmt::{self, Write as _};

use lydite_bytes::{Address, I256, U256, hex};

use super::cursor::Cursor;
use super::{Error, ErrorKind, Type, word};
use crate::escape;

/// Maximum number of values in a text for [`Value::parse`], including arrays and tuples.
///
/// A [`Value`] takes 40 bytes and as little as 2 bytes of text (`1,`); an array grows by doubling. So a text takes at
/// most 60 times its length, and at most 2 GiB.
pub const MAX_VALUES: usize = 1 << 24;

/// A value of a Solidity type.
///
/// `Display` writes the form that [`Value::parse`] reads: `(7,0xab,["a","b"],true)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `bool`
    Bool(bool),
    /// `uintN`: value and width in bits
    Uint(U256, u16),
    /// `intN`: two's complement of 256 bits, and width in bits
    Int(U256, u16),
    /// `address`
    Address(Address),
    /// `bytesN`: the bytes followed by zeros, and their number
    FixedBytes([u8; 32], u8),
    /// `function`
    Function([u8; 24]),
    /// `bytes`
    Bytes(Vec<u8>),
    /// `string`
    String(String),
    /// `T[]`
    Array(Vec<Value>),
    /// `T[n]`
    FixedArray(Vec<Value>),
    /// `(T1,T2,…)`
    Tuple(Vec<Value>),
}

impl Value {
    /// Parses the text of a value of type `ty`: integers in decimal or hexadecimal, byte strings and addresses in
    /// hexadecimal, `true` or `false`, arrays in `[…]`, tuples in `(…)` or `[…]`, strings in double quotes with JSON
    /// escapes. JSON arrays are accepted: any scalar may be in quotes. The checksum of an address is not checked. A
    /// string without quotes extends to the next comma or closing bracket, or, if it is the whole value, to the end.
    ///
    /// # Errors
    /// `Mismatch`, `Range` or `TooManyValues` ([`MAX_VALUES`], which bounds memory), with the byte of the text.
    ///
    /// ```
    /// use lydite_evm::abi::{Type, Value};
    /// let ty = Type::parse("(uint8,bytes,string[],bool)")?;
    /// let value = Value::parse(&ty, r#"(7, 0xab, ["a", "b,\n"], true)"#)?;
    /// assert_eq!(value.to_string(), r#"(7,0xab,["a","b,\n"],true)"#);
    /// # Ok::<(), lydite_evm::abi::Error>(())
    /// ```
    pub fn parse(ty: &Type, text: &str) -> Result<Self, Error> {
        if *ty == Type::String && !text.starts_with('"') {
            return Ok(Value::String(text.into()));
        }
        let mut reader = Cursor::new(text, ErrorKind::Mismatch, MAX_VALUES);
        let value = reader.value(ty)?;
        reader.end()?;
        Ok(value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = |open: &str, values: &[Value], close: &str| {
            f.write_str(open)?;
            for (i, value) in values.iter().enumerate() {
                if i > 0 {
                    f.write_str(",")?;
                }
                value.fmt(f)?;
            }
            f.write_str(close)
        };
        match self {
            Value::Array(values) | Value::FixedArray(values) => list("[", values, "]"),
            Value::Tuple(values) => list("(", values, ")"),
            Value::Bool(value) => value.fmt(f),
            Value::Uint(value, _) => value.fmt(f),
            Value::Int(value, _) => I256(*value).fmt(f),
            Value::Address(value) => value.fmt(f),
            Value::FixedBytes(word, len) => {
                f.write_str(&hex::encode_prefixed(&word[..usize::from(*len).min(32)]))
            }
            Value::Function(bytes) => f.write_str(&hex::encode_prefixed(bytes)),
            Value::Bytes(bytes) => f.write_str(&hex::encode_prefixed(bytes)),
            Value::String(text) => {
                f.write_char('"')?;
                for c in text.chars() {
                    match c {
                        '"' | '\\' => write!(f, "\\{c}")?,
                        '\n' => f.write_str("\\n")?,
                        '\r' => f.write_str("\\r")?,
                        '\t' => f.write_str("\\t")?,
                        c if c < ' ' => write!(f, "\\u{:04x}", u32::from(c))?,
                        c => f.write_char(c)?,
                    }
                }
                f.write_char('"')
            }
        }
    }
}

impl<'a> Cursor<'a> {
    /// Takes the text of a scalar: in quotes without escapes, or up to the next comma, bracket or end.
    fn scalar(&mut self) -> Result<&'a str, Error> {
        let quoted = self.eat(b'"');
        let rest = &self.text[self.at..];
        let end = if quoted {
            rest.find('"').ok_or(self.error())?
        } else {
            rest.find([',', ']', ')']).unwrap_or(rest.len())
        };
        self.at += end + usize::from(quoted);
        Ok(rest[..end].trim())
    }

    fn string(&mut self) -> Result<String, Error> {
        if self.peek() != Some(b'"') {
            return Ok(self.scalar()?.into());
        }
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(['"', '\\']).ok_or(self.error())?;
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest.as_bytes()[plain] == b'"' {
                return Ok(out);
            }
            match escape::character(self.text, &mut self.at) {
                Some(c) => out.push(c),
                None => return Err(self.error()),
            }
        }
    }

    /// Parses the values between brackets; value `i` has type `ty(i)`.
    fn list<'t>(
        &mut self,
        tuple: bool,
        ty: impl Fn(usize) -> Option<&'t Type>,
    ) -> Result<Vec<Value>, Error> {
        let close = match self.peek() {
            Some(b'[') => b']',
            Some(b'(') if tuple => b')',
            _ => return Err(self.error()),
        };
        self.at += 1;
        let mut values = Vec::new();
        if self.eat(close) {
            return Ok(values);
        }
        loop {
            let ty = ty(values.len()).ok_or(self.error())?;
            values.push(self.value(ty)?);
            if self.eat(close) {
                return Ok(values);
            }
            self.expect(b',')?;
        }
    }

    fn value(&mut self, ty: &Type) -> Result<Value, Error> {
        self.peek();
        self.count(ErrorKind::TooManyValues)?;
        let (error, range) = (self.error(), Error::new(ErrorKind::Range, self.at));
        Ok(match ty {
            Type::Array(element) => Value::Array(self.list(false, |_| Some(element))?),
            Type::FixedArray(element, len) => {
                let values = self.list(false, |i| (i < *len).then_some(&**element))?;
                if values.len() != *len {
                    return Err(self.error());
                }
                Value::FixedArray(values)
            }
            Type::Tuple(members) => {
                let values = self.list(true, |i| members.get(i))?;
                if values.len() != members.len() {
                    return Err(self.error());
                }
                Value::Tuple(values)
            }
            Type::String => Value::String(self.string()?),
            Type::Bytes => Value::Bytes(hex::decode(self.scalar()?).map_err(|_| error)?),
            Type::Bool => match self.scalar()? {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => return Err(error),
            },
            Type::Address => Value::Address(Address::from_hex(self.scalar()?).map_err(|_| error)?),
            Type::Function => {
                Value::Function(hex::decode_to_array(self.scalar()?).map_err(|_| error)?)
            }
            Type::FixedBytes(len) => {
                let bytes = hex::decode(self.scalar()?).map_err(|_| error)?;
                if bytes.len() != usize::from(*len) || *len > 32 {
                    return Err(range);
                }
                Value::FixedBytes(word::left(&bytes), *len)
            }
            Type::Uint(bits) => {
                let value: U256 = self.scalar()?.parse().map_err(|_| error)?;
                if !word::fits_uint(&value.to_be_bytes(), usize::from(*bits)) {
                    return Err(range);
                }
                Value::Uint(value, *bits)
            }
            Type::Int(bits) => {
                let value: I256 = self.scalar()?.parse().map_err(|_| error)?;
                if !value.fits(u32::from(*bits)) {
                    return Err(range);
                }
                Value::Int(value.0, *bits)
            }
        })
    }
}

/// Encodes like Solidity's `abi.encodePacked`, the non-standard packed mode: members take their own width, without
/// offsets or lengths; elements of arrays are whole words. The encoding is ambiguous: two lists of values may have the
/// same encoding.
///
/// # Errors
/// `Mismatch` for values that Solidity does not pack (tuples, arrays of arrays, of `bytes` or of `string`), `Range` for
/// an integer or a `bytesN` beyond its width. The offset is the index of the value.
///
/// ```
/// use lydite_evm::abi::{Value, encode_packed};
/// use lydite_bytes::U256;
/// // The example of the Solidity ABI specification, "Non-standard Packed Mode".
/// let values = [
///     Value::Int(U256::MAX, 16),
///     Value::FixedBytes({ let mut word = [0; 32]; word[0] = 0x42; word }, 1),
///     Value::Uint(U256::from(3u64), 16),
///     Value::String("Hello, world!".into()),
/// ];
/// assert_eq!(encode_packed(&values)?, b"\xff\xff\x42\x00\x03Hello, world!");
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
pub fn encode_packed(values: &[Value]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    for (i, value) in values.iter().enumerate() {
        match value {
            Value::Bytes(bytes) => out.extend_from_slice(bytes),
            Value::String(text) => out.extend_from_slice(text.as_bytes()),
            Value::Array(elements) | Value::FixedArray(elements) => {
                for element in elements {
                    pack(element, true, &mut out).map_err(|kind| Error::new(kind, i))?;
                }
            }
            value => pack(value, false, &mut out).map_err(|kind| Error::new(kind, i))?,
        }
    }
    Ok(out)
}

/// Appends a value of a value type: its own bytes or, with `whole`, the word.
fn pack(value: &Value, whole: bool, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
    let (word, own) = match value {
        Value::Bool(value) => (word::from_u64(u64::from(*value)), 31..32),
        Value::Address(address) => (word::right(&address.0), 12..32),
        Value::Function(bytes) => (word::left(bytes), 0..24),
        Value::FixedBytes(bytes, len) if (1..=32).contains(len) => {
            let len = usize::from(*len);
            if len < 32 && !word::is_padded(bytes, 32 - len) {
                return Err(ErrorKind::Range);
            }
            (*bytes, 0..len)
        }
        Value::Uint(number, bits) | Value::Int(number, bits)
            if word::is_width(usize::from(*bits)) =>
        {
            let (word, width) = (number.to_be_bytes(), usize::from(*bits));
            let fits = match value {
                Value::Int(..) => word::fits_int(&word, width),
                _ => word::fits_uint(&word, width),
            };
            if !fits {
                return Err(ErrorKind::Range);
            }
            (word, 32 - width / 8..32)
        }
        _ => return Err(ErrorKind::Mismatch),
    };
    out.extend_from_slice(if whole { &word } else { &word[own] });
    Ok(())
}
