//! Hexadecimal text, fixed-size and growable byte strings, 256-bit integers and Ethereum addresses.
//!
//! | module | contents |
//! |---|---|
//! | [`hex`] | lower-case hexadecimal, optional `0x`, errors with the offset of the invalid byte |
//! | [`FixedBytes`], [`B256`], [`Bytes`] | byte strings, parsed and displayed as `0x…` |
//! | [`Address`] | 20 bytes with the EIP-55 checksum, CREATE and CREATE2 addresses |
//! | [`Buffer`], [`SliceBuffer`] | output buffers for encoders |
//! | [`utf8()`], [`non_digits`] | validation of short text, detection of the end of decimal numbers |
//! | [`U256`], [`U512`], [`I256`] | integers in little-endian 64-bit limbs, `mul_div` with the exact 512-bit product |
//!
//! `no_std` with `alloc`. The feature `serde` serializes every type as a `0x…` string; `alloy-primitives` converts from and
//! to alloy's types.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod address;
#[cfg(feature = "alloy-primitives")]
mod alloy;
mod buffer;
mod byte_string;
mod digits;
mod fixed_bytes;
pub mod hex;
#[cfg(feature = "serde")]
mod serialize;
pub mod uint;
mod utf8;
mod word;

pub use address::Address;
pub use buffer::{Buffer, SliceBuffer};
pub use byte_string::Bytes;
pub use digits::non_digits;
pub use fixed_bytes::{B256, FixedBytes};
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use serialize::deserialize_text;
pub use uint::{I256, U256, U512, mul_div};
pub use utf8::utf8;
#[doc(hidden)]
pub use word::write_after_prefix;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
