//! 0x04: the input, copied.
//!
//! Output: the input. Gas: 15, and 3 a word of 32 bytes.
//!
//! Source: \[YP\] appendix E.1.

use alloc::vec::Vec;

use super::{Error, Fork, GasUsed, charge, put, words};

/// The gas of an input of so many bytes.
#[must_use]
#[inline]
pub fn gas(length: usize) -> u64 {
    15 + 3 * words(length)
}

/// Runs it.
///
/// # Errors
/// [`Error::OutOfGas`].
#[inline]
pub fn run(input: &[u8], gas_limit: u64, _: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    let gas = charge(gas(input.len()), gas_limit)?;
    put(out, input);
    Ok(gas)
}
