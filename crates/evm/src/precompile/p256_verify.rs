//! 0x100: verification of a secp256r1 (P-256) signature.
//!
//! Input: exactly 160 bytes: hash, r, s and the public key's x and y, 32 bytes each. Output: the word 1 if the
//! signature is valid, else nothing. Input of any other length gives no output either; neither case is an error. Gas:
//! 6900.
//!
//! Source: \[EIP-7951\].

use alloc::vec::Vec;

use lydite_curve::secp256r1;

use super::{Error, Fork, GasUsed, charge, padded, put, since, word};

/// The gas of a call.
pub const GAS: u64 = 6900;

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`] or [`Error::OutOfGas`].
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Osaka, fork)?;
    let gas = charge(GAS, gas_limit)?;
    if input.len() == 160 {
        let [hash, r, s] = [0, 32, 64].map(|at| padded(input, at));
        if secp256r1::verify(&padded(input, 96), &hash, &r, &s).is_ok() {
            put(out, &word(true));
        }
    }
    Ok(gas)
}
