//! Keccak-f\[1600\] for machines whose logical instructions rotate their second operand, such as AArch64.
//!
//! A lane is stored as a word that is still to be rotated to the left, by a number of bits that depends on its place
//! only. A combination of two lanes keeps the pending rotation of its first operand and rotates the second operand by
//! the difference, in the same instruction. The pending rotations are the same in each round, so no separate rotation
//! is left, except before the first round and after the last. Source: lazy rotations, \[BK22\].
//! Constant time: no branch or index depends on the lanes.

use super::super::State;
use super::super::portable::{RHO, ROUND_CONSTANTS};

/// The pending rotations of the columns' parities: those of the lanes that theta adds last. Together with the choice of
/// first operands in theta, these are a solution of the equations that [`LANES`] asserts, in which lane 0 has none.
const PARITIES: [u32; 5] = [29, 42, 61, 22, 0];

/// The pending rotations of the words that theta adds to the columns: those of their first operands.
const ADDENDS: [u32; 5] = [
    PARITIES[4],
    PARITIES[2] + 1,
    PARITIES[1],
    PARITIES[4] + 1,
    PARITIES[3],
];

/// The pending rotations of the lanes between rounds: those of chi's first operands.
const LANES: [u32; 25] = {
    let mut rotations = [0; 25];
    let mut lane = 0;
    while lane < 25 {
        // pi moves this lane here.
        let (x, y) = (lane % 5, lane / 5);
        let from = (x + 3 * y) % 5 + 5 * x;
        rotations[lane] = (ADDENDS[from % 5] + RHO[from] as u32) % 64;
        lane += 1;
    }
    assert!(
        rotations[5] == PARITIES[0]
            && rotations[1] == PARITIES[1]
            && rotations[22] == PARITIES[2]
            && rotations[3] == PARITIES[3]
            && rotations[24] == PARITIES[4]
    );
    rotations
};

/// Changes the pending rotation of a word.
#[inline(always)]
const fn pending(word: u64, from: u32, to: u32) -> u64 {
    word.rotate_left((64 + from - to) % 64)
}

/// The 24 rounds.
#[inline]
pub(in super::super) fn permute(state: &mut State) {
    let mut a = *state;
    for (word, rotation) in a.iter_mut().zip(LANES) {
        *word = pending(*word, 0, rotation);
    }
    for constant in &ROUND_CONSTANTS {
        // theta. Each partial sum takes the rotation of the lane that is added next: with one rotation for the whole
        // column, LLVM would reorder the sum so that two rotated lanes come first.
        macro_rules! parity {
            ($first:literal $($lane:literal)*) => {{
                let (sum, rotation) = (a[$first], LANES[$first]);
                $(let (sum, rotation) = (a[$lane] ^ pending(sum, rotation, LANES[$lane]), LANES[$lane]);)*
                _ = rotation;
                sum
            }};
        }
        let c0 = parity!(20 15 10 0 5);
        let c1 = parity!(21 16 11 6 1);
        let c2 = parity!(17 12 7 2 22);
        let c3 = parity!(23 18 13 8 3);
        let c4 = parity!(19 14 9 4 24);
        let d = [
            c4 ^ pending(c1, PARITIES[1] + 1, ADDENDS[0]),
            c2 ^ pending(c0, PARITIES[0], ADDENDS[1]),
            c1 ^ pending(c3, PARITIES[3] + 1, ADDENDS[2]),
            c4 ^ pending(c2, PARITIES[2], ADDENDS[3]),
            c3 ^ pending(c0, PARITIES[0] + 1, ADDENDS[4]),
        ];
        // end of theta, rho and pi, one output row at a time; then chi on that row
        macro_rules! row {
            ($y:literal, $($lane:literal)*) => {{
                let b = [$(d[$lane % 5] ^ pending(a[$lane], LANES[$lane], ADDENDS[$lane % 5])),*];
                let rotations = LANES.as_chunks::<5>().0[$y];
                let chi = |i: usize, j: usize, k: usize| {
                    let masked = b[k] & !pending(b[j], rotations[j], rotations[k]);
                    b[i] ^ pending(masked, rotations[k], rotations[i])
                };
                [chi(0, 1, 2), chi(1, 2, 3), chi(2, 3, 4), chi(3, 4, 0), chi(4, 0, 1)]
            }};
        }
        let mut rows = [
            row!(0, 0 6 12 18 24),
            row!(1, 3 9 10 16 22),
            row!(2, 1 7 13 19 20),
            row!(3, 4 5 11 17 23),
            row!(4, 2 8 14 15 21),
        ];
        // iota
        rows[0][0] ^= pending(*constant, 0, LANES[0]);
        a.as_chunks_mut().0.copy_from_slice(&rows);
    }
    for (word, rotation) in a.iter_mut().zip(LANES) {
        *word = pending(*word, rotation, 0);
    }
    *state = a;
}
