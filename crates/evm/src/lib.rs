//! RLP, ABI, EIP-191, EIP-712, transactions, logs, blooms, roots of tries and precompiled contracts.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod abi;
pub mod bloom;
mod const_text;
pub mod eip191;
pub mod eip712;
mod escape;
mod log;
#[cfg(feature = "precompile")]
pub mod precompile;
pub mod rlp;
pub mod trie;
pub mod tx;

pub use log::Log;

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
