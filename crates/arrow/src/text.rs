//! Addresses and byte strings as text.

use arrow_array::{BinaryArray, StringArray};
use lydite_bytes::{Address, hex};

use crate::{ByteColumn, Failure, rows};

/// Returns each 20-byte address as `0x` and 40 digits with the checksum of EIP-55. A null stays null; a value of another
/// length becomes null and is a failure. The result is a Utf8.
pub fn checksum(addresses: &ByteColumn) -> (StringArray, Vec<Failure>) {
    // Addresses at a time, so that the memory for them stays in the cache.
    const BLOCK: usize = 512;
    let mut checksums = Vec::new().into_iter();
    rows::variable(addresses.len(), 42, |row, texts| {
        if row.is_multiple_of(BLOCK) {
            let block = row..addresses.len().min(row + BLOCK);
            let valid = block.filter_map(|row| addresses.get(row)?.try_into().ok());
            let valid: Vec<Address> = valid.map(Address).collect();
            checksums = Address::to_checksum_buffers(&valid).into_iter();
        }
        let address = addresses.try_array::<20>(row)?;
        let checksum = address.and_then(|_| checksums.next());
        Ok(checksum.map(|text| texts.extend_from_slice(&text)))
    })
}

/// Returns each value as `0x` and two lower-case digits a byte. A null stays null; text that is not hexadecimal becomes
/// null and is a failure. The result is a Utf8.
pub fn hex_encode(column: &ByteColumn) -> (StringArray, Vec<Failure>) {
    rows::variable(column.len(), 0, |row, texts| {
        let value = column.try_get(row)?;
        Ok(value.map(|value| {
            texts.extend_from_slice(b"0x");
            let start = texts.len();
            texts.resize(start + 2 * value.len(), 0);
            let encoded = hex::encode_to_slice(value, &mut texts[start..]);
            debug_assert!(encoded.is_ok(), "the lengths agree");
        }))
    })
}

/// Returns the bytes of each hexadecimal text, with or without `0x`. A null stays null; text that is not hexadecimal becomes
/// null and is a failure. The result is a Binary.
pub fn hex_decode(texts: &ByteColumn) -> (BinaryArray, Vec<Failure>) {
    texts.to_binary()
}
