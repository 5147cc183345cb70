//! 0x03: RIPEMD-160.
//!
//! Output: twelve zeros and the digest. Gas: 600 plus 120 per word of 32 bytes.
//!
//! Source: \[YP\] appendix E.1.

use alloc::vec::Vec;

use super::{Error, Fork, GasUsed, charge, put, words};

/// Returns the gas for an input of this length in bytes.
#[must_use]
pub fn gas(length: usize) -> u64 {
    600 + 120 * words(length)
}

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::OutOfGas`] if `gas_limit` is too low.
pub fn run(input: &[u8], gas_limit: u64, _: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    let gas = charge(gas(input.len()), gas_limit)?;
    let mut word = [0; 32];
    word[12..].copy_from_slice(&lydite_hash::ripemd160(input));
    put(out, &word);
    Ok(gas)
}
