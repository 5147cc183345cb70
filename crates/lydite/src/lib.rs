//! Facade: re-exports the Lydite crates.
#![no_std]
pub use lydite_bytes as bytes;
#[cfg(feature = "curve")]
pub use lydite_curve as curve;
#[cfg(feature = "evm")]
pub use lydite_evm as evm;
pub use lydite_hash as hash;
