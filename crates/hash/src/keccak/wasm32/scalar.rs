//! Keccak-f\[1600\] for machines without an AND-NOT instruction, such as WebAssembly, where V8 compiles it to two
//! instructions and a move.
//!
//! Lanes 1, 2, 8, 12, 17 and 20 are stored complemented. By De Morgan's laws, this removes all but five of the 25
//! complements in a round. Source: "lane complementing", [KECCAK-IMPL §2.2]. Constant time: no branch or index depends
//! on the lanes.

use core::mem::MaybeUninit;

use super::super::{State, portable::ROUND_CONSTANTS};

const COMPLEMENTED: [usize; 6] = [1, 2, 8, 12, 17, 20];

/// The 24 rounds.
#[inline]
pub(in super::super) fn permute(state: &mut State) {
    for lane in COMPLEMENTED {
        state[lane] = !state[lane];
    }
    let mut parity = [0; 5];
    for row in state.as_chunks::<5>().0 {
        add(&mut parity, *row);
    }
    let mut other = MaybeUninit::<State>::uninit();
    let (state, other) = (Lanes(state.as_mut_ptr()), Lanes(other.as_mut_ptr().cast()));
    for [even, odd] in ROUND_CONSTANTS.as_chunks().0 {
        // SAFETY: both have 25 words, and each is fully written before it is read.
        unsafe {
            parity = round(state, other, parity, *even);
            parity = round(other, state, parity, *odd);
        }
    }
    for lane in COMPLEMENTED {
        // SAFETY: the lane is below 25.
        unsafe { state.set(lane, !state.get(lane)) }
    }
}

#[inline(always)]
fn add(parity: &mut [u64; 5], row: [u64; 5]) {
    for (parity, lane) in parity.iter_mut().zip(row) {
        *parity ^= lane;
    }
}

/// A state that stays in memory and is accessed in program order: an optimiser that moves all lanes into locals creates
/// more live values than V8 has registers, and V8 then spills them at the end of the loop.
#[derive(Clone, Copy)]
struct Lanes(*mut u64);

impl Lanes {
    /// # Safety
    /// `lane` must be below 25, and the state must be valid and initialised.
    #[inline(always)]
    unsafe fn get(self, lane: usize) -> u64 {
        // SAFETY: guaranteed by the contract of this function.
        unsafe { self.0.add(lane).read_volatile() }
    }

    /// # Safety
    /// `lane` must be below 25, and the state must be valid.
    #[inline(always)]
    unsafe fn set(self, lane: usize, word: u64) {
        // SAFETY: guaranteed by the contract of this function.
        unsafe { self.0.add(lane).write_volatile(word) }
    }
}

/// Computes one round between two states. Takes the column parities before the round and returns those after it.
///
/// # Safety
/// `from` must be a valid, initialised state; `to` must be a different valid state.
#[inline(always)]
unsafe fn round(from: Lanes, to: Lanes, [c0, c1, c2, c3, c4]: [u64; 5], constant: u64) -> [u64; 5] {
    // theta
    let d0 = c4 ^ c1.rotate_left(1);
    let d1 = c0 ^ c2.rotate_left(1);
    let d2 = c1 ^ c3.rotate_left(1);
    let d3 = c2 ^ c4.rotate_left(1);
    let d4 = c3 ^ c0.rotate_left(1);
    let mut parity = [0; 5];
    // end of theta, rho and pi, one output row at a time; then chi on that row, and iota on the first lane
    macro_rules! row {
        ($y:literal, [$($lane:literal ^ $d:ident << $rotation:literal),*], |$b0:ident, $b1:ident, $b2:ident, $b3:ident, $b4:ident| $row:expr) => {
            // SAFETY: lanes are below 25, and the contract of this function guarantees that the states are valid.
            let [$b0, $b1, $b2, $b3, $b4] = unsafe { [$(($d ^ from.get($lane)).rotate_left($rotation)),*] };
            let row: [u64; 5] = $row;
            for (x, lane) in row.into_iter().enumerate() {
                // SAFETY: `x` and `$y` are below 5, so the lane is below 25; the contract makes `to` valid.
                unsafe { to.set(5 * $y + x, lane) };
            }
            add(&mut parity, row);
        };
    }
    row!(
        0,
        [
            0 ^ d0 << 0,
            6 ^ d1 << 44,
            12 ^ d2 << 43,
            18 ^ d3 << 21,
            24 ^ d4 << 14
        ],
        |b0, b1, b2, b3, b4| [
            b0 ^ (b1 | b2) ^ constant,
            b1 ^ (!b2 | b3),
            b2 ^ (b3 & b4),
            b3 ^ (b4 | b0),
            b4 ^ (b0 & b1),
        ]
    );
    row!(
        1,
        [
            3 ^ d3 << 28,
            9 ^ d4 << 20,
            10 ^ d0 << 3,
            16 ^ d1 << 45,
            22 ^ d2 << 61
        ],
        |b0, b1, b2, b3, b4| [
            b0 ^ (b1 | b2),
            b1 ^ (b2 & b3),
            b2 ^ (b3 | !b4),
            b3 ^ (b4 | b0),
            b4 ^ (b0 & b1),
        ]
    );
    row!(
        2,
        [
            1 ^ d1 << 1,
            7 ^ d2 << 6,
            13 ^ d3 << 25,
            19 ^ d4 << 8,
            20 ^ d0 << 18
        ],
        |b0, b1, b2, b3, b4| [
            b0 ^ (b1 | b2),
            b1 ^ (b2 & b3),
            b2 ^ (!b3 & b4),
            !b3 ^ (b4 | b0),
            b4 ^ (b0 & b1),
        ]
    );
    row!(
        3,
        [
            4 ^ d4 << 27,
            5 ^ d0 << 36,
            11 ^ d1 << 10,
            17 ^ d2 << 15,
            23 ^ d3 << 56
        ],
        |b0, b1, b2, b3, b4| [
            b0 ^ (b1 & b2),
            b1 ^ (b2 | b3),
            b2 ^ (!b3 | b4),
            !b3 ^ (b4 & b0),
            b4 ^ (b0 | b1),
        ]
    );
    row!(
        4,
        [
            2 ^ d2 << 62,
            8 ^ d3 << 55,
            14 ^ d4 << 39,
            15 ^ d0 << 41,
            21 ^ d1 << 2
        ],
        |b0, b1, b2, b3, b4| [
            b0 ^ (!b1 & b2),
            !b1 ^ (b2 | b3),
            b2 ^ (b3 & b4),
            b3 ^ (b4 | b0),
            b4 ^ (b0 & b1),
        ]
    );
    parity
}
