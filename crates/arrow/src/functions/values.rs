//! Hashes, signatures, addresses and hexadecimal text.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::DataType;

use super::{
    Form, Function,
    Parameter::{Bytes, Integer},
};
use crate::{
    ByteColumn, Error, byte_lengths, checksum, concat_bytes, create_addresses, create2_addresses,
    ecrecover, ecrecover_parts, hex_decode, hex_encode, keccak256, starts_with, substring,
    trim_zeros,
};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "keccak256",
        aliases: &["keccak"],
        forms: &[Form {
            parameters: &[Bytes("bytes")],
            kernel: |columns, _| {
                let (digests, failures) = keccak256(&ByteColumn::try_new(&columns[0])?);
                Ok((Arc::new(digests), failures))
            },
        }],
        result: |_| Ok(DataType::FixedSizeBinary(32)),
    },
    Function {
        name: "ecrecover",
        aliases: &[],
        forms: &[
            Form {
                parameters: &[Bytes("hash"), Bytes("signature")],
                kernel: |columns, _| {
                    let [hash, signature] = bytes(columns)?;
                    let (addresses, failures) = ecrecover(&hash, &signature)?;
                    Ok((Arc::new(addresses), failures))
                },
            },
            Form {
                parameters: &[Bytes("hash"), Integer("v"), Bytes("r"), Bytes("s")],
                kernel: |columns, _| {
                    let [hash] = bytes(columns)?;
                    let [r, s] = bytes(&columns[2..])?;
                    let (addresses, failures) = ecrecover_parts(&hash, &columns[1], &r, &s)?;
                    Ok((Arc::new(addresses), failures))
                },
            },
        ],
        result: |_| Ok(DataType::FixedSizeBinary(20)),
    },
    Function {
        name: "evm_checksum",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("address")],
            kernel: |columns, _| {
                let (texts, failures) = checksum(&ByteColumn::try_new(&columns[0])?);
                Ok((Arc::new(texts), failures))
            },
        }],
        result: |_| Ok(DataType::Utf8),
    },
    Function {
        name: "evm_create_address",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("sender"), Integer("nonce")],
            kernel: |columns, _| {
                let [senders] = bytes(columns)?;
                let (addresses, failures) = create_addresses(&senders, &columns[1])?;
                Ok((Arc::new(addresses), failures))
            },
        }],
        result: |_| Ok(DataType::FixedSizeBinary(20)),
    },
    Function {
        name: "evm_create2_address",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("deployer"), Bytes("salt"), Bytes("code_hash")],
            kernel: |columns, _| {
                let [deployers, salts, hashes] = bytes(columns)?;
                let (addresses, failures) = create2_addresses(&deployers, &salts, &hashes)?;
                Ok((Arc::new(addresses), failures))
            },
        }],
        result: |_| Ok(DataType::FixedSizeBinary(20)),
    },
    Function {
        name: "evm_hex_encode",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("bytes")],
            kernel: |columns, _| {
                let (texts, failures) = hex_encode(&ByteColumn::try_new(&columns[0])?);
                Ok((Arc::new(texts), failures))
            },
        }],
        result: |_| Ok(DataType::Utf8),
    },
    Function {
        name: "evm_hex_decode",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("text")],
            kernel: |columns, _| {
                let (values, failures) = hex_decode(&ByteColumn::try_new(&columns[0])?);
                Ok((Arc::new(values), failures))
            },
        }],
        result: |_| Ok(DataType::Binary),
    },
    Function {
        name: "varbinary_substring",
        aliases: &[],
        forms: &[
            Form {
                parameters: &[Bytes("bytes"), Integer("start")],
                kernel: |columns, _| {
                    let [values] = bytes(columns)?;
                    let (values, failures) = substring(&values, &columns[1], None)?;
                    Ok((Arc::new(values), failures))
                },
            },
            Form {
                parameters: &[Bytes("bytes"), Integer("start"), Integer("length")],
                kernel: |columns, _| {
                    let [values] = bytes(columns)?;
                    let (values, failures) = substring(&values, &columns[1], Some(&columns[2]))?;
                    Ok((Arc::new(values), failures))
                },
            },
        ],
        result: |_| Ok(DataType::Binary),
    },
    Function {
        name: "varbinary_ltrim",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("bytes")],
            kernel: |columns, _| {
                let (values, failures) = trim_zeros(&ByteColumn::try_new(&columns[0])?);
                Ok((Arc::new(values), failures))
            },
        }],
        result: |_| Ok(DataType::Binary),
    },
    Function {
        name: "varbinary_concat",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("left"), Bytes("right")],
            kernel: |columns, _| {
                let [left, right] = bytes(columns)?;
                let (values, failures) = concat_bytes(&left, &right)?;
                Ok((Arc::new(values), failures))
            },
        }],
        result: |_| Ok(DataType::Binary),
    },
    Function {
        name: "varbinary_starts_with",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("bytes"), Bytes("prefix")],
            kernel: |columns, _| {
                let [values, prefixes] = bytes(columns)?;
                let (values, failures) = starts_with(&values, &prefixes)?;
                Ok((Arc::new(values), failures))
            },
        }],
        result: |_| Ok(DataType::Boolean),
    },
    Function {
        name: "varbinary_length",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("bytes")],
            kernel: |columns, _| {
                let (lengths, failures) = byte_lengths(&ByteColumn::try_new(&columns[0])?);
                Ok((Arc::new(lengths), failures))
            },
        }],
        result: |_| Ok(DataType::Int64),
    },
];

/// Reads the first columns.
pub(super) fn bytes<const N: usize>(columns: &[ArrayRef]) -> Result<[ByteColumn; N], Error> {
    let mut read = Vec::with_capacity(N);
    for column in &columns[..N] {
        read.push(ByteColumn::try_new(column)?);
    }
    Ok(std::array::from_fn(|i| read[i].clone()))
}
