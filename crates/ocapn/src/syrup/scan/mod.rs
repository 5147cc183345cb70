//! Parsing shared by all decoders. This file has the tokens; the modules have numbers, text, the order of keys, and the
//! walk over whole values.

mod number;
mod order;
mod run;
mod text;
mod visitor;
mod walk;

use super::{Error, ErrorKind};

pub use number::decimal;
pub(crate) use number::{Number, number, small};
pub(crate) use order::{order, text_order};
pub(crate) use text::utf8;
pub(crate) use visitor::{Atom, Visitor};
#[cfg(feature = "captp")]
pub(crate) use walk::{Progress, least_length, resume};
pub(crate) use walk::{Stack, skip, walk};

/// Mode: accept only canonical encodings.
pub(crate) const STRICT: u8 = 0;

/// Mode: also accept leading zeros, `0-`, other NaNs, keys in any order, white space between values and the brackets of
/// bencode (`l` or `(` for `[`, `d` for `{`, and `e` or `)` as their closers). The visitor must then check for
/// duplicate keys.
pub(crate) const LENIENT: u8 = 1;

/// Mode: accept only the output of [`encode_for_endo`](super::encode_for_endo).
pub(crate) const ENDO: u8 = 2;

/// The type of a value. The discriminant is the byte that opens or marks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `t`, `f`
    Boolean = b't',
    /// `42+`, `1-`
    Integer = b'+',
    /// `D` and 8 bytes
    Float64 = b'D',
    /// `F` and 4 bytes
    Float32 = b'F',
    /// `3:cat`
    Bytes = b':',
    /// `3"cat`
    String = b'"',
    /// `3'cat`
    Symbol = b'\'',
    /// `[…]`
    List = b'[',
    /// `{…}`
    Dictionary = b'{',
    /// `#…$`
    Set = b'#',
    /// `<…>`
    Record = b'<',
}

/// Canonical NaNs as in WebAssembly and OCapN's data model.
pub(super) const NAN64: u64 = 0x7ff8_0000_0000_0000;
pub(super) const NAN32: u32 = 0x7fc0_0000;

/// A boolean or a float.
#[derive(Clone, Copy)]
pub(crate) enum Fixed {
    Boolean(bool),
    Float64(u64),
    Float32(u32),
}

#[inline(always)]
pub(crate) fn advanced(error: Error, by: usize) -> Error {
    error.kind.at(error.offset + by)
}

/// The payload whose length is given by `number`, at the start of `rest`.
#[inline(always)]
pub(crate) fn payload(rest: &[u8], number: Number) -> Result<&[u8], Error> {
    let tail = &rest[number.digits + 1..];
    number
        .value
        .and_then(|length| usize::try_from(length).ok())
        .and_then(|length| tail.get(..length))
        .ok_or(ErrorKind::UnexpectedEnd.at(rest.len()))
}

/// Parses a boolean or a float at the start of `rest`, and returns it with its length.
#[inline(always)]
pub(crate) fn fixed<const MODE: u8>(first: u8, rest: &[u8]) -> Result<(Fixed, usize), Error> {
    let end = ErrorKind::UnexpectedEnd.at(rest.len());
    match first {
        b't' => Ok((Fixed::Boolean(true), 1)),
        b'f' => Ok((Fixed::Boolean(false), 1)),
        b'D' => {
            let bits = u64::from_be_bytes(*rest[1..].first_chunk().ok_or(end)?);
            if f64::from_bits(bits).is_nan() && bits != NAN64 && MODE != LENIENT {
                return Err(ErrorKind::NotCanonicalNan.at(1));
            }
            if MODE == ENDO && bits == (-0f64).to_bits() {
                return Err(ErrorKind::NegativeZero.at(0));
            }
            Ok((Fixed::Float64(bits), 9))
        }
        b'F' if MODE != ENDO => {
            let bits = u32::from_be_bytes(*rest[1..].first_chunk().ok_or(end)?);
            if f32::from_bits(bits).is_nan() && bits != NAN32 && MODE != LENIENT {
                return Err(ErrorKind::NotCanonicalNan.at(1));
            }
            Ok((Fixed::Float32(bits), 5))
        }
        _ => Err(ErrorKind::UnexpectedByte.at(0)),
    }
}
