//! The `captp` family: calls to objects of another party, without I/O and over TCP.
//!
//! An element is a text of 32 ASCII characters. Callees return it, or fold it into a digest that depends on the order of
//! the texts.

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

    fn element(&self, _: &Op, random: &mut Random) -> Result<Vec<u8>> {
        Ok(hex(&random.bytes(16)).into_bytes())
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let output = match op.kernel.as_str() {
            "captp_core_oneway" | "captp_oneway" | "captp_chain_32" => {
                digest(item).to_le_bytes().to_vec()
            }
            _ => item.to_vec(),
        };
        Ok(Expected::of(&[output]))
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
