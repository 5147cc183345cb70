//! Trait implementations for Rust's types and the crate's own types.

use alloc::{string::String, vec::Vec};
use core::marker::PhantomData;

use lydite_bytes::{Address, B256, Bytes, FixedBytes, I256, U256};

use super::{
    Error, ErrorKind,
    read::{Decoder, Head},
    traits::{AbiDecode, AbiEncode, AbiType, TypeName},
    word,
    write::{Frame, bytes_size},
};

/// Implements a static type of one word: its name, how to write it, and how to read it (`None` if out of range). The
/// mask selects the bits that a lenient reader keeps.
macro_rules! word_type {
    ($(@[$($generics:tt)*])? $ty:ty, $name:expr, |$value:ident, $slot:ident| $put:expr, |$word:ident| $get:expr, $kind:expr, $mask:expr) => {
        impl $(<$($generics)*>)? AbiType for $ty {
            const NAME: TypeName = $name;
            const DYNAMIC: bool = false;
            const HEAD: usize = 32;
        }

        impl $(<$($generics)*>)? AbiEncode for $ty {
            #[inline(always)]
            fn tail_size(&self) -> usize {
                0
            }

            #[inline(always)]
            fn write(&self, frame: &mut Frame<'_>) -> Option<()> {
                let $value = self;
                let $slot = frame.word()?;
                $put;
                Some(())
            }
        }

        impl<'a $(, $($generics)*)?> AbiDecode<'a> for $ty {
            #[inline(always)]
            fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
                let at = head.position();
                let $word = head.word()?;
                let value: Option<Self> = $get;
                match value {
                    Some(value) => Ok(value),
                    None if decoder.is_lenient() => {
                        let mask: fn(&[u8; 32]) -> [u8; 32] = $mask;
                        let $word = &mask($word);
                        let value: Option<Self> = $get;
                        value.ok_or(Error::new($kind, at))
                    }
                    None => Err(Error::new($kind, at)),
                }
            }
        }
    };
}

word_type!(
    bool,
    TypeName::new("bool"),
    |value, slot| *slot = word::from_u64(u64::from(*value)),
    |word| word::to_bool(word),
    ErrorKind::Bool,
    |_| word::from_u64(1)
);
word_type!(
    U256,
    TypeName::new("uint256"),
    |value, slot| word::put_u256(slot, value),
    |word| Some(word::to_u256(word)),
    ErrorKind::Range,
    |word| *word
);
word_type!(
    I256,
    TypeName::new("int256"),
    |value, slot| word::put_u256(slot, &value.0),
    |word| Some(I256(word::to_u256(word))),
    ErrorKind::Range,
    |word| *word
);
word_type!(
    Address,
    TypeName::new("address"),
    |value, slot| *slot = value.into_word().0,
    |word| word::to_right(word).map(Address),
    ErrorKind::Padding,
    |word| word::keep_right(word, 20)
);
word_type!(
    @[const N: usize] FixedBytes<N>,
    {
        assert!(N >= 1 && N <= 32, "expected bytes1 to bytes32");
        TypeName::new("bytes").then_number(N)
    },
    |value, slot| word::put_left(slot, &value.0),
    |word| word::to_left(word).map(FixedBytes),
    ErrorKind::Padding,
    |word| word::keep_left(word, N)
);

macro_rules! integers {
    ($($unsigned:ty, $signed:ty, $bits:literal;)*) => {$(
        word_type!(
            $unsigned,
            TypeName::new("uint").then_number($bits),
            |value, slot| word::put_right(slot, &value.to_be_bytes()),
            |word| word::to_right(word).map(<$unsigned>::from_be_bytes),
            ErrorKind::Range,
            |word| word::keep_right(word, $bits / 8)
        );
        word_type!(
            $signed,
            TypeName::new("int").then_number($bits),
            |value, slot| *slot = word::from_i128(*value as i128),
            |word| {
                let (_, low) = word::halves(word);
                let value = low as $signed;
                (word::from_i128(value as i128) == *word).then_some(value)
            },
            ErrorKind::Range,
            |word| word::from_i128(word::halves(word).1 as $signed as i128)
        );
    )*};
}
integers! {
    u8, i8, 8;
    u16, i16, 16;
    u32, i32, 32;
    u64, i64, 64;
    u128, i128, 128;
}

/// An unsigned integer of a width that Rust does not have (`Uint<24>` is `uint24`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uint<const BITS: usize>(U256);

impl<const BITS: usize> Uint<BITS> {
    /// Converts the value; `None` if it does not fit.
    pub fn new(value: U256) -> Option<Self> {
        word::fits_uint(&word::from_u256(&value), BITS).then_some(Self(value))
    }

    /// Returns the value.
    pub const fn get(self) -> U256 {
        self.0
    }
}

/// A signed integer of a width that Rust does not have (`Int<24>` is `int24`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Int<const BITS: usize>(I256);

impl<const BITS: usize> Int<BITS> {
    /// Converts the value; `None` if it does not fit.
    pub fn new(value: I256) -> Option<Self> {
        value.fits(BITS as u32).then_some(Self(value))
    }

    /// Returns the value.
    pub const fn get(self) -> I256 {
        self.0
    }
}

word_type!(
    @[const BITS: usize] Uint<BITS>,
    {
        assert!(word::is_width(BITS), "expected uint8 to uint256, in steps of 8 bits");
        TypeName::new("uint").then_number(BITS)
    },
    |value, slot| word::put_u256(slot, &value.0),
    |word| Uint::new(word::to_u256(word)),
    ErrorKind::Range,
    |word| word::keep_right(word, BITS / 8)
);
word_type!(
    @[const BITS: usize] Int<BITS>,
    {
        assert!(word::is_width(BITS), "expected int8 to int256, in steps of 8 bits");
        TypeName::new("int").then_number(BITS)
    },
    |value, slot| word::put_u256(slot, &value.0.0),
    |word| Int::new(I256(word::to_u256(word))),
    ErrorKind::Range,
    |word| word::sign_extend(word, BITS / 8)
);

/// Solidity's `function` type: an address and a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function(pub [u8; 24]);

word_type!(
    Function,
    TypeName::new("function"),
    |value, slot| word::put_left(slot, &value.0),
    |word| word::to_left(word).map(Function),
    ErrorKind::Padding,
    |word| word::keep_left(word, 24)
);

/// An indexed event parameter of a dynamic type or tuple. The log only contains its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hashed<T>(pub B256, PhantomData<T>);

impl<T> Hashed<T> {
    /// Wraps a topic.
    pub const fn new(topic: B256) -> Self {
        Self(topic, PhantomData)
    }
}

impl<T: AbiType> AbiType for Hashed<T> {
    const NAME: TypeName = T::NAME;
    const TOPIC: bool = true;
    const DYNAMIC: bool = false;
    const HEAD: usize = 32;
}

impl<'a, T: AbiType> AbiDecode<'a> for Hashed<T> {
    #[inline(always)]
    fn read(_: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        head.word().map(|word| Self::new(FixedBytes(*word)))
    }
}

/// Implements `bytes` or `string`, written from a slice.
macro_rules! byte_type {
    ($ty:ty, $name:literal, |$value:ident| $bytes:expr) => {
        impl AbiType for $ty {
            const NAME: TypeName = TypeName::new($name);
            const DYNAMIC: bool = true;
            const HEAD: usize = 32;
        }

        impl AbiEncode for $ty {
            #[inline(always)]
            fn tail_size(&self) -> usize {
                let $value = self;
                bytes_size($bytes.len())
            }

            #[inline(always)]
            fn write(&self, frame: &mut Frame<'_>) -> Option<()> {
                let $value = self;
                frame.bytes($bytes)
            }
        }
    };
}
byte_type!([u8], "bytes", |value| value);
byte_type!(Bytes, "bytes", |value| &value.0[..]);
byte_type!(str, "string", |value| value.as_bytes());
byte_type!(String, "string", |value| value.as_bytes());

impl<'a, 'b> AbiDecode<'a> for &'b [u8]
where
    'a: 'b,
{
    #[inline(always)]
    fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        decoder.bytes(head).map(|(bytes, _)| bytes)
    }
}

impl<'a> AbiDecode<'a> for Bytes {
    #[inline(always)]
    fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        decoder.bytes(head).map(|(bytes, _)| Bytes(bytes.to_vec()))
    }
}

impl<'a, 'b> AbiDecode<'a> for &'b str
where
    'a: 'b,
{
    #[inline(always)]
    fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        decoder.string(head)
    }
}

impl<'a> AbiDecode<'a> for String {
    #[inline(always)]
    fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        decoder.owned_string(head)
    }
}

impl<T: AbiType + ?Sized> AbiType for &T {
    const NAME: TypeName = T::NAME;
    const DYNAMIC: bool = T::DYNAMIC;
    const HEAD: usize = T::HEAD;
    const ARGUMENTS_HEAD: usize = T::ARGUMENTS_HEAD;
}

impl<T: AbiEncode + ?Sized> AbiEncode for &T {
    #[inline(always)]
    fn tail_size(&self) -> usize {
        T::tail_size(self)
    }
    #[inline(always)]
    fn write(&self, frame: &mut Frame<'_>) -> Option<()> {
        T::write(self, frame)
    }
    #[inline(always)]
    fn arguments_size(&self) -> usize {
        T::arguments_size(self)
    }
    #[inline(always)]
    fn write_arguments(&self, frame: &mut Frame<'_>) -> Option<()> {
        T::write_arguments(self, frame)
    }
}

impl<T: AbiType> AbiType for Vec<T> {
    const NAME: TypeName = T::NAME.then("[]");
    const DYNAMIC: bool = true;
    const HEAD: usize = {
        // Otherwise a short input with a large length could require any amount of memory.
        assert!(T::HEAD > 0, "expected array elements of at least one byte");
        32
    };
}

#[inline(always)]
fn elements_size<T: AbiEncode>(elements: &[T]) -> usize {
    let tails = if T::DYNAMIC {
        elements.iter().map(T::tail_size).sum()
    } else {
        0
    };
    elements.len() * T::HEAD + tails
}

impl<T: AbiEncode> AbiEncode for Vec<T> {
    #[inline(always)]
    fn tail_size(&self) -> usize {
        32 + elements_size(self)
    }

    #[inline(always)]
    fn write(&self, frame: &mut Frame<'_>) -> Option<()> {
        frame.array(self.len(), T::HEAD, |inner| {
            self.iter().try_for_each(|element| element.write(inner))
        })
    }
}

impl<'a, T: AbiDecode<'a>> AbiDecode<'a> for Vec<T> {
    #[inline(always)]
    fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        let (len, mut inner) = decoder.array(head, T::HEAD)?;
        let mut elements = Vec::with_capacity(capacity::<T>(len, decoder.data_len()));
        for _ in 0..len {
            elements.push(T::read(decoder, &mut inner)?);
        }
        Ok(elements)
    }
}

/// Returns the number of elements to allocate at once. The data contains `len` heads, but dynamic elements may take
/// much more memory than their offsets: beyond twice the data, the vector grows as elements are read.
#[inline(always)]
pub(crate) fn capacity<T: AbiType>(len: usize, data: usize) -> usize {
    let size = size_of::<T>();
    if size <= 2 * T::HEAD {
        len
    } else {
        len.min(2 * data / size + 1)
    }
}

impl<T: AbiType, const N: usize> AbiType for [T; N] {
    const NAME: TypeName = T::NAME.then("[").then_number(N).then("]");
    const DYNAMIC: bool = T::DYNAMIC;
    const HEAD: usize = if Self::DYNAMIC { 32 } else { N * T::HEAD };
}

impl<T: AbiEncode, const N: usize> AbiEncode for [T; N] {
    #[inline(always)]
    fn tail_size(&self) -> usize {
        if Self::DYNAMIC {
            elements_size(self)
        } else {
            0
        }
    }

    #[inline(always)]
    fn write(&self, frame: &mut Frame<'_>) -> Option<()> {
        if Self::DYNAMIC {
            frame.nested(N * T::HEAD, |inner| {
                self.iter().try_for_each(|element| element.write(inner))
            })
        } else {
            self.iter().try_for_each(|element| element.write(frame))
        }
    }
}

impl<'a, T: AbiDecode<'a>, const N: usize> AbiDecode<'a> for [T; N] {
    #[inline(always)]
    fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
        let mut inner;
        let head = if Self::DYNAMIC {
            inner = decoder.nested(head, N * T::HEAD)?;
            &mut inner
        } else {
            head
        };
        // Collect options first: there is no stable `try_from_fn`.
        let mut failed = None;
        let elements: [Option<T>; N] = core::array::from_fn(|_| match failed {
            None => T::read(decoder, head).map_err(|e| failed = Some(e)).ok(),
            Some(_) => None,
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(elements.map(|element| match element {
                Some(element) => element,
                None => unreachable!("no read failed"),
            })),
        }
    }
}

macro_rules! tuples {
    ($($($name:ident $index:tt),+;)*) => {$(
        impl<$($name: AbiType),+> AbiType for ($($name,)+) {
            const NAME: TypeName = TypeName::new("(")$(.then_member(&$name::NAME))+.then(")");
            const DYNAMIC: bool = false $(|| $name::DYNAMIC)+;
            const HEAD: usize = if Self::DYNAMIC { 32 } else { Self::ARGUMENTS_HEAD };
            const ARGUMENTS_HEAD: usize = 0 $(+ $name::HEAD)+;
        }

        impl<$($name: AbiEncode),+> AbiEncode for ($($name,)+) {
            #[inline(always)]
            fn tail_size(&self) -> usize {
                if Self::DYNAMIC { self.arguments_size() } else { 0 }
            }

            #[inline(always)]
            fn write(&self, frame: &mut Frame<'_>) -> Option<()> {
                if Self::DYNAMIC {
                    frame.nested(Self::ARGUMENTS_HEAD, |inner| self.write_arguments(inner))
                } else {
                    self.write_arguments(frame)
                }
            }

            #[inline(always)]
            fn arguments_size(&self) -> usize {
                Self::ARGUMENTS_HEAD $(+ self.$index.tail_size())+
            }

            #[inline(always)]
            fn write_arguments(&self, frame: &mut Frame<'_>) -> Option<()> {
                $(self.$index.write(frame)?;)+
                Some(())
            }
        }

        impl<'a, $($name: AbiDecode<'a>),+> AbiDecode<'a> for ($($name,)+) {
            #[inline(always)]
            fn read(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
                if Self::DYNAMIC {
                    let mut inner = decoder.nested(head, Self::ARGUMENTS_HEAD)?;
                    Self::read_arguments(decoder, &mut inner)
                } else {
                    Self::read_arguments(decoder, head)
                }
            }

            #[inline(always)]
            fn read_arguments(decoder: &mut Decoder<'a>, head: &mut Head<'a>) -> Result<Self, Error> {
                Ok(($($name::read(decoder, head)?,)+))
            }
        }
    )*};
}
tuples! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16, R 17;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16, R 17, S 18;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15, Q 16, R 17, S 18, T 19;
}

impl AbiType for () {
    const NAME: TypeName = TypeName::new("()");
    const DYNAMIC: bool = false;
    const HEAD: usize = 0;
}

impl AbiEncode for () {
    fn tail_size(&self) -> usize {
        0
    }
    fn write(&self, _: &mut Frame<'_>) -> Option<()> {
        Some(())
    }
}

impl<'a> AbiDecode<'a> for () {
    fn read(_: &mut Decoder<'a>, _: &mut Head<'a>) -> Result<Self, Error> {
        Ok(())
    }
}
