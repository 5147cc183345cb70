//! Addresses of contracts.

use arrow_array::{Array as _, ArrayRef, FixedSizeBinaryArray};
use lydite_bytes::Address;

use crate::integers::IntegerColumn;
use crate::{ByteColumn, Error, Failure, RowError, rows};

/// Computes the address of each contract that is created with CREATE2 (EIP-1014), from the 20-byte deployer, the 32-byte
/// salt and the Keccak-256 hash of the init code. If one of them is null, so is the address; a value of another length
/// makes it null and is a failure. The result is a FixedSizeBinary(20).
///
/// # Errors
/// [`Error::Length`] if the columns differ in length.
pub fn create2_addresses(
    deployers: &ByteColumn,
    salts: &ByteColumn,
    init_code_hashes: &ByteColumn,
) -> Result<(FixedSizeBinaryArray, Vec<Failure>), Error> {
    deployers.check_length(salts)?;
    deployers.check_length(init_code_hashes)?;
    Ok(rows::fixed((0..deployers.len()).map(|row| {
        let deployer = deployers.try_array(row)?;
        let (salt, hash) = (salts.try_array(row)?, init_code_hashes.try_array(row)?);
        let (Some(deployer), Some(salt), Some(hash)) = (deployer, salt, hash) else {
            return Ok(None);
        };
        Ok(Some(Address(*deployer).create2(salt, hash).0))
    })))
}

/// Computes the address of each contract that an account creates with a transaction: from the 20-byte sender and its nonce,
/// a number of any type. If one of them is null, so is the address; another length, and a nonce that is not below 2^64, make
/// it null and are failures. The result is a FixedSizeBinary(20).
///
/// # Errors
/// [`Error::Length`] if the columns differ in length; [`Error::NotIntegers`] if the nonces are not numbers.
pub fn create_addresses(
    senders: &ByteColumn,
    nonces: &ArrayRef,
) -> Result<(FixedSizeBinaryArray, Vec<Failure>), Error> {
    if senders.len() != nonces.len() {
        return Err(Error::Length(senders.len(), nonces.len()));
    }
    let nonces = IntegerColumn::try_new(nonces)?;
    Ok(rows::fixed((0..senders.len()).map(|row| {
        let outside = || RowError::Integer("a nonce from 0 to 2^64 - 1");
        let nonce = nonces.number(row).ok_or_else(outside)?;
        let (Some(sender), Some((negative, nonce))) = (senders.try_array(row)?, nonce) else {
            return Ok(None);
        };
        let nonce = u64::try_from(nonce)
            .ok()
            .filter(|_| !negative)
            .ok_or_else(outside)?;
        Ok(Some(Address(*sender).create(nonce).0))
    })))
}
