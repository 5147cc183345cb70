//! Addresses and byte strings as text.

use arrow_array::{BinaryArray, StringArray, builder::BinaryBuilder};
use lydite_bytes::{Address, hex};

use crate::{ByteColumn, Failure, rows};

/// Returns each 20-byte address as `0x` and 40 digits with the checksum of EIP-55. A null stays null; a value of another
/// length becomes null and is a failure. The result is a Utf8.
pub fn checksum(addresses: &ByteColumn) -> (StringArray, Vec<Failure>) {
    rows::text((0..addresses.len()).map(|row| {
        let address = rows::array(addresses, row)?;
        Ok(address.map(|address| Address(*address).to_checksum()))
    }))
}

/// Returns each value as `0x` and two lower-case digits a byte. A null stays null; text that is not hexadecimal becomes
/// null and is a failure. The result is a Utf8.
pub fn hex_encode(column: &ByteColumn) -> (StringArray, Vec<Failure>) {
    rows::text((0..column.len()).map(|row| {
        let value = rows::bytes(column, row)?;
        Ok(value.map(hex::encode_prefixed))
    }))
}

/// Returns the bytes of each hexadecimal text, with or without `0x`. A null stays null; text that is not hexadecimal becomes
/// null and is a failure. The result is a Binary.
pub fn hex_decode(texts: &ByteColumn) -> (BinaryArray, Vec<Failure>) {
    let (mut values, mut failures) = (BinaryBuilder::new(), Vec::new());
    for row in 0..texts.len() {
        let value = rows::bytes(texts, row).unwrap_or_else(|error| {
            failures.push(Failure { row, error });
            None
        });
        values.append_option(value);
    }
    (values.finish(), failures)
}
