//! 0x06: addition on bn254.
//!
//! Input: two points, 64 bytes each (x, y; infinity is all zeros). Short input is padded with zeros; extra input is
//! ignored. Output: their sum. Gas: 150; 500 before Istanbul.
//!
//! Source: \[EIP-196\], \[EIP-1108\] (gas).

use alloc::vec::Vec;

use lydite_curve::bn254;

use super::{Error, Fork, GasUsed, charge, padded, put, since};

/// Returns the gas.
#[must_use]
pub fn gas(fork: Fork) -> u64 {
    if fork >= Fork::Istanbul { 150 } else { 500 }
}

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], or [`Error::Bn254`] for a point that is not on the curve.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Byzantium, fork)?;
    let gas = charge(gas(fork), gas_limit)?;
    put(out, &bn254::add(&padded(input, 0), &padded(input, 64))?);
    Ok(gas)
}
