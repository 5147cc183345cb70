//! Walks many hash chains at once, each from its own position for its own number of steps.

use alloc::{vec, vec::Vec};

use zeroize::Zeroize;

use crate::hash::{ChainPositions, DIGEST_WORDS, Digest, PARAMETER_WORDS, Parameter, TweakHash};
use crate::poseidon::{Backend, LANES, Lanes};

/// A chain to walk.
#[derive(Clone, Copy)]
pub(crate) struct ChainWalk<'a> {
    pub parameter: &'a Parameter,
    pub epoch: u32,
    pub chain: u8,
    /// The position of `value`.
    pub position: u8,
    /// Number of steps. `position + steps` is at most 255.
    pub steps: u8,
    pub value: &'a Digest,
}

/// Walks every chain to its end and calls `end` with its index and the result.
///
/// When a lane reaches the end of its chain, it takes the next one, longest first, so that few lanes are ever idle.
pub(crate) fn walk<H: TweakHash>(
    backend: Backend,
    walks: &[ChainWalk<'_>],
    mut end: impl FnMut(usize, &Digest),
) {
    for (index, walk) in walks.iter().enumerate().filter(|(_, walk)| walk.steps == 0) {
        end(index, walk.value);
    }
    let mut waiting = longest_first(walks).into_iter();
    let mut parameter = Lanes::<PARAMETER_WORDS>::ZERO;
    let mut value = Lanes::<DIGEST_WORDS>::ZERO;
    let mut at = ChainPositions {
        epochs: [0; LANES],
        chains: [0; LANES],
        positions: [0; LANES],
    };
    // The chain of each lane, and the number of steps until it ends.
    let mut owners = [0; LANES];
    let mut left = [0; LANES];
    loop {
        for l in 0..LANES {
            if left[l] == 0
                && let Some(index) = waiting.next()
            {
                let walk = &walks[index];
                parameter.set(l, &walk.parameter[..H::PARAMETER]);
                value.set(l, &walk.value[..H::DIGEST]);
                at.epochs[l] = walk.epoch;
                at.chains[l] = walk.chain.into();
                at.positions[l] = walk.position.into();
                (owners[l], left[l]) = (index, u32::from(walk.steps));
            }
        }
        // Until the next chain ends.
        let Some(count) = left.into_iter().filter(|&left| left > 0).min() else {
            break;
        };
        H::steps(backend, &parameter, &mut at, count, &mut value);
        for l in 0..LANES {
            if left[l] == count {
                end(owners[l], &value.lane(l));
            }
            left[l] = left[l].saturating_sub(count);
        }
    }
    value.zeroize();
}

/// The indices of the chains with steps to walk, by counting.
fn longest_first(walks: &[ChainWalk<'_>]) -> Vec<usize> {
    let mut counts = [0; 256];
    for walk in walks {
        counts[usize::from(walk.steps)] += 1;
    }
    // Where the chains with a number of steps start.
    let (mut starts, mut total) = ([0; 256], 0);
    for steps in (1..256).rev() {
        starts[steps] = total;
        total += counts[steps];
    }
    let mut indices = vec![0; total];
    for (index, walk) in walks.iter().enumerate().filter(|(_, walk)| walk.steps > 0) {
        let at = &mut starts[usize::from(walk.steps)];
        indices[*at] = index;
        *at += 1;
    }
    indices
}
