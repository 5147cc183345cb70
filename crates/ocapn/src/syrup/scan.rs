//! Token parsing, and the iterative walk over whole values that all decoders share. It keeps an explicit stack instead
//! of recursing.
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

use super::encode::{NAN32, NAN64};
use super::{Error, ErrorKind, Limits};

/// Mode: accept only canonical encodings.
pub(crate) const STRICT: u8 = 0;
/// Mode: also accept leading zeros, `0-`, other NaNs, keys in any order, white space between values and the brackets of
/// bencode (`l` or `(` for `[`, `d` for `{`, and `e` or `)` as their closers). The visitor must then check for
/// duplicate keys.
pub(super) const LENIENT: u8 = 1;
/// Mode: accept only the output of [`encode_for_endo`](super::encode_for_endo).
pub(crate) const ENDO: u8 = 2;

/// A decimal number and the marker after it.
#[derive(Clone, Copy)]
pub(super) struct Number {
    /// The value, if it fits in 64 bits.
    pub value: Option<u64>,
    /// Number of digits.
    pub digits: usize,
    /// The byte after the digits.
    pub marker: u8,
}

/// The top bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Parses the number at the start of `rest`, which must start with a digit. Error offsets are relative to `rest`.
#[inline(always)]
pub(super) fn number<const MODE: u8>(rest: &[u8]) -> Result<Number, Error> {
    match short_number::<MODE>(rest) {
        Some((value, digits, marker, _)) => Ok(Number {
            value: Some(value),
            digits,
            marker,
        }),
        None => long_number::<MODE>(rest),
    }
}

/// Returns value, digit count and marker of a number of at most seven digits, and the bytes after it.
#[inline(always)]
fn short_number<const MODE: u8>(rest: &[u8]) -> Option<(u64, usize, u8, &[u8])> {
    // One and two digits are handled with branches: if these are predicted, the code that follows need not wait for the
    // arithmetic.
    if let [digit, marker, tail @ ..] = rest
        && !marker.is_ascii_digit()
    {
        return Some((u64::from(digit & 15), 1, *marker, tail));
    }
    if let [tens, ones, marker, tail @ ..] = rest
        && !marker.is_ascii_digit()
        && (MODE == LENIENT || *tens != b'0')
    {
        let value = u64::from(tens & 15) * 10 + u64::from(ones & 15);
        return Some((value, 2, *marker, tail));
    }
    let window = rest.first_chunk()?;
    let (digits @ 2..8, values) = digits(*window) else {
        return None;
    };
    if MODE != LENIENT && values & 0xff == 0 {
        return None;
    }
    let marker = u64::from_le_bytes(*window) >> (8 * digits);
    let tail = &rest[digits + 1..];
    Some((total(values, digits), digits, marker as u8, tail))
}

/// Returns sign, magnitude and length of the integer at the start of `rest`, if it is canonical, has at most seven
/// digits and `rest` has at least eight bytes. No branch depends on its sign or length, which are hard to predict.
#[inline(always)]
pub(super) fn small(rest: &[u8]) -> Option<(bool, u64, usize)> {
    let window = rest.first_chunk()?;
    let (digits @ 1..8, values) = digits(*window) else {
        return None;
    };
    let marker = u64::from_le_bytes(*window) >> (8 * digits);
    let (negative, value) = integer(values, digits, marker as u8)?;
    Some((negative, value, digits + 1))
}

/// Returns sign and magnitude of a number of one to seven digits with this marker, if it is a canonical integer.
#[inline(always)]
fn integer(values: u64, digits: usize, marker: u8) -> Option<(bool, u64)> {
    const PLUS: u64 = (b'+' ^ b'0') as u64;
    let negative = marker == b'-';
    // `0+` is the only canonical integer that starts with a zero.
    let leading = (values & 0xff == 0) & (values & 0xff00 != PLUS << 8);
    (((marker == b'+') | negative) & !leading).then(|| (negative, total(values, digits)))
}

/// Visits consecutive integers at the start of `rest`, which is a suffix of `input`. Stops at the first value that is
/// not a canonical integer of at most seven digits, or too close to the end of the input. Returns the bytes after them
/// and their count. The start of each integer is taken from a bit mask, so it depends neither on the previous integer's
/// value nor on branches.
#[inline(always)]
fn integers<'a, V: Visitor>(
    input: &'a [u8],
    mut rest: &'a [u8],
    visitor: &mut V,
) -> Result<(&'a [u8], u32), Error> {
    let mut count = 0;
    while let Some(window) = rest.first_chunk::<WINDOW>()
        && let Some(block) = window.first_chunk::<64>()
    {
        let at = input.len() - rest.len();
        let (mut others, mut start) = (lydite_bytes::non_digits(block), 0);
        while others != 0 {
            let end = others.trailing_zeros() as usize;
            others &= others - 1;
            let digits = end - start;
            let word = window[start..].first_chunk().copied().unwrap_or_default();
            let integer = (1..8)
                .contains(&digits)
                .then(|| integer(values(word), digits, window[end]));
            let Some(Some((_, value))) = integer else {
                return Ok((&rest[start..], count));
            };
            visitor.atom(window[end], at + start, digits + 1, value)?;
            count += 1;
            start = end + 1;
        }
        if start == 0 {
            break;
        }
        rest = &rest[start..];
    }
    Ok((rest, count))
}

/// Visits consecutive texts, byte arrays and integers of at most seven digits at the start of `rest`, which is a suffix
/// of `input`. Stops at the first value of any other kind, incomplete or not canonical. If `KEYED`, they are
/// alternately keys and values of a dictionary, and `previous` is the start of the preceding key. Returns the bytes
/// after them and their count. This is a separate loop because it needs little of the walk's state.
#[inline(always)]
fn run<'a, const MODE: u8, const KEYED: bool, V: Visitor>(
    input: &'a [u8],
    mut rest: &'a [u8],
    previous: &mut usize,
    unknown: &mut usize,
    visitor: &mut V,
) -> Result<(&'a [u8], u32), Error> {
    let mut count = 0u32;
    loop {
        let at = input.len() - rest.len();
        // The most frequent forms first, so that few checks remain.
        let visited = if let [digit @ b'0'..=b'9', marker @ (b'"' | b'\''), tail @ ..] = rest {
            let value = u64::from(digit & 15);
            atom::<KEYED, V>(
                input,
                at,
                (value, 1, *marker, tail),
                unknown,
                &mut count,
                visitor,
            )?
        } else if let [digit @ b'0'..=b'9', b'+', tail @ ..] = rest {
            let value = u64::from(digit & 15);
            atom::<KEYED, V>(
                input,
                at,
                (value, 1, b'+', tail),
                unknown,
                &mut count,
                visitor,
            )?
        } else if let [b'0'..=b'9', ..] = rest
            && let Some(number) = short_number::<MODE>(rest)
        {
            atom::<KEYED, V>(input, at, number, unknown, &mut count, visitor)?
        } else {
            None
        };
        let Some(tail) = visited else {
            return Ok((rest, count));
        };
        rest = tail;
        if KEYED && count.is_multiple_of(2) {
            in_order::<MODE>(input, previous, at..input.len() - rest.len())?;
        }
        count = count.wrapping_add(1);
    }
}

/// Visits a text or byte array at `at`, or an integer, given its value, digits, marker and the bytes after it. If not
/// `KEYED`, the integers that directly follow an integer are visited too and added to `count`. Returns the bytes after
/// all of these, or `None` if the value is incomplete or not canonical.
#[inline(always)]
fn atom<'a, const KEYED: bool, V: Visitor>(
    input: &'a [u8],
    at: usize,
    (value, digits, marker, tail): (u64, usize, u8, &'a [u8]),
    unknown: &mut usize,
    count: &mut u32,
    visitor: &mut V,
) -> Result<Option<&'a [u8]>, Error> {
    let header = digits + 1;
    match marker {
        b'"' | b'\'' | b':' => {
            let length = value as usize;
            let Some(end) = tail.get(length..) else {
                return Ok(None);
            };
            if marker != b':' && end.len() < *unknown {
                *unknown = classify_utf8(tail, length, at + header)?;
            }
            visitor.atom(marker, at, header, value)?;
            Ok(Some(end))
        }
        b'+' | b'-' if marker == b'+' || value != 0 => {
            visitor.atom(marker, at, header, value)?;
            if KEYED {
                return Ok(Some(tail));
            }
            let (end, more) = integers(input, tail, visitor)?;
            *count = count.wrapping_add(more);
            Ok(Some(end))
        }
        _ => Ok(None),
    }
}

/// Returns the number of leading digits in the window, and each byte as a digit value.
#[inline(always)]
const fn digits(window: [u8; 8]) -> (usize, u64) {
    let values = values(window);
    (other_bytes(values).trailing_zeros() as usize / 8, values)
}

/// Converts each byte to its digit value.
#[inline(always)]
const fn values(window: [u8; 8]) -> u64 {
    u64::from_le_bytes(window) ^ 0x3030_3030_3030_3030
}

/// Sets the top bit of each byte that is not a digit.
#[inline(always)]
const fn other_bytes(values: u64) -> u64 {
    (((values & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | values) & HIGH
}

/// Bytes read at once by [`integers`]: a block of 64, and 8 more so that a full word can be loaded at any of them.
const WINDOW: usize = 64 + 8;

/// The value of the first `digits` digits, one to eight.
#[inline(always)]
const fn total(values: u64, digits: usize) -> u64 {
    // Shift the digits to the top, with zeros below, then combine pairs, fours and all eight.
    let padded = values << (64 - 8 * digits);
    let pairs = padded.wrapping_mul(10).wrapping_add(padded >> 8);
    const MASK: u64 = 0x0000_00ff_0000_00ff;
    let low = (pairs & MASK).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & MASK).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32) as u32 as u64
}

/// Parses the decimal number at the start of `input`, an integer's magnitude or a length. Returns it and the marker
/// after it.
///
/// # Errors
///
/// [`ErrorKind::UnexpectedByte`] if `input` does not start with a digit; [`ErrorKind::LeadingZero`];
/// [`ErrorKind::IntegerOutOfRange`] if the number does not fit in a `u64`; [`ErrorKind::UnexpectedEnd`] if no marker
/// follows.
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

/// Parses a number of eight or more digits, or one with fewer than eight bytes of input.
#[inline(never)]
fn long_number<const MODE: u8>(rest: &[u8]) -> Result<Number, Error> {
    let mut total = 0u64;
    for (digits, &marker) in rest.iter().enumerate() {
        let digit = marker.wrapping_sub(b'0');
        if digit < 10 {
            total = total.wrapping_mul(10).wrapping_add(u64::from(digit));
            continue;
        }
        // Up to 19 digits cannot have wrapped. More than 20 do not fit, unless there are leading zeros.
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

/// The value of the digits, if it fits in 64 bits.
#[cold]
fn checked(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, digit| {
        value.checked_mul(10)?.checked_add(u64::from(digit & 15))
    })
}

/// Returns the text if it is UTF-8, otherwise the offset of the first invalid byte.
#[inline(always)]
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, usize> {
    lydite_bytes::utf8(bytes).map_err(|error| error.valid_up_to())
}

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

/// A boolean or a float.
#[derive(Clone, Copy)]
pub(super) enum Fixed {
    Boolean(bool),
    Float64(u64),
    Float32(u32),
}

/// Receives every value in input order. A tag is the discriminant of a [`Kind`], or `-` for a negative integer.
pub(super) trait Visitor {
    /// Visits a value that starts at `start`. For bytes and text, `data` is the length and `extra` the length of the
    /// header before them. For all others `extra` is the length of the encoding and `data` is the magnitude, 1 for `t`,
    /// or the bits of a float. For an integer whose magnitude does not fit in 64 bits, `extra` is 0 and `data` is the
    /// number of digits.
    fn atom(&mut self, tag: u8, start: usize, extra: usize, data: u64) -> Result<(), Error>;
    /// Opens a container that starts at `start`. Returns a handle for it, which is passed to [`close`](Self::close).
    fn open(&mut self, tag: u8, start: usize) -> Result<usize, Error>;
    /// Closes the container with this handle, which has `values` direct children and ends before `end`.
    fn close(&mut self, name: usize, values: u32, end: usize);
    /// Whether the visitor itself ensures that text is UTF-8.
    #[inline(always)]
    fn checks_text(&self) -> bool {
        false
    }
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum State {
    List,
    Fields,
    Label,
    Key,
    Value,
    Set,
    /// At the top level, where exactly one value is expected.
    Outside,
}

/// The byte that closes each state, apart from white space and bencode's brackets. Nothing closes `Outside`: a digit is
/// never a closer.
static CLOSERS: [u8; 7] = *b"]>>}}$0";

/// The state after each byte that opens a container.
static INSIDE: [Option<State>; 256] = {
    let mut inside = [None; 256];
    inside[b'[' as usize] = Some(State::List);
    inside[b'{' as usize] = Some(State::Key);
    inside[b'#' as usize] = Some(State::Set);
    inside[b'<' as usize] = Some(State::Label);
    inside
};

/// A container being walked.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    /// The visitor's handle.
    name: usize,
    /// Start of the previous key or member, or [`NONE`].
    previous: usize,
    /// Number of direct children so far.
    values: u32,
    /// While an inner container is walked: the state to return to after it, and where it starts.
    state: State,
    inner: usize,
}

const NONE: usize = usize::MAX;

impl Frame {
    #[inline(always)]
    const fn new(name: usize) -> Self {
        Self {
            name,
            previous: NONE,
            values: 0,
            state: State::Outside,
            inner: 0,
        }
    }
}

/// The frames of the open containers, outermost first. The first frame is not a container: it is complete after one
/// value. The first [`FEW`] frames need no allocation.
#[derive(Clone)]
pub(crate) struct Stack {
    few: [Frame; FEW],
    more: Vec<Frame>,
}

const FEW: usize = 6;

impl Stack {
    pub(crate) const fn new() -> Self {
        Self {
            few: [Frame::new(0); FEW],
            more: Vec::new(),
        }
    }

    /// The frame at this depth, allocated on first use.
    #[inline(always)]
    fn at(&mut self, depth: usize) -> &mut Frame {
        match self.few.get_mut(depth) {
            Some(frame) => frame,
            None => more_at(&mut self.more, depth - FEW),
        }
    }
}

#[cold]
#[inline(never)]
fn more_at(frames: &mut Vec<Frame>, index: usize) -> &mut Frame {
    if index >= frames.len() {
        frames.resize(index + 1, Frame::new(0));
    }
    &mut frames[index]
}

impl Default for Stack {
    fn default() -> Self {
        Self::new()
    }
}

/// The position of an interrupted walk.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    at: usize,
    depth: usize,
    state: State,
    /// End of the digits that start at `at`, as far as they have been scanned.
    #[cfg_attr(not(feature = "captp"), allow(dead_code))]
    digits: usize,
}

impl Progress {
    pub const START: Self = Self {
        at: 0,
        depth: 0,
        state: State::Outside,
        digits: 0,
    };
}

/// Like [`walk`], for a value at the start of `input` that may still be incomplete: returns `None` until the whole
/// value is present. No byte is scanned twice, except the length of a text and the first bytes of a float.
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
    match walk_on::<MODE, _>(input, limits, stack, progress, &mut NoVisitor) {
        Ok(end) => Ok(Some(end)),
        Err(Error {
            kind: ErrorKind::UnexpectedEnd,
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A visitor that ignores every value, for validation only.
pub(super) struct NoVisitor;

impl Visitor for NoVisitor {
    #[inline(always)]
    fn atom(&mut self, _: u8, _: usize, _: usize, _: u64) -> Result<(), Error> {
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, _: u8, _: usize) -> Result<usize, Error> {
        Ok(0)
    }

    #[inline(always)]
    fn close(&mut self, _: usize, _: u32, _: usize) {}
}

/// Walks over the value at the start of `input` and returns where it ends.
#[inline(always)]
pub(super) fn walk<const MODE: u8, V: Visitor>(
    input: &[u8],
    limits: Limits,
    stack: &mut Stack,
    visitor: &mut V,
) -> Result<usize, Error> {
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
        at,
        mut depth,
        mut state,
        ..
    } = *progress;
    let mut rest = input.get(at..).unwrap_or_default();
    let mut frame = stack.at(depth);
    // Number of bytes at the end that are not known to be ASCII; 0 if the visitor checks text.
    let mut unknown = if visitor.checks_text() {
        0
    } else {
        input.len()
    };
    loop {
        match state {
            State::List | State::Fields | State::Label if MODE != LENIENT => {
                let (end, count) =
                    run::<MODE, false, V>(input, rest, &mut 0, &mut unknown, visitor)?;
                rest = end;
                frame.values = frame.values.wrapping_add(count);
                if state == State::Label && count > 0 {
                    state = State::Fields;
                }
            }
            State::Key if MODE == STRICT => {
                let previous = &mut frame.previous;
                let (end, count) =
                    run::<MODE, true, V>(input, rest, previous, &mut unknown, visitor)?;
                rest = end;
                frame.values = frame.values.wrapping_add(count);
                if !count.is_multiple_of(2) {
                    state = State::Value;
                }
            }
            _ => {}
        }
        let at = input.len() - rest.len();
        (progress.at, progress.depth, progress.state) = (at, depth, state);
        let Some((&first, tail)) = rest.split_first() else {
            return Err(ErrorKind::UnexpectedEnd.at(input.len()));
        };
        let mut start = at;
        if first.is_ascii_digit() {
            let (value, digits, marker, tail) = match short_number::<MODE>(rest) {
                Some(number) => number,
                None => {
                    let number = long_number::<MODE>(rest).map_err(|error| advanced(error, at))?;
                    let tail = &rest[number.digits + 1..];
                    // `u64::MAX` also represents values that do not fit.
                    let value = number.value.unwrap_or(u64::MAX);
                    (value, number.digits, number.marker, tail)
                }
            };
            let header = digits + 1;
            if MODE == LENIENT && header > MAX_HEADER && fits::<MODE>(value, digits, rest) {
                return Err(ErrorKind::TooLong.at(at));
            }
            match marker {
                b'+' | b'-' => {
                    if (marker == b'-') & (value == 0) && MODE != LENIENT {
                        return Err(ErrorKind::NegativeZero.at(at));
                    }
                    if fits::<MODE>(value, digits, rest) {
                        visitor.atom(marker, at, header, value)?;
                    } else {
                        visitor.atom(marker, at, 0, digits as u64)?;
                    }
                    rest = tail;
                }
                b'"' | b'\'' | b':' => {
                    let length = usize::try_from(value).unwrap_or(usize::MAX);
                    let Some(end) = tail.get(length..) else {
                        return Err(ErrorKind::UnexpectedEnd.at(input.len()));
                    };
                    if marker != b':' && end.len() < unknown {
                        unknown = classify_utf8(tail, length, at + header)?;
                    }
                    visitor.atom(marker, at, header, value)?;
                    rest = end;
                }
                _ => return Err(ErrorKind::UnexpectedByte.at(at + digits)),
            }
        } else if closes::<MODE>(state, first) {
            match state {
                State::Value => return Err(ErrorKind::MissingValue.at(at)),
                State::Label => return Err(ErrorKind::MissingLabel.at(at)),
                _ => {}
            }
            rest = tail;
            visitor.close(frame.name, frame.values, at + 1);
            depth -= 1;
            frame = stack.at(depth);
            (state, start) = (frame.state, frame.inner);
        } else if let Some((tag, inside)) = opener::<MODE>(first) {
            if depth >= limits.depth {
                return Err(ErrorKind::TooDeep.at(at));
            }
            let name = visitor.open(tag, at)?;
            (frame.state, frame.inner) = (state, at);
            depth += 1;
            frame = stack.at(depth);
            (frame.name, frame.previous, frame.values) = (name, NONE, 0);
            state = inside;
            rest = tail;
            continue;
        } else if MODE == LENIENT && first.is_ascii_whitespace() {
            rest = tail;
            continue;
        } else {
            let (fixed, length) =
                fixed::<MODE>(first, rest).map_err(|error| advanced(error, at))?;
            let (tag, data) = match fixed {
                Fixed::Boolean(value) => (Kind::Boolean, u64::from(value)),
                Fixed::Float64(bits) => (Kind::Float64, bits),
                Fixed::Float32(bits) => (Kind::Float32, u64::from(bits)),
            };
            visitor.atom(tag as u8, at, length, data)?;
            rest = &rest[length..];
        }

        // A value is complete: update the state of its container.
        frame.values = frame.values.wrapping_add(1);
        if state == State::List || state == State::Fields {
            continue;
        }
        match state {
            // Handled above, since they are the most frequent.
            State::List | State::Fields => {}
            State::Label => state = State::Fields,
            State::Value => state = State::Key,
            State::Key | State::Set => {
                if state == State::Key {
                    state = State::Value;
                }
                let end = input.len() - rest.len();
                in_order::<MODE>(input, &mut frame.previous, start..end)?;
            }
            State::Outside => return Ok(input.len() - rest.len()),
        }
    }
}

/// Whether the number at the start of `rest` fits in 64 bits. `value` is `u64::MAX` if it does not.
#[inline(always)]
fn fits<const MODE: u8>(value: u64, digits: usize, rest: &[u8]) -> bool {
    value < u64::MAX || is_largest::<MODE>(&rest[..digits])
}

#[cold]
#[inline(never)]
fn is_largest<const MODE: u8>(digits: &[u8]) -> bool {
    (MODE == LENIENT || digits.len() == 20) && checked(digits).is_some()
}

/// Maximum length of a header, or of an integer that fits in 64 bits. Only leading zeros can exceed it.
const MAX_HEADER: usize = 1 << 16;

/// Validates text of `length` bytes at the start of `bytes`, which is at `start` in the input, and scans ahead for
/// ASCII. Returns how many bytes at the end of `bytes` are not known to be ASCII. That excludes bytes after the text
/// only if the text is all ASCII.
#[inline(never)]
fn classify_utf8(bytes: &[u8], length: usize, start: usize) -> Result<usize, Error> {
    let ascii = ascii_prefix(bytes);
    if ascii >= length {
        return Ok(bytes.len() - ascii);
    }
    match utf8(&bytes[..length]) {
        Ok(_) => Ok(bytes.len() - length),
        Err(valid) => Err(ErrorKind::InvalidUtf8.at(start + valid)),
    }
}

/// Returns the length of the ASCII prefix, checking at most [`AHEAD`] bytes.
#[inline(always)]
fn ascii_prefix(bytes: &[u8]) -> usize {
    let bytes = bytes.get(..AHEAD).unwrap_or(bytes);
    let (pairs, rest) = bytes.as_chunks::<16>();
    let mut ascii = 0;
    for pair in pairs {
        let high = u128::from_le_bytes(*pair) & HIGHS;
        if high != 0 {
            return ascii + high.trailing_zeros() as usize / 8;
        }
        ascii += 16;
    }
    // The last 16 bytes, which overlap bytes already checked.
    match bytes.last_chunk() {
        Some(last) if !rest.is_empty() => {
            let high = u128::from_le_bytes(*last) & HIGHS;
            bytes.len() - 16 + high.trailing_zeros().min(128) as usize / 8
        }
        Some(_) => ascii,
        None => rest.iter().take_while(|byte| byte.is_ascii()).count(),
    }
}

/// The top bit of each byte.
const HIGHS: u128 = (HIGH as u128) << 64 | HIGH as u128;

/// Maximum number of bytes checked at once for ASCII.
const AHEAD: usize = 128;

#[inline(always)]
pub(super) fn advanced(error: Error, by: usize) -> Error {
    error.kind.at(error.offset + by)
}

/// The payload whose length is given by `number`, at the start of `rest`.
#[inline(always)]
pub(super) fn payload(rest: &[u8], number: Number) -> Result<&[u8], Error> {
    let tail = &rest[number.digits + 1..];
    number
        .value
        .and_then(|length| usize::try_from(length).ok())
        .and_then(|length| tail.get(..length))
        .ok_or(ErrorKind::UnexpectedEnd.at(rest.len()))
}

/// Parses a boolean or a float at the start of `rest`, and returns it with its length.
#[inline(always)]
pub(super) fn fixed<const MODE: u8>(first: u8, rest: &[u8]) -> Result<(Fixed, usize), Error> {
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

#[inline(always)]
fn opener<const MODE: u8>(byte: u8) -> Option<(u8, State)> {
    match byte {
        b'#' if MODE == ENDO => None,
        b'l' | b'(' if MODE == LENIENT => Some((b'[', State::List)),
        b'd' if MODE == LENIENT => Some((b'{', State::Key)),
        _ => INSIDE[usize::from(byte)].map(|inside| (byte, inside)),
    }
}

#[inline(always)]
fn closes<const MODE: u8>(state: State, byte: u8) -> bool {
    let bencode = MODE == LENIENT
        && match state {
            State::List => byte == b')' || byte == b'e',
            State::Key | State::Value => byte == b'e',
            _ => false,
        };
    bencode || byte == CLOSERS[state as usize]
}

/// Fails unless the encoding at `next` sorts after the one that starts at `previous`.
#[inline(always)]
fn in_order<const MODE: u8>(
    input: &[u8],
    previous: &mut usize,
    next: Range<usize>,
) -> Result<(), Error> {
    if MODE == LENIENT {
        return Ok(());
    }
    let start = next.start;
    let previous = core::mem::replace(previous, start);
    // This may include a value after the previous key.
    let before = input.get(previous..start);
    if MODE == ENDO {
        let before = before.unwrap_or_default();
        return order::<MODE>(before, &input[next]).map_err(|kind| kind.at(start));
    }
    let Some(before) = before else {
        return Ok(());
    };
    // No encoding is a prefix of another, so two encodings differ before either ends and can be compared without
    // finding the end of the first.
    if let (Some(a), Some(b)) = (
        input[previous..].first_chunk(),
        input[start..].first_chunk(),
    ) {
        let (a, b) = (u64::from_be_bytes(*a), u64::from_be_bytes(*b));
        if a < b && ((a ^ b).leading_zeros() as usize / 8) < next.len() {
            return Ok(());
        }
    }
    let before = &before[..before.len().min(next.len())];
    order::<MODE>(before, &input[next]).map_err(|kind| kind.at(start))
}

/// Fails unless the encoding `next` sorts after `before`, which is empty if `next` is the first.
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

/// Endo's order of keys: by UTF-16 code units.
pub(crate) fn text_order(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

/// Like [`order`], for strings compared by the UTF-16 code units of their text. Both may have trailing bytes.
#[inline(never)]
fn order_by_text(before: &[u8], next: &[u8]) -> Result<(), ErrorKind> {
    fn text(encoded: &[u8]) -> Result<&str, ErrorKind> {
        let text = encoded.first().filter(|first| first.is_ascii_digit());
        let number = text.and_then(|_| number::<STRICT>(encoded).ok());
        let payload = number
            .filter(|number| number.marker == b'"')
            .and_then(|number| payload(encoded, number).ok());
        Ok(utf8(payload.ok_or(ErrorKind::WrongType)?).unwrap_or_default())
    }
    let next = text(next)?;
    if before.is_empty() {
        return Ok(());
    }
    match text_order(text(before)?, next) {
        Ordering::Less => Ok(()),
        Ordering::Equal => Err(ErrorKind::Duplicate),
        Ordering::Greater => Err(ErrorKind::NotSorted),
    }
}
