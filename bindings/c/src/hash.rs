//! Keccak-256, SHA-256, hexadecimal text, addresses.

use lydite_core::{
    bytes::{Address, hex},
    hash,
};

use crate::{
    memory::{Output, array, array_mut, items, items_mut, split_at_offsets},
    status::{Failure, LYDITE_ERROR_DECODE, LYDITE_ERROR_INTERNAL, failure, guard, lydite_status},
};

/// Compute the Keccak-256 hash. Writes 32 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_keccak256(
    data: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        hash::keccak256_into(items(data, length, "data")?, array_mut(out, "out")?);
        Ok(())
    })
}

/// Compute the Keccak-256 hashes of count items of one buffer. Writes 32 bytes per item to out.
///
/// Item i is the bytes from data + offsets[i] to data + offsets[i + 1]; there are count + 1 offsets. Allocates
/// temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_keccak256_batch(
    data: *const u8,
    offsets: *const usize,
    count: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let inputs = split_at_offsets(data, offsets, count)?;
        let out = items_mut(out.cast::<[u8; 32]>(), count, "out")?;
        hash::keccak256_batch(&inputs, out).map_err(|error| failure(LYDITE_ERROR_INTERNAL, error))
    })
}

/// Compute the SHA-256 hash. Writes 32 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_sha256(
    data: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        *array_mut(out, "out")? = hash::sha256(items(data, length, "data")?);
        Ok(())
    })
}

/// Encode bytes as lower-case hexadecimal: two digits per byte, without a prefix or a terminating NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_hex_encode(
    data: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let data = items(data, length, "data")?;
        Output {
            out,
            capacity,
            written,
        }
        .fill(2 * data.len(), |out| {
            hex::encode_to_slice(data, out).map_err(decode)
        })
    })
}

/// Decode hexadecimal digits of either case, with or without a 0x prefix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_hex_decode(
    text: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let text = items(text, length, "text")?;
        let digits = text.len() - 2 * usize::from(text.starts_with(b"0x"));
        Output {
            out,
            capacity,
            written,
        }
        .fill(digits / 2, |out| {
            hex::decode_to_slice(text, out).map_err(decode)
        })
    })
}

/// Format an address (20 bytes) with the EIP-55 checksum. Writes 42 characters and a NUL to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_address_checksum(
    address: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let text = Address(*array(address, "address")?).to_checksum_buffer();
        let out: &mut [u8; 43] = array_mut(out, "out")?;
        out[..42].copy_from_slice(&text);
        out[42] = 0;
        Ok(())
    })
}

/// Parse an address: 40 hexadecimal digits, with or without a 0x prefix. Writes 20 bytes to out.
///
/// If checksummed is not 0, the case of the letters must match the EIP-55 checksum.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_address_parse(
    text: *const u8,
    length: usize,
    checksummed: i32,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let text = items(text, length, "text")?;
        let address = if checksummed == 0 {
            Address::from_hex(text).map_err(decode)?
        } else {
            Address::parse_checksummed(text).map_err(decode)?
        };
        *array_mut(out, "out")? = address.0;
        Ok(())
    })
}

/// Compute the address of the contract that sender (20 bytes) creates at nonce (CREATE). Writes 20 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_create_address(
    sender: *const u8,
    nonce: u64,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        *array_mut(out, "out")? = Address(*array(sender, "sender")?).create(nonce).0;
        Ok(())
    })
}

/// Compute the address of the contract that sender (20 bytes) creates by CREATE2. Writes 20 bytes to out.
///
/// salt and init_code_hash, the hash of the contract's init code, are 32 bytes each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_create2_address(
    sender: *const u8,
    salt: *const u8,
    init_code_hash: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let created = Address(*array(sender, "sender")?).create2(
            array(salt, "salt")?,
            array(init_code_hash, "init_code_hash")?,
        );
        *array_mut(out, "out")? = created.0;
        Ok(())
    })
}

pub fn decode(error: impl std::fmt::Display) -> Failure {
    failure(LYDITE_ERROR_DECODE, error)
}
