//! 0x02: SHA-256.
//!
//! Output: the digest, 32 bytes. Gas: 60, and 12 a word of 32 bytes.
//!
//! Source: \[YP\] appendix E.1.

use alloc::vec::Vec;

use super::{Error, Fork, GasUsed, charge, put, words};

/// The gas of an input of so many bytes.
#[must_use]
pub fn gas(length: usize) -> u64 {
    60 + 12 * words(length)
}

/// Runs it.
///
/// # Errors
/// [`Error::OutOfGas`].
pub fn run(input: &[u8], gas_limit: u64, _: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    let gas = charge(gas(input.len()), gas_limit)?;
    put(out, &lydite_hash::sha256(input));
    Ok(gas)
}
