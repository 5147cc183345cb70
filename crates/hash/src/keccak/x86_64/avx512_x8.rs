//! Eight Keccak-f\[1600\] in parallel with AVX-512F: lane `i` of message `j` is word `j` of vector `i`.
//!
//! Written in assembly, because the time of a round depends on the order of its instructions, and the compiler's order
//! depends on the surrounding code: 33 to 43 cycles for the same source. The rounds work row by row, so that the first
//! rows are finished while the last are still being rotated. The value XORed into each column is computed once.
//! Compared with three-input XORs of lane, parity and rotated parity, this takes five more XORs but half the registers.
//! A round has 25 `vpternlogq`, 10 more for the parities, 40 `vpxorq` and 29 `vprolq`, each with a latency of two
//! cycles on Zen 5. Four can start per cycle, two of them rotations: 24 cycles, of the 32 that a round takes. The rest
//! is latency from the previous round.
//! Blocks are absorbed by transposing 8 x 8 words. Constant time: no branch or index depends on the lanes.

use core::arch::x86_64::*;

use super::super::batch::{LANES, Wide};
use super::super::portable::ROUND_CONSTANTS;

/// Clears the messages whose `keep` is zero (it is zero or all ones), XORs one block into each, and permutes.
#[target_feature(enable = "avx512f")]
pub(in super::super) fn absorb<const RATE: usize>(
    state: &mut Wide<8>,
    blocks: &[&[u8; RATE]; 8],
    keep: &[u64; 8],
) {
    let keep = load(keep);
    let mut a = [_mm512_setzero_si512(); LANES];
    for (vector, lane) in a.iter_mut().zip(&state.0) {
        *vector = _mm512_and_si512(load(lane), keep);
    }
    for half in 0..2 {
        let words = transpose(blocks.map(|block| load_words(block, half)));
        for (vector, word) in a[8 * half..].iter_mut().zip(words) {
            *vector = _mm512_xor_si512(*vector, word);
        }
    }
    // The words after the sixteenth: one for a rate of 136 bytes, five for 168
    for (vector, word) in a[16..RATE / 8].iter_mut().zip(16..) {
        let words = blocks.map(|block| u64::from_le_bytes(block.as_chunks().0[word]));
        *vector = _mm512_xor_si512(*vector, load(&words));
    }
    let a = permute(a);
    for (lane, vector) in state.0.iter_mut().zip(a) {
        store(lane, vector);
    }
}

/// Returns the first four words of each message's state. Reading them one by one would wait for the vectors that were
/// just stored.
#[target_feature(enable = "avx512f")]
pub(in super::super) fn squeeze(state: &Wide<8>) -> [[u64; 4]; 8] {
    let mut words = [[0; 4]; 8];
    let lanes = core::array::from_fn(|lane| load(&state.0[lane % 4]));
    for (words, row) in words.iter_mut().zip(transpose(lanes)) {
        // SAFETY: the reference is to 32 writable bytes, and the store has no alignment requirement.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), _mm512_castsi512_si256(row)) };
    }
    words
}

/// The parity of a column.
macro_rules! parity {
    ($c:literal, $a0:literal $a1:literal $a2:literal $a3:literal $a4:literal) => {
        concat!(
            "vpxorq zmm",
            $c,
            ", zmm",
            $a0,
            ", zmm",
            $a1,
            "\n",
            "vpternlogq zmm",
            $c,
            ", zmm",
            $a2,
            ", zmm",
            $a3,
            ", 0x96\n",
            "vpxorq zmm",
            $c,
            ", zmm",
            $c,
            ", zmm",
            $a4,
            "\n"
        )
    };
}

/// Writes the XOR of parity `$a` and the rotated parity `$c` to `$out`; the latter stays in `$rotated`.
macro_rules! combine {
    ($out:literal, $a:literal, $rotated:literal, $c:literal) => {
        concat!(
            "vprolq zmm",
            $rotated,
            ", zmm",
            $c,
            ", 1\n",
            "vpxorq zmm",
            $out,
            ", zmm",
            $a,
            ", zmm",
            $rotated,
            "\n"
        )
    };
}

/// End of theta and rho of five lanes, `lane column rotation` each, then chi of this row, in place.
macro_rules! row {
    ($($b:literal $d:literal $rotation:literal),*) => {
        concat!(
            $("vpxorq zmm", $b, ", zmm", $b, ", zmm", $d, "\n", "vprolq zmm", $b, ", zmm", $b, ", ", $rotation, "\n",)*
            row!(@chi $($b)*)
        )
    };
    (@chi $b0:literal $b1:literal $b2:literal $b3:literal $b4:literal) => {
        concat!(
            "vmovdqa64 zmm26, zmm", $b0, "\n", "vmovdqa64 zmm27, zmm", $b1, "\n",
            row!(@lane $b0 $b1 $b2), row!(@lane $b1 $b2 $b3), row!(@lane $b2 $b3 $b4),
            row!(@lane $b3 $b4 26), row!(@lane $b4 26 27)
        )
    };
    (@lane $out:literal $b:literal $c:literal) => {
        concat!("vpternlogq zmm", $out, ", zmm", $b, ", zmm", $c, ", 0xd2\n")
    };
}

/// Moves each register to the one named before it.
macro_rules! moves {
    ($to:literal $from:literal $($rest:literal)*) => {
        concat!("vmovdqa64 zmm", $to, ", zmm", $from, "\n", moves!($from $($rest)*))
    };
    ($last:literal) => {
        ""
    };
}

/// The 24 rounds. Register numbers equal lane numbers.
#[target_feature(enable = "avx512f")]
#[inline]
#[rustfmt::skip]
fn permute(mut a: [__m512i; LANES]) -> [__m512i; LANES] {
    static CONSTANTS: [u64; 24] = ROUND_CONSTANTS;
    // SAFETY: `rax` advances over the 24 words of `CONSTANTS`, counted by `ecx`. All registers written are declared;
    // flags are declared by default. The function enables the CPU feature that the instructions require.
    unsafe {
        core::arch::asm!(
            ".p2align 5",
            "2:",
            // theta: the value for each of the columns 0 to 4, in 31, 25, 28, 29 and 30
            parity!(25, 0 5 10 15 20),
            parity!(26, 1 6 11 16 21),
            parity!(27, 2 7 12 17 22),
            parity!(28, 3 8 13 18 23),
            parity!(29, 4 9 14 19 24),
            combine!(30, 28, 30, 25),
            combine!(31, 29, 31, 26),
            "vprolq zmm28, zmm28, 1",
            combine!(29, 27, 29, 29),
            combine!(25, 25, 27, 27),
            "vpxorq zmm28, zmm28, zmm26",
            // pi determines which lanes make a row
            row!(0 31 0, 6 25 44, 12 28 43, 18 29 21, 24 30 14),
            // iota
            "vpxorq zmm0, zmm0, qword ptr [rax]{{1to8}}",
            row!(3 29 28, 9 30 20, 10 31 3, 16 25 45, 22 28 61),
            row!(1 25 1, 7 28 6, 13 29 25, 19 30 8, 20 31 18),
            row!(4 30 27, 5 31 36, 11 25 10, 17 28 15, 23 29 56),
            row!(2 28 62, 8 29 55, 14 30 39, 15 31 41, 21 25 2),
            // the moves of pi, which are free: the CPU executes them by register renaming
            moves!(26 1 6 9 22 14 20 2 12 13 19 23 15 4 24 21 8 16 5 3 18 17 11 7 10 26),
            "add rax, 8",
            "dec ecx",
            "jnz 2b",
            inout("rax") CONSTANTS.as_ptr() => _,
            inout("ecx") CONSTANTS.len() as u32 => _,
            inout("zmm0") a[0], inout("zmm1") a[1], inout("zmm2") a[2], inout("zmm3") a[3], inout("zmm4") a[4],
            inout("zmm5") a[5], inout("zmm6") a[6], inout("zmm7") a[7], inout("zmm8") a[8], inout("zmm9") a[9],
            inout("zmm10") a[10], inout("zmm11") a[11], inout("zmm12") a[12], inout("zmm13") a[13], inout("zmm14") a[14],
            inout("zmm15") a[15], inout("zmm16") a[16], inout("zmm17") a[17], inout("zmm18") a[18], inout("zmm19") a[19],
            inout("zmm20") a[20], inout("zmm21") a[21], inout("zmm22") a[22], inout("zmm23") a[23], inout("zmm24") a[24],
            out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
            options(nostack, readonly),
        );
    }
    a
}

/// Transposes: word `j` of output `i` is word `i` of input `j`.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose(rows: [__m512i; 8]) -> [__m512i; 8] {
    let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
    // Interleave the words of two rows: even words in the first of each pair, odd words in the second.
    let even_odd = |a, b| (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let (e0, o0) = even_odd(r0, r1);
    let (e1, o1) = even_odd(r2, r3);
    let (e2, o2) = even_odd(r4, r5);
    let (e3, o3) = even_odd(r6, r7);
    // Then the four 128-bit quarters of four such vectors, as a 4 x 4 transpose.
    let quarters = |a, b, c, d| {
        let ab_low = _mm512_shuffle_i64x2::<0x44>(a, b);
        let ab_high = _mm512_shuffle_i64x2::<0xee>(a, b);
        let cd_low = _mm512_shuffle_i64x2::<0x44>(c, d);
        let cd_high = _mm512_shuffle_i64x2::<0xee>(c, d);
        [
            _mm512_shuffle_i64x2::<0x88>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0xdd>(ab_low, cd_low),
            _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
            _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high),
        ]
    };
    let [t0, t2, t4, t6] = quarters(e0, e1, e2, e3);
    let [t1, t3, t5, t7] = quarters(o0, o1, o2, o3);
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

/// Loads words `8 * half ..` of a block; `half` must be 0 or 1.
#[target_feature(enable = "avx512f")]
#[inline]
fn load_words<const RATE: usize>(block: &[u8; RATE], half: usize) -> __m512i {
    let (vectors, _) = block.as_chunks::<64>();
    // SAFETY: the reference is to 64 readable bytes, and the load has no alignment requirement.
    unsafe { _mm512_loadu_si512(vectors[half].as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load has no alignment requirement.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(words: &mut [u64; 8], vector: __m512i) {
    // SAFETY: the reference is to 64 writable bytes, and the store has no alignment requirement.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
}
