//! The traits by which Rust types know their ABI at compile time.

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
    /// The name `text`.
    pub const fn new(text: &str) -> Self {
        Self(ConstText::new()).then(text)
    }

    /// This name with `text` behind it. A name beyond 512 bytes is an error at compile time.
    pub const fn then(mut self, text: &str) -> Self {
        self.0.push_str(text);
        self.fitting()
    }

    /// This name with a decimal number behind it.
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

    /// This name with a member behind it, inside a tuple of which `self` is the beginning.
    pub const fn then_member(self, member: &TypeName) -> Self {
        let separated = match self.as_bytes() {
            [.., b'('] => self,
            _ => self.then(","),
        };
        separated.then(member.as_str())
    }

    /// The bytes of the name.
    pub const fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The name.
    pub const fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// True for types that stand unhashed in an event's topic: all but `bytes`, `string`, arrays and tuples.
    pub const fn is_value(&self) -> bool {
        !matches!(self.as_bytes(), b"bytes" | b"string" | [.., b')' | b']'])
    }
}

impl core::fmt::Debug for TypeName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A Rust type that stands for a Solidity type.
///
/// Tuples stand for two things: as a member for a Solidity tuple, and as the argument of [`encode`](super::encode) and
/// [`decode`](super::decode) for a list of arguments. The `ARGUMENTS_…` items describe the second; other types keep
/// their defaults.
pub trait AbiType {
    /// The canonical name, e.g. `uint256[2][]`.
    const NAME: TypeName;
    /// True if the encoding has a tail.
    const DYNAMIC: bool;
    /// Bytes in the head of the frame around it; 32 if dynamic.
    const HEAD: usize;
    /// True if an event's topic holds the value itself (or, for [`Hashed`](super::Hashed), the hash it stands for).
    const TOPIC: bool = Self::NAME.is_value();
    /// Bytes of the head of the arguments that this type stands for.
    const ARGUMENTS_HEAD: usize = Self::HEAD;
}

/// A value that can be written. Macros and tuples implement it; see [`abi_struct!`](crate::abi_struct).
pub trait AbiEncode: AbiType {
    /// Bytes of the tail; 0 unless dynamic.
    fn tail_size(&self) -> usize;

    /// Writes head and tail; `None` if the buffer ends.
    fn write(&self, frame: &mut Frame<'_>) -> Option<()>;

    /// Bytes of the arguments that this value stands for.
    #[inline(always)]
    fn arguments_size(&self) -> usize {
        Self::HEAD + self.tail_size()
    }

    /// Writes the arguments that this value stands for.
    #[inline(always)]
    fn write_arguments(&self, frame: &mut Frame<'_>) -> Option<()> {
        self.write(frame)
    }
}

/// A value that can be read, borrowing from data of lifetime `'a` where its type borrows.
pub trait AbiDecode<'a>: AbiType + Sized {
    /// Reads the value whose head is next.
    fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error>;

    /// Reads the arguments that this type stands for.
    #[inline(always)]
    fn read_arguments(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        Self::read(decoder, head)
    }
}
