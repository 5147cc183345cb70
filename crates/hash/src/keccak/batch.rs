//! Many messages over the lanes of a wide kernel: a lane whose message ends takes the next one, so mixed lengths keep all
//! lanes busy; the last message left alone goes on in the single-lane kernel.

use super::{KECCAK_SUFFIX, State};

/// Lanes of one state.
pub(super) const LANES: usize = 25;

/// `N` states interleaved: word `j` of entry `i` is lane `i` of state `j`.
#[repr(align(64))]
pub(super) struct Wide<const N: usize>(pub(super) [[u64; N]; LANES]);

/// What one lane of the kernel is doing.
#[derive(Clone, Copy)]
struct Lane<'a> {
    /// Bytes not yet absorbed.
    rest: &'a [u8],
    /// Where the digest goes; none: the lane is idle.
    target: Option<usize>,
}

/// Hashes `inputs` into `out` (of equal length), by a sponge of rate `RATE` whose padding begins with `suffix`; an output is
/// of one block at most. `absorb` clears the states whose `keep` word is zero (otherwise it is all
/// ones), XORs a block into each state and permutes; `squeeze` tells the first four words of each state; `finish` completes
/// one message alone.
#[inline]
pub(super) fn run<const N: usize, const RATE: usize, const OUT: usize>(
    suffix: u8,
    inputs: &[&[u8]],
    out: &mut [[u8; OUT]],
    absorb: impl Fn(&mut Wide<N>, &[&[u8; RATE]; N], &[u64; N]),
    squeeze: impl Fn(&Wide<N>) -> [[u64; 4]; N],
    finish: impl Fn(State, &[u8]) -> [u8; OUT],
) {
    let mut state = Wide([[0; N]; LANES]);
    let mut padded = [[0; RATE]; N];
    let mut lanes = [Lane {
        rest: &[],
        target: None,
    }; N];
    let mut waiting = inputs.iter().enumerate();
    loop {
        // Refill
        let mut keep = [u64::MAX; N];
        let mut busy = 0;
        for (lane, keep) in lanes.iter_mut().zip(&mut keep) {
            if lane.target.is_none()
                && let Some((index, input)) = waiting.next()
            {
                *lane = Lane {
                    rest: input,
                    target: Some(index),
                };
                *keep = 0;
            }
            busy += usize::from(lane.target.is_some());
        }
        // One message does not fill a wide kernel
        if busy <= 1 {
            for (position, lane) in lanes.iter().enumerate() {
                if let Some(target) = lane.target {
                    let alone = state.0.map(|words| words[position] & keep[position]);
                    out[target] = finish(alone, lane.rest);
                }
            }
            if suffix != KECCAK_SUFFIX {
                // SHAKE128's inputs may be secret: nothing of them stays here.
                padded = [[0; RATE]; N];
                core::hint::black_box(&padded);
            }
            return;
        }
        // One block of each; idle lanes absorb what is in their buffer
        let mut blocks = [&[0; RATE]; N];
        let mut ended = [None; N];
        for (((lane, block), ended), padded) in lanes
            .iter_mut()
            .zip(&mut blocks)
            .zip(&mut ended)
            .zip(&mut padded)
        {
            if let Some((head, rest)) = lane.rest.split_first_chunk() {
                *block = head;
                lane.rest = rest;
            } else {
                pad(padded, lane.rest, suffix);
                *block = padded;
                *ended = lane.target.take();
                lane.rest = &[];
            }
        }
        absorb(&mut state, &blocks, &keep);
        if ended == [None; N] {
            continue;
        }
        for ((position, target), first) in ended.iter().enumerate().zip(squeeze(&state)) {
            if let Some(target) = *target {
                for (i, bytes) in out[target].chunks_mut(8).enumerate() {
                    let word = if i < 4 {
                        first[i]
                    } else {
                        state.0[i][position]
                    };
                    bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
                }
            }
        }
    }
}

/// The last block of a message: `rest` (shorter than a block) and the padding, from `suffix` to the last bit.
#[inline]
fn pad<const RATE: usize>(block: &mut [u8; RATE], rest: &[u8], suffix: u8) {
    *block = [0; RATE];
    block[..rest.len()].copy_from_slice(rest);
    block[rest.len()] = suffix;
    block[RATE - 1] |= 0x80;
}
