//! 256-bit integers.

use arrow_array::BooleanArray;
use arrow_schema::DataType;
use lydite_bytes::{I256, U256};

use super::{
    Form, Function,
    Parameter::{Bytes, Integer, Text},
    computed,
    values::bytes,
};
use crate::{
    ByteColumn, Failure, Integers, format_units, parse_units, rows, to_uint256, uint256_checked,
    uint256_mul_div, uint256_to_decimal, uint256_to_f64, uint256_to_i64, uint256_to_text,
};

/// A function that creates words from numbers.
macro_rules! words {
    ($name:literal, $aliases:expr, $integers:expr) => {
        Function {
            name: $name,
            aliases: &$aliases,
            forms: &[Form {
                parameters: &[Integer("number")],
                kernel: |columns, _| Ok(computed(to_uint256(&columns[0], $integers)?)),
            }],
            result: |_| Ok(DataType::FixedSizeBinary(32)),
        }
    };
}

/// A function that converts words.
macro_rules! conversion {
    ($name:literal, $aliases:expr, $integers:expr, $kernel:ident, $result:expr) => {
        Function {
            name: $name,
            aliases: &$aliases,
            forms: &[Form {
                parameters: &[Bytes("word")],
                kernel: |columns, _| {
                    let words = ByteColumn::try_new(&columns[0])?;
                    Ok(computed($kernel(&words, $integers)))
                },
            }],
            result: |_| Ok($result),
        }
    };
}

/// A function of two words.
macro_rules! operation {
    ($name:literal, $operation:expr) => {
        Function {
            name: $name,
            aliases: &[],
            forms: &[Form {
                parameters: &[Bytes("left"), Bytes("right")],
                kernel: |columns, _| {
                    let [left, right] = bytes(columns)?;
                    Ok(computed(uint256_checked(&left, &right, $operation)?))
                },
            }],
            result: |_| Ok(DataType::FixedSizeBinary(32)),
        }
    };
}

const DECIMAL: DataType = DataType::Decimal128(38, 0);

pub(super) const FUNCTIONS: &[Function] = &[
    words!("uint256", ["varbinary_to_uint256"], Integers::Uint256),
    words!("int256", ["varbinary_to_int256"], Integers::Int256),
    conversion!(
        "uint256_to_string",
        [],
        Integers::Uint256,
        uint256_to_text,
        DataType::Utf8
    ),
    conversion!(
        "int256_to_string",
        [],
        Integers::Int256,
        uint256_to_text,
        DataType::Utf8
    ),
    conversion!(
        "uint256_to_decimal",
        ["varbinary_to_decimal"],
        Integers::Uint256,
        uint256_to_decimal,
        DECIMAL
    ),
    conversion!(
        "int256_to_decimal",
        [],
        Integers::Int256,
        uint256_to_decimal,
        DECIMAL
    ),
    conversion!(
        "uint256_to_bigint",
        ["varbinary_to_bigint"],
        Integers::Uint256,
        uint256_to_i64,
        DataType::Int64
    ),
    conversion!(
        "int256_to_bigint",
        [],
        Integers::Int256,
        uint256_to_i64,
        DataType::Int64
    ),
    conversion!(
        "uint256_to_double",
        [],
        Integers::Uint256,
        uint256_to_f64,
        DataType::Float64
    ),
    conversion!(
        "int256_to_double",
        [],
        Integers::Int256,
        uint256_to_f64,
        DataType::Float64
    ),
    operation!("uint256_add", U256::checked_add),
    operation!("uint256_sub", U256::checked_sub),
    operation!("uint256_mul", U256::checked_mul),
    operation!("uint256_div", U256::checked_div),
    operation!("uint256_mod", U256::checked_rem),
    Function {
        name: "uint256_mul_div",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("left"), Bytes("right"), Bytes("divisor")],
            kernel: |columns, _| {
                let [left, right, divisor] = bytes(columns)?;
                Ok(computed(uint256_mul_div(&left, &right, &divisor)?))
            },
        }],
        result: |_| Ok(DataType::FixedSizeBinary(32)),
    },
    Function {
        name: "int256_lt",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("left"), Bytes("right")],
            kernel: |columns, _| {
                let [left, right] = bytes(columns)?;
                Ok(computed(less(&left, &right)))
            },
        }],
        result: |_| Ok(DataType::Boolean),
    },
    Function {
        name: "format_units",
        aliases: &[],
        forms: &[Form {
            parameters: &[Bytes("word"), Integer("decimals")],
            kernel: |columns, _| {
                let [words] = bytes(columns)?;
                Ok(computed(format_units(&words, &columns[1])?))
            },
        }],
        result: |_| Ok(DataType::Utf8),
    },
    Function {
        name: "parse_units",
        aliases: &[],
        forms: &[Form {
            parameters: &[Text("text"), Integer("decimals")],
            kernel: |columns, _| Ok(computed(parse_units(&columns[0], &columns[1])?)),
        }],
        result: |_| Ok(DataType::FixedSizeBinary(32)),
    },
];

/// Compares signed words.
fn less(left: &ByteColumn, right: &ByteColumn) -> (BooleanArray, Vec<Failure>) {
    let signed = |word: &[u8; 32]| I256(U256::from_be_bytes(*word));
    rows::booleans((0..left.len()).map(|row| {
        let (left, right) = (left.try_array(row)?, right.try_array(row)?);
        let both = left.zip(right);
        Ok(both.map(|(left, right)| signed(left) < signed(right)))
    }))
}
