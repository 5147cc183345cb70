//! Walks many hash chains at once, each from its own position for its own number of steps.

use alloc::vec::Vec;

use zeroize::Zeroize;

use crate::hash::{ChainPosition, DIGEST_WORDS, Digest, PARAMETER_WORDS, Parameter, TweakHash};
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
    pub value: Digest,
}

/// Walks every chain to its end and stores the result in `value`.
///
/// When a lane reaches the end of its chain, it takes the next one, longest first, so that few lanes are ever idle.
pub(crate) fn walk<H: TweakHash>(backend: Backend, walks: &mut [ChainWalk<'_>]) {
    let mut waiting: Vec<usize> = (0..walks.len()).filter(|&i| walks[i].steps > 0).collect();
    waiting.sort_by_key(|&index| core::cmp::Reverse(walks[index].steps));
    let mut waiting = waiting.into_iter();
    let mut parameter = Lanes::<PARAMETER_WORDS>::ZERO;
    let mut value = Lanes::<DIGEST_WORDS>::ZERO;
    let mut positions = [ChainPosition::default(); LANES];
    let mut owners = [None; LANES];
    loop {
        for l in 0..LANES {
            if owners[l].is_none()
                && let Some(index) = waiting.next()
            {
                let walk = &walks[index];
                parameter.set(l, walk.parameter);
                value.set(l, &walk.value);
                positions[l] = ChainPosition {
                    epoch: walk.epoch,
                    chain: walk.chain,
                    position: walk.position,
                };
                owners[l] = Some((index, walk.position + walk.steps));
            }
        }
        if owners == [None; LANES] {
            break;
        }
        for position in &mut positions {
            position.position = position.position.wrapping_add(1);
        }
        H::step(backend, &parameter, &positions, &mut value);
        for l in 0..LANES {
            if let Some((index, end)) = owners[l]
                && positions[l].position == end
            {
                walks[index].value = value.lane(l);
                owners[l] = None;
            }
        }
    }
    value.zeroize();
}
