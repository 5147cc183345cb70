//! 0x04: a copy of the input.
//!
//! Output: the input. Gas: 15 plus 3 per word of 32 bytes.
//!
//! Source: \[YP\] appendix E.1.

use alloc::vec::Vec;

use super::{Error, Fork, GasUsed, charge, put, words};

/// Returns the gas for an input of this length in bytes.
#[must_use]
#[inline]
pub fn gas(length: usize) -> u64 {
    15 + 3 * words(length)
}

/// Runs the precompile and stores the output in `out`.
///
/// [`Error::OutOfGas`] if `gas_limit` is too low.
/// [`Error::OutOfGas`].
#[inline]
pub fn run(input: &[u8], gas_limit: u64, _: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    let gas = charge(gas(input.len()), gas_limit)?;
    put(out, input);
    Ok(gas)
}
