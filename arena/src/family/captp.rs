//! The `captp` family: calls to objects of another party, without I/O and over TCP.
//!
//! An element is a text of 32 ASCII characters, or the bytes of `captp_blob`. Callees return it, or fold it into a digest
//! that depends on the order of the texts.

use std::ops::Range;

use anyhow::Result;

use super::element::{Elements, elements, regions};
use crate::kernel::Captp;
use crate::ops::Op;
use crate::random::Random;
use crate::truth::{Expected, hex};

impl Elements for Captp {
    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        Ok(match op.size {
            0 => hex(&random.bytes(16)).into_bytes(),
            size => random.bytes(size),
        })
    }

    fn item(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match self.is_single() {
            true => self.element(op, random),
            false => elements(self, op, random),
        }
    }

    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        match self.is_single() {
            true => Ok(std::iter::once(0..item.len()).collect()),
            false => regions(false, op, item),
        }
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let output = match self {
            Self::CoreOneway | Self::Oneway | Self::Chain => digest(item),
            Self::FanOut => digest(&item.repeat(op.ops_per_call)),
            Self::GcStorm => {
                let first = digest(item);
                let words = (0..op.ops_per_call as u64).map(|index| first.wrapping_add(index));
                words.fold(0, u64::wrapping_add)
            }
            Self::CoreEcho
            | Self::Echo
            | Self::EchoHostile
            | Self::Echo300
            | Self::Handoff
            | Self::Setup
            | Self::Blob => return Ok(Expected::of(&[item.to_vec()])),
        };
        Ok(Expected::of(&[output.to_le_bytes().to_vec()]))
    }
}

impl Captp {
    /// Whether an item is one text, however many operations a call makes.
    fn is_single(self) -> bool {
        matches!(self, Self::FanOut | Self::GcStorm)
    }
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
