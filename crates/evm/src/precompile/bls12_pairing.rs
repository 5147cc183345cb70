//! 0x0f: the pairing check of BLS12-381.
//!
//! Input: one or more pairs, 384 bytes each: a point of G1 and one of G2. Output: the word 1 if the product of their
//! pairings is one, else 0. Gas: 37700 plus 32600 per pair.
//!
//! Source: \[EIP-2537\].

use alloc::vec::Vec;

use lydite_curve::bls12_381;

use super::{
    Error, Fork, GasUsed,
    bls12_points::{check_padding, g1, g2},
    charge, put, since, word,
};

/// Returns the gas for this number of pairs.
#[must_use]
pub fn gas(pairs: usize) -> u64 {
    (pairs as u64).saturating_mul(32_600).saturating_add(37_700)
}

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`], [`Error::Padding`], or [`Error::Bls12_381`] for
/// a point that is not in its group.
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Prague, fork)?;
    let (pairs, rest) = input.as_chunks::<{ g1::LENGTH + g2::LENGTH }>();
    let gas = charge(gas(pairs.len()), gas_limit)?;
    if pairs.is_empty() || !rest.is_empty() {
        return Err(Error::InputLength);
    }
    check_padding(input)?;
    let items = pairs.iter().filter_map(|pair| {
        let (p, q) = pair.split_first_chunk()?;
        Some((g1::read(p), g2::read(q.first_chunk()?)))
    });
    put(out, &word(bls12_381::pairing_check(items)?));
    Ok(gas)
}
