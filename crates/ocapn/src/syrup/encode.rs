//! Encoding. Short pieces are built in registers and stored as whole windows, of which only the first bytes count. The
//! next piece overwrites the rest.
use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};
use core::cmp::Ordering;

use lydite_bytes::{Bytes, SliceBuffer};

use super::{
    Buffer, Document, Error, ErrorKind, Integer, Items, MAX_TREE_DEPTH, Raw, Symbol, Value,
    buffer::{HashBuffer, VecBuffer},
    integer::Parts,
    scan::{NAN32, NAN64, text_order},
};

/// A type with a Syrup encoding. Can be derived: see [`syrup`](self::super).
pub trait Encode {
    /// Appends the canonical encoding to `out`.
    fn encode<B: Buffer>(&self, out: &mut B) -> Result<(), Error>;

    /// Estimated length of the encoding, the initial capacity of [`encode`]. A wrong estimate only costs time.
    #[inline]
    fn length_hint(&self) -> usize {
        FIRST_CAPACITY
    }
}

/// Initial capacity, enough for most messages.
const FIRST_CAPACITY: usize = 128;

/// Returns the canonical encoding of `value`.
///
/// # Errors
///
/// [`ErrorKind::Duplicate`] if a dictionary or set has equal keys or members; [`ErrorKind::TooDeep`] if a [`Value`] is
/// nested deeper than [`MAX_TREE_DEPTH`].
///
/// ```
/// use lydite_ocapn::syrup::{self, Value};
///
/// let pair = Value::List(vec![Value::symbol("cat"), 7.into()]);
/// assert_eq!(syrup::encode(&pair)?, b"[3'cat7+]");
/// # Ok::<(), syrup::Error>(())
/// ```
#[inline]
pub fn encode<T: Encode + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(value.length_hint());
    encode_append(value, &mut out)?;
    Ok(out)
}

/// Appends the canonical encoding of `value` to `out`. On an error `out` is unchanged.
///
/// # Errors
///
/// Those of [`encode`].
#[inline]
pub fn encode_append<T: Encode + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    let mut buffer = VecBuffer::new(out);
    let result = value.encode(&mut buffer);
    let end = match result {
        Ok(()) => buffer.written,
        Err(_) => start,
    };
    out.truncate(end);
    result
}

/// Writes the canonical encoding of `value` to the start of `out` and returns its length.
///
/// Bytes of `out` after the encoding may be overwritten, since whole windows are stored. If `out` is too short, its
/// contents are unspecified and the error's offset is the required length.
///
/// # Errors
///
/// [`ErrorKind::BufferTooSmall`]; those of [`encode`].
///
/// ```
/// use lydite_ocapn::syrup;
///
/// let mut buffer = [0; 32];
/// let n = syrup::encode_into("cat", &mut buffer)?;
/// assert_eq!(&buffer[..n], b"3\"cat");
/// # Ok::<(), syrup::Error>(())
/// ```
#[inline]
pub fn encode_into<T: Encode + ?Sized>(value: &T, out: &mut [u8]) -> Result<usize, Error> {
    let mut buffer = SliceBuffer::new(out);
    value.encode(&mut buffer)?;
    buffer
        .finish()
        .map_err(|needed| ErrorKind::BufferTooSmall.at(needed))
}

/// Returns the content id of `value`: SHA-256 of its canonical encoding, which is hashed as it is written and never
/// stored whole.
///
/// ```
/// use lydite_ocapn::syrup;
///
/// assert_eq!(syrup::content_id("cat")?, lydite_hash::sha256(b"3\"cat"));
/// # Ok::<(), syrup::Error>(())
/// ```
#[inline]
pub fn content_id<T: Encode + ?Sized>(value: &T) -> Result<[u8; 32], Error> {
    let mut out = HashBuffer::new();
    value.encode(&mut out)?;
    Ok(out.finish())
}

/// Encodes `value` in the form that Endo writes and reads until it follows the specification: the keys of a dictionary
/// are strings sorted by their text (by UTF-16 code units, like JavaScript) instead of by their encodings, and zero has
/// no sign. [`Value::decode_lenient`] reads this form.
///
/// The bytes are not canonical, so do not sign them or compute content ids from them, except for signatures that Endo
/// checks.
///
/// # Errors
///
/// [`ErrorKind::WrongType`] if Endo has no form for a value: keys that are not strings, sets, and 32-bit floats.
///
/// ```
/// use lydite_ocapn::syrup::{self, Value};
///
/// let value = Value::Dictionary(vec![("b".into(), 2.into()), ("aa".into(), 1.into())]);
/// assert_eq!(syrup::encode(&value)?, b"{1\"b2+2\"aa1+}");
/// assert_eq!(syrup::encode_for_endo(&value)?, b"{2\"aa1+1\"b2+}");
/// # Ok::<(), syrup::Error>(())
/// ```
pub fn encode_for_endo(value: &Value) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(value.length_hint());
    put_value::<true, _>(value, MAX_TREE_DEPTH, &mut out)?;
    Ok(out)
}

/// `"00"` to `"99"`, the first digit in the low byte. All output is built in registers: loading a word from bytes just
/// stored one by one has to wait for the stores (5 ns each).
static PAIRS: [u16; 100] = {
    let mut pairs = [0; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = u16::from_le_bytes([b'0' + n as u8 / 10, b'0' + n as u8 % 10]);
        n += 1;
    }
    pairs
};

/// Digits of `value < 10^8` including leading zeros, the most significant in the lowest byte. Each byte is 0 to 9.
#[inline(always)]
const fn eight_digits(value: u32) -> u64 {
    let halves = (value / 10_000) as u64 | ((value % 10_000) as u64) << 32;
    // Split each half into two numbers below 100, then each of these into digits: x / 100 = x * 10486 >> 20 below 10^4.
    let hundreds = ((halves * 10_486) >> 20) & 0x7f_0000_007f;
    let pairs = hundreds | (halves - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (pairs - 10 * tens) << 8
}

const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// Appends `value` in decimal, then `marker`.
// WebAssembly modules are downloaded: there the compiler weighs the size of the copies, here and below.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn put_number<B: Buffer>(value: u64, marker: u8, out: &mut B) {
    put_decimal::<false, B>(value, marker, out);
}

/// Like [`put_number`]. In a `TREE`, where the buffer is in memory anyway, long numbers are written by a call.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn put_decimal<const TREE: bool, B: Buffer>(value: u64, marker: u8, out: &mut B) {
    if value < 10 {
        let word = (b'0' + value as u8) as u16 | u16::from(marker) << 8;
        out.put(&word.to_le_bytes(), 2);
    } else if value < 100 {
        let word = u32::from(PAIRS[value as usize]) | u32::from(marker) << 16;
        out.put(&word.to_le_bytes(), 3);
    } else if value < 10_000 {
        let (high, low) = (value as usize / 100, value as usize % 100);
        let digits = u64::from(PAIRS[high]) | u64::from(PAIRS[low]) << 16;
        let word = digits | u64::from(marker) << 32;
        let zeros = usize::from(high < 10);
        out.put(&(word >> (8 * zeros)).to_le_bytes(), 5 - zeros);
    } else if value < 10_000_000 {
        // At most seven digits, so that the marker fits in the word. The digit count is known long before the digits,
        // so the position of the next piece is known early.
        let at_least = |bound: u64| usize::from(value >= bound);
        let used = 5 + at_least(100_000) + at_least(1_000_000);
        let digits = (eight_digits(value as u32) | ASCII_ZEROS) >> (64 - 8 * used);
        let word = digits | u64::from(marker) << (8 * used);
        out.put(&word.to_le_bytes(), used + 1);
    } else if TREE {
        call_long_number(value, marker, out);
    } else {
        put_long_number(value, marker, out);
    }
}

#[inline(never)]
fn call_long_number<B: Buffer>(value: u64, marker: u8, out: &mut B) {
    put_long_number(value, marker, out);
}

#[inline(always)]
fn put_long_number<B: Buffer>(value: u64, marker: u8, out: &mut B) {
    let digits = sixteen_digits(value % E16);
    let (first, second) = (digits as u64, (digits >> 64) as u64);
    if value < E8 {
        put_leading(second, out);
    } else {
        if value < E16 {
            put_leading(first, out);
        } else {
            put_leading(eight_digits((value / E16) as u32), out);
            out.put(&(first | ASCII_ZEROS).to_le_bytes(), 8);
        }
        out.put(&(second | ASCII_ZEROS).to_le_bytes(), 8);
    }
    out.put(&[marker], 1);
}

const E8: u64 = 100_000_000;
const E16: u64 = E8 * E8;

/// Like [`eight_digits`], for `value < 10^16`. Out of line and without access to the buffer, since a pointer to the
/// buffer would keep it out of registers.
#[inline(never)]
fn sixteen_digits(value: u64) -> u128 {
    let [first, second] = [value / E8, value % E8].map(|half| eight_digits(half as u32));
    u128::from(first) | u128::from(second) << 64
}

/// Appends the digits, which are not all zero, without leading zeros.
#[inline(always)]
fn put_leading<B: Buffer>(digits: u64, out: &mut B) {
    let zeros = digits.trailing_zeros() & !7;
    let word = (digits | ASCII_ZEROS) >> zeros;
    out.put(&word.to_le_bytes(), 8 - zeros as usize / 8);
}

/// Appends length, marker and bytes.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn put_bytes<B: Buffer>(bytes: &[u8], marker: u8, out: &mut B) {
    let n = bytes.len();
    // Header and bytes in one window, so that the write position moves once.
    if n < 10
        && let Some(window) = out.window::<11>()
    {
        let header = (b'0' + n as u8) as u16 | u16::from(marker) << 8;
        window[..2].copy_from_slice(&header.to_le_bytes());
        put_short(bytes, 2, window);
        out.advance(2 + n);
    } else if (10..=32).contains(&n)
        && let Some(window) = out.window::<35>()
    {
        let header = u32::from(PAIRS[n]) | u32::from(marker) << 16;
        window[..4].copy_from_slice(&header.to_le_bytes());
        put_short(bytes, 3, window);
        out.advance(3 + n);
    } else {
        put_number(n as u64, marker, out);
        out.put_slice(bytes);
    }
}

/// Stores at most `N - at` bytes at `at` using words that may overlap. Up to three bytes are stored as four.
#[inline(always)]
fn put_short<const N: usize>(bytes: &[u8], at: usize, window: &mut [u8; N]) {
    macro_rules! words {
        ($n:literal) => {
            if let (Some(first), Some(last)) = (bytes.first_chunk::<$n>(), bytes.last_chunk::<$n>())
            {
                window[at..at + $n].copy_from_slice(first);
                window[at + bytes.len() - $n..][..$n].copy_from_slice(last);
                return;
            }
        };
    }
    words!(16);
    words!(8);
    words!(4);
    if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
        let (middle, end) = (bytes.len() / 2, bytes.len() - 1);
        let word = u32::from(*first)
            | u32::from(bytes[middle]) << (8 * middle)
            | u32::from(*last) << (8 * end);
        window[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
}

#[inline(always)]
fn put_integer<B: Buffer>(value: i64, out: &mut B) {
    put_signed::<false, B>(value, out);
}

#[inline(always)]
fn put_signed<const TREE: bool, B: Buffer>(value: i64, out: &mut B) {
    let sign = if value < 0 { b'-' } else { b'+' };
    put_decimal::<TREE, B>(value.unsigned_abs(), sign, out);
}

fn put_big<B: Buffer>(negative: bool, digits: &str, out: &mut B) {
    out.put_slice(digits.as_bytes());
    out.put(if negative { b"-" } else { b"+" }, 1);
}

#[inline(always)]
fn put_float64<B: Buffer>(value: f64, out: &mut B) {
    let bits = if value.is_nan() {
        NAN64
    } else {
        value.to_bits()
    };
    out.put(b"D", 1);
    out.put(&bits.to_be_bytes(), 8);
}

#[inline(always)]
fn put_float32<B: Buffer>(value: f32, out: &mut B) {
    let bits = if value.is_nan() {
        NAN32
    } else {
        value.to_bits()
    };
    out.put(b"F", 1);
    out.put(&bits.to_be_bytes(), 4);
}

impl Encode for Value {
    #[inline]
    fn encode<B: Buffer>(&self, out: &mut B) -> Result<(), Error> {
        put_value::<false, _>(self, MAX_TREE_DEPTH, out)
    }

    /// Estimated from the first 32 children and the number of children.
    #[inline]
    fn length_hint(&self) -> usize {
        const LOOK: usize = 32;
        let (shown, all) = match self {
            Self::List(items) | Self::Set(items) => (sum(items.iter().take(LOOK)), items.len()),
            Self::Record(record) => (sum(record.fields.iter().take(LOOK)), record.fields.len()),
            Self::Dictionary(entries) => {
                let entries_shown = entries.iter().take(LOOK);
                let shown = entries_shown.map(|(key, value)| length(key) + length(value));
                (shown.sum(), entries.len())
            }
            leaf => (length(leaf), 1),
        };
        // Add an eighth for the children that were not sampled.
        let like_these = shown.saturating_mul(all.saturating_sub(LOOK)) / LOOK;
        let others = like_these.saturating_add(like_these / 8);
        shown.saturating_add(others).max(FIRST_CAPACITY - 24) + 24
    }
}

fn sum<'a>(values: impl Iterator<Item = &'a Value>) -> usize {
    values.map(length).sum()
}

/// A quick estimate of the length of the encoding.
#[inline(always)]
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Symbol(text) => text.len() + 4,
        Value::Bytes(bytes) => bytes.len() + 4,
        Value::Integer(integer) => integer.length(),
        Value::List(items) | Value::Set(items) => 8 * items.len() + 2,
        Value::Dictionary(entries) => 24 * entries.len() + 2,
        _ => 20,
    }
}

/// Appends `value`, whose containers may be nested `depth` deep. (The recursion is as deep as the tree, which is also
/// dropped recursively.)
#[inline(always)]
fn put_value<const ENDO: bool, B: Buffer>(
    value: &Value,
    depth: usize,
    out: &mut B,
) -> Result<(), Error> {
    // Inline, since the call takes half of the time for a number.
    if let Value::Integer(integer) = value
        && let Parts::Small(value) = integer.parts()
    {
        put_signed::<true, B>(value, out);
        return Ok(());
    }
    put_other::<ENDO, B>(value, depth, out)
}

#[inline(never)]
fn put_other<const ENDO: bool, B: Buffer>(
    value: &Value,
    depth: usize,
    out: &mut B,
) -> Result<(), Error> {
    match value {
        Value::Boolean(value) => out.put(if *value { b"t" } else { b"f" }, 1),
        Value::Integer(value) => match value.parts() {
            Parts::Small(value) => put_signed::<true, B>(value, out),
            Parts::Big { negative, digits } => put_big(negative, digits, out),
        },
        // Adding zero turns -0 into +0.
        Value::Float64(value) if ENDO => put_float64(*value + 0.0, out),
        Value::Float64(value) => put_float64(*value, out),
        Value::Float32(_) | Value::Set(_) if ENDO => return Err(ErrorKind::WrongType.at(0)),
        Value::Float32(value) => put_float32(*value, out),
        Value::Bytes(bytes) => put_bytes(bytes, b':', out),
        Value::String(text) => put_bytes(text.as_bytes(), b'"', out),
        Value::Symbol(text) => put_bytes(text.as_bytes(), b'\'', out),
        Value::List(items) => {
            let depth = deeper(depth)?;
            out.put(b"[", 1);
            for item in items {
                put_value::<ENDO, B>(item, depth, out)?;
            }
            out.put(b"]", 1);
        }
        Value::Record(record) => {
            let depth = deeper(depth)?;
            out.put(b"<", 1);
            put_other::<ENDO, B>(&record.label, depth, out)?;
            for field in &record.fields {
                put_value::<ENDO, B>(field, depth, out)?;
            }
            out.put(b">", 1);
        }
        Value::Dictionary(entries) if ENDO => {
            let depth = deeper(depth)?;
            out.put(b"{", 1);
            for (key, value) in by_text(entries)? {
                put_bytes(key.as_bytes(), b'"', out);
                put_value::<ENDO, B>(value, depth, out)?;
            }
            out.put(b"}", 1);
        }
        Value::Dictionary(entries) => {
            let depth = deeper(depth)?;
            out.put(b"{", 1);
            if in_order(entries, |(key, _)| key) {
                for (key, value) in entries {
                    put_other::<ENDO, B>(key, depth, out)?;
                    put_value::<ENDO, B>(value, depth, out)?;
                }
            } else if let Some(entries) = sorted_texts(entries)? {
                for (key, value) in entries {
                    put_other::<ENDO, B>(key, depth, out)?;
                    put_value::<ENDO, B>(value, depth, out)?;
                }
            } else {
                for (key, index) in sorted(entries.iter().map(|(key, _)| key), depth)? {
                    out.put_slice(&key);
                    put_other::<ENDO, B>(&entries[index].1, depth, out)?;
                }
            }
            out.put(b"}", 1);
        }
        Value::Set(members) => {
            let depth = deeper(depth)?;
            out.put(b"#", 1);
            if in_order(members, |member| member) {
                for member in members {
                    put_other::<ENDO, B>(member, depth, out)?;
                }
            } else {
                for (member, _) in sorted(members.iter(), depth)? {
                    out.put_slice(&member);
                }
            }
            out.put(b"$", 1);
        }
    }
    Ok(())
}

#[inline(always)]
fn deeper(depth: usize) -> Result<usize, Error> {
    depth.checked_sub(1).ok_or(ErrorKind::TooDeep.at(0))
}

/// Returns the entries sorted by the text of their keys, in UTF-16 code units.
fn by_text(entries: &[(Value, Value)]) -> Result<Vec<(&str, &Value)>, Error> {
    let mut sorted = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let Value::String(key) = key else {
            return Err(ErrorKind::WrongType.at(0));
        };
        sorted.push((key.as_str(), value));
    }
    sorted.sort_by(|(a, _), (b, _)| text_order(a, b));
    if sorted.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(ErrorKind::Duplicate.at(0));
    }
    Ok(sorted)
}

/// Whether the encoded keys of the items are known to be strictly ascending.
#[inline(always)]
fn in_order<T>(items: &[T], key: impl Fn(&T) -> &Value) -> bool {
    items
        .windows(2)
        .all(|pair| compare_encoded(key(&pair[0]), key(&pair[1])) == Some(Ordering::Less))
}

/// Returns the entries sorted by their encoded keys, or `None` if a key is not a string, symbol or byte array. These
/// need not be encoded to be compared.
#[inline(never)]
fn sorted_texts(entries: &[(Value, Value)]) -> Result<Option<Vec<&(Value, Value)>>, Error> {
    if entries.iter().any(|(key, _)| blob(key).is_none()) {
        return Ok(None);
    }
    let order = |(a, _): &(Value, Value), (b, _): &(Value, Value)| {
        compare_encoded(a, b).unwrap_or(Ordering::Equal)
    };
    let mut sorted: Vec<&(Value, Value)> = entries.iter().collect();
    sorted.sort_unstable_by(|a, b| order(a, b));
    if sorted
        .windows(2)
        .any(|pair| order(pair[0], pair[1]) == Ordering::Equal)
    {
        return Err(ErrorKind::Duplicate.at(0));
    }
    Ok(Some(sorted))
}

/// Encodes the keys, whose containers may be nested `depth` deep. Returns them sorted, each with its index.
fn sorted<'a>(
    keys: impl Iterator<Item = &'a Value>,
    depth: usize,
) -> Result<Vec<(Vec<u8>, usize)>, Error> {
    let mut sorted = Vec::with_capacity(keys.size_hint().0);
    for (index, key) in keys.enumerate() {
        let mut encoded = Vec::with_capacity(key.length_hint());
        let mut buffer = VecBuffer::new(&mut encoded);
        put_other::<false, _>(key, depth, &mut buffer)?;
        let length = buffer.written;
        encoded.truncate(length);
        sorted.push((encoded, index));
    }
    match sort_keys(&mut sorted) {
        None => Ok(sorted),
        Some(_) => Err(ErrorKind::Duplicate.at(0)),
    }
}

/// Sorts encoded keys. Returns the number that accompanies the second of two equal ones.
#[inline(never)]
pub(crate) fn sort_keys(keys: &mut [(Vec<u8>, usize)]) -> Option<usize> {
    keys.sort_unstable();
    let mut pairs = keys.windows(2);
    Some(pairs.find(|pair| pair[0].0 == pair[1].0)?[1].1)
}

/// Compares the encodings of two values; `None` if one of them is a container. Encoding containers here and again when
/// they are written would take exponential time for keys nested in keys, so [`sorted`] encodes each of them once.
#[inline(always)]
fn compare_encoded(a: &Value, b: &Value) -> Option<Ordering> {
    if let (Some((a, a_marker)), Some((b, b_marker))) = (blob(a), blob(b)) {
        if a.len() == b.len() {
            return Some((a_marker, a).cmp(&(b_marker, b)));
        }
        if a.len() < 10 && b.len() < 10 {
            return Some(a.len().cmp(&b.len()));
        }
        return Some(header(a.len(), a_marker).cmp(&header(b.len(), b_marker)));
    }
    compare_any(a, b)
}

/// Length and marker as they are encoded, then zeros.
#[inline]
fn header(length: usize, marker: u8) -> [u8; 32] {
    let mut header = [0; 32];
    put_number(length as u64, marker, &mut SliceBuffer::new(&mut header));
    header
}

#[cold]
fn compare_any(a: &Value, b: &Value) -> Option<Ordering> {
    if a.is_container() || b.is_container() {
        return None;
    }
    Some(super::encode(a).ok()?.cmp(&super::encode(b).ok()?))
}

/// Bytes and marker of a value that is encoded as length, marker and bytes.
#[inline(always)]
fn blob(value: &Value) -> Option<(&[u8], u8)> {
    match value {
        Value::String(text) => Some((text.as_bytes(), b'"')),
        Value::Symbol(text) => Some((text.as_bytes(), b'\'')),
        Value::Bytes(bytes) => Some((bytes, b':')),
        _ => None,
    }
}

macro_rules! integers {
    ($put:ident $wide:ty: $($integer:ty)*) => {$(
        impl Encode for $integer {
            #[inline(always)]
            fn encode<B: Buffer>(&self, out: &mut B) -> Result<(), Error> {
                $put(*self as $wide, out);
                Ok(())
            }
        }
    )*};
}
integers!(put_integer i64: i8 i16 i32 i64 isize);
integers!(put_unsigned u64: u8 u16 u32 u64 usize);

#[inline(always)]
fn put_unsigned<B: Buffer>(value: u64, out: &mut B) {
    put_number(value, b'+', out);
}

macro_rules! encode {
    ($([$($generics:tt)*] $type:ty: |$value:ident, $out:ident| $body:expr;)*) => {$(
        impl<$($generics)*> Encode for $type {
            #[inline(always)]
            fn encode<B: Buffer>(&self, $out: &mut B) -> Result<(), Error> {
                let $value = self;
                $body;
                Ok(())
            }
        }
    )*};
}
encode! {
    [] bool: |value, out| out.put(if *value { b"t" } else { b"f" }, 1);
    [] f64: |value, out| put_float64(*value, out);
    [] f32: |value, out| put_float32(*value, out);
    [] str: |value, out| put_bytes(value.as_bytes(), b'"', out);
    [] String: |value, out| put_bytes(value.as_bytes(), b'"', out);
    [T: AsRef<str>] Symbol<T>: |value, out| put_bytes(value.0.as_ref().as_bytes(), b'\'', out);
    [] [u8]: |value, out| put_bytes(value, b':', out);
    [const N: usize] [u8; N]: |value, out| put_bytes(value, b':', out);
    [] Bytes: |value, out| put_bytes(value, b':', out);
    [] Raw<'_>: |value, out| out.put_slice(value.as_bytes());
    [] Document: |value, out| out.put_slice(value.as_bytes());
    [T] Items<'_, T>: |value, out| out.put_slice(value.raw().as_bytes());
    [] u128: |value, out| Integer::from(*value).encode(out)?;
    [] i128: |value, out| Integer::from(*value).encode(out)?;
    [] Integer: |value, out| match value.parts() {
        Parts::Small(value) => put_integer(value, out),
        Parts::Big { negative, digits } => put_big(negative, digits, out),
    };
    [T: Encode + ?Sized] &T: |value, out| (**value).encode(out)?;
    // A list of the elements. (So `Vec<u8>` is a list of integers; a byte array is `Bytes` or `[u8]`.)
    [T: Encode] Vec<T>: |value, out| {
        out.put(b"[", 1);
        for item in value {
            item.encode(out)?;
        }
        out.put(b"]", 1);
    };
    [T: Encode] BTreeSet<T>: |value, out| {
        let mut members = Vec::with_capacity(value.len());
        for member in value {
            members.push((encode(member)?, None::<bool>));
        }
        put_sorted(*b"#$", members, out)?;
    };
    [K: Encode, V: Encode] BTreeMap<K, V>: |value, out| {
        let mut entries = Vec::with_capacity(value.len());
        for (key, value) in value {
            entries.push((encode(key)?, Some(value)));
        }
        put_sorted(*b"{}", entries, out)?;
    };
}

/// Appends encoded keys, each with its value if any, sorted and between these brackets.
fn put_sorted<B: Buffer, V: Encode>(
    [open, close]: [u8; 2],
    mut entries: Vec<(Vec<u8>, Option<V>)>,
    out: &mut B,
) -> Result<(), Error> {
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(ErrorKind::Duplicate.at(0));
    }
    out.put(&[open], 1);
    for (key, value) in &entries {
        out.put_slice(key);
        if let Some(value) = value {
            value.encode(out)?;
        }
    }
    out.put(&[close], 1);
    Ok(())
}
