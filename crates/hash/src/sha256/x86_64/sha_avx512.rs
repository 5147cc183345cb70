//! SHA-256 with SHA-NI, in registers from the first byte to the digest. AVX-512 loads and pads partial blocks.
//!
//! The state is two vectors: the words for `sha256rnds2`, lane 0 first, are F, E, B, A and H, G, D, C. Two rounds take
//! four cycles (AMD Zen 5) and depend on the previous two, so a block takes at least 32 * 4 = 128 cycles; the message
//! schedule runs in parallel. `sha2` is as fast on whole blocks. The gain is around the blocks: a padded copy of the
//! last bytes, and a digest written word by word, are small stores that are read back as vectors, which delays the next
//! message. With everything in registers, the first rounds of the next message overlap with the last rounds of this
//! one.
//!
//! Written in assembly, because Rust 1.95 keeps the state on the stack if intrinsics are inlined twice (three times
//! slower, observed without AVX-512).

use core::arch::asm;
use core::arch::x86_64::*;

/// The round constants (FIPS 180-4, 4.2.2).
static CONSTANTS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The state in the format of `sha256rnds2`.
#[derive(Clone, Copy)]
struct State {
    feba: __m128i,
    hgdc: __m128i,
}

/// Four rounds, with the words `w` and constants from `16 * i` on.
macro_rules! rounds {
    ($w:literal, $i:literal) => {
        concat!(
            "vpaddd xmm0, {",
            $w,
            "}, [{constants} + 16*",
            $i,
            "]\n",
            "sha256rnds2 {hgdc}, {feba}, xmm0\n",
            "vpshufd xmm0, xmm0, 0x0e\n",
            "sha256rnds2 {feba}, {hgdc}, xmm0\n",
        )
    };
}

/// Computes the four words after `w0` to `w3`, in place of `w0`, and runs their rounds.
macro_rules! schedule {
    ($w0:literal $w1:literal $w2:literal $w3:literal, $i:literal) => {
        concat!(
            "vpalignr xmm0, {",
            $w3,
            "}, {",
            $w2,
            "}, 4\n",
            "sha256msg1 {",
            $w0,
            "}, {",
            $w1,
            "}\n",
            "vpaddd {",
            $w0,
            "}, {",
            $w0,
            "}, xmm0\n",
            "sha256msg2 {",
            $w0,
            "}, {",
            $w3,
            "}\n",
            rounds!($w0, $i),
        )
    };
}

#[inline]
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
fn compress(state: State, words: [__m128i; 4]) -> State {
    let State { mut feba, mut hgdc } = state;
    let [w0, w1, w2, w3] = words;
    // SAFETY: reads the 256 bytes of `CONSTANTS` and writes declared registers only. The function enables the CPU
    // features that the instructions require (AVX is part of AVX-512).
    unsafe {
        asm!(
            concat!(
                rounds!("w0", 0),
                rounds!("w1", 1),
                rounds!("w2", 2),
                rounds!("w3", 3),
                schedule!("w0" "w1" "w2" "w3", 4),
                schedule!("w1" "w2" "w3" "w0", 5),
                schedule!("w2" "w3" "w0" "w1", 6),
                schedule!("w3" "w0" "w1" "w2", 7),
                schedule!("w0" "w1" "w2" "w3", 8),
                schedule!("w1" "w2" "w3" "w0", 9),
                schedule!("w2" "w3" "w0" "w1", 10),
                schedule!("w3" "w0" "w1" "w2", 11),
                schedule!("w0" "w1" "w2" "w3", 12),
                schedule!("w1" "w2" "w3" "w0", 13),
                schedule!("w2" "w3" "w0" "w1", 14),
                schedule!("w3" "w0" "w1" "w2", 15),
            ),
            feba = inout(xmm_reg) feba,
            hgdc = inout(xmm_reg) hgdc,
            w0 = inout(xmm_reg) w0 => _,
            w1 = inout(xmm_reg) w1 => _,
            w2 = inout(xmm_reg) w2 => _,
            w3 = inout(xmm_reg) w3 => _,
            constants = in(reg) CONSTANTS.as_ptr(),
            out("xmm0") _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    State {
        feba: _mm_add_epi32(feba, state.feba),
        hgdc: _mm_add_epi32(hgdc, state.hgdc),
    }
}

#[inline]
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
fn load(state: &[u32; 8]) -> State {
    // SAFETY: each load reads 16 of the 32 bytes of the reference.
    let [abcd, efgh] =
        [0, 1].map(|i| unsafe { _mm_loadu_si128(state.as_ptr().cast::<__m128i>().add(i)) });
    let (badc, fehg) = (_mm_shuffle_epi32(abcd, 0xb1), _mm_shuffle_epi32(efgh, 0xb1));
    State {
        feba: _mm_unpacklo_epi64(fehg, badc),
        hgdc: _mm_unpackhi_epi64(fehg, badc),
    }
}

/// Converts big-endian words.
#[inline]
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
fn swap(words: __m128i) -> __m128i {
    _mm_shuffle_epi8(
        words,
        _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203),
    )
}

#[inline]
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
fn compress_all(mut state: State, blocks: &[[u8; 64]]) -> State {
    for block in blocks {
        let at = block.as_ptr().cast::<__m128i>();
        // SAFETY: each load reads 16 of the 64 bytes of the reference.
        let words = [0, 1, 2, 3].map(|i| swap(unsafe { _mm_loadu_si128(at.add(i)) }));
        state = compress(state, words);
    }
    state
}

/// Loads a partial block, followed by a 1 bit.
#[inline]
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
fn last_words(rest: &[u8]) -> [__m128i; 4] {
    let mark = _mm_set1_epi8(i8::MIN);
    if rest.is_empty() {
        // No load: a masked load of no bytes takes 300 ns if the address is not mapped.
        let zeros = _mm_setzero_si128();
        return [_mm_cvtsi32_si128(i32::MIN), zeros, zeros, zeros];
    }
    let end = 1u64 << rest.len();
    [0, 16, 32, 48].map(|at| {
        let (inside, end) = (((end - 1) >> at) as u16, (end >> at) as u16);
        // SAFETY: the mask has one bit for each byte of `rest` from `at` on; no other byte is read.
        let bytes = unsafe { _mm_maskz_loadu_epi8(inside, rest.as_ptr().wrapping_add(at).cast()) };
        swap(_mm_mask_mov_epi8(bytes, end, mark))
    })
}

/// Compresses each block into the state.
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
pub fn absorb(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    let State { feba, hgdc } = compress_all(load(state), blocks);
    let (badc, fehg) = (
        _mm_unpackhi_epi64(feba, hgdc),
        _mm_unpacklo_epi64(feba, hgdc),
    );
    let halves = [badc, fehg].map(|half| _mm_shuffle_epi32(half, 0xb1));
    let at = state.as_mut_ptr().cast::<__m128i>();
    for (i, half) in halves.into_iter().enumerate() {
        // SAFETY: each store writes 16 of the 32 bytes of the reference.
        unsafe { _mm_storeu_si128(at.add(i), half) };
    }
}

/// Returns the digest of a message of `length` bytes, of which `rest` is absorbed last.
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
pub fn finish(state: &[u32; 8], rest: &[u8], length: u64) -> [u8; 32] {
    let (blocks, rest) = rest.as_chunks();
    let mut state = compress_all(load(state), blocks);
    let mut words = last_words(rest);
    if rest.len() >= 56 {
        state = compress(state, words);
        words = [_mm_setzero_si128(); 4];
    }
    let bits = (length << 3).rotate_left(32).cast_signed();
    words[3] = _mm_or_si128(words[3], _mm_set_epi64x(bits, 0));
    digest(compress(state, words))
}

/// Returns the digest of blocks that include the padding.
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
pub fn padded(state: &[u32; 8], blocks: &[[u8; 64]]) -> [u8; 32] {
    digest(compress_all(load(state), blocks))
}

#[inline]
#[target_feature(enable = "sha,sse4.1,avx512bw,avx512vl")]
fn digest(state: State) -> [u8; 32] {
    let State { feba, hgdc } = state;
    let reverse = _mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607);
    let halves = [
        _mm_unpackhi_epi64(feba, hgdc),
        _mm_unpacklo_epi64(feba, hgdc),
    ];
    let mut digest = [0; 32];
    let at = digest.as_mut_ptr().cast::<__m128i>();
    for (i, half) in halves.into_iter().enumerate() {
        // SAFETY: each store writes 16 of the 32 bytes of `digest`.
        unsafe { _mm_storeu_si128(at.add(i), _mm_shuffle_epi8(half, reverse)) };
    }
    digest
}
