//! One Keccak-f\[1600\] in seven 256-bit vectors with AVX-512VL, and the sponge around it, which needs AVX-512BW for the
//! end of a message. For CPUs that execute a 512-bit instruction in two halves (AMD Zen 4).
//!
//! Pi maps the lane at `(x, y)` to `(y, 2x + 3y)`, modulo 5, so it maps the six lines through `(0, 0)` to each other.
//! Each vector holds the four other lanes of a line, `t (a, b)` for the slots `t` = 1, 4, 2, 3, and the seventh holds
//! lane `(0, 0)` in every slot. Pi then moves no data. Multiplying `t` by 4 swaps slots within 128 bits, which takes one
//! cycle; by 2 or 3, one `vpermq`. Between rounds `(a, b)` is
//!
//! - `(1, 0)` for row 0 (`row`),
//! - `(r, 1)` for `lines[r]`, so that slot `t` is in row `t`, and chi combines equal slots.
//!
//! Theta adds lanes of equal x. For that, `lines[2]`, `[3]` and `[4]` are multiplied by 3, 2 and 4, which makes `a` = 1.
//! The column's values are then computed in the order of each line's slots after pi: times 1, 2, 3, 4 and, for column 0,
//! the same in every slot. For chi, the neighbours of slot `t` of `lines[r]` are in `lines[r + 1/t]` and
//! `lines[r + 2/t]`, so they are combined one slot at a time under masks.
//!
//! Written in assembly, because LLVM turns the masked instructions into twice as many blends and moves. The order of
//! the instructions is the fastest that a random search found among those that respect the dependencies. Constant
//! time: no branch or index depends on the lanes.

use core::arch::x86_64::*;

use super::super::State;
use super::super::portable::{RHO, ROUND_CONSTANTS};

/// The state: lane (0, 0) in every slot, row 0, and the other lines.
#[derive(Clone, Copy)]
struct Lines {
    origin: __m256i,
    row: __m256i,
    lines: [__m256i; 5],
}

/// The multiple of a line's direction in each slot.
const SLOTS: [usize; 4] = [1, 4, 2, 3];

/// Indices of the lanes of the line `t (a, b)`.
const fn line(a: usize, b: usize) -> [usize; 4] {
    let mut lanes = [0; 4];
    let mut slot = 0;
    while slot < 4 {
        let t = SLOTS[slot];
        lanes[slot] = t * a % 5 + 5 * (t * b % 5);
        slot += 1;
    }
    lanes
}

/// Row 0, then `lines`.
const PLACES: [[usize; 4]; 6] = [
    line(1, 0),
    line(0, 1),
    line(1, 1),
    line(2, 1),
    line(3, 1),
    line(4, 1),
];

#[repr(C, align(32))]
struct Words([u64; 4]);

/// The rotations of the lines that pi maps to row 0, then to `lines[3]`, `[4]`, `[1]`, `[0]` and `[2]`.
static ROTATIONS: [Words; 6] = {
    // Before pi, in the order of the slots after it
    let lines = [
        line(1, 1),
        line(1, 3),
        line(2, 4),
        line(4, 1),
        line(3, 0),
        line(0, 2),
    ];
    let mut rotations = [const { Words([0; 4]) }; 6];
    let mut entry = 0;
    while entry < 24 {
        rotations[entry / 4].0[entry % 4] = RHO[lines[entry / 4][entry % 4]];
        entry += 1;
    }
    rotations
};

/// The 24 rounds.
///
/// Registers: 0 holds `origin`, 1 `row`, 2 to 6 `lines`. After rho and pi 3 is row 0, and 26, 6, 10, 7, 25 are lines 0
/// to 4. Theta: 9 and 12 are the parities of columns x and 0, 15 and 16 the same rotated, 17 with 20, and 12 with 16,
/// the two summands for slots `t` and `2t`, 13 those of column 0. Chi: 27 to 31 collect `!x & y`. Masks: k1 to k3 select
/// slots 1 to 3, k4 to k7 all except slot 0 to 3.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
#[rustfmt::skip]
fn rounds(v: Lines) -> Lines {
    let Lines { mut origin, mut row, lines: [mut l0, mut l1, mut l2, mut l3, mut l4] } = v;
    // SAFETY: only reads memory, all of it within the two tables: 32 bytes at each of the six entries of `ROTATIONS`, and
    // eight bytes at `constants`, which starts at the first of 24 constants and advances by one in each of 24 rounds.
    // Uses no stack; flags are declared by default; all registers written are declared. The function enables AVX-512VL,
    // which the instructions require.
    unsafe {
        core::arch::asm!(
            "kmovw k1, {masks:e}", "shr {masks:e}, 4",
            "kmovw k2, {masks:e}", "shr {masks:e}, 4",
            "kmovw k3, {masks:e}", "shr {masks:e}, 4",
            "kmovw k4, {masks:e}", "shr {masks:e}, 4",
            "kmovw k5, {masks:e}", "shr {masks:e}, 4",
            "kmovw k6, {masks:e}", "shr {masks:e}, 4",
            "kmovw k7, {masks:e}",
            ".p2align 6",
            "2:",
            "vpermq ymm7, ymm4, 0x4b",
            "vpermq ymm8, ymm5, 0x1e",
            "vpermq ymm10, ymm2, 0x1e",
            "vpshufd ymm9, ymm6, 0x4e",
            "vpshufd ymm25, ymm5, 0x4e",
            "vpermq ymm26, ymm1, 0x4b",
            "vpternlogq ymm9, ymm1, ymm3, 0x96",
            "vpternlogq ymm9, ymm7, ymm8, 0x96",
            "vpxorq ymm11, ymm10, ymm2",
            "vpshufd ymm12, ymm11, 0x4e",
            "vpternlogq ymm12, ymm11, ymm0, 0x96",
            "vmovdqa64 ymm17, ymm12",
            "vprolq ymm15, ymm9, 1",
            "vprolq ymm16, ymm12, 1",
            "vmovdqa64 ymm20, ymm16",
            "vpermq ymm17 {{k4}}, ymm9, 0x8c",
            "vpermq ymm12 {{k7}}, ymm9, 0x38",
            "vpermq ymm20 {{k5}}, ymm15, 0x72",
            "vpermq ymm16 {{k6}}, ymm15, 0x87",
            "vpternlogq ymm25, ymm12, ymm16, 0x96",
            "vpxorq ymm12, ymm12, ymm16",
            "vpshufd ymm13, ymm9, 0x4e",
            "vprolvq ymm25, ymm25, [{rotations} + 64]",
            "vpxorq ymm13, ymm13, ymm15",
            "vpbroadcastq ymm13, xmm13",
            "vpternlogq ymm7, ymm17, ymm20, 0x96",
            "vpternlogq ymm3, ymm17, ymm20, 0x96",
            "vpxorq ymm17, ymm17, ymm20",
            "vpshufd ymm18, ymm17, 0x4e",
            "vpshufd ymm19, ymm12, 0x4e",
            "vpxorq ymm6, ymm6, ymm18",
            "vpxorq ymm10, ymm10, ymm13",
            "vpxorq ymm26, ymm26, ymm19",
            "vprolvq ymm3, ymm3, [{rotations}]",
            "vprolvq ymm7, ymm7, [{rotations} + 32]",
            "vprolvq ymm6, ymm6, [{rotations} + 96]",
            "vprolvq ymm26, ymm26, [{rotations} + 128]",
            "vprolvq ymm10, ymm10, [{rotations} + 160]",
            "vpxorq ymm0, ymm0, ymm13",
            "vmovdqa64 ymm9, ymm0",
            "vpermq ymm9 {{k7}}, ymm3, 0x13",
            "vpbroadcastq ymm11, xmm3",
            "vpermq ymm14, ymm3, 0xaa",
            "vpandnq ymm27, ymm6, ymm10",
            "vpandnq ymm27 {{k1}}, ymm25, ymm7",
            "vpandnq ymm27 {{k2}}, ymm7, ymm6",
            "vpandnq ymm29, ymm7, ymm25",
            "vpandnq ymm29 {{k1}}, ymm6, ymm26",
            "vpandnq ymm30, ymm25, ymm26",
            "vpandnq ymm31, ymm26, ymm6",
            "vpandnq ymm31 {{k1}}, ymm7, ymm10",
            "vpandnq ymm28, ymm10, ymm7",
            "vpandnq ymm28 {{k1}}, ymm26, ymm25",
            "vpandnq ymm28 {{k2}}, ymm25, ymm10",
            "vpandnq ymm29 {{k2}}, ymm26, ymm7",
            "vpandnq ymm29 {{k3}}, ymm25, ymm6",
            "vpandnq ymm30 {{k1}}, ymm10, ymm6",
            "vpandnq ymm30 {{k2}}, ymm6, ymm25",
            "vpandnq ymm31 {{k2}}, ymm10, ymm26",
            "vpandnq ymm27 {{k3}}, ymm10, ymm25",
            "vpandnq ymm28 {{k3}}, ymm7, ymm26",
            "vpandnq ymm30 {{k3}}, ymm26, ymm10",
            "vmovdqa64 ymm8, ymm0",
            "vpermq ymm8 {{k5}}, ymm3, 0x72",
            "vmovdqa64 ymm1, ymm3",
            "vpternlogq ymm1, ymm8, ymm9, 0xd2",
            "vpternlogq ymm0, ymm11, ymm14, 0xd2",
            "vpxorq ymm2, ymm26, ymm27",
            "vpxorq ymm4, ymm10, ymm29",
            "vpxorq ymm5, ymm7, ymm30",
            "vpandnq ymm31 {{k3}}, ymm6, ymm7",
            "vpxorq ymm3, ymm6, ymm28",
            "vpxorq ymm6, ymm25, ymm31",
            "vpxorq ymm0, ymm0, [{constants}]{{1to4}}",
            "add {constants}, 8",
            "dec {left:e}",
            "jnz 2b",
            constants = inout(reg) ROUND_CONSTANTS.as_ptr() => _,
            rotations = in(reg) ROTATIONS.as_ptr(),
            // Four bits for each of k1 to k7, from the lowest on; higher bits of a mask are ignored.
            masks = inout(reg) 0x7bd_e842 => _,
            left = inout(reg) 24 => _,
            inout("ymm0") origin, inout("ymm1") row,
            inout("ymm2") l0, inout("ymm3") l1, inout("ymm4") l2, inout("ymm5") l3, inout("ymm6") l4,
            out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _, out("ymm16") _,
            out("ymm17") _, out("ymm18") _, out("ymm19") _, out("ymm20") _, out("ymm25") _,
            out("ymm26") _, out("ymm27") _, out("ymm28") _, out("ymm29") _, out("ymm30") _,
            out("ymm31") _,
            out("k1") _, out("k2") _, out("k3") _, out("k4") _, out("k5") _, out("k6") _, out("k7") _,
            options(pure, readonly, nostack),
        );
    }
    Lines { origin, row, lines: [l0, l1, l2, l3, l4] }
}

#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn gather(state: &State, [a, b, c, d]: [usize; 4]) -> __m256i {
    let [a, b, c, d] = [state[a], state[b], state[c], state[d]];
    _mm256_set_epi64x(
        d.cast_signed(),
        c.cast_signed(),
        b.cast_signed(),
        a.cast_signed(),
    )
}

#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn load(state: &State) -> Lines {
    let [row, l0, l1, l2, l3, l4] = PLACES;
    Lines {
        origin: _mm256_set1_epi64x(state[0].cast_signed()),
        row: gather(state, row),
        lines: [
            gather(state, l0),
            gather(state, l1),
            gather(state, l2),
            gather(state, l3),
            gather(state, l4),
        ],
    }
}

/// The words of a block, and zeros after it.
#[inline]
fn words<const RATE: usize>(block: &[u8; RATE]) -> State {
    let mut words = [0; 25];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn store(v: Lines) -> State {
    let mut state = [0; 25];
    state[0] = _mm_cvtsi128_si64(_mm256_castsi256_si128(v.origin)).cast_unsigned();
    let [l0, l1, l2, l3, l4] = v.lines;
    for (vector, lanes) in [v.row, l0, l1, l2, l3, l4].into_iter().zip(PLACES) {
        let mut words = Words([0; 4]);
        // SAFETY: stores 32 bytes to `words`, which has as many.
        unsafe { _mm256_storeu_si256(words.0.as_mut_ptr().cast(), vector) };
        for (lane, word) in lanes.into_iter().zip(words.0) {
            state[lane] = word;
        }
    }
    state
}

#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn xor(a: Lines, b: Lines) -> Lines {
    Lines {
        origin: _mm256_xor_si256(a.origin, b.origin),
        row: _mm256_xor_si256(a.row, b.row),
        lines: [
            _mm256_xor_si256(a.lines[0], b.lines[0]),
            _mm256_xor_si256(a.lines[1], b.lines[1]),
            _mm256_xor_si256(a.lines[2], b.lines[2]),
            _mm256_xor_si256(a.lines[3], b.lines[3]),
            _mm256_xor_si256(a.lines[4], b.lines[4]),
        ],
    }
}

/// XORs whole blocks, and permutes after each.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn absorb_blocks<const RATE: usize>(mut v: Lines, blocks: &[[u8; RATE]]) -> Lines {
    for block in blocks {
        v = rounds(xor(v, load(&words(block))));
    }
    v
}

/// One permutation.
#[target_feature(enable = "avx512f,avx512vl")]
pub(in super::super) fn permute(state: &mut State) {
    *state = store(rounds(load(state)));
}

/// Like [`absorb_blocks`], with the state in memory.
#[target_feature(enable = "avx512f,avx512vl")]
pub(in super::super) fn absorb<const RATE: usize>(state: &mut State, blocks: &[[u8; RATE]]) {
    *state = store(absorb_blocks(load(state), blocks));
}

/// The end of a message, padded to a block: whole vectors, so that loads of words can be served by the stores.
#[repr(C, align(64))]
struct Block(State, [u64; 7]);

/// Pads the end of a message, which is shorter than a block.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn pad<const RATE: usize>(suffix: u8, rest: &[u8]) -> Block {
    debug_assert!(rest.len() < RATE && RATE <= 200);
    let mut block = Block([0; 25], [0; 7]);
    let start = (&raw mut block).cast::<__m512i>();
    for part in 0..RATE.div_ceil(64) {
        let bytes = rest.get(64 * part..).unwrap_or_default();
        let mask = 1u64
            .checked_shl(bytes.len() as u32)
            .map_or(u64::MAX, |bit| bit - 1);
        let place = rest.len().wrapping_sub(64 * part);
        let after = if place < 64 { 1 << place } else { 0 };
        let last = (RATE - 1).wrapping_sub(64 * part);
        let last = if last < 64 { 1 << last } else { 0 };
        // SAFETY: the mask limits the load to the bytes of `bytes`, at most 64. `block` has four vectors.
        unsafe {
            // A load of no byte from an invalid address would be slow.
            let bytes = if bytes.is_empty() {
                _mm512_setzero_si512()
            } else {
                _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast())
            };
            let suffix = _mm512_maskz_set1_epi8(after, suffix.cast_signed());
            let end = _mm512_maskz_set1_epi8(last, i8::MIN);
            let padded = _mm512_ternarylogic_epi64::<0x96>(bytes, suffix, end);
            start.add(part).write(padded);
        }
    }
    block
}

/// Absorbs a message into `state`, pads, and squeezes at most one block.
#[target_feature(enable = "avx512f,avx512vl,avx512bw")]
pub(in super::super) fn sponge<const RATE: usize, const OUT: usize>(
    suffix: u8,
    state: &State,
    message: &[u8],
) -> [u8; OUT] {
    let (blocks, rest) = message.as_chunks::<RATE>();
    let v = absorb_blocks(load(state), blocks);
    let block = pad::<RATE>(suffix, rest);
    let v = rounds(xor(v, load(&block.0)));
    if OUT <= 32 {
        // Lanes 0 to 3: the origin, and slots 0, 2 and 3 of row 0
        let first = _mm256_mask_permutex_epi64::<0b11_10_00_00>(v.origin, 0b1110, v.row);
        let mut out = [0; OUT];
        // SAFETY: the mask limits the store to the first `OUT` bytes.
        unsafe {
            let mask = ((1u64 << OUT) - 1) as __mmask32;
            _mm256_mask_storeu_epi8(out.as_mut_ptr().cast(), mask, first);
        }
        out
    } else {
        super::super::squeeze(&store(v))
    }
}
