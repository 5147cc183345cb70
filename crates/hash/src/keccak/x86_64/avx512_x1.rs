//! One Keccak-f\[1600\] in five vectors with AVX-512F, and the sponge around it, which needs AVX-512BW for the end of a
//! message.
//!
//! Pi moves no data. Slot `s` of vector `r` holds the lane at `(x, y)`, where x and y are linear forms in `r` and `s`
//! modulo 5. After rho, pi maps them to `(y, 2x + 3y)` without a move. If `x = s`, `y = a r + b s` before a round
//! (rows), theta's parities are sums of whole vectors. Chi needs three lanes of a row in the same slot of three
//! vectors: it permutes each vector to three orders of its slots, `x`, `x + 1` and `x + 2`, so that the result is again
//! in rows, with different `a` and `b`:
//!
//! | round of six | before it: x, y   | permutations: theta, chi | order of slots, chi's neighbour |
//! |---|---|---|---|
//! | first        | s, r              | 2, 5                     | columns come out                |
//! | second       | r, s              | 20, 10                   | `s + k`, `r + k`                |
//! | third        | s, 2r + 3s        | 2, 15                    | `2 (s + k - 2r)`, `r + 4k`      |
//! | fourth       | s, 2r + 2s        | 2, 15                    | `3 (s + k - 2r)`, `r + 2k`      |
//! | fifth        | s, 3r + 4s        | 2, 15                    | `4 (s + k - 3r)`, `r + 4k`      |
//! | sixth        | s, r + s          | 2, 15                    | `s + k - r`, `r`                |
//!
//! After six rounds `y = 3r`: the vectors are renamed, and the cycle repeats. In the second round, the parity of a
//! column is the sum of a vector's slots, in each slot.
//!
//! The limit is the latency of a round: six additions and rotations of 2 cycles each and two permutations of 5 (AMD Zen
//! 5) are 22 cycles, plus about 7 until the last of 15 permutations, at two per cycle, has finished; measured: 30.
//! Written in assembly, because the order matters: the same instructions in LLVM's order take 8 ns (4 %) more, since
//! the CPU assigns a vector unit long before an operand is available. Constant time: no branch or index depends on the
//! lanes.

use core::arch::x86_64::*;

use super::super::State;
use super::super::portable::{RHO, ROUND_CONSTANTS};

/// Five vectors. Slots after the fifth are arbitrary.
type Vectors = [__m512i; 5];

/// The used slots of a vector.
const SLOTS: __mmask8 = 0b1_1111;

/// Number of bytes in the used slots.
const BYTES: usize = 40;

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Words([u64; 8]);

/// Slot orders: entry `5 * (m - 1) + c` takes slot `s` from `m * (s + c)`.
static ORDERS: [Words; 20] = {
    let mut orders = [Words([0; 8]); 20];
    let mut entry = 0;
    while entry < 20 {
        let mut slot = 0;
        while slot < 5 {
            orders[entry].0[slot] = ((entry / 5 + 1) * (slot + entry % 5) % 5) as u64;
            slot += 1;
        }
        entry += 1;
    }
    orders
};

/// The rotations by round of six and vector.
static ROTATIONS: [[Words; 5]; 6] = {
    let mut rotations = [[Words([0; 8]); 5]; 6];
    // x and y as (factor of r, factor of s)
    let forms = [
        ((0, 1), (1, 0)),
        ((1, 0), (0, 1)),
        ((0, 1), (2, 3)),
        ((0, 1), (2, 2)),
        ((0, 1), (3, 4)),
        ((0, 1), (1, 1)),
    ];
    let mut round = 0;
    while round < 6 {
        let (x, y) = forms[round];
        let mut entry = 0;
        while entry < 25 {
            let (r, s) = (entry / 5, entry % 5);
            rotations[round][r].0[s] = RHO[(x.0 * r + x.1 * s) % 5 + 5 * ((y.0 * r + y.1 * s) % 5)];
            entry += 1;
        }
        round += 1;
    }
    rotations
};

/// The constant of the previous round: iota is delayed to the next round, where it is not on the critical path.
static CONSTANTS: [u64; 25] = {
    let mut constants = [0; 25];
    let mut round = 0;
    while round < 24 {
        constants[round + 1] = ROUND_CONSTANTS[round];
        round += 1;
    }
    constants
};

/// Iota of the previous round.
macro_rules! iota {
    ($round:literal, $v0:literal) => {
        concat!(
            "vmovq xmm25, [{constants} + 8*",
            $round,
            "]\n",
            "vpxorq zmm",
            $v0,
            ", zmm",
            $v0,
            ", zmm25\n"
        )
    };
}

/// `to ^= a ^ b`
macro_rules! add {
    ($($to:literal $a:literal $b:literal),*) => {
        concat!($("vpternlogq zmm", $to, ", zmm", $a, ", zmm", $b, ", 0x96\n"),*)
    };
}

/// `to ^= !a & b`
macro_rules! chi {
    ($($to:literal $a:literal $b:literal),*) => {
        concat!($("vpternlogq zmm", $to, ", zmm", $a, ", zmm", $b, ", 0xd2\n"),*)
    };
}

/// `to` is `from` permuted by `order`.
macro_rules! permute {
    ($($to:literal $from:literal $order:literal),*) => {
        concat!($("vpermq zmm", $to, ", zmm", $order, ", zmm", $from, "\n"),*)
    };
}

/// Rho of five vectors.
macro_rules! rho {
    ($round:literal, $($v:literal $r:literal),*) => {
        concat!($(
            "vprolvq zmm", $v, ", zmm", $v, ", [{rotations} + 64*(5*", $round, " + ", $r, ")]\n"
        ),*)
    };
}

/// Loads the orders from `5 * (m - 1)` on into registers 10 to 14.
macro_rules! orders {
    ($first:literal, $($c:literal),*) => {
        concat!($("vmovdqa64 zmm1", $c, ", [{orders} + 64*(", $first, " + ", $c, ")]\n"),*)
    };
}

/// Iota of the previous round, theta and rho, on rows.
macro_rules! theta_rho {
    ($round:literal, $v0:literal $v1:literal $v2:literal $v3:literal $v4:literal) => {
        concat!(
            iota!($round, $v0),
            "vmovdqa64 zmm26, zmm", $v1, "\n",
            add!(26 $v2 $v3, 26 $v4 $v0),
            permute!(25 26 28, 27 26 31),
            "vprolq zmm25, zmm25, 1\n",
            add!($v0 25 27, $v1 25 27, $v2 25 27, $v3 25 27, $v4 25 27),
            rho!($round, $v0 0, $v1 1, $v2 2, $v3 3, $v4 4)
        )
    };
}

/// A round from rows to rows. For each result vector: the sources of chi's three operands, and their orders, given by
/// the last digit of the register that holds the order.
macro_rules! rows {
    ($round:literal, $orders:literal, $v0:literal $v1:literal $v2:literal $v3:literal $v4:literal,
     $($to:literal $second:literal $third:literal:
       $a:literal $i:literal, $b:literal $j:literal, $c:literal $k:literal;)*) => {
        concat!(
            theta_rho!($round, $v0 $v1 $v2 $v3 $v4),
            orders!($orders, 0, 1, 2, 3, 4),
            $(permute!($to $a $i, $second $b $j, $third $c $k),)*
            $(chi!($to $second $third)),*
        )
    };
}

/// Computes the parity of a column in each slot of `to`.
macro_rules! column {
    ($($to:literal $v:literal),*) => {
        concat!($(
            permute!(25 $v 28, 26 $v 29, 27 $v 30, $to $v 31),
            add!(27 25 26, $to 27 $v)
        ),*)
    };
}

macro_rules! rotate {
    ($($to:literal $from:literal),*) => {
        concat!($("vprolq zmm", $to, ", zmm", $from, ", 1\n"),*)
    };
}

macro_rules! copy {
    ($($to:literal $from:literal),*) => {
        concat!($("vmovdqa64 zmm", $to, ", zmm", $from, "\n"),*)
    };
}

/// The 24 rounds.
///
/// Registers: 0 to 9 hold the state, alternating between the halves; 10 to 14 the orders of this round; 15 to 24 chi's
/// second and third operands; 25 to 27 theta; 28 to 31 the orders `s + 1` to `s + 4`.
#[target_feature(enable = "avx512f")]
#[inline]
#[rustfmt::skip]
fn rounds(v: Vectors) -> Vectors {
    let [mut v0, mut v1, mut v2, mut v3, mut v4] = v;
    // SAFETY: only reads memory, all of it within the three tables: 64 bytes at each of the 20 entries of `ORDERS` and
    // the 30 of `ROTATIONS`, aligned by their type; eight bytes at words 0 to 5 from `constants` on, which starts at
    // `CONSTANTS` and advances by six words four times, and at word 0 after that, the last of 25. Uses no stack; flags
    // are declared by default; all registers written are declared. The function enables AVX-512F, which the
    // instructions require.
    unsafe {
        core::arch::asm!(
            "vmovdqa64 zmm28, [{orders} + 64]",
            "vmovdqa64 zmm29, [{orders} + 128]",
            "vmovdqa64 zmm30, [{orders} + 192]",
            "vmovdqa64 zmm31, [{orders} + 256]",
            ".p2align 6",
            "2:",
            // First: rows to columns, slot y
            theta_rho!(0, 0 1 2 3 4),
            orders!(10, 0, 1, 2, 3, 4),
            permute!(0 0 10, 1 1 12, 2 2 14, 3 3 11, 4 4 13),
            copy!(5 0, 6 1, 7 2, 8 3, 9 4),
            chi!(5 1 2, 6 2 3, 7 3 4, 8 4 0, 9 0 1),
            // Second: columns to rows
            iota!(1, 5),
            column!(16 6, 17 7, 18 8, 19 9, 15 5),
            rotate!(20 15, 21 16, 22 17, 23 18, 24 19),
            add!(5 19 21, 6 15 22, 7 16 23, 8 17 24, 9 18 20),
            rho!(1, 5 0, 6 1, 7 2, 8 3, 9 4),
            permute!(15 5 28, 20 5 29, 16 6 28, 21 6 29, 17 7 28, 22 7 29, 18 8 28, 23 8 29, 19 9 28, 24 9 29),
            chi!(5 16 22, 6 17 23, 7 18 24, 8 19 20, 9 15 21),
            rows!(2, 5, 5 6 7 8 9,
                1 16 21: 6 13, 5 11, 9 14;
                2 17 22: 7 11, 6 14, 5 12;
                3 18 23: 8 14, 7 12, 6 10;
                0 15 20: 5 10, 9 13, 8 11;
                4 19 24: 9 12, 8 10, 7 13;
            ),
            rows!(3, 10, 0 1 2 3 4,
                6 16 21: 1 13, 3 10, 0 12;
                7 17 22: 2 11, 4 13, 1 10;
                8 18 23: 3 14, 0 11, 2 13;
                5 15 20: 0 10, 2 12, 4 14;
                9 19 24: 4 12, 1 14, 3 11;
            ),
            rows!(4, 15, 5 6 7 8 9,
                1 16 21: 6 12, 5 11, 9 10;
                2 17 22: 7 14, 6 13, 5 12;
                3 18 23: 8 11, 7 10, 6 14;
                0 15 20: 5 10, 9 14, 8 13;
                4 19 24: 9 13, 8 12, 7 11;
            ),
            rows!(5, 0, 0 1 2 3 4,
                6 16 21: 1 14, 1 10, 1 11;
                7 17 22: 2 13, 2 14, 2 10;
                8 18 23: 3 12, 3 13, 3 14;
                5 15 20: 0 10, 0 11, 0 12;
                9 19 24: 4 11, 4 12, 4 13;
            ),
            copy!(0 5, 1 7, 2 9, 3 6, 4 8),
            "add {constants}, 48",
            "dec {left:e}",
            "jnz 2b",
            iota!(0, 0),
            orders = in(reg) ORDERS.as_ptr(),
            rotations = in(reg) ROTATIONS.as_ptr(),
            constants = inout(reg) CONSTANTS.as_ptr() => _,
            left = inout(reg) 4 => _,
            inout("zmm0") v0, inout("zmm1") v1, inout("zmm2") v2, inout("zmm3") v3, inout("zmm4") v4,
            out("zmm5") _, out("zmm6") _, out("zmm7") _, out("zmm8") _, out("zmm9") _,
            out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _, out("zmm14") _,
            out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
            out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _,
            out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _,
            out("zmm30") _, out("zmm31") _,
            options(pure, readonly, nostack),
        );
    }
    [v0, v1, v2, v3, v4]
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(state: &State) -> Vectors {
    // SAFETY: reads five words from `5 r` on, with r below 5, of 25.
    core::array::from_fn(|r| unsafe {
        _mm512_maskz_loadu_epi64(SLOTS, state.as_ptr().add(5 * r).cast())
    })
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(state: &mut State, v: Vectors) {
    for (row, vector) in state.as_chunks_mut::<5>().0.iter_mut().zip(v) {
        // SAFETY: the mask limits the store to the five words of `row`.
        unsafe { _mm512_mask_storeu_epi64(row.as_mut_ptr().cast(), SLOTS, vector) };
    }
}

/// XORs up to 40 bytes into the first slots.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn xor_bytes(vector: &mut __m512i, bytes: &[u8]) {
    debug_assert!(bytes.len() <= BYTES);
    // SAFETY: the mask limits the load to the first `bytes.len()` bytes.
    let bytes = unsafe { _mm512_maskz_loadu_epi8((1 << bytes.len()) - 1, bytes.as_ptr().cast()) };
    *vector = _mm512_xor_si512(*vector, bytes);
}

/// XORs whole blocks, and permutes after each.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn absorb_blocks<const RATE: usize>(mut v: Vectors, blocks: &[[u8; RATE]]) -> Vectors {
    for block in blocks {
        for (vector, bytes) in v.iter_mut().zip(block.chunks(BYTES)) {
            xor_bytes(vector, bytes);
        }
        v = rounds(v);
    }
    v
}

/// One permutation.
#[target_feature(enable = "avx512f")]
pub(in super::super) fn permute(state: &mut State) {
    store(state, rounds(load(state)));
}

/// Like [`absorb_blocks`], with the state in memory.
#[target_feature(enable = "avx512f,avx512bw")]
pub(in super::super) fn absorb<const RATE: usize>(state: &mut State, blocks: &[[u8; RATE]]) {
    store(state, absorb_blocks(load(state), blocks));
}

/// Absorbs a message into `state`, pads, and squeezes at most one block.
#[target_feature(enable = "avx512f,avx512bw")]
pub(in super::super) fn sponge<const RATE: usize, const OUT: usize>(
    suffix: u8,
    state: &State,
    message: &[u8],
) -> [u8; OUT] {
    let (blocks, rest) = message.as_chunks::<RATE>();
    let mut v = absorb_blocks(load(state), blocks);
    for (vector, bytes) in v.iter_mut().zip(rest.chunks(BYTES)) {
        xor_bytes(vector, bytes);
    }
    // The padding: a byte after the message, and the highest bit of the block
    for (r, vector) in v.iter_mut().enumerate() {
        let position = rest.len().wrapping_sub(BYTES * r);
        let after = if position < BYTES { 1 << position } else { 0 };
        *vector = _mm512_xor_si512(*vector, _mm512_maskz_set1_epi8(after, suffix.cast_signed()));
    }
    let last = RATE / 8 - 1;
    v[last / 5] = _mm512_xor_si512(
        v[last / 5],
        _mm512_maskz_set1_epi64(1 << (last % 5), i64::MIN),
    );
    let v = rounds(v);
    if OUT <= BYTES {
        let mut out = [0; OUT];
        // SAFETY: the mask limits the store to the first `OUT` bytes.
        unsafe {
            _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), (1 << OUT) - 1, v[0]);
        }
        out
    } else {
        let mut words = [0; 25];
        store(&mut words, v);
        super::super::squeeze(&words)
    }
}
