//! Many hash chains at once, each from its own position for its own number of steps.

use alloc::vec::Vec;

use zeroize::Zeroize;

use crate::hash::{DIGEST_WORDS, Digest, PARAMETER_WORDS, Parameter, Place, TweakHash};
use crate::poseidon::{Backend, LANES, Lanes};

/// A chain to walk.
#[derive(Clone, Copy)]
pub(crate) struct Walk<'a> {
    pub parameter: &'a Parameter,
    pub epoch: u32,
    pub chain: u8,
    /// The position of `value`.
    pub position: u8,
    /// Steps to take; `position + steps` is at most 255.
    pub steps: u8,
    pub value: Digest,
}

/// Walks every chain to its end: `value` becomes what is there.
///
/// Chains are taken by falling number of steps, so that those in one kernel call have about as many.
pub(crate) fn walk<H: TweakHash>(backend: Backend, walks: &mut [Walk<'_>]) {
    let mut order: Vec<usize> = (0..walks.len()).collect();
    order.sort_by_key(|&index| core::cmp::Reverse(walks[index].steps));
    for group in order.chunks(LANES) {
        let mut parameter = Lanes::<PARAMETER_WORDS>::ZERO;
        let mut value = Lanes::<DIGEST_WORDS>::ZERO;
        let mut places = [Place::default(); LANES];
        let mut steps = [0; LANES];
        for (l, &index) in group.iter().enumerate() {
            let walk = &walks[index];
            parameter.set(l, walk.parameter);
            value.set(l, &walk.value);
            places[l] = Place {
                epoch: walk.epoch,
                chain: walk.chain,
                position: walk.position,
            };
            steps[l] = walk.steps;
        }
        for step in 0..steps[0] {
            let before = value;
            for place in &mut places {
                place.position = place.position.wrapping_add(1);
            }
            H::step(backend, &parameter, &places, &mut value);
            // Chains at their end stay there.
            for (after, before) in value.0.iter_mut().zip(&before.0) {
                for l in 0..LANES {
                    after[l] = if steps[l] > step { after[l] } else { before[l] };
                }
            }
        }
        for (l, &index) in group.iter().enumerate() {
            walks[index].value = value.lane(l);
        }
        value.zeroize();
    }
}
