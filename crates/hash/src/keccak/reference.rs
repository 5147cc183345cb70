//! Keccak-f\[1600\] and Keccak-256 line by line from [FIPS202 §3], on a 5 x 5 array of lanes: for reference and for
//! tests.

extern crate std;

use std::vec::Vec;

use super::{RATE, State};

/// Keccak-f\[1600\]: 24 times iota(chi(pi(rho(theta(A))))) [FIPS202 §3.3].
pub(super) fn permute(state: &mut State) {
    for constant in round_constants() {
        *state = iota(chi(pi(rho(theta(*state)))), constant);
    }
}

/// [FIPS202 §3.2.1]
fn theta(a: State) -> State {
    let c = |x: usize| (0..5).fold(0, |parity, y| parity ^ a[x % 5 + 5 * y]);
    core::array::from_fn(|i| a[i] ^ c(i % 5 + 4) ^ c(i % 5 + 1).rotate_left(1))
}

/// [FIPS202 §3.2.2]
fn rho(a: State) -> State {
    let mut b = a;
    let (mut x, mut y) = (1, 0);
    for t in 0..24 {
        b[x + 5 * y] = a[x + 5 * y].rotate_left((t + 1) * (t + 2) / 2);
        (x, y) = (y, (2 * x + 3 * y) % 5);
    }
    b
}

/// [FIPS202 §3.2.3]
fn pi(a: State) -> State {
    core::array::from_fn(|i| {
        let (x, y) = (i % 5, i / 5);
        a[(x + 3 * y) % 5 + 5 * x]
    })
}

/// [FIPS202 §3.2.4]
fn chi(a: State) -> State {
    core::array::from_fn(|i| {
        let (x, row) = (i % 5, i - i % 5);
        a[i] ^ (!a[(x + 1) % 5 + row] & a[(x + 2) % 5 + row])
    })
}

/// [FIPS202 §3.2.5]
fn iota(mut a: State, constant: u64) -> State {
    a[0] ^= constant;
    a
}

/// The constants of iota from the bits `rc(j + 7 * round)` at positions `2^j - 1` [FIPS202 §3.2.5, algorithms 5 and 6].
pub(super) fn round_constants() -> [u64; 24] {
    let mut register = 1_u8;
    core::array::from_fn(|_| {
        (0..7).fold(0, |constant, j| {
            let bit = u64::from(register & 1);
            let carry = register >> 7;
            register = (register << 1) ^ (0x71 * carry);
            constant | bit << ((1 << j) - 1)
        })
    })
}

/// The sponge with rate 136 and the original Keccak padding [KECCAK §1.1.2].
pub(super) fn keccak256(data: &[u8]) -> [u8; 32] {
    let mut padded: Vec<u8> = data.to_vec();
    padded.push(0x01);
    padded.resize(padded.len().next_multiple_of(RATE), 0);
    if let Some(last) = padded.last_mut() {
        *last |= 0x80;
    }
    let mut state = [0; 25];
    for block in padded.chunks_exact(RATE) {
        for (lane, word) in state.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane ^= u64::from_le_bytes(*word);
        }
        permute(&mut state);
    }
    let digest: Vec<u8> = state[..4]
        .iter()
        .flat_map(|lane| lane.to_le_bytes())
        .collect();
    core::array::from_fn(|i| digest[i])
}
