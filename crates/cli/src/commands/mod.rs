//! One file per command.

pub mod abi;
#[cfg(feature = "bulk")]
pub mod bulk;
#[cfg(not(feature = "bulk"))]
pub mod bulk {
    super::missing::missing!(
        "bulk", "this build does not read Parquet",
        DecodeLogs decode_logs, DecodeCalls decode_calls, Senders senders, Schema schema
    );
}
pub mod captp;
pub mod checksum;
pub mod eip712;
pub mod evm;
pub mod keccak;
#[cfg(not(all(feature = "bulk", feature = "net", feature = "sql")))]
mod missing;
pub mod precompile;
pub mod recover;
pub mod rlp;
pub mod selector;
pub mod sign;
#[cfg(feature = "sql")]
pub mod sql;
#[cfg(not(feature = "sql"))]
pub mod sql {
    super::missing::missing!("sql", "this build has no SQL engine", Sql sql);
}
pub mod syrup;
pub mod tx;
pub mod xmss;
