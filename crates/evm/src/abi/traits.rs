//! The traits that give Rust types their ABI at compile time.

use super::{
    Error,
    read::{Decoder, Head},
    write::Frame,
};
use crate::const_text::ConstText;

/// Text built at compile time: the canonical name of a type, at most 512 bytes.
#[derive(Clone, Copy)]
pub struct TypeName(ConstText<512>);

impl TypeName {
    /// Creates the name `text`.
    pub const fn new(text: &str) -> Self {
        Self(ConstText::new()).then(text)
    }

    /// Appends `text`. A name longer than 512 bytes is a compile-time error.
    pub const fn then(mut self, text: &str) -> Self {
        self.0.push_str(text);
        self.fitting()
    }

    /// Appends a decimal number.
    pub const fn then_number(mut self, number: usize) -> Self {
        self.0.push_number(number);
        self.fitting()
    }

    const fn fitting(self) -> Self {
        assert!(
            self.0.len() <= 512,
            "a type's name is at most 512 bytes long"
        );
        self
    }

    /// Appends a member, where `self` is the start of a tuple.
    pub const fn then_member(self, member: &TypeName) -> Self {
        let separated = match self.as_bytes() {
            [.., b'('] => self,
            _ => self.then(","),
        };
        separated.then(member.as_str())
    }

    /// Returns the bytes of the name.
    pub const fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the name.
    pub const fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether an event topic contains the value itself, not its hash: all types except `bytes`, `string`, arrays and
    /// tuples.
    pub const fn is_value(&self) -> bool {
        !matches!(self.as_bytes(), b"bytes" | b"string" | [.., b')' | b']'])
    }
}

impl core::fmt::Debug for TypeName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A Rust type that corresponds to a Solidity type.
///
/// Tuples have two meanings: as a member, a tuple is a Solidity tuple; as the argument of [`encode`](super::encode) and
/// [`decode`](super::decode), it is a list of arguments. The `ARGUMENTS_…` items describe the second meaning; other
/// types use the defaults.
pub trait AbiType {
    /// The canonical name, e.g. `uint256[2][]`.
    const NAME: TypeName;
    /// Whether the encoding has a tail.
    const DYNAMIC: bool;
    /// Bytes that it takes in the head of the enclosing frame; 32 if dynamic.
    const HEAD: usize;
    /// Whether an event topic contains the value itself (or, for [`Hashed`](super::Hashed), the hash that represents
    /// it).
    const TOPIC: bool = Self::NAME.is_value();
    /// Size of the head of the arguments, in bytes.
    const ARGUMENTS_HEAD: usize = Self::HEAD;
}

/// A value that can be encoded. Macros and tuples implement it; see [`abi_struct!`](crate::abi_struct).
pub trait AbiEncode: AbiType {
    /// Returns the size of the tail in bytes; 0 if static.
    fn tail_size(&self) -> usize;

    /// Writes head and tail; `None` if the buffer is too short.
    fn write(&self, frame: &mut Frame<'_>) -> Option<()>;

    /// Returns the size of the arguments in bytes.
    #[inline(always)]
    fn arguments_size(&self) -> usize {
        Self::HEAD + self.tail_size()
    }

    /// Writes the arguments.
    #[inline(always)]
    fn write_arguments(&self, frame: &mut Frame<'_>) -> Option<()> {
        self.write(frame)
    }
}

/// A value that can be decoded. Types that borrow, borrow from data with lifetime `'a`.
pub trait AbiDecode<'a>: AbiType + Sized {
    /// Reads the value whose head is next.
    fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error>;

    /// Reads the arguments.
    #[inline(always)]
    fn read_arguments(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        Self::read(decoder, head)
    }
}
