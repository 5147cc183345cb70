//! The iterative walk over whole values that all decoders share. It keeps an explicit stack instead of recursing.

use alloc::vec::Vec;

use super::number::{fits, long_number, short_number};
use super::order::in_order;
use super::run::{run, skip_one};
use super::text::classify_utf8;
use super::visitor::{Atom, NoVisitor, Visitor};
use super::{ENDO, LENIENT, STRICT, advanced, fixed};
use crate::syrup::{Error, ErrorKind, Limits};

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

    #[cfg(feature = "captp")]
    fn pass_digits(&mut self, input: &[u8]) {
        let rest = input[self.digits.max(self.at)..].iter();
        self.digits = input.len() - rest.skip_while(|byte| byte.is_ascii_digit()).count();
    }
}

/// Walks over the value at the start of `input` and returns where it ends.
#[inline(always)]
pub(crate) fn walk<const MODE: u8, V: Visitor>(
    input: &[u8],
    limits: Limits,
    stack: &mut Stack,
    visitor: &mut V,
) -> Result<usize, Error> {
    walk_on::<MODE, V>(input, limits, stack, &mut { Progress::START }, visitor)
}

/// Like [`walk`], without visiting the values. Short atoms and lists of them need no stack.
#[inline(always)]
pub(crate) fn skip<const MODE: u8>(input: &[u8], limits: Limits) -> Result<usize, Error> {
    if let Some(rest) = skip_one::<MODE>(input)? {
        return Ok(input.len() - rest.len());
    }
    let mut progress = Progress::START;
    if let Some((b'[', items)) = input.split_first()
        && limits.depth > 0
    {
        let unknown = &mut input.len();
        let (rest, _) = run::<MODE, false, _>(input, items, &mut 0, unknown, &mut NoVisitor)?;
        progress.at = input.len() - rest.len();
        if rest.first() == Some(&b']') {
            return Ok(progress.at + 1);
        }
        (progress.depth, progress.state) = (1, State::List);
    }
    // The frame around a list is as new.
    walk_on::<MODE, _>(
        input,
        limits,
        &mut Stack::new(),
        &mut progress,
        &mut NoVisitor,
    )
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
    progress.pass_digits(input);
    if progress.digits == input.len() {
        return Ok(None);
    }
    match walk_on::<MODE, _>(input, limits, stack, progress, &mut NoVisitor) {
        Ok(end) => Ok(Some(end)),
        Err(Error {
            kind: ErrorKind::UnexpectedEnd,
            ..
        }) => {
            progress.pass_digits(input);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The least length of a value of which this is the start, after [`resume`] did not find its end: to the end of a text
/// whose length is known. The brackets that close are not counted, because which error of a value is found first must
/// not depend on the pieces in which it arrives.
#[cfg(feature = "captp")]
pub(crate) fn least_length(input: &[u8], progress: &Progress) -> usize {
    let header = &input[progress.at..];
    let digits = progress.digits - progress.at;
    let end = match header.get(digits) {
        // A text or byte array is in the way. Its length is not larger than any that fits.
        Some(b'"' | b'\'' | b':') if digits > 0 => {
            let length = match digits {
                ..=20 => long_number::<STRICT>(header).ok().and_then(|it| it.value),
                _ => None,
            };
            let length = length.and_then(|length| usize::try_from(length).ok());
            length.map_or(usize::MAX, |length| {
                (progress.at + digits + 1).saturating_add(length)
            })
        }
        _ => input.len(),
    };
    end.max(input.len() + 1)
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
                    let integer = if fits::<MODE>(value, digits, rest) {
                        Atom::Integer {
                            marker,
                            length: header,
                            magnitude: value,
                        }
                    } else {
                        Atom::LongInteger { marker, digits }
                    };
                    visitor.atom(at, integer)?;
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
                    let payload = Atom::Payload {
                        marker,
                        header,
                        length,
                    };
                    visitor.atom(at, payload)?;
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
            let (value, length) =
                fixed::<MODE>(first, rest).map_err(|error| advanced(error, at))?;
            visitor.atom(at, Atom::Fixed { value, length })?;
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

/// Maximum length of a header, or of an integer that fits in 64 bits. Only leading zeros can exceed it.
const MAX_HEADER: usize = 1 << 16;

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
