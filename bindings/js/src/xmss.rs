//! Generalized XMSS.

pub use lydite::xmss::named::NamedSigner as Key;
use lydite::xmss::named::{NamedScheme, SCHEMES};
use zeroize::{Zeroize, Zeroizing};

use crate::{failure::Failure, scratch::State};

/// The scheme of a number: the order is that of `SCHEMES` in `ts/xmss.ts`.
fn scheme(number: usize) -> Result<&'static dyn NamedScheme, Failure> {
    let scheme = SCHEMES.get(number).copied();
    scheme.ok_or_else(|| Failure::argument("no such scheme"))
}

/// Epoch (4 bytes), message (32), public key of `key` bytes, signature, in a scheme, to 1 or 0.
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
    let (key, signature) = parts.ok_or_else(|| Failure::argument("input too short"))?;
    let valid = self::scheme(scheme)?.verify(key, epoch, &message, signature)?;
    Ok(valid.into())
}

/// Seed (32 bytes), first and end of the epochs (8 each), in a scheme, to the number of a key.
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
    let key = self::scheme(scheme)?.generate(&seed, start..end, &())?;
    Ok(state.keys.add(key))
}

/// A key's SSZ encoding to its number.
pub fn key_from_bytes(
    state: &mut State,
    length: usize,
    scheme: usize,
    _: usize,
) -> Result<usize, Failure> {
    let input = state.input(length)?;
    let bytes = Zeroizing::new(input.to_vec());
    input.zeroize();
    let key = self::scheme(scheme)?.decode(bytes)?;
    Ok(state.keys.add(key))
}

/// A key to its SSZ encoding.
pub fn key_to_bytes(
    state: &mut State,
    number: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let bytes = state.keys.get(number)?.as_bytes().to_vec();
    state.give(bytes)
}

pub fn key_free(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    state.keys.free(number)
}

/// A key to its epochs (four numbers of 8 bytes), then its public key.
pub fn key_info(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let key = state.keys.get(number)?;
    let (active, prepared) = (key.active(), key.prepared());
    let epochs = [active.start, active.end, prepared.start, prepared.end];
    let mut out = epochs.map(u64::to_le_bytes).concat();
    out.extend(key.public_key()?);
    state.put(&out)
}

/// Adds leaves to a key's next tree: whether it lacks any.
pub fn key_prepare(
    state: &mut State,
    number: usize,
    leaves: usize,
    _: usize,
) -> Result<usize, Failure> {
    Ok(state.keys.get(number)?.work(leaves).into())
}

/// Message (32 bytes), with a key, at an epoch, to the signature.
pub fn sign(state: &mut State, number: usize, epoch: usize, _: usize) -> Result<usize, Failure> {
    let message = state.array(0)?;
    let epoch = u32::try_from(epoch).map_err(Failure::argument)?;
    let signature = state.keys.get(number)?.sign(epoch, &message)?;
    state.give(signature)
}
