//! 0x11: mapping of an Fp2 element to G2 of BLS12-381.
//!
//! Input: exactly one element of Fp2, 128 bytes. Output: a point of the subgroup. Gas: 23800.
//!
//! Source: \[EIP-2537\].

use alloc::vec::Vec;

use lydite_curve::bls12_381;

use super::{
    Error, Fork, GasUsed,
    bls12_points::{check_padding, g2, unpad},
    charge, since,
};

/// The gas of a call.
pub const GAS: u64 = 23800;

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`], [`Error::Padding`], or [`Error::Bls12_381`] for
/// an element that is not below the field prime.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Prague, fork)?;
    let gas = charge(GAS, gas_limit)?;
    let element: &[u8; 128] = input.try_into().map_err(|_| Error::InputLength)?;
    check_padding(element)?;
    let mut unpadded = [0; 96];
    unpad(element, &mut unpadded);
    g2::write(&bls12_381::map_fp2_to_g2(&unpadded)?, out);
    Ok(gas)
}
