//! One file per command.

pub mod checksum;
pub mod eip712;
pub mod keccak;
pub mod recover;
pub mod rlp;
pub mod sign;
pub mod tx;
