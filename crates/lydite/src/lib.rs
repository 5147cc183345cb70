//! Facade: re-exports the Lydite crates.
#![no_std]
pub use lydite_bytes as bytes;
pub use lydite_hash as hash;
