//! The `captp` family: calls to objects of another party, without I/O and over TCP.
//!
//! An element is a text of 32 ASCII characters, or the bytes of `captp_blob`. Callees return it, or fold it into a digest
//! that depends on the order of the texts.

use std::ops::Range;

use anyhow::{Result, bail};

use super::Elements;
use crate::ops::Op;
use crate::random::Random;
use crate::truth::{Expected, hex};

/// The rows of `arena/ops/captp.toml`.
pub struct Captp;

impl Elements for Captp {
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        bail!("no report input for kernel {}", op.kernel)
    }

    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        Ok(match op.size {
            0 => hex(&random.bytes(16)).into_bytes(),
            size => random.bytes(size),
        })
    }

    fn item(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match is_single(op) {
            true => self.element(op, random),
            false => super::elements(self, op, random),
        }
    }

    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        match is_single(op) {
            true => Ok(std::iter::once(0..item.len()).collect()),
            false => super::regions(false, op, item),
        }
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let output = match op.kernel.as_str() {
            "captp_core_oneway" | "captp_oneway" | "captp_chain" => digest(item),
            "captp_fan_out" => digest(&item.repeat(op.ops_per_call)),
            "captp_gc_storm" => {
                let first = digest(item);
                let words = (0..op.ops_per_call as u64).map(|index| first.wrapping_add(index));
                words.fold(0, u64::wrapping_add)
            }
            _ => return Ok(Expected::of(&[item.to_vec()])),
        };
        Ok(Expected::of(&[output.to_le_bytes().to_vec()]))
    }
}

/// Whether an item is one text, however many operations a call makes.
fn is_single(op: &Op) -> bool {
    matches!(op.kernel.as_str(), "captp_fan_out" | "captp_gc_storm")
}

/// FNV-1a of 64 bits, with little-endian words in place of bytes.
fn digest(item: &[u8]) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325_u128;
    for word in item.chunks(8) {
        let word = word
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u128::from(*byte));
        digest = (digest ^ word) * 0x100_0000_01b3 % (1 << 64);
    }
    digest as u64
}
