//! Rust types as EIP-712 members: the corresponding Solidity type, and the word in `encodeData`.
//!
//! Source: [EIP-712](https://eips.ethereum.org/EIPS/eip-712), "Definition of encodeData".

use alloc::{string::String, vec, vec::Vec};

use lydite_bytes::{Address, Bytes, FixedBytes, I256, U256};
use lydite_hash::{Keccak256, keccak256};

use super::describe::MemberType;
use super::hash_independent;
use super::write::{put_array, put_integer, put_string, put_text};
use crate::abi::{Int, Uint, is_width};

/// A Rust type that can be a member of a typed struct.
///
/// | Rust | EIP-712 |
/// |---|---|
/// | `bool` | `bool` |
/// | `u8` … `u128`, [`U256`] | `uint8` … `uint256` |
/// | `i8` … `i128`, [`I256`] | `int8` … `int256` |
/// | [`Uint<N>`], [`Int<N>`] | `uintN`, `intN` |
/// | [`Address`] | `address` |
/// | [`FixedBytes<N>`] | `bytesN` |
/// | [`Bytes`] | `bytes` |
/// | `String`, `&str` | `string` |
/// | `Vec<T>` | `T[]` (so `Vec<u8>` is `uint8[]`, not `bytes`) |
/// | `[T; N]` | `T[N]` |
/// | a [`TypedStruct`](super::TypedStruct) | the struct |
/// | `Option` of one | the struct; `None` is 32 zero bytes, like `null` in wallets |
pub trait TypedValue {
    /// The EIP-712 type.
    const TYPE: &'static MemberType;

    /// Returns the word for the value in `encodeData`: the value itself, or its hash.
    fn word(&self) -> [u8; 32];

    /// Returns the word for an array of these values: the hash of the elements' words.
    fn array_word(items: &[Self]) -> [u8; 32]
    where
        Self: Sized,
    {
        let mut keccak = Keccak256::new();
        for item in items {
            keccak.update(&item.word());
        }
        keccak.finalize()
    }

    /// Appends the value as JSON, in the form of [`Domain::to_json`](super::Domain::to_json).
    fn write_json(&self, out: &mut String);
}

const fn width(bits: usize) -> u16 {
    assert!(is_width(bits), "an integer has 8, 16, … or 256 bits");
    bits as u16
}

impl<const BITS: usize> TypedValue for Uint<BITS> {
    const TYPE: &'static MemberType = &MemberType::Uint(width(BITS));

    fn word(&self) -> [u8; 32] {
        self.get().to_be_bytes()
    }

    fn write_json(&self, out: &mut String) {
        put_integer(out, &self.get());
    }
}

impl<const BITS: usize> TypedValue for Int<BITS> {
    const TYPE: &'static MemberType = &MemberType::Int(width(BITS));

    fn word(&self) -> [u8; 32] {
        self.get().0.to_be_bytes()
    }

    fn write_json(&self, out: &mut String) {
        put_integer(out, &self.get());
    }
}

macro_rules! integers {
    ($($int:ty: $kind:ident, $fill:expr;)+) => {$(
        impl TypedValue for $int {
            const TYPE: &'static MemberType = &MemberType::$kind(<$int>::BITS as u16);

            fn word(&self) -> [u8; 32] {
                #[allow(clippy::redundant_closure_call)]
                let mut word = [$fill(*self); 32];
                word[32 - size_of::<$int>()..].copy_from_slice(&self.to_be_bytes());
                word
            }

            fn write_json(&self, out: &mut String) {
                put_integer(out, self);
            }
        }
    )+};
}

integers! {
    u8: Uint, |_| 0;
    u16: Uint, |_| 0;
    u32: Uint, |_| 0;
    u64: Uint, |_| 0;
    u128: Uint, |_| 0;
    i8: Int, |value| if value < 0 { 0xff } else { 0 };
    i16: Int, |value| if value < 0 { 0xff } else { 0 };
    i32: Int, |value| if value < 0 { 0xff } else { 0 };
    i64: Int, |value| if value < 0 { 0xff } else { 0 };
    i128: Int, |value| if value < 0 { 0xff } else { 0 };
}

impl TypedValue for U256 {
    const TYPE: &'static MemberType = &MemberType::Uint(256);

    fn word(&self) -> [u8; 32] {
        self.to_be_bytes()
    }

    fn write_json(&self, out: &mut String) {
        put_integer(out, self);
    }
}

impl TypedValue for I256 {
    const TYPE: &'static MemberType = &MemberType::Int(256);

    fn word(&self) -> [u8; 32] {
        self.0.to_be_bytes()
    }

    fn write_json(&self, out: &mut String) {
        put_integer(out, self);
    }
}

impl TypedValue for bool {
    const TYPE: &'static MemberType = &MemberType::Bool;

    fn word(&self) -> [u8; 32] {
        u8::from(*self).word()
    }

    fn write_json(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl TypedValue for Address {
    const TYPE: &'static MemberType = &MemberType::Address;

    fn word(&self) -> [u8; 32] {
        self.into_word().0
    }

    fn write_json(&self, out: &mut String) {
        put_text(out, self);
    }
}

impl<const N: usize> TypedValue for FixedBytes<N> {
    const TYPE: &'static MemberType = {
        assert!(N >= 1 && N <= 32, "expected bytes1 to bytes32");
        &MemberType::FixedBytes(N as u8)
    };

    fn word(&self) -> [u8; 32] {
        let mut word = [0; 32];
        word[..N].copy_from_slice(&self.0);
        word
    }

    fn write_json(&self, out: &mut String) {
        put_text(out, self);
    }
}

/// Returns the word for an array of byte strings: hashes them in parallel, then hashes their hashes.
fn byte_strings_word<'a>(items: impl Iterator<Item = &'a [u8]>) -> [u8; 32] {
    let inputs: Vec<&[u8]> = items.collect();
    let mut hashes = vec![[0; 32]; inputs.len()];
    hash_independent(&inputs, &mut hashes);
    keccak256(hashes.as_flattened())
}

macro_rules! byte_strings {
    ($($string:ty: $kind:ident, $put:ident;)+) => {$(
        impl TypedValue for $string {
            const TYPE: &'static MemberType = &MemberType::$kind;

            fn word(&self) -> [u8; 32] {
                keccak256(self.as_ref())
            }

            fn array_word(items: &[Self]) -> [u8; 32] {
                byte_strings_word(items.iter().map(AsRef::as_ref))
            }

            fn write_json(&self, out: &mut String) {
                $put(out, self);
            }
        }
    )+};
}

byte_strings! {
    String: String, put_string;
    &str: String, put_string;
    Bytes: Bytes, put_text;
}

impl<T: TypedValue> TypedValue for Vec<T> {
    const TYPE: &'static MemberType = &MemberType::Array(T::TYPE);

    fn word(&self) -> [u8; 32] {
        T::array_word(self)
    }

    fn write_json(&self, out: &mut String) {
        put_array(out, self);
    }
}

impl<T: TypedValue, const N: usize> TypedValue for [T; N] {
    const TYPE: &'static MemberType = {
        assert!(N > 0, "expected an array of at least one element");
        &MemberType::FixedArray(T::TYPE, N)
    };

    fn word(&self) -> [u8; 32] {
        T::array_word(self)
    }

    fn write_json(&self, out: &mut String) {
        put_array(out, self);
    }
}
