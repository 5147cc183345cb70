//! 0x08: the pairing check on bn254.
//!
//! Input: any number of pairs, 192 bytes each: a point of G1 and one of G2. Output: the word 1 if the product of their
//! pairings is one, else 0. Gas: 45000 plus 34000 per pair; 100000 plus 80000 per pair before Istanbul.
//!
//! Source: \[EIP-197\], \[EIP-1108\] (gas).

use alloc::vec::Vec;

use lydite_curve::bn254;

use super::{Error, Fork, GasUsed, charge, put, since, word};

/// Returns the gas for this number of pairs.
#[must_use]
pub fn gas(pairs: usize, fork: Fork) -> u64 {
    let (base, pair) = if fork >= Fork::Istanbul {
        (45_000, 34_000)
    } else {
        (100_000, 80_000)
    };
    (pairs as u64).saturating_mul(pair).saturating_add(base)
}

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`], or [`Error::Bn254`] for a point that is not in
/// its group.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Byzantium, fork)?;
    let (pairs, rest) = input.as_chunks::<192>();
    let gas = charge(gas(pairs.len(), fork), gas_limit)?;
    if !rest.is_empty() {
        return Err(Error::InputLength);
    }
    let pairs = pairs
        .iter()
        .filter_map(|pair| pair.first_chunk().zip(pair.last_chunk()));
    put(out, &word(bn254::pairing_check(pairs)?));
    Ok(gas)
}
