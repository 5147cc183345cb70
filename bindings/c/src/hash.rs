//! Keccak-256, SHA-256, hexadecimal text, addresses.

use lydite_core::{
    bytes::{Address, hex},
    hash,
};

use crate::{
    memory::{Output, array, array_mut, items, items_mut, ragged},
    status::{Failure, LYDITE_ERROR_DECODE, LYDITE_ERROR_INTERNAL, failure, guard, lydite_status},
};

/// Keccak-256: 32 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_keccak256(
    data: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        hash::keccak256_into(items(data, length, "data")?, array_mut(out, "out")?);
        Ok(())
    })
}

/// Keccak-256 of count items of one buffer: item i from data + offsets[i] to data + offsets[i + 1], count + 1 offsets.
/// 32 bytes for each item to out. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_keccak256_batch(
    data: *const u8,
    offsets: *const usize,
    count: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let inputs = ragged(data, offsets, count)?;
        let out = items_mut(out.cast::<[u8; 32]>(), count, "out")?;
        hash::keccak256_batch(&inputs, out).map_err(|error| failure(LYDITE_ERROR_INTERNAL, error))
    })
}

/// SHA-256: 32 bytes to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_sha256(
    data: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        *array_mut(out, "out")? = hash::sha256(items(data, length, "data")?);
        Ok(())
    })
}

/// Lower-case hexadecimal digits, two a byte, without prefix and without NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_hex_encode(
    data: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
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

/// The bytes of hexadecimal digits of either case, an optional 0x before them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_hex_decode(
    text: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
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

/// The address's text with the EIP-55 checksum: 42 characters and a NUL to out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_address_checksum(
    address: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let text = Address(*array(address, "address")?).to_checksum_buffer();
        let out: &mut [u8; 43] = array_mut(out, "out")?;
        out[..42].copy_from_slice(&text);
        out[42] = 0;
        Ok(())
    })
}

/// The 20 bytes of an address's text (40 digits, with or without 0x). With checksummed not 0 the letters must have the
/// case of EIP-55.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_address_parse(
    text: *const u8,
    length: usize,
    checksummed: i32,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
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

/// The address of the contract that sender creates at nonce (CREATE): 20 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_create_address(
    sender: *const u8,
    nonce: u64,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        *array_mut(out, "out")? = Address(*array(sender, "sender")?).create(nonce).0;
        Ok(())
    })
}

/// The address of the contract made by CREATE2, of the 32 bytes of its salt and of its code's hash: 20 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_create2_address(
    sender: *const u8,
    salt: *const u8,
    init_code_hash: *const u8,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
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
