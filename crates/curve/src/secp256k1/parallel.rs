//! Batch operations on all cores: the functions of the parent module on rayon's threads. Feature `rayon`.
//!
//! ```
//! use lydite_curve::secp256k1::{Error, SecretKey, Signature, parallel};
//!
//! let key = SecretKey::from_bytes(&[0x46; 32])?;
//! let hashes: Vec<[u8; 32]> = (0..=255).map(|i| [i; 32]).collect();
//! let mut signatures = vec![Signature::default(); 256];
//! parallel::sign_prehash_batch(&vec![&key; 256], &hashes, &mut signatures)?;
//! let mut addresses = vec![Err(Error::Length); 256];
//! parallel::recover_address_batch(&hashes, &signatures, &mut addresses)?;
//! assert_eq!(addresses, vec![Ok(key.public_key().to_address()); 256]);
//! # Ok::<(), Error>(())
//! ```

use core::borrow::Borrow;

use lydite_bytes::Address;
use rayon::prelude::*;

use super::{
    Error, PublicKey, SecretKey, Signature,
    batch::{CHUNK, same_length},
};

/// [`public_key_batch`](super::public_key_batch) on all cores.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn public_key_batch<K: Borrow<SecretKey> + Sync>(
    keys: &[K],
    out: &mut [PublicKey],
) -> Result<(), Error> {
    same_length([keys.len(), out.len()])?;
    keys.par_chunks(CHUNK)
        .zip(out.par_chunks_mut(CHUNK))
        .try_for_each(|(keys, out)| super::public_key_batch(keys, out))
}

/// [`sign_prehash_batch`](super::sign_prehash_batch) on all cores.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn sign_prehash_batch<K: Borrow<SecretKey> + Sync>(
    keys: &[K],
    hashes: &[[u8; 32]],
    out: &mut [Signature],
) -> Result<(), Error> {
    same_length([keys.len(), hashes.len(), out.len()])?;
    keys.par_chunks(CHUNK)
        .zip(hashes.par_chunks(CHUNK))
        .zip(out.par_chunks_mut(CHUNK))
        .try_for_each(|((keys, hashes), out)| super::sign_prehash_batch(keys, hashes, out))
}

/// [`verify_batch`](super::verify_batch) on all cores.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn verify_batch(
    public_keys: &[PublicKey],
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<(), Error>],
) -> Result<(), Error> {
    same_length([public_keys.len(), hashes.len(), signatures.len(), out.len()])?;
    public_keys
        .par_chunks(CHUNK)
        .zip(hashes.par_chunks(CHUNK))
        .zip(signatures.par_chunks(CHUNK))
        .zip(out.par_chunks_mut(CHUNK))
        .try_for_each(|(((public_keys, hashes), signatures), out)| {
            super::verify_batch(public_keys, hashes, signatures, out)
        })
}

/// [`recover_batch`](super::recover_batch) on all cores.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn recover_batch(
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<PublicKey, Error>],
) -> Result<(), Error> {
    recover_each(hashes, signatures, out, super::recover_batch)
}

/// [`recover_address_batch`](super::recover_address_batch) on all cores.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn recover_address_batch(
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<Address, Error>],
) -> Result<(), Error> {
    recover_each(hashes, signatures, out, super::recover_address_batch)
}

/// [`recover_address_low_s_batch`](super::recover_address_low_s_batch) on all cores.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
pub fn recover_address_low_s_batch(
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<Address, Error>],
) -> Result<(), Error> {
    recover_each(hashes, signatures, out, super::recover_address_low_s_batch)
}

/// Runs one of the recoveries on all cores.
fn recover_each<T: Send>(
    hashes: &[[u8; 32]],
    signatures: &[Signature],
    out: &mut [Result<T, Error>],
    recover: impl Fn(&[[u8; 32]], &[Signature], &mut [Result<T, Error>]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    same_length([hashes.len(), signatures.len(), out.len()])?;
    hashes
        .par_chunks(CHUNK)
        .zip(signatures.par_chunks(CHUNK))
        .zip(out.par_chunks_mut(CHUNK))
        .try_for_each(|((hashes, signatures), out)| recover(hashes, signatures, out))
}
