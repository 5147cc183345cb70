//! 0x0b: addition in G1 of BLS12-381.
//!
//! Input: exactly two points, 128 bytes each. Output: their sum; the points need not be in the subgroup. Gas: 375.
//!
//! Source: \[EIP-2537\].

use alloc::vec::Vec;

use lydite_curve::bls12_381;

use super::{
    Error, Fork, GasUsed,
    bls12_points::{check_padding, g1},
    charge, since,
};

/// The gas of a call.
pub const GAS: u64 = 375;

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`], [`Error::Padding`], or [`Error::Bls12_381`] for
/// a point that is not on the curve.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Prague, fork)?;
    let gas = charge(GAS, gas_limit)?;
    let ([p, q], []) = input.as_chunks::<{ g1::LENGTH }>() else {
        return Err(Error::InputLength);
    };
    check_padding(input)?;
    let sum = bls12_381::g1_add(&g1::read(p), &g1::read(q))?;
    g1::write(&sum, out);
    Ok(gas)
}
