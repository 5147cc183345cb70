//! The lazy cursor: reads typed values one by one, and validates and skips the rest.
use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};

use core::marker::PhantomData;

use lydite_bytes::Bytes;

use super::scan::{self, ENDO, Fixed, Kind, STRICT};
use super::{Document, Error, ErrorKind, Integer, Limits, Raw, Symbol, Value};

/// A type that can be decoded from Syrup, possibly borrowing from the input. Can be derived: see
/// [`syrup`](self::super).
pub trait Decode<'a>: Sized {
    /// Reads the next value of `reader`.
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Error>;
}

/// Decodes `input`, which must be exactly one canonical value.
///
/// # Errors
///
/// The bytes are not the canonical encoding of a `T`: see [`ErrorKind`].
///
/// ```
/// use lydite_ocapn::syrup::{self, Symbol};
///
/// assert_eq!(syrup::decode::<Vec<u8>>(b"[1+2+3+]"), Ok(vec![1, 2, 3]));
/// assert_eq!(syrup::decode(b"3'cat"), Ok(Symbol("cat")));
/// let error = syrup::decode::<u8>(b"256+").unwrap_err();
/// assert_eq!(error.to_string(), "byte 0: integer out of range for its type");
/// ```
#[inline(always)]
pub fn decode<'a, T: Decode<'a>>(input: &'a [u8]) -> Result<T, Error> {
    let mut reader = Reader::new(input);
    let value = T::decode(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// A cursor over consecutive values. It accepts and skips only canonical encodings. The caller checks the order of
/// keys, with [`Keys`].
///
/// ```
/// use lydite_ocapn::syrup::{Kind, Reader};
///
/// let mut reader = Reader::new(b"<10'op:deliver<11'desc:export42+>[3\"cat]>");
/// reader.begin(Kind::Record)?;
/// assert_eq!(reader.symbol()?, "op:deliver");
/// let export = reader.raw()?;
/// assert_eq!(export.as_bytes(), b"<11'desc:export42+>");
/// reader.begin(Kind::List)?;
/// let mut arguments = Vec::new();
/// while !reader.try_end(Kind::List) {
///     arguments.push(reader.string()?);
/// }
/// assert_eq!(arguments, ["cat"]);
/// reader.end(Kind::Record)?;
/// reader.finish()?;
/// # Ok::<(), lydite_ocapn::syrup::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    end: usize,
    depth: usize,
    /// Whether the input is output of [`encode_for_endo`](super::encode_for_endo).
    endo: bool,
}

/// The error for a next value that is not of the expected type.
#[cold]
fn type_mismatch(rest: &[u8], offset: usize) -> Error {
    match rest.first() {
        None => ErrorKind::UnexpectedEnd.at(offset),
        Some(first) if !first.is_ascii_digit() => match first {
            b'[' | b'{' | b'#' | b'<' | b't' | b'f' | b'D' | b'F' => {
                ErrorKind::WrongType.at(offset)
            }
            _ => ErrorKind::UnexpectedByte.at(offset),
        },
        Some(_) => match scan::number::<STRICT>(rest) {
            Ok(number) if b"+-:\"'".contains(&number.marker) => ErrorKind::WrongType.at(offset),
            Ok(number) => ErrorKind::UnexpectedByte.at(offset + number.digits),
            Err(error) => scan::advanced(error, offset),
        },
    }
}

/// Returns the number of one or two digits at the start of `rest`, if `marker` follows it, and the bytes after the
/// marker.
#[inline(always)]
fn short(rest: &[u8], marker: u8) -> Option<(u64, &[u8])> {
    match rest {
        [ones, next, rest @ ..] if *next == marker && ones.is_ascii_digit() => {
            Some((u64::from(ones & 15), rest))
        }
        [tens @ b'1'..=b'9', ones, next, rest @ ..] if *next == marker && ones.is_ascii_digit() => {
            Some((u64::from(tens & 15) * 10 + u64::from(ones & 15), rest))
        }
        _ => None,
    }
}

impl<'a> Reader<'a> {
    /// Creates a reader at the start of `input`, with the default depth limit.
    #[inline]
    pub const fn new(input: &'a [u8]) -> Self {
        Self {
            rest: input,
            end: input.len(),
            depth: Limits::DEFAULT.depth,
            endo: false,
        }
    }

    /// Creates a reader for the output of [`encode_for_endo`](super::encode_for_endo): [`Keys`] must be in the order of
    /// their text, and [`raw`](Self::raw) values are checked by the same rules. Sets are rejected. Single atoms,
    /// including floats, are read as in plain Syrup. Derived types expect their keys in Syrup's order.
    #[inline]
    pub const fn for_endo(input: &'a [u8]) -> Self {
        let mut reader = Self::new(input);
        reader.endo = true;
        reader
    }

    /// Offset of the next value from the start of the input.
    #[inline]
    pub const fn offset(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The unread bytes.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Fails unless all input has been read.
    #[inline]
    pub fn finish(&self) -> Result<(), Error> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(ErrorKind::TrailingBytes.at(self.offset()))
        }
    }

    /// Reads the next value as a `T`.
    #[inline(always)]
    pub fn read<T: Decode<'a>>(&mut self) -> Result<T, Error> {
        T::decode(self)
    }

    /// The type of the next value, which is not consumed.
    pub fn kind(&self) -> Result<Kind, Error> {
        let Some(&first) = self.rest.first() else {
            return Err(self.error(ErrorKind::UnexpectedEnd));
        };
        if first.is_ascii_digit() {
            let number = scan::number::<STRICT>(self.rest).map_err(|error| self.advanced(error))?;
            match number.marker {
                b'+' | b'-' => Ok(Kind::Integer),
                b':' => Ok(Kind::Bytes),
                b'"' => Ok(Kind::String),
                b'\'' => Ok(Kind::Symbol),
                _ => Err(ErrorKind::UnexpectedByte.at(self.offset() + number.digits)),
            }
        } else {
            match first {
                b'[' => Ok(Kind::List),
                b'{' => Ok(Kind::Dictionary),
                b'#' => Ok(Kind::Set),
                b'<' => Ok(Kind::Record),
                b't' | b'f' => Ok(Kind::Boolean),
                b'D' => Ok(Kind::Float64),
                b'F' => Ok(Kind::Float32),
                _ => Err(self.error(ErrorKind::UnexpectedByte)),
            }
        }
    }

    /// Consumes `bytes` if they come next. They must be whole values. Use it for values that never change.
    #[inline(always)]
    pub fn literal(&mut self, bytes: &[u8]) -> bool {
        match self.rest.strip_prefix(bytes) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Consumes the bracket that opens a container of this kind.
    #[inline(always)]
    pub fn begin(&mut self, container: Kind) -> Result<(), Error> {
        match self.rest.split_first() {
            Some((&first, rest))
                if first == container as u8 && !(self.endo && container == Kind::Set) =>
            {
                let Some(depth) = self.depth.checked_sub(1) else {
                    return Err(self.error(ErrorKind::TooDeep));
                };
                self.depth = depth;
                self.rest = rest;
                Ok(())
            }
            _ => Err(type_mismatch(self.rest, self.offset())),
        }
    }

    /// Consumes `opener`, which is the opening bracket of a container and the bytes required after it, if it comes next
    /// and does not exceed the depth limit.
    #[doc(hidden)]
    #[inline(always)]
    pub fn descend(&mut self, opener: &[u8]) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else {
            return false;
        };
        let taken = self.literal(opener);
        if taken {
            self.depth = depth;
        }
        taken
    }

    /// Consumes the bracket that closes a container of this kind, if it comes next.
    #[inline(always)]
    pub fn try_end(&mut self, container: Kind) -> bool {
        let close = match container {
            Kind::List => b']',
            Kind::Dictionary => b'}',
            Kind::Set => b'$',
            _ => b'>',
        };
        match self.rest.split_first() {
            Some((&first, rest)) if first == close => {
                self.rest = rest;
                self.depth += 1;
                true
            }
            _ => false,
        }
    }

    /// Consumes the bracket that closes a container of this kind.
    #[inline(always)]
    pub fn end(&mut self, container: Kind) -> Result<(), Error> {
        if self.try_end(container) {
            Ok(())
        } else {
            Err(self.another(ErrorKind::WrongLength))
        }
    }

    /// The validation error of the next value, or `kind` if it is valid.
    #[cold]
    #[inline(never)]
    pub(super) fn another(self, kind: ErrorKind) -> Error {
        let mut reader = self;
        match reader.raw() {
            Err(error) => error,
            Ok(_) => kind.at(self.offset()),
        }
    }

    /// Parses the sign and number of the next value, an integer, without consuming it.
    #[inline(always)]
    fn signed(&self) -> Result<(bool, scan::Number), Error> {
        if self.rest.first().is_some_and(u8::is_ascii_digit) {
            let number = scan::number::<STRICT>(self.rest).map_err(|error| self.advanced(error))?;
            match number.marker {
                b'+' => return Ok((false, number)),
                b'-' if number.value == Some(0) => return Err(self.error(ErrorKind::NegativeZero)),
                b'-' => return Ok((true, number)),
                _ => {}
            }
        }
        Err(type_mismatch(self.rest, self.offset()))
    }

    /// Reads a non-negative integer.
    #[inline(always)]
    pub fn u64(&mut self) -> Result<u64, Error> {
        if let Some(value) = self.digit() {
            return Ok(value);
        }
        match scan::small(self.rest) {
            Some((false, value, length)) => {
                self.rest = &self.rest[length..];
                Ok(value)
            }
            _ => self.long_u64().map(|taken| self.take(taken)),
        }
    }

    /// Reads an integer.
    #[inline(always)]
    pub fn i64(&mut self) -> Result<i64, Error> {
        if let Some(value) = self.digit() {
            return Ok(value as i64);
        }
        match scan::small(self.rest) {
            Some((negative, value, length)) => {
                self.rest = &self.rest[length..];
                let sign = i64::from(negative);
                Ok((value as i64 ^ -sign) + sign)
            }
            None => self.long_i64().map(|taken| self.take(taken)),
        }
    }

    /// Advances past a value found by one of the out-of-line functions. These take a copy of the reader, since a
    /// pointer to it would keep it out of registers.
    #[inline(always)]
    fn take<T>(&mut self, (value, rest): (T, &'a [u8])) -> T {
        self.rest = rest;
        value
    }

    /// Reads an integer of one digit, if it comes next and is not negative.
    #[inline(always)]
    fn digit(&mut self) -> Option<u64> {
        match self.rest {
            [digit, b'+', rest @ ..] if digit.is_ascii_digit() => {
                self.rest = rest;
                Some(u64::from(digit & 15))
            }
            _ => None,
        }
    }

    #[inline(never)]
    fn long_u64(self) -> Result<(u64, &'a [u8]), Error> {
        match self.signed()? {
            (
                false,
                scan::Number {
                    value: Some(value),
                    digits,
                    ..
                },
            ) => Ok((value, &self.rest[digits + 1..])),
            _ => Err(self.error(ErrorKind::IntegerOutOfRange)),
        }
    }

    #[inline(never)]
    fn long_i64(self) -> Result<(i64, &'a [u8]), Error> {
        let (negative, number) = self.signed()?;
        let value = number.value.and_then(|magnitude| match negative {
            false => i64::try_from(magnitude).ok(),
            true => 0i64.checked_sub_unsigned(magnitude),
        });
        let value = value.ok_or(self.error(ErrorKind::IntegerOutOfRange))?;
        Ok((value, &self.rest[number.digits + 1..]))
    }

    /// Reads an integer of any size.
    pub fn integer(&mut self) -> Result<Integer, Error> {
        let (negative, number) = self.signed()?;
        let (text, rest) = self.rest.split_at(number.digits + 1);
        let value = match number.value {
            Some(value) => Integer::from_word(negative, value),
            None => {
                let digits = scan::utf8(&text[..number.digits])
                    .map_err(|_| self.error(ErrorKind::UnexpectedByte))?;
                Integer::from_decimal(negative, digits)
            }
        };
        self.rest = rest;
        Ok(value)
    }

    /// Reads bytes with this marker.
    // WebAssembly modules are downloaded: there the compiler weighs the size of the copies.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn blob(&mut self, marker: u8) -> Result<&'a [u8], Error> {
        if let Some((length, rest)) = short(self.rest, marker)
            && let Some((payload, rest)) = rest.split_at_checked(length as usize)
        {
            self.rest = rest;
            return Ok(payload);
        }
        self.long_blob(marker).map(|taken| self.take(taken))
    }

    /// Like [`blob`](Self::blob), for any length.
    #[inline(never)]
    fn long_blob(self, marker: u8) -> Result<(&'a [u8], &'a [u8]), Error> {
        if self.rest.first().is_some_and(u8::is_ascii_digit) {
            let number = scan::number::<STRICT>(self.rest).map_err(|error| self.advanced(error))?;
            if number.marker == marker {
                let payload =
                    scan::payload(self.rest, number).map_err(|error| self.advanced(error))?;
                return Ok((payload, &self.rest[number.digits + 1 + payload.len()..]));
            }
        }
        Err(type_mismatch(self.rest, self.offset()))
    }

    #[inline(always)]
    fn text(&mut self, marker: u8) -> Result<&'a str, Error> {
        let bytes = self.blob(marker)?;
        let start = self.offset() - bytes.len();
        scan::utf8(bytes).map_err(|valid| ErrorKind::InvalidUtf8.at(start + valid))
    }

    /// Reads a byte array.
    #[inline(always)]
    pub fn bytes(&mut self) -> Result<&'a [u8], Error> {
        self.blob(b':')
    }

    /// Reads a string.
    #[inline(always)]
    pub fn string(&mut self) -> Result<&'a str, Error> {
        self.text(b'"')
    }

    /// Reads a symbol.
    #[inline(always)]
    pub fn symbol(&mut self) -> Result<&'a str, Error> {
        self.text(b'\'')
    }

    /// Parses a boolean or a float, without consuming it.
    #[inline(always)]
    fn fixed(&self) -> Result<(Fixed, &'a [u8]), Error> {
        match self.rest.first() {
            Some(&first @ (b't' | b'f' | b'D' | b'F')) => {
                let (atom, length) = scan::fixed::<STRICT>(first, self.rest)
                    .map_err(|error| self.advanced(error))?;
                Ok((atom, &self.rest[length..]))
            }
            _ => Err(type_mismatch(self.rest, self.offset())),
        }
    }

    /// Reads a boolean.
    #[inline(always)]
    pub fn bool(&mut self) -> Result<bool, Error> {
        match self.rest {
            [first @ (b't' | b'f'), rest @ ..] => {
                self.rest = rest;
                Ok(*first == b't')
            }
            _ => Err(self.reject_bool()),
        }
    }

    #[cold]
    #[inline(never)]
    fn reject_bool(self) -> Error {
        match self.fixed() {
            Err(error) => error,
            Ok(_) => self.error(ErrorKind::WrongType),
        }
    }

    /// Reads a 64-bit float.
    #[inline(always)]
    pub fn f64(&mut self) -> Result<f64, Error> {
        let (Fixed::Float64(bits), rest) = self.fixed()? else {
            return Err(self.error(ErrorKind::WrongType));
        };
        self.rest = rest;
        Ok(f64::from_bits(bits))
    }

    /// Reads a 32-bit float.
    #[inline(always)]
    pub fn f32(&mut self) -> Result<f32, Error> {
        let (Fixed::Float32(bits), rest) = self.fixed()? else {
            return Err(self.error(ErrorKind::WrongType));
        };
        self.rest = rest;
        Ok(f32::from_bits(bits))
    }

    /// Reads a value of any type. Validates it and returns its encoding.
    #[inline]
    pub fn raw(&mut self) -> Result<Raw<'a>, Error> {
        let limits = Limits {
            depth: self.depth,
            ..Limits::DEFAULT
        };
        let skipped = if self.endo {
            scan::skip::<ENDO>(self.rest, limits)
        } else {
            scan::skip::<STRICT>(self.rest, limits)
        };
        let length = skipped.map_err(|error| self.advanced(error))?;
        let (raw, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(Raw::new(raw))
    }

    #[inline(always)]
    fn error(&self, kind: ErrorKind) -> Error {
        kind.at(self.offset())
    }

    #[inline(always)]
    fn advanced(&self, error: Error) -> Error {
        scan::advanced(error, self.offset())
    }
}

/// Checks that the keys of a dictionary or the members of a set are in order.
///
/// ```
/// use lydite_ocapn::syrup::{Keys, Kind, Reader};
///
/// let mut reader = Reader::new(b"{1\"a1+1\"b2+}");
/// let mut keys = Keys::new();
/// let mut sum = 0;
/// reader.begin(Kind::Dictionary)?;
/// while !reader.try_end(Kind::Dictionary) {
///     let key: &str = keys.next(&mut reader)?;
///     sum += reader.u64()?;
/// }
/// assert_eq!(sum, 3);
/// # Ok::<(), lydite_ocapn::syrup::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys<'a> {
    previous: &'a [u8],
}

impl<'a> Keys<'a> {
    /// Creates the state before the first key.
    pub const fn new() -> Self {
        Self { previous: &[] }
    }

    /// Reads the next key or member, which must sort after the previous one.
    #[inline(always)]
    pub fn next<T: Decode<'a>>(&mut self, reader: &mut Reader<'a>) -> Result<T, Error> {
        let start = *reader;
        let key = T::decode(reader)?;
        let encoded = &start.rest[..reader.offset() - start.offset()];
        if reader.endo {
            scan::order::<ENDO>(self.previous, encoded).map_err(|kind| start.error(kind))?;
        } else {
            scan::order::<STRICT>(self.previous, encoded).map_err(|kind| start.error(kind))?;
        }
        self.previous = encoded;
        Ok(key)
    }
}

/// A list of values of one type, validated but not stored: it needs no allocation, and each iteration decodes again.
///
/// ```
/// use lydite_ocapn::syrup::{self, Items};
///
/// let items: Items<u64> = syrup::decode(b"[1+2+39+]")?;
/// assert_eq!(items.iter().sum::<u64>(), 42);
/// assert_eq!(syrup::encode(&items)?, b"[1+2+39+]");
/// let error = syrup::decode::<Items<u64>>(b"[1+2-]").unwrap_err();
/// assert_eq!(error.to_string(), "byte 3: integer out of range for its type");
/// # Ok::<(), syrup::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Items<'a, T> {
    list: Reader<'a>,
    len: usize,
    item: PhantomData<T>,
}

impl<'a, T> Items<'a, T> {
    /// Number of values.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the list is empty.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The encoding of the whole list.
    #[inline]
    pub const fn raw(&self) -> Raw<'a> {
        Raw::new(self.list.rest)
    }

    /// Iterates over the values.
    #[inline(always)]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'a, T>
    where
        T: Decode<'a>,
    {
        let mut reader = self.list;
        reader.rest = reader.rest.get(1..).unwrap_or_default();
        ItemsIter {
            reader,
            left: self.len,
            item: PhantomData,
        }
    }
}

struct ItemsIter<'a, T> {
    reader: Reader<'a>,
    left: usize,
    item: PhantomData<T>,
}

impl<'a, T: Decode<'a>> Iterator for ItemsIter<'a, T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // It was decoded successfully before.
        self.reader.read().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<'a, T: Decode<'a>> ExactSizeIterator for ItemsIter<'a, T> {}

impl<'a, T: Decode<'a>> Decode<'a> for Items<'a, T> {
    #[inline(always)]
    fn decode(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let mut list = *reader;
        let mut len = 0;
        reader.begin(Kind::List)?;
        while !reader.try_end(Kind::List) {
            reader.read::<T>()?;
            len += 1;
        }
        list.depth = list.depth.saturating_sub(1);
        list.rest = &list.rest[..list.rest.len() - reader.rest.len()];
        Ok(Self {
            list,
            len,
            item: PhantomData,
        })
    }
}

macro_rules! decode {
    ($([$($generics:tt)*] $type:ty: |$reader:ident| $body:expr;)*) => {$(
        impl<'a, $($generics)*> Decode<'a> for $type {
            #[inline(always)]
            fn decode($reader: &mut Reader<'a>) -> Result<Self, Error> {
                $body
            }
        }
    )*};
}
decode! {
    [] bool: |reader| reader.bool();
    [] u64: |reader| reader.u64();
    [] i64: |reader| reader.i64();
    [] u128: |reader| wide(reader);
    [] i128: |reader| wide(reader);
    [] Integer: |reader| reader.integer();
    [] f64: |reader| reader.f64();
    [] f32: |reader| reader.f32();
    [] &'a str: |reader| reader.string();
    [] String: |reader| reader.string().map(String::from);
    [] Symbol<&'a str>: |reader| reader.symbol().map(Symbol);
    [] Symbol<String>: |reader| reader.symbol().map(|text| Symbol(String::from(text)));
    [] &'a [u8]: |reader| reader.bytes();
    [] Bytes: |reader| reader.bytes().map(Bytes::from);
    [] Raw<'a>: |reader| reader.raw();
    [const N: usize] &'a [u8; N]: |reader| {
        let offset = reader.offset();
        reader.bytes()?.try_into().map_err(|_| ErrorKind::WrongLength.at(offset))
    };
    [const N: usize] [u8; N]: |reader| reader.read::<&'a [u8; N]>().copied();
    [] Value: |reader| {
        let offset = reader.offset();
        let raw = reader.raw()?.as_bytes();
        let value = if reader.endo {
            Value::decode_from_endo(raw)
        } else {
            Value::decode(raw)
        };
        value.map_err(|error| scan::advanced(error, offset))
    };
    [] Document: |reader| {
        let offset = reader.offset();
        let encoding = reader.raw()?.as_bytes().to_vec();
        let document = if reader.endo {
            Document::of::<ENDO>(encoding, Limits::DEFAULT)
        } else {
            Document::decode(encoding)
        };
        document.map_err(|error| scan::advanced(error, offset))
    };
    [T: Decode<'a>] Vec<T>: |reader| {
        let mut items = Vec::new();
        reader.begin(Kind::List)?;
        while !reader.try_end(Kind::List) {
            items.push(reader.read()?);
        }
        Ok(items)
    };
    [T: Decode<'a> + Ord] BTreeSet<T>: |reader| {
        let (mut members, mut keys) = (BTreeSet::new(), Keys::new());
        reader.begin(Kind::Set)?;
        while !reader.try_end(Kind::Set) {
            members.insert(keys.next(reader)?);
        }
        Ok(members)
    };
    [K: Decode<'a> + Ord, V: Decode<'a>] BTreeMap<K, V>: |reader| {
        let (mut entries, mut keys) = (BTreeMap::new(), Keys::new());
        reader.begin(Kind::Dictionary)?;
        while !reader.try_end(Kind::Dictionary) {
            let key = keys.next(reader)?;
            entries.insert(key, reader.read()?);
        }
        Ok(entries)
    };
}

/// Reads an integer as a type wider than 64 bits.
fn wide<'a, T: for<'i> TryFrom<&'i Integer>>(reader: &mut Reader<'a>) -> Result<T, Error> {
    let offset = reader.offset();
    T::try_from(&reader.integer()?).map_err(|_| ErrorKind::IntegerOutOfRange.at(offset))
}

macro_rules! narrow {
    ($wide:ident: $($integer:ty)*) => {$(
        impl Decode<'_> for $integer {
            #[inline(always)]
            fn decode(reader: &mut Reader<'_>) -> Result<Self, Error> {
                let offset = reader.offset();
                let value = reader.$wide()?;
                Self::try_from(value).map_err(|_| ErrorKind::IntegerOutOfRange.at(offset))
            }
        }
    )*};
}
narrow!(u64: u8 u16 u32 usize);
narrow!(i64: i8 i16 i32 isize);
