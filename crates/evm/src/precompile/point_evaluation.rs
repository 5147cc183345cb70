//! 0x0a: verification of a KZG proof at one point.
//!
//! Input: exactly 192 bytes: versioned hash (32), z (32), y (32), commitment (48), proof (48). Output: the words 4096
//! (number of field elements in a blob) and the modulus of the scalar field. Gas: 50000.
//!
//! Source: \[EIP-4844\].

use alloc::vec::Vec;

use lydite_curve::bls12_381::kzg;

use super::{Error, Fork, GasUsed, charge, padded, put, since};

/// The gas of a call.
pub const GAS: u64 = 50_000;
/// The first byte of a versioned hash.
const VERSION: u8 = 1;

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`], [`Error::VersionedHash`], or [`Error::Bls12_381`]
/// if a scalar or a point is out of range or the proof is invalid.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Cancun, fork)?;
    let gas = charge(GAS, gas_limit)?;
    if input.len() != 192 {
        return Err(Error::InputLength);
    }
    let commitment = padded(input, 96);
    let mut hash = lydite_hash::sha256(&commitment);
    hash[0] = VERSION;
    if input[..32] != hash {
        return Err(Error::VersionedHash);
    }
    let (z, y) = (padded(input, 32), padded(input, 64));
    kzg::verify_proof(&commitment, &z, &y, &padded(input, 144))?;
    let mut words = [0; 64];
    words[30] = 0x10; // 4096
    words[32..].copy_from_slice(&kzg::ORDER);
    put(out, &words);
    Ok(gas)
}
