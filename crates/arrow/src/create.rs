//! Addresses of contracts.

use arrow_array::FixedSizeBinaryArray;
use lydite_bytes::Address;

use crate::{ByteColumn, Error, Failure, rows};

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
    rows::equal_lengths(deployers, salts)?;
    rows::equal_lengths(deployers, init_code_hashes)?;
    Ok(rows::fixed((0..deployers.len()).map(|row| {
        let deployer = rows::array(deployers, row)?;
        let (salt, hash) = (
            rows::array(salts, row)?,
            rows::array(init_code_hashes, row)?,
        );
        let (Some(deployer), Some(salt), Some(hash)) = (deployer, salt, hash) else {
            return Ok(None);
        };
        Ok(Some(Address(*deployer).create2(salt, hash).0))
    })))
}
