//! The `syrup` family: encoders and decoders of Syrup.

mod inputs;

use std::iter;
use std::ops::Range;

use anyhow::{Context as _, Result};

use super::element::{Elements, elements, parse, regions};
use crate::kernel::Syrup;
use crate::ops::Op;
use crate::random::Random;
use crate::truth::{Expected, syrup::outputs};

/// How an item consists of elements.
enum Layout {
    /// The whole item is one element: a stream of messages, or a bare value.
    Whole,
    /// The fields of a struct: a number of texts, and the size of the rest.
    Fields(usize, usize),
    /// Elements that are preceded by their lengths.
    Prefixed,
}

impl Syrup {
    fn layout(self) -> Layout {
        match self {
            Self::Stream | Self::StreamOwned | Self::Reencode => Layout::Whole,
            Self::EncodeTypedSkill => Layout::Fields(2, 3 * 8),
            Self::EncodeTypedExport => Layout::Fields(0, 8),
            Self::RoundtripStruct | Self::RoundtripStructOwned => Layout::Fields(1, 8 + 1),
            Self::Encode
            | Self::EncodeUnsorted
            | Self::Decode
            | Self::DecodeOwned
            | Self::Walk
            | Self::DecodeTypedSkill
            | Self::DecodeTypedCaptp
            | Self::DecodeTypedDeliver
            | Self::Cid
            | Self::RoundtripTree
            | Self::Decimal => Layout::Prefixed,
        }
    }
}

impl Elements for Syrup {
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        inputs::published(*self, op)
    }

    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        inputs::element(*self, op, random)
    }

    fn item(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        match self {
            Self::Stream | Self::StreamOwned => Ok(inputs::stream(op.ops_per_call, random)),
            _ => elements(self, op, random),
        }
    }

    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected> {
        outputs::expected(*self, op.ops_per_call, item).with_context(|| op.kernel.name())
    }

    fn is_prefixed(&self, _op: &Op) -> bool {
        matches!(self.layout(), Layout::Prefixed)
    }

    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        match self.layout() {
            Layout::Whole => Ok(iter::once(0..item.len()).collect()),
            Layout::Prefixed => regions(true, op, item),
            Layout::Fields(texts, rest) => parse(op, item, |reader| {
                let start = item.len() - reader.0.len();
                for _ in 0..texts {
                    reader.lp()?;
                }
                reader.take(rest)?;
                Ok(start)
            }),
        }
    }

    fn malformed(&self, decoder: &str) -> Result<Vec<Vec<u8>>> {
        inputs::malformed(decoder)
    }
}
