//! Lydite for [revm]: its precompiled contracts installed in the engine, and runs of bytecode.
//!
//! ```
//! use lydite::evm::precompile::Fork;
//!
//! // SHA-256 of nothing, by a CALL: PUSH1 32 PUSH0 PUSH0 PUSH0 PUSH0 PUSH1 2 GAS CALL, PUSH1 32 PUSH0 RETURN.
//! let code = [
//!     0x60, 32, 0x5f, 0x5f, 0x5f, 0x5f, 0x60, 2, 0x5a, 0xf1, 0x60, 32, 0x5f, 0xf3,
//! ];
//! lydite_alloy::install();
//! let run = lydite_alloy::execute(&code, &[], 100_000, Fork::Osaka)?;
//! assert_eq!(run.output[..4], [0xe3, 0xb0, 0xc4, 0x42]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod crypto;
mod execution;

pub use crypto::{LyditeCrypto, install};
pub use execution::{Error, Execution, Status, execute, spec_id};
