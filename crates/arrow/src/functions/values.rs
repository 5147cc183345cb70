//! Hashes, signatures, addresses and hexadecimal text.

use arrow_array::ArrayRef;
use arrow_schema::DataType;

use super::{
    Form, Function,
    Parameter::{Bytes, Integer},
    computed,
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
            kernel: |columns, _| Ok(computed(keccak256(&ByteColumn::try_new(&columns[0])?))),
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
                    Ok(computed(ecrecover(&hash, &signature)?))
                },
            },
            Form {
                parameters: &[Bytes("hash"), Integer("v"), Bytes("r"), Bytes("s")],
                kernel: |columns, _| {
                    let [hash] = bytes(columns)?;
                    let [r, s] = bytes(&columns[2..])?;
                    Ok(computed(ecrecover_parts(&hash, &columns[1], &r, &s)?))
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
            kernel: |columns, _| Ok(computed(checksum(&ByteColumn::try_new(&columns[0])?))),
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
                Ok(computed(create_addresses(&senders, &columns[1])?))
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
                Ok(computed(create2_addresses(&deployers, &salts, &hashes)?))
            },
        }],
        result: |_| Ok(DataType::FixedSizeBinary(20)),
    },
    Function {
        name: "evm_hex_encode",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("bytes")],
            kernel: |columns, _| Ok(computed(hex_encode(&ByteColumn::try_new(&columns[0])?))),
        }],
        result: |_| Ok(DataType::Utf8),
    },
    Function {
        name: "evm_hex_decode",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("text")],
            kernel: |columns, _| Ok(computed(hex_decode(&ByteColumn::try_new(&columns[0])?))),
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
                    Ok(computed(substring(&values, &columns[1], None)?))
                },
            },
            Form {
                parameters: &[Bytes("bytes"), Integer("start"), Integer("length")],
                kernel: |columns, _| {
                    let [values] = bytes(columns)?;
                    Ok(computed(substring(
                        &values,
                        &columns[1],
                        Some(&columns[2]),
                    )?))
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
            kernel: |columns, _| Ok(computed(trim_zeros(&ByteColumn::try_new(&columns[0])?))),
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
                Ok(computed(concat_bytes(&left, &right)?))
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
                Ok(computed(starts_with(&values, &prefixes)?))
            },
        }],
        result: |_| Ok(DataType::Boolean),
    },
    Function {
        name: "varbinary_length",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("bytes")],
            kernel: |columns, _| Ok(computed(byte_lengths(&ByteColumn::try_new(&columns[0])?))),
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
