//! Loops over consecutive values of the frequent kinds: short text, byte arrays and integers.

use super::number::{integer, short_number, values};
use super::order::in_order;
use super::text::classify_utf8;
use super::visitor::{Atom, NoVisitor, Visitor};
use crate::syrup::Error;

/// Visits consecutive texts, byte arrays and integers of at most seven digits at the start of `rest`, which is a suffix
/// of `input`. Stops at the first value of any other kind, incomplete or not canonical. If `KEYED`, they are
/// alternately keys and values of a dictionary, and `previous` is the start of the preceding key. Returns the bytes
/// after them and their count. This is a separate loop because it needs little of the walk's state.
#[inline(always)]
pub(super) fn run<'a, const MODE: u8, const KEYED: bool, V: Visitor>(
    input: &'a [u8],
    mut rest: &'a [u8],
    previous: &mut usize,
    unknown: &mut usize,
    visitor: &mut V,
) -> Result<(&'a [u8], u32), Error> {
    let mut count = 0u32;
    loop {
        let at = input.len() - rest.len();
        let visited = next::<MODE, KEYED, V>(input, rest, unknown, &mut count, visitor)?;
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

/// Returns the bytes after the value at the start of `input`, if [`run`] would visit it.
#[inline(always)]
pub(super) fn skip_one<const MODE: u8>(input: &[u8]) -> Result<Option<&[u8]>, Error> {
    next::<MODE, true, _>(input, input, &mut input.len(), &mut 0, &mut NoVisitor)
}

/// Visits the value at the start of `rest`, or `None` if [`run`] stops there. Otherwise like [`atom`].
#[inline(always)]
fn next<'a, const MODE: u8, const KEYED: bool, V: Visitor>(
    input: &'a [u8],
    rest: &'a [u8],
    unknown: &mut usize,
    count: &mut u32,
    visitor: &mut V,
) -> Result<Option<&'a [u8]>, Error> {
    let at = input.len() - rest.len();
    // The most frequent forms first, so that few checks remain.
    let number = if let [digit @ b'0'..=b'9', marker @ (b'"' | b'\''), tail @ ..] = rest {
        let value = u64::from(digit & 15);
        return atom::<KEYED, V>(
            input,
            at,
            (value, 1, *marker, tail),
            unknown,
            count,
            visitor,
        );
    } else if let [digit @ b'0'..=b'9', b'+', tail @ ..] = rest {
        let value = u64::from(digit & 15);
        return atom::<KEYED, V>(input, at, (value, 1, b'+', tail), unknown, count, visitor);
    } else if let [b'0'..=b'9', ..] = rest {
        short_number::<MODE>(rest)
    } else {
        None
    };
    match number {
        Some(number) => atom::<KEYED, V>(input, at, number, unknown, count, visitor),
        None => Ok(None),
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
            let payload = Atom::Payload {
                marker,
                header,
                length,
            };
            visitor.atom(at, payload)?;
            Ok(Some(end))
        }
        b'+' | b'-' if marker == b'+' || value != 0 => {
            let integer = Atom::Integer {
                marker,
                length: header,
                magnitude: value,
            };
            visitor.atom(at, integer)?;
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

/// Bytes read at once by [`integers`]: a block of 64, and 8 more so that a full word can be loaded at any of them.
const WINDOW: usize = 64 + 8;

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
            let Some(Some((_, magnitude))) = integer else {
                return Ok((&rest[start..], count));
            };
            let integer = Atom::Integer {
                marker: window[end],
                length: digits + 1,
                magnitude,
            };
            visitor.atom(at + start, integer)?;
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
