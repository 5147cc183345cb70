//! Bottom trees: the leaves of 2^(height / 2) epochs and the nodes above them.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use zeroize::Zeroizing;

use crate::encoding::Encoding;
use crate::hash::{ChainPosition, DIGEST_WORDS, Digest, PARAMETER_WORDS, Parameter, TweakHash};
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
    parameter: &Lanes<PARAMETER_WORDS>,
    first: u32,
    out: &mut [Digest],
) {
    let epochs: [u32; LANES] = core::array::from_fn(|l| first.wrapping_add(l as u32));
    let mut ends = vec![Lanes::<DIGEST_WORDS>::ZERO; S::Encoding::CHAINS];
    for (chain, value) in ends.iter_mut().enumerate() {
        let chain = chain as u8;
        *value = S::Prf::starts::<S::Hash>(key, &epochs, &[chain; LANES]);
        for position in 1..S::Encoding::BASE {
            let positions = epochs.map(|epoch| ChainPosition {
                epoch,
                chain,
                position: position as u8,
            });
            S::Hash::step(backend, parameter, &positions, value);
        }
    }
    let leaves = S::Hash::leaf(backend, parameter, &epochs, &ends);
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
    parallel::for_chunks(&mut parents, LANES, |group, out| {
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

/// A bottom tree that is being computed. Leaves can be added a few at a time.
pub(crate) struct BottomTree<S: Scheme> {
    /// Index of the tree: its first epoch divided by its number of epochs.
    pub index: u32,
    /// On the heap, so that moving the tree leaves no copy of the key.
    key: Box<Zeroizing<PrfKey>>,
    parameter: Parameter,
    leaves: Vec<Digest>,
    /// Number of leaves computed.
    pub done: usize,
    scheme: core::marker::PhantomData<S>,
}

impl<S: Scheme> BottomTree<S> {
    #[inline(never)]
    pub(crate) fn new(key: &PrfKey, parameter: &Parameter, index: u32) -> Self {
        let mut own = Box::new(Zeroizing::new([0; 32]));
        own.copy_from_slice(key);
        Self {
            index,
            key: own,
            parameter: *parameter,
            leaves: vec![[0; DIGEST_WORDS]; tree_leaves::<S>() as usize],
            done: 0,
            scheme: core::marker::PhantomData,
        }
    }

    /// Number of leaves still missing.
    pub(crate) fn missing(&self) -> usize {
        self.leaves.len() - self.done
    }

    /// Adds `count` leaves, rounded up to a multiple of [`LANES`]. `step` is called before each group and returns
    /// whether to continue.
    pub(crate) fn work(&mut self, count: usize, step: impl Fn() -> bool + Sync) {
        let count = count.next_multiple_of(LANES).min(self.missing());
        let backend = Backend::detect();
        let first = (u64::from(self.index) * tree_leaves::<S>()) as u32 + self.done as u32;
        let (key, parameter): (&PrfKey, _) = (&self.key, &Lanes::splat(&self.parameter));
        parallel::for_chunks(
            &mut self.leaves[self.done..][..count],
            LANES,
            |group, out| {
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
        let mut layers = vec![core::mem::take(&mut self.leaves)];
        for level in 1..=S::LOG_LIFETIME / 2 {
            let first = ((u64::from(self.index) * tree_leaves::<S>()) >> level) as u32;
            let below = layers.last().map_or(&[][..], Vec::as_slice);
            layers.push(parents::<S>(backend, &parameter, level as u8, first, below));
        }
        layers
    }
}
