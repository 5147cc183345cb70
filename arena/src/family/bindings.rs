//! The `bindings` family: decoders of the `ethereum` family, for languages in which summing an output costs more than
//! computing it. The checksum adds the number of bytes and of numbers only.

use std::ops::Range;

use anyhow::{Context as _, Result, bail};

use super::ethereum::{Ethereum, outputs};
use super::{Elements, read};
use crate::ops::Op;
use crate::random::Random;
use crate::truth::Expected;

/// The rows of `arena/ops/bindings.toml`.
pub struct Bindings;

/// The row of the `ethereum` family with the same items.
fn original(op: &Op) -> Result<Op> {
    let kernel = op.kernel.strip_suffix("_heads");
    let kernel = kernel.with_context(|| format!("no kernel {}", op.kernel))?;
    let mut original = op.clone();
    original.kernel = kernel.to_owned();
    Ok(original)
}

impl Elements for Bindings {
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        bail!("no report input for kernel {}", op.kernel)
    }

    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        Ethereum.element(&original(op)?, random)
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let op = original(op)?;
        let parts = read(&op, item, |reader| {
            outputs(&op.kernel, op.ops_per_call, reader)
        })?;
        // Each value has a text, bytes, and in some kernels numbers.
        let values = parts.chunks(parts.len() / op.ops_per_call);
        let sum = values.map(|value| {
            (value[1].len() + value.get(2).map_or(0, |numbers| numbers.len() / 32)) as u64
        });
        Ok(Expected {
            sum: sum.sum(),
            bytes: parts.concat(),
        })
    }

    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        Ethereum.regions(&original(op)?, item)
    }

    fn is_prefixed(&self, op: &Op) -> bool {
        original(op).is_ok_and(|op| Ethereum.is_prefixed(&op))
    }
}
