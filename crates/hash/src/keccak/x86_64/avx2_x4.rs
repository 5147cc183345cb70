//! Four Keccak-f\[1600\] in parallel with AVX2: lane `i` of message `j` is word `j` of vector `i`.
//!
//! There is no vector rotation, so each lane takes two shifts and an OR, or one byte shuffle for the rotations by 8 and
//! 56. A round has 184 instructions that compute, 25 stores and a load; four of the former can start in a cycle on AMD
//! Zen 3, three on Intel. Constant time: no branch or address depends on the lanes.

use core::arch::{asm, x86_64::*};
use core::mem::MaybeUninit;

use super::super::batch::Wide;
use super::super::portable::ROUND_CONSTANTS;
use super::round::round;

/// Clears the messages whose `keep` is zero (it is zero or all ones), XORs one block into each, and permutes.
#[target_feature(enable = "avx2")]
pub(in super::super) fn absorb<const RATE: usize>(
    state: &mut Wide<4>,
    blocks: &[&[u8; RATE]; 4],
    keep: &[u64; 4],
) {
    let keep = load(keep);
    for lane in &mut state.0 {
        store(lane, _mm256_and_si256(load(lane), keep));
    }
    let xor = |lane: &mut [u64; 4], words| store(lane, _mm256_xor_si256(load(lane), words));
    for quarter in 0..4 {
        let words = transpose(blocks.map(|block| load_words(block, quarter)));
        for (lane, words) in state.0[4 * quarter..].iter_mut().zip(words) {
            xor(lane, words);
        }
    }
    // The words after the sixteenth: one for a rate of 136 bytes, five for 168
    for (lane, word) in state.0[16..RATE / 8].iter_mut().zip(16..) {
        let words = blocks.map(|block| u64::from_le_bytes(block.as_chunks().0[word]));
        xor(lane, load(&words));
    }
    permute(state);
}

/// Returns the first four words of each message's state. Reading them one by one would wait for the vectors that were
/// just stored.
#[target_feature(enable = "avx2")]
pub(in super::super) fn squeeze(state: &Wide<4>) -> [[u64; 4]; 4] {
    let mut words = [[0; 4]; 4];
    let lanes = [0, 1, 2, 3].map(|lane: usize| load(&state.0[lane]));
    for (words, row) in words.iter_mut().zip(transpose(lanes)) {
        store(words, row);
    }
    words
}

/// The instructions of a round.
#[rustfmt::skip]
macro_rules! op {
    (parity $from:literal, $($c:literal $lane:literal),*) => {
        concat!($("vpxor ", $c, ", ", $c, ", [", $from, " + 32*", $lane, "]\n"),*)
    };
    (combine $d:literal, $before:literal, $after:literal) => {
        concat!(
            "vpaddq ymm10, ", $after, ", ", $after, "\n",
            "vpsrlq ", $d, ", ", $after, ", 63\n",
            "vpxor ymm10, ymm10, ", $before, "\n",
            "vpxor ", $d, ", ", $d, ", ymm10\n"
        )
    };
    (lane $from:literal, $b:literal, $d:literal, $lane:literal, 8) => {
        concat!(op!(theta $from, $b, $d, $lane), "vpshufb ", $b, ", ", $b, ", {left_1}\n")
    };
    (lane $from:literal, $b:literal, $d:literal, $lane:literal, 56) => {
        concat!(op!(theta $from, $b, $d, $lane), "vpshufb ", $b, ", ", $b, ", {left_7}\n")
    };
    (lane $from:literal, $b:literal, $d:literal, $lane:literal, $rotation:literal) => {
        concat!(
            op!(theta $from, $b, $d, $lane),
            "vpsllq ymm10, ", $b, ", ", $rotation, "\n",
            "vpsrlq ", $b, ", ", $b, ", 64-", $rotation, "\n",
            "vpor ", $b, ", ", $b, ", ymm10\n"
        )
    };
    (last_lane $($lane:tt)*) => {
        op!(lane $($lane)*)
    };
    (theta $from:literal, $b:literal, $d:literal, $lane:literal) => {
        concat!("vpxor ", $b, ", ", $d, ", [", $from, " + 32*", $lane, "]\n")
    };
    (chi $to:literal, $lane:literal, $out:literal, $b0:literal, $b1:literal, $b2:literal) => {
        concat!(
            "vpandn ", $out, ", ", $b1, ", ", $b2, "\n",
            "vpxor ", $out, ", ", $out, ", ", $b0, "\n",
            "vmovdqa [", $to, " + 32*", $lane, "], ", $out, "\n"
        )
    };
    (chi_iota $to:literal, $out:literal, $b0:literal, $b1:literal, $b2:literal, $constant:literal) => {
        concat!(
            "vpbroadcastq ymm10, [{constants} + ", $constant, "]\n",
            "vpxor ymm10, ymm10, ", $b0, "\n",
            "vpandn ", $out, ", ", $b1, ", ", $b2, "\n",
            "vpxor ", $out, ", ", $out, ", ymm10\n",
            "vmovdqa [", $to, "], ", $out, "\n"
        )
    };
}

/// The 24 rounds.
#[target_feature(enable = "avx2")]
#[rustfmt::skip]
fn permute(state: &mut Wide<4>) {
    let mut other = MaybeUninit::<Wide<4>>::uninit();
    let left_1 = _mm256_set_epi8(
        14, 13, 12, 11, 10, 9, 8, 15, 6, 5, 4, 3, 2, 1, 0, 7, 14, 13, 12, 11, 10, 9, 8, 15, 6, 5,
        4, 3, 2, 1, 0, 7,
    );
    let left_7 = _mm256_set_epi8(
        8, 15, 14, 13, 12, 11, 10, 9, 0, 7, 6, 5, 4, 3, 2, 1, 8, 15, 14, 13, 12, 11, 10, 9, 0, 7,
        6, 5, 4, 3, 2, 1,
    );
    let constants: &'static [u64; 24] = &ROUND_CONSTANTS;
    let constants = constants.as_ptr_range();
    // SAFETY: `a` addresses the 800 bytes of `state`, which is borrowed mutably, and `b` those of `other`; both are
    // aligned to 64 bytes, and every offset is a multiple of 32 below 800. The first round writes all of `other` before
    // the second reads it. Each turn reads two of the 24 constants and advances by two, until `end`. All registers
    // written are declared. The function enables AVX2.
    unsafe {
        asm!(
            "vmovdqa ymm0, [{a}]",
            "vmovdqa ymm1, [{a} + 32]",
            "vmovdqa ymm2, [{a} + 64]",
            "vmovdqa ymm3, [{a} + 96]",
            "vmovdqa ymm4, [{a} + 128]",
            ".p2align 5",
            "2:",
            round!(
                op, "{a}", "{b}", "0", "ymm11",
                "ymm0" "ymm1" "ymm2" "ymm3" "ymm4", "ymm5" "ymm6" "ymm7" "ymm8" "ymm9"
            ),
            round!(
                op, "{b}", "{a}", "8", "ymm11",
                "ymm5" "ymm6" "ymm7" "ymm8" "ymm9", "ymm0" "ymm1" "ymm2" "ymm3" "ymm4"
            ),
            "add {constants}, 16",
            "cmp {constants}, {end}",
            "jne 2b",
            a = in(reg) state.0.as_mut_ptr(),
            b = in(reg) other.as_mut_ptr(),
            constants = inout(reg) constants.start => _,
            end = in(reg) constants.end,
            left_1 = in(ymm_reg) left_1,
            left_7 = in(ymm_reg) left_7,
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _, out("ymm4") _, out("ymm5") _,
            out("ymm6") _, out("ymm7") _, out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            options(nostack),
        );
    }
}

/// Transposes: word `j` of output `i` is word `i` of input `j`.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose(rows: [__m256i; 4]) -> [__m256i; 4] {
    let [r0, r1, r2, r3] = rows;
    let (e0, o0) = (_mm256_unpacklo_epi64(r0, r1), _mm256_unpackhi_epi64(r0, r1));
    let (e1, o1) = (_mm256_unpacklo_epi64(r2, r3), _mm256_unpackhi_epi64(r2, r3));
    [
        _mm256_permute2x128_si256::<0x20>(e0, e1),
        _mm256_permute2x128_si256::<0x20>(o0, o1),
        _mm256_permute2x128_si256::<0x31>(e0, e1),
        _mm256_permute2x128_si256::<0x31>(o0, o1),
    ]
}

/// Loads words `4 * quarter ..` of a block; `quarter` must be below 4.
#[target_feature(enable = "avx2")]
#[inline]
fn load_words<const RATE: usize>(block: &[u8; RATE], quarter: usize) -> __m256i {
    let (vectors, _) = block.as_chunks::<32>();
    // SAFETY: the reference is to 32 readable bytes, and the load has no alignment requirement.
    unsafe { _mm256_loadu_si256(vectors[quarter].as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(words: &[u64; 4]) -> __m256i {
    // SAFETY: the reference is to 32 readable bytes, and the load has no alignment requirement.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(words: &mut [u64; 4], vector: __m256i) {
    // SAFETY: the reference is to 32 writable bytes, and the store has no alignment requirement.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
}
