//! Bottom trees: the leaves of 2^(height / 2) epochs and the nodes above them.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use zeroize::Zeroizing;

use core::ops::Range;

use crate::encoding::Encoding;
use crate::hash::{ChainPositions, DIGEST_WORDS, Digest, PARAMETER_WORDS, Parameter, TweakHash};
use crate::layout::covered;
use crate::parallel;
use crate::poseidon::{Backend, LANES, Lanes};
use crate::prf::{Prf, PrfKey};
use crate::scheme::{Scheme, tree_leaves};
use crate::wipe::wipe_stack;

/// Computes the leaves of [`LANES`] epochs, starting at `first`.
#[inline(never)]
pub(crate) fn leaves<S: Scheme>(
    backend: Backend,
    key: &PrfKey,
    parameter: &Parameter,
    first: u32,
    out: &mut [Digest],
) {
    let lanes = &Lanes::splat(parameter);
    let epochs: [u32; LANES] = core::array::from_fn(|l| first.wrapping_add(l as u32));
    let mut ends = vec![Lanes::<DIGEST_WORDS>::ZERO; S::Encoding::CHAINS];
    let chains = (0..S::Encoding::CHAINS).map(|chain| [chain as u8; LANES]);
    S::Prf::starts::<S::Hash>(key, parameter, &epochs, chains, &mut ends);
    for (chain, value) in (0..).zip(&mut ends) {
        let mut at = ChainPositions {
            epochs,
            chains: [chain; LANES],
            positions: [0; LANES],
        };
        S::Hash::steps(backend, lanes, &mut at, S::Encoding::BASE as u32 - 1, value);
    }
    let leaves = S::Hash::leaf(backend, lanes, &epochs, &ends);
    for (l, out) in out.iter_mut().enumerate() {
        *out = leaves.lane(l);
    }
}

/// Computes the parents of `children`, at level `level` and starting at position `first`.
pub(crate) fn parents<S: Scheme>(
    backend: Backend,
    parameter: &Lanes<PARAMETER_WORDS>,
    level: u8,
    first: u32,
    children: &[Digest],
) -> Vec<Digest> {
    let mut parents = vec![[0; DIGEST_WORDS]; children.len() / 2];
    parallel::for_chunks(&mut parents, LANES, &|group, out| {
        let start = LANES * group;
        let mut left = Lanes::ZERO;
        let mut right = Lanes::ZERO;
        for (l, pair) in children[2 * start..]
            .chunks_exact(2)
            .take(LANES)
            .enumerate()
        {
            left.set(l, &pair[0]);
            right.set(l, &pair[1]);
        }
        let positions = core::array::from_fn(|l| first.wrapping_add((start + l) as u32));
        let nodes = S::Hash::node(backend, parameter, level, &positions, [&left, &right]);
        for (l, out) in out.iter_mut().enumerate() {
            *out = nodes.lane(l);
        }
    });
    parents
}

/// Computes the parents of `nodes`, which start at position `start` of `level`, if the key has `epochs` below them; the
/// others are zero. Fills in the nodes beside those of the key with `pad`.
pub(crate) fn layer_above<S: Scheme>(
    backend: Backend,
    parameter: &Lanes<PARAMETER_WORDS>,
    level: u32,
    start: u64,
    epochs: &Range<u64>,
    nodes: &mut [Digest],
    pad: impl FnMut(u64) -> Digest,
) -> Vec<Digest> {
    let mut above = vec![[0; DIGEST_WORDS]; nodes.len() / 2];
    if epochs.is_empty() {
        return above;
    }
    let pairs = pad_pairs(level, start, epochs, nodes, pad);
    let computed = parents::<S>(
        backend,
        parameter,
        level as u8 + 1,
        ((start + pairs.start as u64) / 2) as u32,
        &nodes[pairs.clone()],
    );
    above[pairs.start / 2..pairs.end / 2].copy_from_slice(&computed);
    above
}

/// Fills in the siblings of the nodes that have `epochs` below them, if the siblings have none. Returns the indices of
/// all of these nodes: whole pairs.
pub(crate) fn pad_pairs(
    level: u32,
    start: u64,
    epochs: &Range<u64>,
    nodes: &mut [Digest],
    mut pad: impl FnMut(u64) -> Digest,
) -> Range<usize> {
    let mut covered = covered(epochs, level);
    if covered.start & 1 == 1 {
        covered.start -= 1;
        nodes[(covered.start - start) as usize] = pad(covered.start);
    }
    if covered.end & 1 == 1 {
        nodes[(covered.end - start) as usize] = pad(covered.end);
        covered.end += 1;
    }
    (covered.start - start) as usize..(covered.end - start) as usize
}

/// A bottom tree that is being computed. Leaves can be added a few at a time.
pub(crate) struct BottomTree<S: Scheme> {
    /// Index of the tree: its first epoch divided by its number of epochs.
    pub index: u32,
    /// On the heap, so that moving the tree leaves no copy of the key.
    key: Box<Zeroizing<PrfKey>>,
    parameter: Parameter,
    leaves: Vec<Digest>,
    /// The key's epochs within the tree.
    epochs: Range<u64>,
    /// Number of leaves computed, of those of the key.
    pub done: usize,
    scheme: core::marker::PhantomData<S>,
}

impl<S: Scheme> BottomTree<S> {
    /// Creates a tree without leaves, of a key that is active for the epochs `active`.
    #[inline(never)]
    pub(crate) fn new(
        key: &PrfKey,
        parameter: &Parameter,
        index: u32,
        active: &Range<u64>,
    ) -> Self {
        let start = u64::from(index) * tree_leaves::<S>();
        let end = start + tree_leaves::<S>();
        let mut own = Box::new(Zeroizing::new([0; 32]));
        own.copy_from_slice(key);
        Self {
            index,
            key: own,
            parameter: *parameter,
            leaves: vec![[0; DIGEST_WORDS]; tree_leaves::<S>() as usize],
            epochs: active.start.clamp(start, end)..active.end.clamp(start, end),
            done: 0,
            scheme: core::marker::PhantomData,
        }
    }

    /// Number of leaves still missing.
    pub(crate) fn missing(&self) -> usize {
        (self.epochs.end - self.epochs.start) as usize - self.done
    }

    /// Adds `count` leaves, rounded up to a multiple of [`LANES`]. `step` is called before each group and returns
    /// whether to continue.
    pub(crate) fn work(&mut self, count: usize, step: impl Fn() -> bool + Sync) {
        let count = count.next_multiple_of(LANES).min(self.missing());
        let backend = Backend::detect();
        let first = self.epochs.start as u32 + self.done as u32;
        let start = (self.epochs.start % tree_leaves::<S>()) as usize;
        let (key, parameter): (&PrfKey, _) = (&self.key, &self.parameter);
        parallel::for_chunks(
            &mut self.leaves[start + self.done..][..count],
            LANES,
            &|group, out| {
                if step() {
                    let first = first + (LANES * group) as u32;
                    leaves::<S>(backend, key, parameter, first, out);
                    wipe_stack();
                }
            },
        );
        self.done += count;
    }

    /// Returns the layers from the leaves to the root. All leaves must be present.
    pub(crate) fn layers(mut self) -> Vec<Vec<Digest>> {
        let backend = Backend::detect();
        let parameter = Lanes::splat(&self.parameter);
        let mut nodes = core::mem::take(&mut self.leaves);
        let mut layers = Vec::new();
        for level in 0..S::LOG_LIFETIME / 2 {
            let start = (u64::from(self.index) * tree_leaves::<S>()) >> level;
            let pad =
                |position| S::Prf::filler(&self.key, &self.parameter, level as u8, position as u32);
            let parents = layer_above::<S>(
                backend,
                &parameter,
                level,
                start,
                &self.epochs,
                &mut nodes,
                pad,
            );
            layers.push(core::mem::replace(&mut nodes, parents));
        }
        layers.push(nodes);
        layers
    }
}
