//! The arena: runs Lydite against its peers, checks every answer, measures in pairs and reports.
//!
//! A contender, ours included, is a process that speaks the line protocol of [`protocol`]. The driver draws the inputs
//! ([`ops`], [`generate`]), knows the right outputs ([`truth`]) before it times anything, interleaves all contenders,
//! and judges by paired ratios ([`stats`]). docs/benchmarking.md tells the method and its known bias.

pub mod blobs;
pub mod generate;
pub mod manifest;
pub mod ops;
pub mod protocol;
pub mod random;
pub mod truth;
