//! The `bindings` family: decoders of the `ethereum` family, for languages in which summing an output costs more than
//! computing it. The checksum adds the number of bytes and of numbers only.

use std::ops::Range;

use anyhow::Result;

use super::element::{Elements, read};
use crate::kernel::{Bindings, Ethereum};
use crate::ops::Op;
use crate::random::Random;
use crate::truth::{Expected, ethereum::outputs};

impl Bindings {
    /// The kernel of the `ethereum` family with the same items.
    fn original(self) -> Ethereum {
        match self {
            Self::AbiDecodeDynamic => Ethereum::AbiDecodeDynamic,
            Self::AbiDecodeRuntime => Ethereum::AbiDecodeRuntime,
        }
    }
}

impl Elements for Bindings {
    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        self.original().element(op, random)
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        let parts = read(op, item, |reader| {
            outputs(self.original(), op.ops_per_call, reader)
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
        Elements::regions(&self.original(), op, item)
    }

    fn is_prefixed(&self, op: &Op) -> bool {
        self.original().is_prefixed(op)
    }
}
