//! Distributes many messages over the lanes of a wide kernel. A lane whose message ends takes the next message, so
//! mixed lengths keep all lanes busy. The last remaining message is completed by the single-lane kernel.

use super::{KECCAK_SUFFIX, State};

/// Lanes of one Keccak state.
pub(super) const LANES: usize = 25;

/// `N` interleaved states: word `j` of entry `i` is lane `i` of state `j`.
#[repr(align(64))]
pub(super) struct Wide<const N: usize>(pub(super) [[u64; N]; LANES]);

/// The 24 rounds on a state of vectors, one message per lane. `xor`, `xor5`, `rax1`, which is `a ^ (b <<< 1)`, and `chi`,
/// which is `a ^ (!b & c)`, are functions on vectors, `rol` is a macro that rotates by a literal, and `splat` broadcasts
/// a constant.
#[allow(unused_macros)] // only AArch64 and WebAssembly use it
macro_rules! rounds {
    ($a:ident, $xor:ident, $xor5:ident, $rax1:ident, $chi:ident, $rol:ident, $splat:expr) => {
        for &constant in &$crate::keccak::portable::ROUND_CONSTANTS {
            // theta
            let parity = |x: usize| $xor5([0, 5, 10, 15, 20].map(|y| $a[x + y]));
            let (c0, c1, c2, c3, c4) = (parity(0), parity(1), parity(2), parity(3), parity(4));
            let d0 = $rax1(c4, c1);
            let d1 = $rax1(c0, c2);
            let d2 = $rax1(c1, c3);
            let d3 = $rax1(c2, c4);
            let d4 = $rax1(c3, c0);
            // end of theta, rho and pi
            let b00 = $xor($a[0], d0);
            let b01 = $rol!($xor($a[6], d1), 44);
            let b02 = $rol!($xor($a[12], d2), 43);
            let b03 = $rol!($xor($a[18], d3), 21);
            let b04 = $rol!($xor($a[24], d4), 14);
            let b10 = $rol!($xor($a[3], d3), 28);
            let b11 = $rol!($xor($a[9], d4), 20);
            let b12 = $rol!($xor($a[10], d0), 3);
            let b13 = $rol!($xor($a[16], d1), 45);
            let b14 = $rol!($xor($a[22], d2), 61);
            let b20 = $rol!($xor($a[1], d1), 1);
            let b21 = $rol!($xor($a[7], d2), 6);
            let b22 = $rol!($xor($a[13], d3), 25);
            let b23 = $rol!($xor($a[19], d4), 8);
            let b24 = $rol!($xor($a[20], d0), 18);
            let b30 = $rol!($xor($a[4], d4), 27);
            let b31 = $rol!($xor($a[5], d0), 36);
            let b32 = $rol!($xor($a[11], d1), 10);
            let b33 = $rol!($xor($a[17], d2), 15);
            let b34 = $rol!($xor($a[23], d3), 56);
            let b40 = $rol!($xor($a[2], d2), 62);
            let b41 = $rol!($xor($a[8], d3), 55);
            let b42 = $rol!($xor($a[14], d4), 39);
            let b43 = $rol!($xor($a[15], d0), 41);
            let b44 = $rol!($xor($a[21], d1), 2);
            // chi and iota
            $a = [
                $xor($chi(b00, b01, b02), $splat(constant)),
                $chi(b01, b02, b03),
                $chi(b02, b03, b04),
                $chi(b03, b04, b00),
                $chi(b04, b00, b01),
                $chi(b10, b11, b12),
                $chi(b11, b12, b13),
                $chi(b12, b13, b14),
                $chi(b13, b14, b10),
                $chi(b14, b10, b11),
                $chi(b20, b21, b22),
                $chi(b21, b22, b23),
                $chi(b22, b23, b24),
                $chi(b23, b24, b20),
                $chi(b24, b20, b21),
                $chi(b30, b31, b32),
                $chi(b31, b32, b33),
                $chi(b32, b33, b34),
                $chi(b33, b34, b30),
                $chi(b34, b30, b31),
                $chi(b40, b41, b42),
                $chi(b41, b42, b43),
                $chi(b42, b43, b44),
                $chi(b43, b44, b40),
                $chi(b44, b40, b41),
            ];
        }
    };
}
#[allow(unused_imports)]
pub(super) use rounds;

/// The state of one lane of the kernel.
#[derive(Clone, Copy)]
struct Lane<'a> {
    /// Bytes not absorbed yet.
    rest: &'a [u8],
    /// Index of the output; `None` if the lane is idle.
    target: Option<usize>,
}

/// Hashes `inputs` into `out` (of equal length), with a sponge of rate `RATE` whose padding starts with `suffix`. An
/// output is at most one block. `absorb` clears the states whose `keep` word is zero (otherwise it is all ones), XORs a
/// block into each state and permutes; `squeeze` returns the first four words of each state; `finish` completes a
/// single message.
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
        // A single message does not fill a wide kernel
        if busy <= 1 {
            for (position, lane) in lanes.iter().enumerate() {
                if let Some(target) = lane.target {
                    let alone = state.0.map(|words| words[position] & keep[position]);
                    out[target] = finish(alone, lane.rest);
                }
            }
            if suffix != KECCAK_SUFFIX {
                // SHAKE128's inputs may be secret: clear the copy.
                padded = [[0; RATE]; N];
                core::hint::black_box(&padded);
            }
            return;
        }
        // Absorb one block per lane; idle lanes absorb the contents of their buffer
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

/// Returns the last block of a message: `rest` (shorter than a block) and the padding, from `suffix` to the last bit.
#[inline]
fn pad<const RATE: usize>(block: &mut [u8; RATE], rest: &[u8], suffix: u8) {
    *block = [0; RATE];
    block[..rest.len()].copy_from_slice(rest);
    block[rest.len()] = suffix;
    block[RATE - 1] |= 0x80;
}
