//! Single tokens, and the walk over whole values that all decoders share: one loop, a stack of its own, no recursion.
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::encode::{NAN32, NAN64};
use super::{Error, ErrorKind, Limits};

/// What is accepted: nothing but canonical encodings.
pub(crate) const STRICT: u8 = 0;
/// Needless zeros, `0-`, other NaNs, any order of keys, white space between values and the brackets of bencode (`l` or `(`
/// for `[`, `d` for `{`, `e` or `)` for what closes them) too; then whoever visits has to look for keys that are there twice.
pub(super) const LENIENT: u8 = 1;
/// Nothing but what [`encode_for_endo`](super::encode_for_endo) writes.
pub(crate) const ENDO: u8 = 2;

/// Digits and the marker behind them.
#[derive(Clone, Copy)]
pub(super) struct Number {
    /// What the digits count to, if it fits.
    pub value: Option<u64>,
    /// How many digits.
    pub digits: usize,
    /// The byte behind the digits.
    pub marker: u8,
}

/// The top bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The number at the start of `rest`, which starts with a digit. Offsets of errors count from there.
#[inline(always)]
pub(super) fn number<const MODE: u8>(rest: &[u8]) -> Result<Number, Error> {
    // One and two digits by branches: where they are predicted, what follows need not wait for the arithmetic.
    if let [digit, marker, ..] = *rest
        && !marker.is_ascii_digit()
    {
        return Ok(Number {
            value: Some(u64::from(digit & 15)),
            digits: 1,
            marker,
        });
    }
    if let [tens, ones, marker, ..] = *rest
        && !marker.is_ascii_digit()
        && (MODE == LENIENT || tens != b'0')
    {
        return Ok(Number {
            value: Some(u64::from(tens & 15) * 10 + u64::from(ones & 15)),
            digits: 2,
            marker,
        });
    }
    if let Some(window) = rest.first_chunk()
        && let (digits @ 2..8, values) = digits(*window)
        && (MODE == LENIENT || values & 0xff != 0)
    {
        return Ok(Number {
            value: Some(total(values, digits)),
            digits,
            marker: window[digits],
        });
    }
    long_number::<MODE>(rest)
}

/// Sign, magnitude and length of the integer that `rest` starts with, if it has up to seven digits, is canonical and eight
/// bytes are there. No branch depends on sign or length, which come as they like.
#[inline(always)]
pub(super) fn small(rest: &[u8]) -> Option<(bool, u64, usize)> {
    let window = rest.first_chunk()?;
    let (digits @ 1..8, values) = digits(*window) else {
        return None;
    };
    let (value, marker) = (total(values, digits), window[digits]);
    let negative = marker == b'-';
    // `0+` begins with a zero, and nothing else.
    let leading = (values & 0xff == 0) & ((digits > 1) | negative);
    (((marker == b'+') | negative) & !leading).then_some((negative, value, digits + 1))
}

/// How many digits the window starts with, and each byte's value as a digit.
#[inline(always)]
const fn digits(window: [u8; 8]) -> (usize, u64) {
    let values = u64::from_le_bytes(window) ^ 0x3030_3030_3030_3030;
    // The top bit of each byte that is no digit.
    let others = (((values & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | values) & HIGH;
    (others.trailing_zeros() as usize / 8, values)
}

/// What the first digits, one to eight, count to.
#[inline(always)]
const fn total(values: u64, digits: usize) -> u64 {
    // The digits at the top, zeros below; then in pairs, fours and eight.
    let padded = values << (64 - 8 * digits);
    let pairs = padded.wrapping_mul(10).wrapping_add(padded >> 8);
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let low = (pairs & MASK).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32) as u32 as u64
}

/// The decimal number that `input` starts with, an integer's magnitude or a length, and the marker behind it.
///
/// ```
/// use lydite_ocapn::syrup;
///
/// assert_eq!(syrup::decimal(b"1234:"), Ok((1234, b':')));
/// assert_eq!(syrup::decimal(b"007+").unwrap_err().to_string(), "byte 0: leading zero");
/// ```
#[inline(always)]
pub fn decimal(input: &[u8]) -> Result<(u64, u8), Error> {
    match input.first() {
        Some(first) if first.is_ascii_digit() => {
            let number = number::<STRICT>(input)?;
            let value = number.value.ok_or(ErrorKind::IntegerOutOfRange.at(0))?;
            Ok((value, number.marker))
        }
        Some(_) => Err(ErrorKind::UnexpectedByte.at(0)),
        None => Err(ErrorKind::UnexpectedEnd.at(0)),
    }
}

/// Of eight digits or more, or with fewer than eight bytes behind its start.
#[inline(never)]
fn long_number<const MODE: u8>(rest: &[u8]) -> Result<Number, Error> {
    let mut total = 0u64;
    for (digits, &marker) in rest.iter().enumerate() {
        let digit = marker.wrapping_sub(b'0');
        if digit < 10 {
            total = total.wrapping_mul(10).wrapping_add(u64::from(digit));
            continue;
        }
        // Up to 19 digits cannot have wrapped; more than 20 do not fit unless zeros stand first.
        let value = match digits {
            ..=19 => Some(total),
            20 => checked(&rest[..digits]),
            _ if MODE == LENIENT => checked(&rest[..digits]),
            _ => None,
        };
        if MODE != LENIENT && digits > 1 && rest[0] == b'0' {
            return Err(ErrorKind::LeadingZero.at(0));
        }
        return Ok(Number {
            value,
            digits,
            marker,
        });
    }
    Err(ErrorKind::UnexpectedEnd.at(rest.len()))
}

/// What the digits count to, if it fits.
#[cold]
fn checked(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, digit| {
        value.checked_mul(10)?.checked_add(u64::from(digit & 15))
    })
}

/// The text, if it is UTF-8; else the offset of the first byte that is not.
#[inline(always)]
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, usize> {
    lydite_bytes::utf8(bytes).map_err(|error| error.valid_up_to())
}

/// What a token or a container is; the discriminant is its first or marking byte.
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

/// A value that holds no other.
#[derive(Clone, Copy)]
pub(super) enum Atom {
    Boolean(bool),
    /// Sign and magnitude.
    Word(bool, u64),
    /// Sign and number of digits.
    Big(bool, usize),
    Float64(u64),
    Float32(u32),
    /// Kind, bytes before the payload and payload.
    Blob(Kind, usize, usize),
}

/// Told of every value in order.
pub(super) trait Visitor {
    /// A value from `start` to `end`.
    fn atom(&mut self, start: usize, end: usize, atom: Atom) -> Result<(), Error>;
    /// A container that starts at `start`; a name for it.
    fn open(&mut self, start: usize, kind: Kind) -> Result<usize, Error>;
    /// The container, with so many values right inside, ends before `end`.
    fn close(&mut self, container: Container, values: u32, end: usize) -> Result<(), Error>;
}

/// What a visitor has opened.
#[derive(Clone, Copy)]
pub(super) struct Container {
    /// As the visitor called it.
    pub name: usize,
    pub kind: Kind,
    pub start: usize,
}

/// A container being walked.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    container: Container,
    /// Values right inside so far.
    values: u32,
    /// In a dictionary: a key has been read and its value has not. In a record: the label has been read.
    half: bool,
    /// The key or member before, empty if there is none.
    previous: (usize, usize),
}

/// The frames around the present one.
pub(crate) type Stack = Vec<Frame>;

/// The outermost frame, which one value completes. It is not put on the stack: what nests once needs none.
const OUTSIDE: Frame = Frame::new(Container {
    name: 0,
    kind: Kind::Boolean,
    start: 0,
});

impl Frame {
    const fn new(container: Container) -> Self {
        Self {
            container,
            values: 0,
            half: false,
            previous: (0, 0),
        }
    }

    #[inline(always)]
    const fn is_outside(&self) -> bool {
        matches!(self.container.kind, Kind::Boolean)
    }
}

/// How far a walk has come.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    at: usize,
    frame: Frame,
    /// Behind the digits that start at `at`, as far as they are known.
    #[cfg_attr(not(feature = "captp"), allow(dead_code))]
    digits: usize,
}

impl Progress {
    pub const START: Self = Self {
        at: 0,
        frame: OUTSIDE,
        digits: 0,
    };
}

/// As [`walk`] from the start of `input` over a value that is not there whole yet: `None` until more of it is. No byte is
/// looked at twice, but for the length of text and the first bytes of a float.
#[cfg(feature = "captp")]
pub(crate) fn resume<const MODE: u8>(
    input: &[u8],
    limits: Limits,
    stack: &mut Stack,
    progress: &mut Progress,
) -> Result<Option<usize>, Error> {
    let run = input[progress.digits.max(progress.at)..].iter();
    progress.digits = input.len() - run.skip_while(|byte| byte.is_ascii_digit()).count();
    if progress.digits == input.len() {
        return Ok(None);
    }
    match walk_on::<MODE, _>(input, limits, stack, progress, &mut Nobody) {
        Ok(end) => Ok(Some(end)),
        Err(Error {
            kind: ErrorKind::UnexpectedEnd,
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Visits without a look.
pub(super) struct Nobody;

impl Visitor for Nobody {
    #[inline(always)]
    fn atom(&mut self, _: usize, _: usize, _: Atom) -> Result<(), Error> {
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, _: usize, _: Kind) -> Result<usize, Error> {
        Ok(0)
    }

    #[inline(always)]
    fn close(&mut self, _: Container, _: u32, _: usize) -> Result<(), Error> {
        Ok(())
    }
}

/// Walks over the value at the start of `input` and returns where it ends.
#[inline(always)]
pub(super) fn walk<const MODE: u8, V: Visitor>(
    input: &[u8],
    limits: Limits,
    stack: &mut Stack,
    visitor: &mut V,
) -> Result<usize, Error> {
    stack.clear();
    walk_on::<MODE, V>(input, limits, stack, &mut { Progress::START }, visitor)
}

#[inline(always)]
fn walk_on<const MODE: u8, V: Visitor>(
    input: &[u8],
    limits: Limits,
    stack: &mut Stack,
    progress: &mut Progress,
    visitor: &mut V,
) -> Result<usize, Error> {
    let Progress {
        mut at, mut frame, ..
    } = *progress;
    loop {
        (progress.at, progress.frame) = (at, frame);
        let Some(&first) = input.get(at) else {
            return Err(ErrorKind::UnexpectedEnd.at(input.len()));
        };
        let value_start;
        if first.is_ascii_digit() {
            value_start = at;
            let rest = &input[at..];
            let number = number::<MODE>(rest).map_err(|error| moved(error, at))?;
            let header = number.digits + 1;
            let atom = match number.marker {
                b'+' | b'-' => {
                    let negative = number.marker == b'-';
                    if negative && number.value == Some(0) && MODE != LENIENT {
                        return Err(ErrorKind::NegativeZero.at(at));
                    }
                    at += header;
                    match number.value {
                        Some(value) => Atom::Word(negative, value),
                        None => Atom::Big(negative, number.digits),
                    }
                }
                b'"' | b'\'' | b':' => {
                    let payload = payload(rest, number).map_err(|error| moved(error, at))?;
                    let kind = match number.marker {
                        b':' => Kind::Bytes,
                        b'"' => Kind::String,
                        _ => Kind::Symbol,
                    };
                    if kind != Kind::Bytes {
                        utf8(payload)
                            .map_err(|valid| ErrorKind::InvalidUtf8.at(at + header + valid))?;
                    }
                    at += header + payload.len();
                    Atom::Blob(kind, header, payload.len())
                }
                _ => return Err(ErrorKind::UnexpectedByte.at(at + number.digits)),
            };
            visitor.atom(value_start, at, atom)?;
        } else if let Some(kind) = opener::<MODE>(first) {
            let inside = !frame.is_outside();
            if stack.len() + usize::from(inside) >= limits.depth {
                return Err(ErrorKind::TooDeep.at(at));
            }
            let name = visitor.open(at, kind)?;
            if inside {
                stack.push(frame);
            }
            frame = Frame::new(Container {
                name,
                kind,
                start: at,
            });
            at += 1;
            continue;
        } else if closes::<MODE>(frame.container.kind, first) {
            let kind = frame.container.kind;
            if kind == Kind::Dictionary && frame.half {
                return Err(ErrorKind::MissingValue.at(at));
            }
            if kind == Kind::Record && !frame.half {
                return Err(ErrorKind::MissingLabel.at(at));
            }
            at += 1;
            visitor.close(frame.container, frame.values, at)?;
            value_start = frame.container.start;
            frame = stack.pop().unwrap_or(OUTSIDE);
        } else if MODE == LENIENT && first.is_ascii_whitespace() {
            at += 1;
            continue;
        } else {
            value_start = at;
            let (atom, length) =
                fixed::<MODE>(first, &input[at..]).map_err(|error| moved(error, at))?;
            at += length;
            visitor.atom(value_start, at, atom)?;
        }

        // A value is complete: what does it mean to the container?
        frame.values = frame.values.wrapping_add(1);
        match frame.container.kind {
            Kind::List => {}
            Kind::Record => frame.half = true,
            Kind::Dictionary => {
                frame.half = !frame.half;
                if frame.half && MODE != LENIENT {
                    in_order::<MODE>(input, &mut frame.previous, (value_start, at))?;
                }
            }
            Kind::Set => {
                if MODE != LENIENT {
                    in_order::<MODE>(input, &mut frame.previous, (value_start, at))?;
                }
            }
            _ => return Ok(at),
        }
    }
}

#[inline(always)]
pub(super) fn moved(error: Error, by: usize) -> Error {
    error.kind.at(error.offset + by)
}

/// What the digits at the start of `rest` are the length of.
#[inline(always)]
pub(super) fn payload(rest: &[u8], number: Number) -> Result<&[u8], Error> {
    let behind = &rest[number.digits + 1..];
    number
        .value
        .and_then(|length| usize::try_from(length).ok())
        .and_then(|length| behind.get(..length))
        .ok_or(ErrorKind::UnexpectedEnd.at(rest.len()))
}

/// A boolean or a float at the start of `rest`, and its length.
#[inline(always)]
pub(super) fn fixed<const MODE: u8>(first: u8, rest: &[u8]) -> Result<(Atom, usize), Error> {
    let end = ErrorKind::UnexpectedEnd.at(rest.len());
    match first {
        b't' => Ok((Atom::Boolean(true), 1)),
        b'f' => Ok((Atom::Boolean(false), 1)),
        b'D' => {
            let bits = u64::from_be_bytes(*rest[1..].first_chunk().ok_or(end)?);
            if f64::from_bits(bits).is_nan() && bits != NAN64 && MODE != LENIENT {
                return Err(ErrorKind::NotCanonicalNan.at(1));
            }
            if MODE == ENDO && bits == (-0f64).to_bits() {
                return Err(ErrorKind::NegativeZero.at(0));
            }
            Ok((Atom::Float64(bits), 9))
        }
        b'F' if MODE != ENDO => {
            let bits = u32::from_be_bytes(*rest[1..].first_chunk().ok_or(end)?);
            if f32::from_bits(bits).is_nan() && bits != NAN32 && MODE != LENIENT {
                return Err(ErrorKind::NotCanonicalNan.at(1));
            }
            Ok((Atom::Float32(bits), 5))
        }
        _ => Err(ErrorKind::UnexpectedByte.at(0)),
    }
}

#[inline(always)]
fn opener<const MODE: u8>(byte: u8) -> Option<Kind> {
    match byte {
        b'[' => Some(Kind::List),
        b'{' => Some(Kind::Dictionary),
        b'#' if MODE != ENDO => Some(Kind::Set),
        b'<' => Some(Kind::Record),
        b'l' | b'(' if MODE == LENIENT => Some(Kind::List),
        b'd' if MODE == LENIENT => Some(Kind::Dictionary),
        _ => None,
    }
}

#[inline(always)]
fn closes<const MODE: u8>(kind: Kind, byte: u8) -> bool {
    match kind {
        Kind::List => byte == b']' || MODE == LENIENT && (byte == b')' || byte == b'e'),
        Kind::Dictionary => byte == b'}' || MODE == LENIENT && byte == b'e',
        Kind::Set => byte == b'$',
        Kind::Record => byte == b'>',
        _ => false,
    }
}

/// Fails unless the encoding from `next.0` to `next.1` belongs behind the one before.
#[inline(always)]
fn in_order<const MODE: u8>(
    input: &[u8],
    previous: &mut (usize, usize),
    next: (usize, usize),
) -> Result<(), Error> {
    let before = core::mem::replace(previous, next);
    if MODE != ENDO && before.1 == 0 {
        return Ok(());
    }
    order::<MODE>(&input[before.0..before.1], &input[next.0..next.1])
        .map_err(|kind| kind.at(next.0))
}

/// Fails unless the encoding `next` belongs behind `before`, which is empty if `next` is the first.
#[inline(always)]
pub(super) fn order<const MODE: u8>(before: &[u8], next: &[u8]) -> Result<(), ErrorKind> {
    if MODE == ENDO {
        return order_by_text(before, next);
    }
    if before < next {
        Ok(())
    } else if before == next {
        Err(ErrorKind::Duplicate)
    } else {
        Err(ErrorKind::NotSorted)
    }
}

/// As [`order`], of strings by their text in units of UTF-16.
#[inline(never)]
fn order_by_text(before: &[u8], next: &[u8]) -> Result<(), ErrorKind> {
    let text = |encoded: &[u8]| match encoded.iter().position(|byte| !byte.is_ascii_digit()) {
        Some(marker) if encoded[marker] == b'"' => {
            let text = utf8(&encoded[marker + 1..]).unwrap_or_default();
            Ok(text.encode_utf16().collect::<Vec<_>>())
        }
        _ => Err(ErrorKind::WrongType),
    };
    let next = text(next)?;
    if before.is_empty() {
        return Ok(());
    }
    match text(before)?.cmp(&next) {
        Ordering::Less => Ok(()),
        Ordering::Equal => Err(ErrorKind::Duplicate),
        Ordering::Greater => Err(ErrorKind::NotSorted),
    }
}
