//! The arena: runs Lydite against its peers, checks every output, times them in pairs and writes reports.
//!
//! A contender, ours included, is a process that speaks the line protocol of [`protocol`]. The driver draws the inputs
//! ([`ops`], [`family`]), checks each contender against the expected outputs ([`truth`]) before timing it ([`correctness`]),
//! interleaves all contenders ([`schedule`]), and judges them by paired ratios ([`stats`], [`race`]).
//! docs/benchmarking.md describes the method and its known bias.

pub mod aa;
pub mod blobs;
pub mod builder;
pub mod change;
pub mod cli;
pub mod clocks;
pub mod compare;
pub mod correctness;
pub mod doctor;
pub mod family;
pub mod fingerprint;
pub mod instructions;
pub mod kernel;
pub mod manifest;
pub mod ops;
pub mod probe;
pub mod profile;
pub mod protocol;
pub mod race;
pub mod random;
pub mod records;
pub mod report;
pub mod result;
pub mod sandbox;
pub mod schedule;
pub mod stats;
pub mod truth;
pub mod wire;
pub mod worst;
