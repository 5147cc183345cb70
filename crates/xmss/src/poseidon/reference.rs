//! The permutations exactly as specified, on integers below p: for reading, for tests, and for constants.

use super::tables::{Specification, times_column};
use crate::koalabear::{add, mul};

/// Round by round: constants, S-box x^3 on all elements or on the first, linear layer [POSEIDON §2.3, POSEIDON2 §5].
pub(super) const fn permute<const W: usize, const P: usize>(
    specification: &Specification<W, P>,
    mut state: [u32; W],
) -> [u32; W] {
    if specification.leading_layer {
        state = times_column(&specification.full_matrix, &state);
    }
    let mut round = 0;
    while round < 4 {
        state = full_round(specification, round, state);
        round += 1;
    }
    let mut t = 0;
    while t < P {
        state = add_all(state, &specification.partial[t]);
        state[0] = cube(state[0]);
        state = times_column(&specification.partial_matrix, &state);
        t += 1;
    }
    while round < 8 {
        state = full_round(specification, round, state);
        round += 1;
    }
    state
}

const fn full_round<const W: usize, const P: usize>(
    specification: &Specification<W, P>,
    round: usize,
    state: [u32; W],
) -> [u32; W] {
    let mut state = add_all(state, &specification.full[round]);
    let mut i = 0;
    while i < W {
        state[i] = cube(state[i]);
        i += 1;
    }
    times_column(&specification.full_matrix, &state)
}

const fn add_all<const W: usize>(mut state: [u32; W], constants: &[u32; W]) -> [u32; W] {
    let mut i = 0;
    while i < W {
        state[i] = add(state[i], constants[i]);
        i += 1;
    }
    state
}

const fn cube(x: u32) -> u32 {
    mul(mul(x, x), x)
}
