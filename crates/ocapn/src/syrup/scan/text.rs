//! UTF-8.

use crate::syrup::{Error, ErrorKind};

/// Returns the text if it is UTF-8, otherwise the offset of the first invalid byte.
#[inline(always)]
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, usize> {
    lydite_bytes::utf8(bytes).map_err(|error| error.valid_up_to())
}

/// Validates text of `length` bytes at the start of `bytes`, which is at `start` in the input, and scans ahead for
/// ASCII. Returns how many bytes at the end of `bytes` are not known to be ASCII. That excludes bytes after the text
/// only if the text is all ASCII.
#[inline(never)]
pub(super) fn classify_utf8(bytes: &[u8], length: usize, start: usize) -> Result<usize, Error> {
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
    let all = |bytes: &[u8; AHEAD]| bytes.iter().fold(0, |all, byte| all | byte) < 0x80;
    if bytes.first_chunk().is_some_and(all) {
        return AHEAD;
    }
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
const HIGHS: u128 = u128::from_ne_bytes([0x80; 16]);

/// Maximum number of bytes checked at once for ASCII.
const AHEAD: usize = 128;
