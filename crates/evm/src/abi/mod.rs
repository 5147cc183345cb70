//! The Solidity ABI: types, values, encoding and decoding.
//!
//! There are two interfaces, with the same rules:
//!
//! - **Rust types** ([`AbiEncode`], [`AbiDecode`], [`abi_struct!`](crate::abi_struct), [`abi_call!`](crate::abi_call),
//!   [`abi_event!`](crate::abi_event)) compile to straight stores and loads; `&str` and `&[u8]` borrow from the data.
//! - **Type texts** ([`Type`], [`Value`], [`Codec`], [`CallCodec`], [`EventCodec`]) are for types known only at run
//!   time.
//!
//! Layout: a frame is a head of words followed by a tail. A static member is stored in the head. For a dynamic member,
//! the head has the offset, from the start of its frame, of the member's own frame in the tail. All numbers are
//! big-endian words of 32 bytes.
//!
//! Decoding is strict about values, and follows offsets to any position inside the data, like Solidity. [`Mode`] offers
//! a canonical and a lenient alternative. In every mode, the regions read add up to at most a few times the data.
//!
//! Source: Solidity ABI specification (docs.soliditylang.org, "Contract ABI Specification").
//!
//! ```
//! use lydite_evm::abi;
//! use lydite_bytes::{Address, U256};
//!
//! let data = abi::encode(&(Address::ZERO, "hello", vec![U256::ONE]));
//! let (to, text, list): (Address, &str, Vec<U256>) = abi::decode(&data)?;
//! assert_eq!((to, text, list), (Address::ZERO, "hello", vec![U256::ONE]));
//! # Ok::<(), abi::Error>(())
//! ```

mod call;
mod codec;
mod cursor;
mod error;
mod event;
#[cfg(feature = "serde")]
mod json;
mod macros;
mod plan;
mod read;
mod revert;
mod rust_types;
mod traits;
mod types;
mod value;
mod view;
mod walk;
mod word;
mod write;

#[cfg(test)]
mod tests;

use alloc::{string::ToString, vec::Vec};

use lydite_bytes::{B256, FixedBytes, write_after_prefix};
use lydite_hash::{keccak256, keccak256_const};

#[doc(hidden)]
pub use macros::private as __private;

pub use call::CallCodec;
pub use codec::Codec;
pub use error::{Error, ErrorKind};
pub use event::EventCodec;
#[cfg(feature = "serde")]
pub use json::JsonAbi;
pub use read::{Decoder, Head, Mode};
pub use revert::Revert;
pub use rust_types::{Function, Hashed, Int, Uint};
pub use traits::{AbiDecode, AbiEncode, AbiType, TypeName};
pub use types::{MAX_DEPTH, MAX_TYPES, Parameter, Signature, Type};
#[cfg(feature = "json")]
pub(crate) use types::{decimal, elementary};
pub(crate) use types::{is_identifier, is_struct_name};
pub use value::{MAX_VALUES, Value, encode_packed};
pub use view::{Decoded, ValueRef, Values, ValuesIter};
pub(crate) use word::is_width;
pub use write::Frame;

/// Encodes the arguments like Solidity's `abi.encode`: a tuple is the list of arguments, any other value is one
/// argument. One allocation of the exact size.
#[inline]
pub fn encode<T: AbiEncode + ?Sized>(value: &T) -> Vec<u8> {
    encode_behind(&[], value)
}

/// Encodes a call: a function's selector, followed by the encoding of its arguments.
///
/// ```
/// use lydite_evm::abi;
/// use lydite_bytes::{Address, U256};
/// let data = abi::encode_call([0xa9, 0x05, 0x9c, 0xbb], &(Address::ZERO, U256::ONE));
/// assert_eq!(data.len(), 4 + 64);
/// ```
#[inline]
pub fn encode_call<T: AbiEncode + ?Sized>(selector: [u8; 4], arguments: &T) -> Vec<u8> {
    encode_behind(&selector, arguments)
}

#[inline(always)]
fn encode_behind<T: AbiEncode + ?Sized>(prefix: &[u8], value: &T) -> Vec<u8> {
    // A short static encoding is built in registers and on the stack, then copied once.
    macro_rules! by_size {
        ($($size:literal)*) => {
            match T::ARGUMENTS_HEAD {
                $($size if !T::DYNAMIC => {
                    let mut words = [0; $size];
                    write_all(&mut words, value);
                    let mut out = Vec::with_capacity(prefix.len() + $size);
                    out.extend_from_slice(prefix);
                    out.extend_from_slice(&words);
                    out
                })*
                _ => {
                    let mut out = Vec::with_capacity(prefix.len() + value.arguments_size());
                    out.extend_from_slice(prefix);
                    out.resize(prefix.len() + value.arguments_size(), 0);
                    write_all(&mut out[prefix.len()..], value);
                    out
                }
            }
        };
    }
    by_size!(32 64 96 128 160 192 224 256)
}

/// Writes into `buffer`. Returns the number of bytes written.
#[inline(always)]
fn write_all<T: AbiEncode + ?Sized>(buffer: &mut [u8], value: &T) -> Option<usize> {
    let mut frame = Frame::new(buffer, T::ARGUMENTS_HEAD)?;
    value.write_arguments(&mut frame)?;
    Some(frame.written())
}

/// Like [`encode`], into the start of the caller's buffer. Returns the number of bytes written.
///
/// # Errors
/// `Buffer` with the required length; the contents of the buffer are then unspecified.
#[inline]
pub fn encode_into<T: AbiEncode + ?Sized>(value: &T, buffer: &mut [u8]) -> Result<usize, Error> {
    match write_all(buffer, value) {
        Some(written) => Ok(written),
        None => Err(write::buffer_error(value.arguments_size())),
    }
}

/// Like [`encode_call`], into the start of the caller's buffer. Returns the number of bytes written.
///
/// # Errors
/// `Buffer` with the required length; the contents of the buffer are then unspecified.
#[inline]
pub fn encode_call_into<T: AbiEncode + ?Sized>(
    selector: [u8; 4],
    arguments: &T,
    buffer: &mut [u8],
) -> Result<usize, Error> {
    // A short static encoding is built in registers.
    macro_rules! by_size {
        ($($size:literal)*) => {
            match T::ARGUMENTS_HEAD {
                $($size if !T::DYNAMIC => {
                    if let Some(out) = buffer.get_mut(..4 + $size) {
                        let mut words = [0; $size];
                        write_all(&mut words, arguments);
                        write_after_prefix(selector, &words, out);
                        return Ok(4 + $size);
                    }
                })*
                _ => {}
            }
        };
    }
    by_size!(32 64 96 128 160 192 224 256);
    if let Some((prefix, rest)) = buffer.split_first_chunk_mut()
        && let Some(written) = write_all(rest, arguments)
    {
        *prefix = selector;
        return Ok(4 + written);
    }
    Err(write::buffer_error(4 + arguments.arguments_size()))
}

/// Returns the length of the value's encoding, in bytes.
#[inline]
pub fn encoded_size<T: AbiEncode + ?Sized>(value: &T) -> usize {
    value.arguments_size()
}

/// Decodes arguments in [`Mode::Strict`]: a tuple is the list of arguments, any other type is one argument.
///
/// # Errors
/// The kind of error and the byte of `data` at which it occurred; see [`ErrorKind`].
#[inline]
pub fn decode<'a, T: AbiDecode<'a>>(data: &'a [u8]) -> Result<T, Error> {
    decode_with(data, Mode::Strict)
}

/// Like [`decode`], in the given mode.
///
/// # Errors
/// Those of [`decode`].
#[inline]
pub fn decode_with<'a, T: AbiDecode<'a>>(data: &'a [u8], mode: Mode) -> Result<T, Error> {
    let (mut decoder, mut head) = Decoder::new(data, mode, T::ARGUMENTS_HEAD)?;
    let value = T::read_arguments(&mut decoder, &mut head)?;
    decoder.finish()?;
    Ok(value)
}

/// Returns the selector of a function or error: the first four bytes of the Keccak-256 hash of its canonical signature.
/// Accepts a canonical signature or a human-readable line.
///
/// # Errors
/// Those of [`Signature::parse`].
///
/// ```
/// use lydite_evm::abi;
/// assert_eq!(abi::selector("function transfer(address to, uint amount)")?, [0xa9, 0x05, 0x9c, 0xbb]);
/// # Ok::<(), abi::Error>(())
/// ```
pub fn selector(signature: &str) -> Result<[u8; 4], Error> {
    let [a, b, c, d, ..] = event_topic(signature)?.0;
    Ok([a, b, c, d])
}

/// Returns the first topic of an event: the Keccak-256 hash of its canonical signature. Accepts a canonical signature
/// or a human-readable line.
///
/// # Errors
/// Those of [`Signature::parse`].
pub fn event_topic(signature: &str) -> Result<B256, Error> {
    let canonical = Signature::parse(signature)?.to_string();
    Ok(FixedBytes(keccak256(canonical.as_bytes())))
}

/// Like [`selector`], for a canonical signature, at compile time and unchecked.
pub const fn selector_const(canonical: &str) -> [u8; 4] {
    let [a, b, c, d, ..] = keccak256_const(canonical.as_bytes());
    [a, b, c, d]
}

/// Like [`event_topic`], for a canonical signature, at compile time and unchecked.
pub const fn event_topic_const(canonical: &str) -> B256 {
    FixedBytes(keccak256_const(canonical.as_bytes()))
}
