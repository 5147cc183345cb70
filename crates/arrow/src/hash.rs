//! Keccak-256 and public key recovery.

use arrow_array::{ArrayRef, FixedSizeBinaryArray};
use lydite_bytes::Address;
use lydite_curve::secp256k1::{self, Signature, recover_address_batch};
use lydite_hash::keccak256_batch;

use crate::integers::IntegerColumn;
use crate::{ByteColumn, Error, Failure, RowError, rows};

/// Computes Keccak-256 of each value in batches. A null stays null; text that is not hexadecimal becomes null and is a
/// failure. The result is a FixedSizeBinary(32).
pub fn keccak256(column: &ByteColumn) -> (FixedSizeBinaryArray, Vec<Failure>) {
    let inputs: Vec<&[u8]> = (0..column.len())
        .filter_map(|row| column.get(row))
        .collect();
    let mut digests = vec![[0; 32]; inputs.len()];
    let hashed = keccak256_batch(&inputs, &mut digests);
    debug_assert!(hashed.is_ok(), "the lengths are equal");
    let mut digests = digests.into_iter();
    rows::fixed((0..column.len()).map(|row| {
        let value = column.try_get(row)?;
        Ok(value.and_then(|_| digests.next()))
    }))
}

/// Recovers the address that signed each 32-byte hash in batches. A signature is 65 bytes, r || s || v, where v is 27 or
/// 28 or the recovery id; s may be high, as in Solidity's `ecrecover`. If the hash or the signature is null, so is the
/// address; an invalid one becomes null and is a failure. The result is a FixedSizeBinary(20).
///
/// # Errors
/// [`Error::Length`] if the columns differ in length.
pub fn ecrecover(
    hashes: &ByteColumn,
    signatures: &ByteColumn,
) -> Result<(FixedSizeBinaryArray, Vec<Failure>), Error> {
    hashes.check_length(signatures)?;
    Ok(recover(hashes.len(), |row| {
        let (hash, signature) = (hashes.try_array(row)?, signatures.try_array(row)?);
        Ok(hash.copied().zip(signature.copied()))
    }))
}

/// [`ecrecover`] of signatures in three columns: v, a number of any type, and r and s of 32 bytes each.
///
/// # Errors
/// [`Error::Length`] if the columns differ in length; [`Error::NotIntegers`] if v is not a column of numbers.
pub fn ecrecover_parts(
    hashes: &ByteColumn,
    v: &ArrayRef,
    r: &ByteColumn,
    s: &ByteColumn,
) -> Result<(FixedSizeBinaryArray, Vec<Failure>), Error> {
    hashes.check_length(r)?;
    hashes.check_length(s)?;
    if v.len() != hashes.len() {
        return Err(Error::Length(hashes.len(), v.len()));
    }
    let v = IntegerColumn::try_new(v)?;
    let invalid = RowError::Signature(secp256k1::Error::RecoveryId);
    Ok(recover(hashes.len(), |row| {
        let (hash, r, s) = (
            hashes.try_array(row)?,
            r.try_array::<32>(row)?,
            s.try_array::<32>(row)?,
        );
        let v = v.number(row).ok_or(invalid.clone())?;
        let (Some(hash), Some(r), Some(s), Some((negative, v))) = (hash, r, s, v) else {
            return Ok(None);
        };
        let v = u64::try_from(v).ok().and_then(|v| u8::try_from(v).ok());
        let v = v.filter(|_| !negative).ok_or(invalid.clone())?;
        let mut signature = [0; 65];
        signature[..32].copy_from_slice(r);
        signature[32..64].copy_from_slice(s);
        signature[64] = v;
        Ok(Some((*hash, signature)))
    }))
}

/// Recovers the signer of each row's hash and signature r || s || v.
fn recover(
    length: usize,
    item: impl Fn(usize) -> rows::Row<([u8; 32], [u8; 65])>,
) -> (FixedSizeBinaryArray, Vec<Failure>) {
    let item = |row| {
        let Some((hash, signature)) = item(row)? else {
            return Ok(None);
        };
        let signature = Signature::from_bytes65_any_v(&signature).map_err(RowError::Signature)?;
        Ok(Some((hash, signature)))
    };
    let items: Vec<rows::Row<([u8; 32], Signature)>> = (0..length).map(item).collect();
    let valid = items.iter().filter_map(|item| item.as_ref().ok()?.as_ref());
    let (hashes, signatures): (Vec<[u8; 32]>, Vec<Signature>) = valid.cloned().unzip();
    let mut addresses = vec![Ok(Address::ZERO); hashes.len()];
    let recovered = recover_address_batch(&hashes, &signatures, &mut addresses);
    debug_assert!(recovered.is_ok(), "the lengths are equal");
    let mut addresses = addresses.into_iter();
    rows::fixed(items.into_iter().map(|item| {
        let address = item?.and_then(|_| addresses.next()).transpose();
        let address = address.map_err(RowError::Signature)?;
        Ok(address.map(|address| address.0))
    }))
}
