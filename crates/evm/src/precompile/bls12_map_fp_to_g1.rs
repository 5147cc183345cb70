//! 0x10: mapping of an Fp element to G1 of BLS12-381.
//!
//! Input: exactly one field element, 64 bytes. Output: a point of the subgroup. Gas: 5500.
//!
//! Source: \[EIP-2537\].

use alloc::vec::Vec;

use lydite_curve::bls12_381;

use super::{
    Error, Fork, GasUsed,
    bls12_points::{check_padding, g1, unpad},
    charge, since,
};

/// The gas of a call.
pub const GAS: u64 = 5500;

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`], [`Error::Padding`], or [`Error::Bls12_381`] for
/// an element that is not below the field prime.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Prague, fork)?;
    let gas = charge(GAS, gas_limit)?;
    let element: &[u8; 64] = input.try_into().map_err(|_| Error::InputLength)?;
    check_padding(element)?;
    let mut unpadded = [0; 48];
    unpad(element, &mut unpadded);
    g1::write(&bls12_381::map_fp_to_g1(&unpadded)?, out);
    Ok(gas)
}
