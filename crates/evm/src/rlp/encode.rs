//! Encoding. The integer writer has no loop: it shifts the value to the top of a word and stores the whole word, of
//! which only the first bytes count; the next field overwrites the rest. (A single 16-byte window for prefix and
//! payload is slower: it is assembled in memory from two registers, and the following load waits for both stores.)
use alloc::{string::String, vec::Vec};

use lydite_bytes::{Address, Buffer, Bytes, FixedBytes, SliceBuffer, U256};

use super::{Error, ErrorKind, Header};

/// Number of bytes that a whole-word store may write past the end of an encoding (see [`Buffer::put`]).
const SLACK: usize = 8;

/// A value with an RLP encoding.
pub trait Encode {
    /// Returns the exact length of the encoding in bytes.
    fn encoded_len(&self) -> usize;

    /// Appends the encoding to `out`.
    fn encode<B: Buffer>(&self, out: &mut B);
}

/// Encodes `value` in one allocation.
///
/// ```
/// assert_eq!(lydite_evm::rlp::encode(&"dog"), *b"\x83dog");
/// ```
#[inline]
pub fn encode<T: Encode + ?Sized>(value: &T) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.encoded_len() + SLACK);
    value.encode(&mut out);
    out
}

/// Appends the encoding of `value` to `out`, which is reallocated at most once.
#[inline]
pub fn encode_append<T: Encode + ?Sized>(value: &T, out: &mut Vec<u8>) {
    out.reserve(value.encoded_len() + SLACK);
    value.encode(out);
}

/// Writes the encoding of `value` to the start of `out` and returns its length.
///
/// Bytes of `out` after the encoding may be overwritten, because whole words are stored. If `out` is too short, its
/// contents are unspecified and the offset of the error is the required length.
///
/// ```
/// let mut buffer = [0; 16];
/// let n = lydite_evm::rlp::encode_into(&1024u64, &mut buffer)?;
/// assert_eq!(buffer[..n], [0x82, 0x04, 0x00]);
/// # Ok::<(), lydite_evm::rlp::Error>(())
/// ```
#[inline]
pub fn encode_into<T: Encode + ?Sized>(value: &T, out: &mut [u8]) -> Result<usize, Error> {
    let mut buffer = SliceBuffer::new(out);
    value.encode(&mut buffer);
    buffer.finish().map_err(|offset| Error {
        kind: ErrorKind::BufferTooSmall,
        offset,
    })
}

/// Returns the number of bytes of `value` without leading zeros; 0 for zero.
#[inline]
pub(crate) const fn integer_len(value: u64) -> usize {
    (71 - value.leading_zeros() as usize) / 8
}

/// Returns the encoded length of an integer of one limb: 1 below 0x80, otherwise prefix and bytes.
#[inline(always)]
fn word_len(value: u64) -> usize {
    1 + integer_len(value) - usize::from(value.wrapping_sub(1) < 0x7f)
}

#[inline(always)]
fn put_word<B: Buffer>(value: u64, out: &mut B) {
    let size = integer_len(value);
    // 1..=0x7f is its own encoding and overwrites the prefix. For zero, only the prefix counts, that of the empty
    // string.
    let single = value.wrapping_sub(1) < 0x7f;
    let payload = value.wrapping_shl(value.leading_zeros() & !7);
    out.put(&[0x80 + size as u8], usize::from(!single));
    out.put(&payload.to_be_bytes(), size);
}

/// Returns the encoded length of the integer with these limbs, least significant first.
#[inline(always)]
pub(crate) fn limbs_len<const L: usize>(limbs: &[u64; L]) -> usize {
    for top in (1..L).rev() {
        if limbs[top] != 0 {
            return 1 + 8 * top + integer_len(limbs[top]);
        }
    }
    word_len(limbs[0])
}

/// Appends the integer with these limbs, least significant first.
#[inline(always)]
pub(crate) fn put_limbs<const L: usize, B: Buffer>(limbs: &[u64; L], out: &mut B) {
    for top in (1..L).rev() {
        let value = limbs[top];
        if value != 0 {
            let size = integer_len(value);
            out.put(&[(0x80 + 8 * top + size) as u8], 1);
            out.put(&(value << (64 - 8 * size)).to_be_bytes(), size);
            for limb in limbs[..top].iter().rev() {
                out.put(&limb.to_be_bytes(), 8);
            }
            return;
        }
    }
    put_word(limbs[0], out);
}

/// Returns the encoded length of a big-endian integer of 32 bytes without its leading zeros.
#[inline]
pub(crate) fn integer_bytes_len(bytes: &[u8; 32]) -> usize {
    if bytes[0] != 0 {
        33
    } else {
        U256::from_be_bytes(*bytes).encoded_len()
    }
}

/// Appends a big-endian integer of 32 bytes without its leading zeros.
#[inline]
pub(crate) fn put_integer_bytes<B: Buffer>(bytes: &[u8; 32], out: &mut B) {
    if bytes[0] != 0 {
        out.put(&[0xa0], 1);
        out.put(bytes, 32);
    } else {
        U256::from_be_bytes(*bytes).encode(out);
    }
}

macro_rules! words {
    ($($integer:ty)*) => {$(
        impl Encode for $integer {
            #[inline]
            fn encoded_len(&self) -> usize {
                word_len(u64::from(*self))
            }

            #[inline(always)]
            fn encode<B: Buffer>(&self, out: &mut B) {
                put_word(u64::from(*self), out);
            }
        }
    )*};
}
words!(bool u8 u16 u32 u64);

impl Encode for u128 {
    #[inline]
    fn encoded_len(&self) -> usize {
        limbs_len(&[*self as u64, (*self >> 64) as u64])
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        put_limbs(&[*self as u64, (*self >> 64) as u64], out);
    }
}

impl Encode for U256 {
    #[inline]
    fn encoded_len(&self) -> usize {
        limbs_len(self.limbs())
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        put_limbs(self.limbs(), out);
    }
}

impl Encode for [u8] {
    #[inline]
    fn encoded_len(&self) -> usize {
        match self {
            [0..0x80] => 1,
            _ => {
                Header {
                    list: false,
                    payload_len: self.len(),
                }
                .encoded_len()
                    + self.len()
            }
        }
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        match self {
            [] => out.put(&[0x80], 1),
            [byte @ 0..0x80] => out.put(&[*byte], 1),
            _ => {
                Header {
                    list: false,
                    payload_len: self.len(),
                }
                .encode(out);
                out.put_slice(self);
            }
        }
    }
}

impl<const N: usize> Encode for [u8; N] {
    #[inline]
    fn encoded_len(&self) -> usize {
        self.as_slice().encoded_len()
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        if N > 1 {
            Header {
                list: false,
                payload_len: N,
            }
            .encode(out);
            out.put(self, N);
        } else {
            self.as_slice().encode(out);
        }
    }
}

/// Implements types that are encoded like a value they contain.
macro_rules! as_inner {
    ($([$($generics:tt)*] $outer:ty => $inner:expr;)*) => {$(
        impl<$($generics)*> Encode for $outer {
            #[inline]
            fn encoded_len(&self) -> usize {
                let inner: fn(&Self) -> &_ = $inner;
                inner(self).encoded_len()
            }

            #[inline(always)]
            fn encode<B: Buffer>(&self, out: &mut B) {
                let inner: fn(&Self) -> &_ = $inner;
                inner(self).encode(out);
            }
        }
    )*};
}
as_inner! {
    [const N: usize] FixedBytes<N> => |outer| &outer.0;
    [] Address => |outer| &outer.0;
    [] Bytes => |outer| outer.0.as_slice();
    [] str => |outer| outer.as_bytes();
    [] String => |outer| outer.as_bytes();
    [T: Encode + ?Sized] &T => |outer| *outer;
}

/// `None` is encoded as the empty string, like the `to` of a transaction that creates a contract.
impl Encode for Option<Address> {
    #[inline]
    fn encoded_len(&self) -> usize {
        if self.is_some() { 21 } else { 1 }
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        match self {
            Some(address) => address.encode(out),
            None => out.put(&[0x80], 1),
        }
    }
}

/// Encoded as a list of the elements. (So `Vec<u8>` is a list of integers; a byte string is `Bytes` or `[u8]`.)
impl<T: Encode> Encode for Vec<T> {
    #[inline]
    fn encoded_len(&self) -> usize {
        let payload_len = self.iter().map(T::encoded_len).sum();
        Header {
            list: true,
            payload_len,
        }
        .encoded_len()
            + payload_len
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        let payload_len = self.iter().map(T::encoded_len).sum();
        Header {
            list: true,
            payload_len,
        }
        .encode(out);
        for element in self {
            element.encode(out);
        }
    }
}
