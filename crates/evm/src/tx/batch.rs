//! Hashes and senders of many envelopes.
use alloc::vec::Vec;
use core::ops::Range;

use lydite_bytes::{Address, B256};
use lydite_curve::secp256k1;
use lydite_hash::keccak256_batch;

use super::{Error, TransactionRef, signing::Preimage};
use crate::rlp;

/// Computes the hash of each envelope: decodes strictly like [`TransactionRef::decode`], and hashes in parallel if the
/// CPU has vector kernels. The error of an invalid envelope is stored in `out`; the others are not affected.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
///
/// ```
/// use lydite_bytes::B256;
/// use lydite_evm::tx::{self, Error};
///
/// let mut out = [Ok(B256::ZERO); 1];
/// tx::hashes(&[&[0x05]], &mut out)?;
/// assert_eq!(out, [Err(Error::UnknownType(5))]);
/// # Ok::<(), Error>(())
/// ```
pub fn hashes(raw: &[&[u8]], out: &mut [Result<B256, Error>]) -> Result<(), Error> {
    const AT_ONCE: usize = 64;
    if raw.len() != out.len() {
        return Err(Error::Length);
    }
    for (raw, out) in raw.chunks(AT_ONCE).zip(out.chunks_mut(AT_ONCE)) {
        let mut inputs: [&[u8]; AT_ONCE] = [&[]; AT_ONCE];
        let mut valid = 0;
        for (raw, out) in raw.iter().zip(&mut *out) {
            *out = TransactionRef::decode(raw).map(|_| B256::ZERO);
            if out.is_ok() {
                inputs[valid] = raw;
                valid += 1;
            }
        }
        let mut hashes = [[0; 32]; AT_ONCE];
        keccak256_batch(&inputs[..valid], &mut hashes[..valid]).map_err(|_| Error::Length)?;
        for (hash, of) in out.iter_mut().flatten().zip(hashes) {
            *hash = of.into();
        }
    }
    Ok(())
}

/// Number of transactions whose preimages [`senders`] holds at once.
const CHUNK: usize = 256;

/// Recovers the sender of each envelope: decodes, hashes and recovers in batches. The error of an invalid envelope is
/// stored in `out`; the others are not affected.
///
/// # Errors
/// [`Error::Length`] if the slices differ in length; `out` is then unchanged.
///
/// ```
/// use lydite_bytes::{Address, B256};
/// use lydite_evm::tx::{self, Error};
///
/// let mut out = [Ok(Address::ZERO); 1];
/// tx::senders(&[&[0x05]], &mut out)?;
/// assert_eq!(out, [Err(Error::UnknownType(5))]);
/// # Ok::<(), Error>(())
/// ```
pub fn senders(raw: &[&[u8]], out: &mut [Result<Address, Error>]) -> Result<(), Error> {
    if raw.len() != out.len() {
        return Err(Error::Length);
    }
    let mut preimages = Vec::new();
    for (raw, out) in raw.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
        senders_chunk(raw, out, &mut preimages)?;
    }
    Ok(())
}

fn senders_chunk(
    raw: &[&[u8]],
    out: &mut [Result<Address, Error>],
    preimages: &mut Vec<u8>,
) -> Result<(), Error> {
    preimages.clear();
    let mut valid: Vec<&mut Result<Address, Error>> = Vec::with_capacity(raw.len());
    let mut spans: Vec<Range<usize>> = Vec::with_capacity(raw.len());
    let mut signatures = Vec::with_capacity(raw.len());
    for (raw, out) in raw.iter().zip(out) {
        let view = TransactionRef::decode(raw).and_then(|view| {
            view.signature
                .require_low_s()
                .map(|_| view)
                .map_err(Error::Signature)
        });
        match view {
            Ok(view) => {
                let start = preimages.len();
                rlp::encode_append(&Preimage(&view), preimages);
                spans.push(start..preimages.len());
                signatures.push(view.signature);
                valid.push(out);
            }
            Err(error) => *out = Err(error),
        }
    }
    let inputs: Vec<&[u8]> = spans.into_iter().map(|span| &preimages[span]).collect();
    let mut hashes = alloc::vec![[0; 32]; inputs.len()];
    keccak256_batch(&inputs, &mut hashes).map_err(|_| Error::Length)?;
    let mut addresses = alloc::vec![Ok(Address::ZERO); inputs.len()];
    secp256k1::recover_address_batch(&hashes, &signatures, &mut addresses)?;
    for (out, address) in valid.into_iter().zip(addresses) {
        *out = address.map_err(Error::Signature);
    }
    Ok(())
}
