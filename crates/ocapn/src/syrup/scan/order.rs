//! The order of keys and of members of sets.

use core::cmp::Ordering;
use core::ops::Range;

use super::{ENDO, LENIENT, STRICT, number, payload, utf8};
use crate::syrup::{Error, ErrorKind};

/// Fails unless the encoding at `next` sorts after the one that starts at `previous`.
#[inline(always)]
pub(super) fn in_order<const MODE: u8>(
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
pub(crate) fn order<const MODE: u8>(before: &[u8], next: &[u8]) -> Result<(), ErrorKind> {
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
