//! Lydite's functions for SQL in DataFusion: decode event logs, calls and transactions, recover senders, hash, and compute with
//! 256-bit integers.
//!
//! ```
//! use datafusion::prelude::SessionContext;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> datafusion::error::Result<()> {
//! let mut context = SessionContext::new();
//! lydite_datafusion::register_all(&mut context)?;
//! let rows = context.sql("SELECT format_units(uint256('1500000'), 6) AS amount").await?;
//! assert!(rows.to_string().await?.contains("1.5"));
//! # Ok(())
//! # }
//! ```
//!
//! | Function | Result |
//! |---|---|
//! | `evm_decode_log(topic0, topic1, topic2, topic3, data, signature)` | struct of the event's parameters; null if the log is of another event |
//! | `evm_decode_log(topic1, topic2, topic3, data, signature)` | the same; all logs must be of the event, or have another number of topics |
//! | `evm_decode_log(topics, data, signature)` | the same for a list of topics |
//! | `evm_decode_params(input, signature)` | struct of a call's arguments; null if the selector is another one |
//! | `evm_decode_output(output, signature)` | struct of what a call returned, `output_` and the name or position of each value |
//! | `evm_decode_type(data, type)` | value of a Solidity type, encoded like `abi.encode(value)` |
//! | `evm_encode_params(value…, signature)`, `evm_encode_type(value, type)` | call with these arguments; encoding like `abi.encode(value)` |
//! | `evm_topic(signature)`, `evm_selector(signature)` | first topic of an event (32 bytes), selector of a function (4 bytes) |
//! | `evm_decode_tx(raw)` | struct of a signed transaction's fields, see [`lydite_arrow::decode_transactions`] |
//! | `evm_tx_hash(raw)`, `evm_sender(raw)` | 32 bytes, 20 bytes |
//! | `ecrecover(hash, signature)`, `ecrecover(hash, v, r, s)` | address of the signer, 20 bytes |
//! | `keccak256(bytes)`, also `keccak` | 32 bytes |
//! | `evm_checksum(address)` | text with the checksum of EIP-55 |
//! | `evm_create_address(sender, nonce)`, `evm_create2_address(deployer, salt, code_hash)` | 20 bytes |
//! | `evm_hex_encode(bytes)`, `evm_hex_decode(text)` | `0x` and digits; bytes |
//! | `varbinary_substring(bytes, start[, length])`, `varbinary_concat(a, b)`, `varbinary_ltrim(bytes)` | bytes from a position on, which starts at 1, or at -1 from the end; both; without the zeros at the start |
//! | `varbinary_starts_with(bytes, prefix)`, `varbinary_length(bytes)` | whether it does; number of bytes |
//! | `uint256(number)`, `int256(number)`, also `varbinary_to_uint256`, `varbinary_to_int256` | word of 32 bytes, big-endian; from integers, decimals, text or bytes |
//! | `uint256_to_string`, `uint256_to_decimal` (38 digits), `uint256_to_bigint`, `uint256_to_double`, and the same of `int256`; also `varbinary_to_decimal`, `varbinary_to_bigint` of `uint256` | text, Decimal128(38, 0), Int64, Float64 |
//! | `uint256_add`, `uint256_sub`, `uint256_mul`, `uint256_div`, `uint256_mod`, `uint256_mul_div` | word; null on overflow or division by zero |
//! | `int256_lt(a, b)` | whether a < b. Unsigned words are compared with `<` |
//! | `uint256_sum(word)`, `int256_sum(word)` | aggregate: exact sum; null if it is out of range or a value is not 32 bytes |
//! | `format_units(word, decimals)`, `parse_units(text, decimals)` | text; word |
//!
//! Byte strings may be any binary type or hexadecimal text, and are always read as hexadecimal if they are text. An argument
//! that is null gives null. So does malformed data, unless the additional last argument `false` is given (`null_on_error`):
//! then it is an error with the row in its batch. Signatures and types must be literals, and are checked when a query is
//! planned.
#![forbid(unsafe_code)]

mod function;
mod sum;

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::{AggregateUDF, ScalarUDF, registry::FunctionRegistry};

/// Registers all functions.
///
/// # Errors
/// Those of the registry.
pub fn register_all(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in scalar_functions() {
        registry.register_udf(Arc::new(function))?;
    }
    for function in aggregate_functions() {
        registry.register_udaf(Arc::new(function))?;
    }
    Ok(())
}

/// Returns the functions of a row.
pub fn scalar_functions() -> Vec<ScalarUDF> {
    let functions = lydite_arrow::functions().map(function::Scalar::new);
    functions.map(ScalarUDF::new_from_impl).collect()
}

/// Returns the aggregate functions.
pub fn aggregate_functions() -> Vec<AggregateUDF> {
    sum::functions().map(AggregateUDF::new_from_impl).to_vec()
}

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
