//! Syrup's encoding.

use lydite::ocapn::syrup::{self, Value};

use crate::{
    failure::Failure,
    scratch::State,
    syrup_tape::{bounded_magnitude, read, write},
    tape::{Reader, Writer},
};

/// Offset and number of digits of the first integer of more than 65 536 bits in a valid encoding.
fn find_long_integer(input: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0;
    while let Some(byte) = input.get(at) {
        if !byte.is_ascii_digit() {
            // Skip the bytes of a float: they may be digits.
            at += match byte {
                b'D' => 9,
                b'F' => 5,
                _ => 1,
            };
            continue;
        }
        let count = input[at..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let (digits, end) = (std::str::from_utf8(&input[at..at + count]), at + count);
        let digits = digits.unwrap_or_default();
        at = match input.get(end) {
            Some(b'+' | b'-') => {
                let value = digits.parse().ok();
                if value.is_some_and(|value| bounded_magnitude(&value).is_none()) {
                    return Some((at, count));
                }
                end + 1
            }
            // A length, followed by that many bytes.
            _ => (end + 1).saturating_add(digits.parse().unwrap_or(usize::MAX)),
        };
    }
    None
}

/// Tape of a value → its canonical bytes, or with `content_id` their SHA-256.
pub fn encode(
    state: &mut State,
    length: usize,
    content_id: usize,
    _: usize,
) -> Result<usize, Failure> {
    let value = read(&mut Reader::new(state.input(length)?), 0, None)?;
    let error = |error: syrup::Error| Failure::encode(error.kind);
    if content_id != 0 {
        let id = syrup::content_id(&value).map_err(error)?;
        return state.put(&id);
    }
    let encoded = syrup::encode(&value).map_err(error)?;
    state.put_owned(encoded)
}

/// Bytes → tape of the single value that they encode.
pub fn decode(
    state: &mut State,
    length: usize,
    lenient: usize,
    _: usize,
) -> Result<usize, Failure> {
    let input = state.input(length)?;
    let value = if lenient == 0 {
        Value::decode(input)?
    } else {
        Value::decode_lenient(input)?
    };
    let mut out = Writer::new();
    if write(&value, &[], &mut out).is_err() {
        let (offset, digits) = find_long_integer(input).unwrap_or_default();
        return Err(Failure::decode(
            offset,
            format_args!(
                "byte {offset}: expected an integer of at most 65536 bits, found {digits} digits"
            ),
        ));
    }
    state.put_owned(out.finish())
}
