//! The positions of all parts in an encoded secret key. They follow from the activation interval and the left tree's
//! index.
//!
//! A key is `prf_key 32 | parameter | activation u64 | epochs u64 | offset of top | left index u64 | offsets of left
//! and right | top | left | right`. A tree is `depth u64 | lowest layer u64 | offset 20 | layers`. The layers are a
//! list of variable-size items: a table of offsets, then each `start index u64 | offset 12 | nodes`.

use alloc::vec::Vec;
use core::ops::Range;

use crate::hash::{Digest, TweakHash};
use crate::prf::Prf;
use crate::scheme::{Scheme, lifetime, tree_leaves};
use crate::ssz::{Canonical, DecodeError, Reader};

/// Offset of the parameter, after the PRF key.
pub(crate) const PARAMETER_AT: usize = 32;
/// Offset of the first epoch, after the parameter.
const fn epochs_at<S: Scheme>() -> usize {
    PARAMETER_AT + 4 * S::Hash::PARAMETER
}
/// Offset of the top tree.
const fn top_at<S: Scheme>() -> usize {
    epochs_at::<S>() + 8 + 8 + 4 + 8 + 4 + 4
}

/// The bottom trees that hold these epochs: whole trees, at least two, within the lifetime.
pub(crate) fn trees<S: Scheme>(epochs: &Range<u64>) -> Range<u64> {
    let leaves = tree_leaves::<S>();
    let start = epochs.start / leaves;
    let end = epochs.end.div_ceil(leaves).max(start + 2);
    let shift = end.saturating_sub(lifetime::<S>() / leaves);
    start - shift..end - shift
}

/// The nodes of a level that have leaves in `epochs`, which are not empty.
pub(crate) fn covered(epochs: &Range<u64>, level: u32) -> Range<u64> {
    epochs.start >> level..((epochs.end - 1) >> level) + 1
}

/// A layer. Its nodes are `start .. start + count` of their level.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub start: u64,
    pub count: usize,
    /// Offset of its nodes.
    pub at: usize,
}

/// A tree in the key.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub at: usize,
    pub lowest: u32,
    pub layers: Vec<Layer>,
    pub end: usize,
}

impl Tree {
    /// Creates a tree at byte `at` whose layers have these starts and node counts.
    fn new<S: Scheme>(at: usize, lowest: u32, layers: &[(u64, usize)]) -> Self {
        let mut end = at + 20 + 4 * layers.len();
        let layers = layers
            .iter()
            .map(|&(start, count)| {
                let layer = Layer {
                    start,
                    count,
                    at: end + 12,
                };
                end = layer.at + 4 * S::Hash::DIGEST * count;
                layer
            })
            .collect();
        Self {
            at,
            lowest,
            layers,
            end,
        }
    }

    /// Creates the bottom tree with this index.
    pub(crate) fn bottom<S: Scheme>(at: usize, index: u64) -> Self {
        let layers: Vec<_> = (0..=S::LOG_LIFETIME / 2)
            .map(|level| {
                let count = tree_leaves::<S>() >> level;
                (index * count, count as usize)
            })
            .collect();
        Self::new::<S>(at, 0, &layers)
    }

    /// Creates the top tree over the bottom trees with these indices. All layers, including the root's, are padded to
    /// begin with a left child and end with a right one.
    fn top<S: Scheme>(at: usize, trees: &Range<u64>) -> Self {
        let mut layers = Vec::new();
        let (mut first, mut last) = (trees.start, trees.end - 1);
        for _ in 0..=S::LOG_LIFETIME / 2 {
            layers.push((first & !1, ((last | 1) - (first & !1) + 1) as usize));
            first >>= 1;
            last >>= 1;
        }
        Self::new::<S>(at, S::LOG_LIFETIME / 2, &layers)
    }

    /// Writes everything but the nodes.
    pub(crate) fn write_frame<S: Scheme>(&self, bytes: &mut [u8]) {
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(self.at, &u64::from(S::LOG_LIFETIME).to_le_bytes());
        put(self.at + 8, &u64::from(self.lowest).to_le_bytes());
        put(self.at + 16, &20_u32.to_le_bytes());
        let table = self.at + 20;
        for (i, layer) in self.layers.iter().enumerate() {
            put(
                table + 4 * i,
                &((layer.at - 12 - table) as u32).to_le_bytes(),
            );
            put(layer.at - 12, &layer.start.to_le_bytes());
            put(layer.at - 4, &12_u32.to_le_bytes());
        }
    }

    /// Checks everything but the nodes.
    fn check_frame<S: Scheme>(&self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut reader = Reader::new(bytes);
        reader.seek(self.at);
        reader.number(u64::from(S::LOG_LIFETIME))?;
        reader.number(u64::from(self.lowest))?;
        reader.offset(20)?;
        let table = self.at + 20;
        for layer in &self.layers {
            reader.offset(layer.at - 12 - table)?;
        }
        for layer in &self.layers {
            reader.seek(layer.at - 12);
            reader.number(layer.start)?;
            reader.offset(12)?;
        }
        Ok(())
    }

    /// Writes nodes of a layer, from an index on.
    pub(crate) fn write_nodes<S: Scheme>(
        &self,
        bytes: &mut [u8],
        layer: usize,
        first: usize,
        nodes: &[Digest],
    ) {
        let size = 4 * S::Hash::DIGEST;
        let at = self.layers[layer].at + size * first;
        for (bytes, node) in bytes[at..].chunks_exact_mut(size).zip(nodes) {
            for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(node) {
                *bytes = word.to_le_bytes();
            }
        }
    }

    /// The node at `position` of a layer, which must contain it.
    pub(crate) fn node<S: Scheme>(
        &self,
        bytes: &[u8],
        layer: usize,
        position: u64,
        canonical: Canonical,
    ) -> Result<Digest, DecodeError> {
        let layer = &self.layers[layer];
        let mut reader = Reader::new(bytes);
        reader.seek(layer.at + 4 * S::Hash::DIGEST * (position - layer.start) as usize);
        reader.words::<S::Hash, _>(S::Hash::DIGEST, canonical)
    }

    /// Appends the siblings on the path from `position` in the lowest layer to just below the root.
    pub(crate) fn path<S: Scheme>(
        &self,
        bytes: &[u8],
        position: u64,
        canonical: Canonical,
        path: &mut Vec<Digest>,
    ) -> Result<(), DecodeError> {
        for (layer, level) in (0..self.layers.len() - 1).zip(0..) {
            path.push(self.node::<S>(bytes, layer, position >> level ^ 1, canonical)?);
        }
        Ok(())
    }

    /// The root.
    pub(crate) fn root<S: Scheme>(
        &self,
        bytes: &[u8],
        canonical: Canonical,
    ) -> Result<Digest, DecodeError> {
        let layer = self.layers.len() - 1;
        self.node::<S>(bytes, layer, self.layers[layer].start, canonical)
    }
}

/// The parts of a key.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The epochs that the key is active for.
    pub active: Range<u64>,
    /// Indices of the bottom trees in the activation interval, at least two.
    pub trees: Range<u64>,
    /// Index of the left tree.
    pub left_index: u64,
    pub top: Tree,
    pub left: Tree,
    pub right: Tree,
}

impl Layout {
    pub(crate) fn new<S: Scheme>(active: Range<u64>, left_index: u64) -> Self {
        let trees = trees::<S>(&active);
        let top = Tree::top::<S>(top_at::<S>(), &trees);
        let left = Tree::bottom::<S>(top.end, left_index);
        let right = Tree::bottom::<S>(left.end, left_index + 1);
        Self {
            active,
            trees,
            left_index,
            top,
            left,
            right,
        }
    }

    /// Length of the key in bytes.
    pub(crate) fn length(&self) -> usize {
        self.right.end
    }

    /// Writes the header except PRF key and parameter, and the frames of the trees.
    pub(crate) fn write_frame<S: Scheme>(&self, bytes: &mut [u8]) {
        let mut at = epochs_at::<S>();
        for field in [
            &self.active.start.to_le_bytes()[..],
            &(self.active.end - self.active.start).to_le_bytes(),
            &(self.top.at as u32).to_le_bytes(),
            &self.left_index.to_le_bytes(),
            &(self.left.at as u32).to_le_bytes(),
            &(self.right.at as u32).to_le_bytes(),
        ] {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        }
        for tree in [&self.top, &self.left, &self.right] {
            tree.write_frame::<S>(bytes);
        }
    }

    /// Reads the layout of a key and checks all of it.
    pub(crate) fn read<S: Scheme>(bytes: &[u8]) -> Result<Self, DecodeError> {
        let leaves = tree_leaves::<S>();
        let mut reader = Reader::new(bytes);
        reader.seek(epochs_at::<S>());
        let at = reader.position();
        let start = reader.u64()?;
        let count = reader.u64()?;
        let end = start
            .checked_add(count)
            .filter(|&end| end <= lifetime::<S>());
        let whole = |number: u64| S::Prf::DERIVES_ALL || number.is_multiple_of(leaves);
        let least = if S::Prf::DERIVES_ALL { 1 } else { 2 * leaves };
        let Some(end) = end.filter(|_| whole(start) && whole(count) && count >= least) else {
            return Err(DecodeError::Number { at });
        };
        let trees = trees::<S>(&(start..end));
        reader.offset(top_at::<S>())?;
        let at = reader.position();
        let left_index = reader.u64()?;
        if left_index < trees.start || left_index >= trees.end - 1 {
            return Err(DecodeError::Number { at });
        }
        let layout = Self::new::<S>(start..end, left_index);
        if bytes.len() != layout.length() {
            return Err(DecodeError::Length {
                length: bytes.len(),
                expected: layout.length(),
            });
        }
        reader.offset(layout.left.at)?;
        reader.offset(layout.right.at)?;
        for tree in [&layout.top, &layout.left, &layout.right] {
            tree.check_frame::<S>(bytes)?;
        }
        Ok(layout)
    }
}
