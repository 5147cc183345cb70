//! 0x01: recovery of the address that made a secp256k1 signature.
//!
//! Input: hash, v, r, s, as words of 32 bytes; v is 27 or 28. Short input is padded with zeros; extra input is ignored.
//! Output: the address as a word, or nothing if the signature is invalid, which is not an error. Gas: 3000.
//!
//! Source: \[YP\] appendix E.1.

use alloc::vec::Vec;

use lydite_curve::secp256k1::{Signature, recover_address};

use super::{Error, Fork, GasUsed, charge, padded, put};

/// The gas of a call.
pub const GAS: u64 = 3000;

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::OutOfGas`] if `gas_limit` is too low.
pub fn run(input: &[u8], gas_limit: u64, _: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    let gas = charge(GAS, gas_limit)?;
    let [high, v] = [32, 48].map(|at| u128::from_be_bytes(padded(input, at)));
    if high == 0 && matches!(v, 27 | 28) {
        let signature = Signature::new(padded(input, 64), padded(input, 96), (v - 27) as u8);
        if let Ok(address) = recover_address(&padded(input, 0), &signature) {
            let mut word = [0; 32];
            word[12..].copy_from_slice(&address.0);
            put(out, &word);
        }
    }
    Ok(gas)
}
