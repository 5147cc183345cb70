//! XMSS keys in files that never sign an epoch twice.

use std::{path::Path, time::Duration};

use lydite::xmss::store::StoreError;
use zeroize::{Zeroize, Zeroizing};

use crate::{
    abi::text,
    failure::Failure,
    scratch::State,
    xmss::{describe, scheme},
};

/// The path in the input after its first `at` bytes.
fn path(state: &mut State, length: usize, at: usize) -> Result<&Path, Failure> {
    let path = length.checked_sub(at);
    let length = path.ok_or_else(|| Failure::argument("input is too short"))?;
    text(state.range(at, length)?).map(Path::new)
}

/// Seed (32 bytes), first epoch and end (8 each), path, for a scheme → the public key.
pub fn create(state: &mut State, length: usize, number: usize, _: usize) -> Result<usize, Failure> {
    let seed = Zeroizing::new(state.array(0)?);
    let start = u64::from_le_bytes(state.array(32)?);
    let end = u64::from_le_bytes(state.array(40)?);
    state.range(0, 32)?.zeroize();
    let path = path(state, length, 48)?;
    let made = scheme(number)?.create(path, &seed, start..end, &());
    let public_key = made.map_err(|error| match error.downcast::<StoreError>() {
        Ok(error) => Failure::from(*error),
        Err(error) => Failure::argument(error),
    })?;
    state.put(&public_key)
}

/// Lowest unspent epoch (8 bytes), path, for a scheme.
pub fn adopt(state: &mut State, length: usize, number: usize, _: usize) -> Result<usize, Failure> {
    let next = u64::from_le_bytes(state.array(0)?);
    scheme(number)?.adopt(path(state, length, 8)?, next)?;
    Ok(0)
}

/// Path, for a scheme → the number of a file.
pub fn open(state: &mut State, length: usize, number: usize, _: usize) -> Result<usize, Failure> {
    let file = scheme(number)?.open(path(state, length, 0)?)?;
    Ok(state.files.add(file))
}

pub fn free(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    state.files.free(number)
}

/// File → all its epochs, the prepared ones and the unspent ones, then its public key.
pub fn info(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let file = state.files.get(number)?;
    let ranges = [file.active(), file.prepared(), file.unspent()];
    let public_key = file.public_key()?;
    describe(state, ranges, public_key)
}

/// Moves a file's window to an epoch.
pub fn prepare(state: &mut State, number: usize, epoch: usize, _: usize) -> Result<usize, Failure> {
    let epoch = u32::try_from(epoch).map_err(Failure::argument)?;
    state.files.get(number)?.prepare(epoch)?;
    Ok(0)
}

/// Computes a file's next tree on a background thread, with pauses in milliseconds.
pub fn prepare_ahead(
    state: &mut State,
    number: usize,
    pause: usize,
    _: usize,
) -> Result<usize, Failure> {
    let pause = Duration::from_millis(pause as u64);
    state.files.get(number)?.prepare_ahead(pause)?;
    Ok(0)
}

/// Message (32 bytes), for a file and an epoch → the signature.
pub fn sign(state: &mut State, number: usize, epoch: usize, _: usize) -> Result<usize, Failure> {
    let message = state.array(0)?;
    let epoch = u32::try_from(epoch).map_err(Failure::argument)?;
    let signature = state.files.get(number)?.sign(epoch, &message)?;
    state.put_owned(signature)
}
