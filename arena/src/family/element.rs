//! The trait of kernels, and a simpler one for kernels whose items consist of elements.

use std::ops::Range;

use anyhow::{Context as _, Result, bail, ensure};

use crate::ops::{Input, Op};
use crate::random::Random;
use crate::truth::Expected;
use crate::wire::{Reader, lp};

/// Selects the items of a row.
#[derive(Clone, Copy, Debug)]
pub enum Selection {
    /// The row's own items.
    Main,
    /// Other items of the same kind.
    Probe {
        /// Number of the probe set.
        round: u64,
        /// Number of items.
        count: usize,
    },
    /// Two items that alternate between two elements, for rows of one item. This is easy to predict for the CPU, but a
    /// contender that caches its last result misses on every element.
    Alternating,
}

/// The seed of a probe set.
pub fn probe_seed(op: &Op, round: u64) -> u64 {
    op.seed ^ 0x70_726f_6265 ^ round.rotate_left(48)
}

/// Items and their expected outputs.
pub type Cases = (Vec<Vec<u8>>, Vec<Expected>);

/// The items, expected outputs and malformed items of a kernel's rows. The kernels of a family implement it.
pub trait Family {
    /// The items of a row and their expected outputs.
    fn cases(&self, op: &Op, selection: Selection) -> Result<Cases>;

    /// The items of a row.
    fn items(&self, op: &Op, selection: Selection) -> Result<Vec<Vec<u8>>> {
        Ok(self.cases(op, selection)?.0)
    }

    /// The expected output of an item modified by a [change](crate::change); `None` if no reference code computes it
    /// from the item's bytes.
    fn expected(&self, op: &Op, item: &[u8]) -> Result<Option<Expected>>;

    /// The byte range of each element of an item, which the offsets of change rules refer to.
    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>>;

    /// An item whose first element is `bad`; `None` if the row's format does not allow it.
    fn spoilt(&self, _op: &Op, _good: &[u8], _bad: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// The malformed inputs of `neg:<decoder>`, each a single element without a length. All of them must be rejected.
    fn malformed(&self, decoder: &str) -> Result<Vec<Vec<u8>>> {
        bail!("no malformed inputs for {decoder}")
    }

    /// Gas of one call according to the fork's rules, for rows that have a price.
    fn gas(&self, _op: &Op) -> Result<Option<u64>> {
        Ok(None)
    }
}

/// A family whose items consist of elements drawn one by one, and whose outputs follow from the items' bytes.
pub trait Elements {
    /// The items of a row that are not drawn: published inputs, real transactions, test vectors.
    fn published(&self, op: &Op) -> Result<Vec<Vec<u8>>> {
        bail!("no report input for kernel {}", op.kernel)
    }

    /// Draws one element; for a row of the reports, one like the published element.
    fn element(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>>;

    /// Draws an item of `ops_per_call` elements.
    fn item(&self, op: &Op, random: &mut Random) -> Result<Vec<u8>> {
        elements(self, op, random)
    }

    /// The expected output of an item.
    fn output(&self, op: &Op, item: &[u8]) -> Result<Expected>;

    /// Whether each element is preceded by its length.
    fn is_prefixed(&self, _op: &Op) -> bool {
        false
    }

    /// The byte range of each element.
    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        regions(self.is_prefixed(op), op, item)
    }

    /// See [`Family::malformed`].
    fn malformed(&self, decoder: &str) -> Result<Vec<Vec<u8>>> {
        bail!("no malformed inputs for {decoder}")
    }
}

/// Draws the elements of an item.
pub fn elements(
    family: &(impl Elements + ?Sized),
    op: &Op,
    random: &mut Random,
) -> Result<Vec<u8>> {
    let elements = (0..op.ops_per_call).map(|_| family.element(op, random));
    Ok(elements.collect::<Result<Vec<_>>>()?.concat())
}

/// Reads a whole item; bytes left over are an error.
pub fn read<'a, T>(
    op: &Op,
    item: &'a [u8],
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) -> Result<T> {
    let mut reader = Reader(item);
    let value = read(&mut reader)?;
    ensure!(
        reader.0.is_empty(),
        "{}: the item has bytes left over",
        op.kernel
    );
    Ok(value)
}

/// The ranges of elements that are preceded by their lengths, or that have one size.
pub fn regions(is_prefixed: bool, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
    let elements = op.ops_per_call;
    if is_prefixed {
        return parse(op, item, |reader| {
            let length = reader.u32()?;
            let start = item.len() - reader.0.len();
            reader.take(length)?;
            Ok(start)
        });
    }
    ensure!(
        item.len().is_multiple_of(elements),
        "{}: {} bytes are not {elements} elements of one size",
        op.kernel,
        item.len()
    );
    let size = item.len() / elements;
    Ok((0..elements).map(|i| i * size..(i + 1) * size).collect())
}

/// The ranges of an item's elements. `next` reads one element and returns where it starts.
pub fn parse<'a>(
    op: &Op,
    item: &'a [u8],
    mut next: impl FnMut(&mut Reader<'a>) -> Result<usize>,
) -> Result<Vec<Range<usize>>> {
    read(op, item, |reader| {
        let ranges = (0..op.ops_per_call).map(|_| {
            let start = next(reader)?;
            Ok(start..item.len() - reader.0.len())
        });
        ranges.collect()
    })
}

impl<T: Elements> Family for T {
    fn cases(&self, op: &Op, selection: Selection) -> Result<Cases> {
        let items = self.items(op, selection)?;
        let expected = items.iter().map(|item| self.output(op, item));
        let expected = expected.collect::<Result<_>>()?;
        Ok((items, expected))
    }

    fn items(&self, op: &Op, selection: Selection) -> Result<Vec<Vec<u8>>> {
        let draw = |seed: u64, count: usize| {
            let mut random = Random::new(seed);
            (0..count).map(|_| self.item(op, &mut random)).collect()
        };
        match (selection, op.input) {
            (Selection::Main, Input::Varied) => draw(op.seed, op.items),
            (Selection::Main, _) => self.published(op).with_context(|| op.id.clone()),
            // These cannot be drawn, so they are shuffled instead.
            (Selection::Probe { round, count }, Input::Blocks | Input::Vectors) => {
                let mut items = self.published(op)?;
                Random::new(probe_seed(op, round)).shuffle(&mut items);
                items.truncate(count);
                Ok(items)
            }
            (Selection::Probe { round, count }, _) => draw(probe_seed(op, round), count),
            (Selection::Alternating, _) => (0..2)
                .map(|start| {
                    let elements = (start..start + op.ops_per_call)
                        .map(|k| self.element(op, &mut Random::new(op.seed + (k % 2) as u64)));
                    Ok(elements.collect::<Result<Vec<_>>>()?.concat())
                })
                .collect(),
        }
    }

    fn expected(&self, op: &Op, item: &[u8]) -> Result<Option<Expected>> {
        self.output(op, item).map(Some)
    }

    fn regions(&self, op: &Op, item: &[u8]) -> Result<Vec<Range<usize>>> {
        Elements::regions(self, op, item)
    }

    fn spoilt(&self, op: &Op, good: &[u8], bad: &[u8]) -> Option<Vec<u8>> {
        let regions = Elements::regions(self, op, good).ok()?;
        let first = regions.first()?.clone();
        if self.is_prefixed(op) {
            return Some([lp(bad), good[first.end..].to_vec()].concat());
        }
        // Elements of a fixed size have no other delimiter.
        let fits = op.ops_per_call == 1 || first.len() == bad.len();
        fits.then(|| [bad, &good[first.end..]].concat())
    }

    fn malformed(&self, decoder: &str) -> Result<Vec<Vec<u8>>> {
        Elements::malformed(self, decoder)
    }
}
