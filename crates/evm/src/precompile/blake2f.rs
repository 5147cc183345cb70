//! 0x09: the compression function F of BLAKE2b.
//!
//! Input: exactly 213 bytes: the number of rounds (4, big-endian), the state h (64), the message block m (128), the
//! offset counters t (16; h, m and t in little-endian words), and the last-block flag, 0 or 1. Output: the new state.
//! Gas: 1 per round.
//!
//! Source: \[EIP-152\].

use alloc::vec::Vec;

use super::{Error, Fork, GasUsed, charge, put, since};

/// Returns the gas for this number of rounds.
#[must_use]
pub fn gas(rounds: u32) -> u64 {
    rounds.into()
}

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`], [`Error::InputLength`] or [`Error::Blake2Flag`].
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Istanbul, fork)?;
    let input: &[u8; 213] = input.try_into().map_err(|_| Error::InputLength)?;
    let [r0, r1, r2, r3, words @ .., flag] = input;
    let rounds = u32::from_be_bytes([*r0, *r1, *r2, *r3]);
    let gas = charge(gas(rounds), gas_limit)?;
    if *flag > 1 {
        return Err(Error::Blake2Flag);
    }
    let words = words.as_chunks::<8>().0;
    let word = |i: usize| u64::from_le_bytes(words[i]);
    let mut h = core::array::from_fn(word);
    let m = core::array::from_fn(|i| word(8 + i));
    lydite_hash::blake2b_compress(rounds, &mut h, &m, [word(24), word(25)], *flag == 1);
    put(out, h.map(u64::to_le_bytes).as_flattened());
    Ok(gas)
}
