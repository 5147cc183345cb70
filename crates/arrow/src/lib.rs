//! Event logs, calls and raw transactions in Arrow arrays: decoded column by column, without input or output.
//!
//! - [`EventSet`] sorts the logs of a record batch by event; [`EventDecoder`] decodes those of one event. [`CallSet`]
//!   and [`CallDecoder`] do the same for calls. [`TypeDecoder`] decodes values without topic or selector.
//!   [`encode_calls`] and [`encode_values`] are the inverse.
//! - [`senders`], [`hashes`] and [`decode_transactions`] read signed transactions. [`TransactionColumns`] rebuilds them from their fields.
//! - [`keccak256`], [`ecrecover`], [`ecrecover_parts`], [`checksum`], [`create_addresses`], [`create2_addresses`],
//!   [`hex_encode`], [`hex_decode`], [`substring`], [`trim_zeros`], [`concat_bytes()`], [`starts_with`] and [`byte_lengths`]
//!   compute one column.
//! - [`to_uint256`], [`uint256_to_text`], [`uint256_to_decimal`], [`uint256_to_i64`] and [`uint256_to_f64`] convert 256-bit
//!   integers; [`uint256_checked`], [`uint256_mul_div`] and [`uint256_sum`] compute with them ([`Uint256Sum`] in parts); [`format_units`] and
//!   [`parse_units`] are amounts with decimals.
//! - [`functions`] has these by the names that they have in SQL.
//! - [`Transform`] does one of these with whole record batches, and copies other columns: one batch in, one batch out.
//!   [`compact_views`] drops the bytes of other rows from an array of views.
//! - [`Logs::from_batch`] and [`ColumnMap`] find the columns of files written by cryo, hypersync, ethereum-etl, xatu and
//!   others by their names.
//!
//! Byte strings are read from any of Arrow's types for them, from dictionaries, and from hexadecimal text; see
//! [`ByteColumn`]. A row that is not valid is null in all decoded columns and reported as a [`Failure`]; it never stops
//! a batch.
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, StringArray};
//! use lydite_arrow::{ByteColumn, EventDecoder, Logs, Options};
//!
//! let text = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
//! let bytes = |text| ByteColumn::try_new(&text);
//! let word = |digit: &str| text(&format!("0x{:0>64}", digit));
//! let decoder = EventDecoder::parse(
//!     "event Transfer(address indexed from, address indexed to, uint256 value)",
//!     &Options::default(),
//! )?;
//! let topic = text(&decoder.codec().topic().to_string());
//! let logs = Logs::try_new(
//!     [Some(bytes(topic)?), Some(bytes(word("a1"))?), Some(bytes(word("b2"))?), None],
//!     bytes(word("7"))?,
//! )?;
//!
//! let rows = decoder.select(&logs);
//! let decoded = decoder.decode(&logs, &rows);
//! assert_eq!((rows.as_slice(), decoded.failures.len()), ([0].as_slice(), 0));
//! let names: Vec<&str> = decoder.fields().iter().map(|field| field.name().as_str()).collect();
//! assert_eq!(names, ["from", "to", "value"]);
//! # Ok::<(), lydite_arrow::Error>(())
//! ```
#![forbid(unsafe_code)]

mod bytes;
mod calls;
mod column;
mod column_map;
mod create;
mod decoder;
mod encode;
mod envelopes;
mod error;
mod events;
mod fields;
mod functions;
mod hash;
mod integers;
mod lists;
mod operation;
mod overflow;
mod prefix;
mod roles;
mod rows;
mod text;
mod transactions;
mod transform;
mod types;
mod uint256;
mod units;
mod varbinary;
mod views;

pub use bytes::ByteColumn;
pub use calls::{CallDecoder, CallSet};
pub use column::Uint256Format;
pub use column_map::ColumnMap;
pub use create::{create_addresses, create2_addresses};
pub use decoder::{Decoded, Options};
pub use encode::{encode_calls, encode_values};
pub use envelopes::TransactionColumns;
pub use error::{Error, Failure, RowError};
pub use events::{EventDecoder, EventSet, Logs, Selected};
pub use fields::{decode_transactions, transaction_fields};
pub use functions::{Computed, Form, Function, Parameter, functions, is_bytes};
pub use hash::{ecrecover, ecrecover_parts, keccak256};
pub use lydite_evm::abi::Mode;
pub use operation::{SendersOptions, TransformOutput};
pub use roles::Role;
pub use text::{checksum, hex_decode, hex_encode};
pub use transactions::{hashes, senders};
pub use transform::{ColumnsRead, Job, Keep, OnError, Transform, TransformOptions, Transformed};
pub use types::TypeDecoder;
pub use uint256::{
    Integers, Uint256Sum, to_uint256, uint256_checked, uint256_mul_div, uint256_sum,
    uint256_to_decimal, uint256_to_f64, uint256_to_i64, uint256_to_text,
};
pub use units::{format_units, parse_units};
pub use varbinary::{byte_lengths, concat_bytes, starts_with, substring, trim_zeros};
pub use views::compact_views;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
