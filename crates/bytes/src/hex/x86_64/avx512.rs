//! Hexadecimal with 64 digits at a time with AVX-512 VBMI: byte permutes over whole tables.
//!
//! A final piece shorter than a block is processed as a whole block that overlaps the previous one: masked stores of
//! part of a vector cost several nanoseconds on current CPUs.
//! Constant time in the input's value (not relied upon).

use core::{arch::x86_64::*, mem::MaybeUninit};

/// A table aligned to a cache line: loading one that straddles two takes twice as long.
#[repr(align(64))]
struct Table<const N: usize>([u8; N]);

/// The digits, four times: a 6-bit index ignores its upper two bits.
static DIGITS: Table<64> =
    Table(*b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");

/// The difference between a digit's value and its character, indexed by the low six bits of the character, which are
/// distinct for all digits.
///
/// For any other character the sum is 16 or more: a character that shares those bits with a digit differs from it by a
/// multiple of 64, and for bits that no digit has, the sum is 16 plus a multiple of 64.
static DIFFERENCES: Table<64> = {
    let mut differences = [0; 64];
    let mut low = 0;
    while low < 64 {
        differences[low as usize] = 16u8.wrapping_sub(low);
        low += 1;
    }
    let mut value = 0u8;
    while value < 16 {
        let digit = DIGITS.0[value as usize];
        let upper = digit.to_ascii_uppercase();
        differences[(digit % 64) as usize] = value.wrapping_sub(digit);
        differences[(upper % 64) as usize] = value.wrapping_sub(upper);
        value += 1;
    }
    Table(differences)
};

/// The bits that are clear in every digit value, in four bytes.
const EXCESS: u32 = 0xf0f0_f0f0;

/// Bit offsets of the nibbles in a 64-bit word with one byte per 16 bits: the high nibble, then the low nibble with
/// extra bits above it, which the digit look-up ignores.
const OFFSETS: i64 = i64::from_le_bytes([4, 0, 20, 16, 36, 32, 52, 48]);

/// The weights of two pairs of digits.
const WEIGHTS: u32 = u32::from_le_bytes([16, 1, 16, 1]);

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: `bytes` is 64 readable bytes; the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Minimum length in bytes of the input of [`encode`] and the output of [`decode`]: two halves, which may overlap.
pub(in crate::hex) const MIN: usize = 16;

/// Minimum length in bytes from which an encoder stores to whole cache lines, four per iteration: 5 % faster for a
/// megabyte.
const LONG: usize = 4096;

/// Writes all of `output`. Requires `output.len() == 2 * input.len()` and `input.len() >= MIN`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(in crate::hex) fn encode(input: &[u8], output: &mut [MaybeUninit<u8>]) {
    let table = load(&DIGITS.0);
    let encode_block = |block: &[u8; 32], digits: &mut [MaybeUninit<u8>; 64]| {
        // SAFETY: 32 readable and 64 writable bytes; neither access needs alignment.
        unsafe {
            let bytes = _mm256_loadu_si256(block.as_ptr().cast());
            _mm512_storeu_si512(digits.as_mut_ptr().cast(), encode_32(bytes, table));
        }
    };
    assert!(input.len() >= MIN && output.len() == 2 * input.len());
    if input.len() < 32 {
        // SAFETY: both slices have at least one half, 16 bytes and 32 digits, so the first and the last half are within
        // them. The accesses need no alignment, and all input is read before any output is written.
        unsafe {
            let (first, last) = (input.as_ptr(), input.as_ptr().add(input.len() - 16));
            let bytes = _mm256_inserti128_si256::<1>(
                _mm256_castsi128_si256(_mm_loadu_si128(first.cast())),
                _mm_loadu_si128(last.cast()),
            );
            let digits = encode_32(bytes, table);
            let (first, last) = (
                output.as_mut_ptr(),
                output.as_mut_ptr().add(output.len() - 32),
            );
            _mm256_storeu_si256(last.cast(), _mm512_extracti64x4_epi64::<1>(digits));
            _mm256_storeu_si256(first.cast(), _mm512_castsi512_si256(digits));
        }
        return;
    }
    if let (Some(block), Some(digits)) = (input.last_chunk(), output.last_chunk_mut()) {
        encode_block(block, digits);
    }
    let (mut input, mut output) = (input, output);
    if input.len() >= LONG {
        if let (Some(block), Some(digits)) = (input.first_chunk(), output.first_chunk_mut()) {
            encode_block(block, digits);
        }
        // Less than a block, so there is no gap.
        let ahead = output.as_ptr().align_offset(64) % 64 / 2;
        let (pieces, rest) = input[ahead..].as_chunks::<128>();
        let (places, rest_of_output) = output[2 * ahead..].as_chunks_mut::<256>();
        for (piece, place) in pieces.iter().zip(places) {
            for (block, digits) in piece.as_chunks().0.iter().zip(place.as_chunks_mut().0) {
                encode_block(block, digits);
            }
        }
        (input, output) = (rest, rest_of_output);
    }
    for (block, digits) in input.as_chunks().0.iter().zip(output.as_chunks_mut().0) {
        encode_block(block, digits);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn encode_32(bytes: __m256i, table: __m512i) -> __m512i {
    let nibbles =
        _mm512_multishift_epi64_epi8(_mm512_set1_epi64(OFFSETS), _mm512_cvtepu8_epi16(bytes));
    _mm512_permutexvar_epi8(nibbles, table)
}

/// Encodes one word, like [`encode`], inlined at the call site: a call, and the `vzeroupper` at the end of a function
/// that uses vectors, would cost more than the work. Registers 16 and up need no `vzeroupper`, and a caller compiled
/// without AVX-512 does not use them. Latency is dominated by vector loads, so the constants are operands of 16 bytes,
/// which a caller without AVX-512 can keep in registers between calls.
///
/// # Safety
/// The CPU must have AVX-512 F, BW, VL and VBMI.
#[inline(always)]
pub(in crate::hex) unsafe fn encode_word(input: &[u8; 32], output: &mut [MaybeUninit<u8>; 64]) {
    // SAFETY: reads the 32 bytes of `input` and writes the 64 bytes of `output`, both without alignment. All registers
    // written are declared. The caller guarantees the CPU features.
    unsafe {
        core::arch::asm!(
            // Each 64 bits of input to the 128-bit lane that is unpacked below.
            "vpermq ymm16, ymmword ptr [{input}], 0xd8",
            // The digits twice: a 5-bit index ignores its upper bit.
            "vshufi64x2 ymm17, {digits:y}, {digits:y}, 0",
            "vpsrlw ymm18, ymm16, 4",
            "vpermb ymm16, ymm16, ymm17",
            "vpermb ymm18, ymm18, ymm17",
            "vpunpcklbw ymm17, ymm18, ymm16",
            "vpunpckhbw ymm16, ymm18, ymm16",
            "vmovdqu64 ymmword ptr [{output}], ymm17",
            "vmovdqu64 ymmword ptr [{output} + 32], ymm16",
            input = in(reg) input.as_ptr(),
            output = in(reg) output.as_mut_ptr(),
            // A value, not a load: the load of a static of another crate would not be hoisted.
            digits = in(xmm_reg) _mm_set_epi64x(
                i64::from_le_bytes(*b"89abcdef"),
                i64::from_le_bytes(*b"01234567"),
            ),
            out("zmm16") _,
            out("zmm17") _,
            out("zmm18") _,
            options(nostack, preserves_flags),
        );
    }
}

/// Decodes one word, like [`decode`], inlined at the call site; see [`encode_word`].
///
/// # Safety
/// The CPU must have AVX-512 F, BW, VL and VBMI.
#[inline(always)]
pub(in crate::hex) unsafe fn decode_word(
    digits: &[u8; 64],
    output: &mut [MaybeUninit<u8>; 32],
) -> bool {
    let wrong: u64;
    // SAFETY: reads the 64 bytes of `digits` and the static, and writes the 32 bytes of `output`. Only the static
    // requires alignment, which its type provides. All registers written are declared. The caller guarantees the CPU
    // features.
    unsafe {
        core::arch::asm!(
            "vmovdqu64 zmm16, zmmword ptr [{digits}]",
            "vpermb zmm17, zmm16, zmmword ptr [rip + {differences}]",
            "vpbroadcastd zmm18, {weights}",
            "vpbroadcastd zmm19, {excess}",
            "vpaddb zmm16, zmm16, zmm17",
            "vptestmb k1, zmm16, zmm19",
            "vpmaddubsw zmm16, zmm16, zmm18",
            "vpmovwb ymmword ptr [{output}], zmm16",
            "kmovq {wrong}, k1",
            digits = in(reg) digits.as_ptr(),
            output = in(reg) output.as_mut_ptr(),
            differences = sym DIFFERENCES,
            weights = in(xmm_reg) _mm_set1_epi32(WEIGHTS.cast_signed()),
            excess = in(xmm_reg) _mm_set1_epi32(EXCESS.cast_signed()),
            wrong = lateout(reg) wrong,
            out("zmm16") _,
            out("zmm17") _,
            out("zmm18") _,
            out("zmm19") _,
            out("k1") _,
            options(nostack, preserves_flags),
        );
    }
    wrong == 0
}

/// Returns whether every byte of `digits` is a digit. If so, `output` is set to their value. Requires `digits.len() ==
/// 2 * output.len()` and `output.len() >= MIN`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(in crate::hex) fn decode(digits: &[u8], output: &mut [MaybeUninit<u8>]) -> bool {
    assert!(output.len() >= MIN && digits.len() == 2 * output.len());
    let differences = load(&DIFFERENCES.0);
    let values = |text| _mm512_add_epi8(text, _mm512_permutexvar_epi8(text, differences));
    let valid =
        |values| _mm512_test_epi8_mask(values, _mm512_set1_epi32(EXCESS.cast_signed())) == 0;
    if output.len() <= 32 {
        // SAFETY: both slices have at least one half, 32 digits and 16 bytes, so the first and the last half are within
        // them. The accesses need no alignment, and all digits are read before any output is written.
        unsafe {
            let (first, last) = (digits.as_ptr(), digits.as_ptr().add(digits.len() - 32));
            let text = _mm512_inserti64x4::<1>(
                _mm512_castsi256_si512(_mm256_loadu_si256(first.cast())),
                _mm256_loadu_si256(last.cast()),
            );
            let values = values(text);
            let bytes = join(values);
            let (first, last) = (
                output.as_mut_ptr(),
                output.as_mut_ptr().add(output.len() - 16),
            );
            // Store the first half last: a caller that reads the first 16 bytes and then the rest, like a copy of 20
            // bytes, finds each in a single store and does not have to wait.
            _mm_storeu_si128(last.cast(), _mm256_extracti128_si256::<1>(bytes));
            _mm_storeu_si128(first.cast(), _mm256_castsi256_si128(bytes));
            return valid(values);
        }
    }
    let mut seen = _mm512_setzero_si512();
    let mut decode_block = |block: &[u8; 64], bytes: &mut [MaybeUninit<u8>; 32]| {
        let values = values(load(block));
        seen = _mm512_or_si512(seen, values);
        // SAFETY: 32 writable bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), join(values)) };
    };
    for (block, bytes) in digits.as_chunks().0.iter().zip(output.as_chunks_mut().0) {
        decode_block(block, bytes);
    }
    if let (Some(block), Some(bytes)) = (digits.last_chunk(), output.last_chunk_mut()) {
        decode_block(block, bytes);
    }
    valid(seen)
}

/// Combines pairs of digit values, high digit first, to bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn join(values: __m512i) -> __m256i {
    let weights = _mm512_set1_epi32(WEIGHTS.cast_signed());
    _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(values, weights))
}
