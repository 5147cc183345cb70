//! One file per command.

pub mod abi;
#[cfg(feature = "bulk")]
pub mod bulk;
#[cfg(not(feature = "bulk"))]
#[path = "no_bulk.rs"]
pub mod bulk;
pub mod captp;
pub mod checksum;
pub mod eip712;
pub mod evm;
pub mod keccak;
pub mod precompile;
pub mod recover;
pub mod rlp;
pub mod selector;
pub mod sign;
#[cfg(feature = "sql")]
pub mod sql;
#[cfg(not(feature = "sql"))]
#[path = "no_sql.rs"]
pub mod sql;
pub mod syrup;
pub mod tx;
pub mod xmss;
