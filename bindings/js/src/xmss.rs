//! Generalized XMSS: verification, and keys in memory.

use std::ops::Range;

use lydite::xmss::named::{NamedScheme, SCHEMES};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    failure::{Code, Failure},
    scratch::{Key, State},
};

/// The scheme for a number, in the order of `SCHEMES` in `ts/xmss.ts`.
pub fn scheme(number: usize) -> Result<&'static dyn NamedScheme, Failure> {
    let scheme = SCHEMES.get(number).copied();
    scheme.ok_or_else(|| Failure::argument("unknown scheme"))
}

/// Epoch (4 bytes), message (32), public key of `key` bytes, signature, for a scheme → 1 or 0.
pub fn verify(
    state: &mut State,
    length: usize,
    key: usize,
    scheme: usize,
) -> Result<usize, Failure> {
    let epoch = u32::from_le_bytes(state.array(0)?);
    let message = state.array(4)?;
    let parts = state
        .input(length)?
        .get(36..)
        .and_then(|rest| rest.split_at_checked(key));
    let (key, signature) = parts.ok_or_else(|| Failure::argument("input is too short"))?;
    let valid = self::scheme(scheme)?.verify(key, epoch, &message, signature)?;
    Ok(valid.into())
}

/// Seed (32 bytes), first epoch and end (8 each), for a scheme → the number of a key.
pub fn key_from_seed(
    state: &mut State,
    scheme: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let seed = Zeroizing::new(state.array(0)?);
    let start = u64::from_le_bytes(state.array(32)?);
    let end = u64::from_le_bytes(state.array(40)?);
    state.input(32)?.zeroize();
    let signer = self::scheme(scheme)?.generate(&seed, start..end, &())?;
    Ok(state.keys.add(Key { signer, next: 0 }))
}

/// Lowest unspent epoch (8 bytes), a key's SSZ encoding → its number.
pub fn key_from_bytes(
    state: &mut State,
    length: usize,
    scheme: usize,
    _: usize,
) -> Result<usize, Failure> {
    let input = state.input(length)?;
    let parts = input.split_first_chunk();
    let (next, key) = parts.ok_or_else(|| Failure::argument("input is too short"))?;
    let (next, bytes) = (u64::from_le_bytes(*next), Zeroizing::new(key.to_vec()));
    input.zeroize();
    let signer = self::scheme(scheme)?.decode(bytes)?;
    Ok(state.keys.add(Key { signer, next }))
}

/// Key → its SSZ encoding.
pub fn key_to_bytes(
    state: &mut State,
    number: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let bytes = Zeroizing::new(state.keys.get(number)?.signer.as_bytes().to_vec());
    state.put_secret(bytes)
}

pub fn key_free(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    state.keys.free(number)
}

/// Writes three epoch ranges (six 8-byte numbers), then a public key.
pub fn describe(
    state: &mut State,
    ranges: [Range<u64>; 3],
    public_key: Vec<u8>,
) -> Result<usize, Failure> {
    let ends = ranges.map(|range| [range.start, range.end]);
    let mut out: Vec<u8> = ends
        .iter()
        .flatten()
        .flat_map(|end| end.to_le_bytes())
        .collect();
    out.extend(public_key);
    state.put(&out)
}

/// Key → all its epochs, the prepared ones and the unspent ones, then its public key.
pub fn key_info(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let Key { signer, next } = state.keys.get(number)?;
    let active = signer.active();
    let unspent = active.start.max(*next).min(active.end)..active.end;
    let (ranges, public_key) = ([active, signer.prepared(), unspent], signer.public_key()?);
    describe(state, ranges, public_key)
}

/// Adds leaves to a key's next tree. Returns whether leaves are still missing.
pub fn key_prepare(
    state: &mut State,
    number: usize,
    leaves: usize,
    _: usize,
) -> Result<usize, Failure> {
    Ok(state.keys.get(number)?.signer.work(leaves).into())
}

/// Message (32 bytes), for a key and an epoch → the signature. Spends the epoch and all earlier ones.
pub fn sign(state: &mut State, number: usize, epoch: usize, _: usize) -> Result<usize, Failure> {
    let message = state.array(0)?;
    let epoch = u32::try_from(epoch).map_err(Failure::argument)?;
    let Key { signer, next } = state.keys.get(number)?;
    if u64::from(epoch) < *next {
        return Err(Failure::new(
            Code::Signature,
            format_args!("epoch {epoch} is spent: the lowest that can still be signed is {next}"),
        ));
    }
    let signature = signer.sign(epoch, &message)?;
    *next = u64::from(epoch) + 1;
    state.put_owned(signature)
}
