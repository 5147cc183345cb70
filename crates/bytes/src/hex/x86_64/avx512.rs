//! Hexadecimal 64 digits at a time with AVX-512 VBMI: byte permutes over whole tables.
//!
//! A last piece shorter than a block is done as a whole block that overlaps the one before: masked stores of
//! part of a vector cost several nanoseconds on current CPUs.
//! Constant time in the input's value (not relied upon).

use core::arch::x86_64::*;

/// The digits, four times: an index of 6 bits ignores its upper two.
static DIGITS: [u8; 64] = *b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// The value of each ASCII character as a digit; 0x80 for what is none.
static VALUES: [u8; 128] = {
    let mut values = [0x80; 128];
    let mut digit = 0;
    while digit < 16 {
        values[DIGITS[digit] as usize] = digit as u8;
        values[DIGITS[digit].to_ascii_uppercase() as usize] = digit as u8;
        digit += 1;
    }
    values
};

/// Bit offsets of the nibbles in 64 bits of which every 16 hold a byte: the high nibble, then the low nibble with
/// other bits above it that the look-up of a digit ignores.
const OFFSETS_BYTES: [u8; 8] = [4, 0, 20, 16, 36, 32, 52, 48];
static OFFSETS: [u8; 8] = OFFSETS_BYTES;

/// The weights of two digits.
static PAIR: [u8; 4] = [16, 1, 16, 1];

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn load(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: `bytes` is 64 readable bytes; the unaligned load asks for no more.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Shortest input of [`encode`] and output of [`decode`] in bytes: two halves that may overlap.
pub(in crate::hex) const MIN: usize = 16;

/// `output.len() == 2 * input.len()`, `input.len() >= MIN`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(in crate::hex) fn encode(input: &[u8], output: &mut [u8]) {
    let table = load(&DIGITS);
    let encode_block = |block: &[u8; 32], digits: &mut [u8; 64]| {
        // SAFETY: 32 readable and 64 writable bytes; both accesses are unaligned.
        unsafe {
            let bytes = _mm256_loadu_si256(block.as_ptr().cast());
            _mm512_storeu_si512(digits.as_mut_ptr().cast(), encode_32(bytes, table));
        }
    };
    assert!(input.len() >= MIN && output.len() == 2 * input.len());
    if input.len() < 32 {
        // SAFETY: both slices hold at least a half, 16 bytes and 32 digits, so the first and the last half lie
        // within them. The accesses are unaligned, and all of the input is read before anything is written.
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
    for (block, digits) in input.as_chunks().0.iter().zip(output.as_chunks_mut().0) {
        encode_block(block, digits);
    }
    if let (Some(block), Some(digits)) = (input.last_chunk(), output.last_chunk_mut()) {
        encode_block(block, digits);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn encode_32(bytes: __m256i, table: __m512i) -> __m512i {
    let offsets = const { i64::from_le_bytes(OFFSETS_BYTES) };
    let nibbles =
        _mm512_multishift_epi64_epi8(_mm512_set1_epi64(offsets), _mm512_cvtepu8_epi16(bytes));
    _mm512_permutexvar_epi8(nibbles, table)
}

/// [`encode`] of one word, all of `output` written, as instructions at the place of use: a call, and the `vzeroupper` that a function with
/// vectors ends with, cost more than the work. Registers 16 and up need no `vzeroupper`, and a caller compiled
/// without AVX-512 holds nothing in them.
///
/// # Safety
/// The CPU has AVX-512 F, BW, VL and VBMI, and `output` is valid for writes.
#[inline(always)]
pub(in crate::hex) unsafe fn encode_word(input: &[u8; 32], output: *mut [u8; 64]) {
    // SAFETY: reads the 32 bytes of `input` and the two statics, writes the 64 of `output`; no operand needs
    // alignment; the registers written are named; the caller vouches for the instructions.
    unsafe {
        core::arch::asm!(
            "vpmovzxbw zmm16, ymmword ptr [{input}]",
            "vpbroadcastq zmm17, qword ptr [rip + {offsets}]",
            "vpmultishiftqb zmm16, zmm17, zmm16",
            "vpermb zmm16, zmm16, zmmword ptr [rip + {digits}]",
            // Two stores: a load of a part of one store of 64 bytes waits until that has reached the cache.
            "vmovdqu64 ymmword ptr [{output}], ymm16",
            "vextracti64x4 ymmword ptr [{output} + 32], zmm16, 1",
            input = in(reg) input.as_ptr(),
            output = in(reg) output,
            offsets = sym OFFSETS,
            digits = sym DIGITS,
            out("zmm16") _,
            out("zmm17") _,
            options(nostack, preserves_flags),
        );
    }
}

/// [`decode`] of one word at the place of use, as [`encode_word`].
///
/// # Safety
/// The CPU has AVX-512 F, BW, VL and VBMI.
#[inline(always)]
pub(in crate::hex) unsafe fn decode_word(digits: &[u8; 64], output: &mut [u8; 32]) -> bool {
    let wrong: u64;
    // SAFETY: reads the 64 bytes of `digits` and the two statics, writes the 32 of `output`; no operand needs
    // alignment; the registers written are named; the caller vouches for the instructions.
    unsafe {
        core::arch::asm!(
            "vmovdqu64 zmm16, zmmword ptr [{digits}]",
            "vmovdqu64 zmm17, zmmword ptr [rip + {values}]",
            "vmovdqa64 zmm18, zmm16",
            "vpermi2b zmm18, zmm17, zmmword ptr [rip + {values} + 64]",
            "vpbroadcastd zmm17, dword ptr [rip + {pair}]",
            "vporq zmm16, zmm16, zmm18",
            "vpmovb2m k1, zmm16",
            "vpmaddubsw zmm18, zmm18, zmm17",
            "vpmovwb ymm18, zmm18",
            "vmovdqu64 ymmword ptr [{output}], ymm18",
            "kmovq {wrong}, k1",
            digits = in(reg) digits.as_ptr(),
            output = in(reg) output.as_mut_ptr(),
            values = sym VALUES,
            pair = sym PAIR,
            wrong = lateout(reg) wrong,
            out("zmm16") _,
            out("zmm17") _,
            out("zmm18") _,
            out("k1") _,
            options(nostack, preserves_flags),
        );
    }
    wrong == 0
}

/// Whether every byte of `digits` is a digit; if so, `output` holds their value.
/// `digits.len() == 2 * output.len()`, `output.len() >= MIN`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
pub(in crate::hex) fn decode(digits: &[u8], output: &mut [u8]) -> bool {
    assert!(output.len() >= MIN && digits.len() == 2 * output.len());
    let (tables, _) = VALUES.as_chunks::<64>();
    let (low, high) = (load(&tables[0]), load(&tables[1]));
    let values = |text| _mm512_permutex2var_epi8(low, text, high);
    if output.len() <= 32 {
        // SAFETY: both slices hold at least a half, 32 digits and 16 bytes, so the first and the last half lie
        // within them. The accesses are unaligned, and all digits are read before anything is written.
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
            // The first half last: a caller that reads the result by its first 16 bytes and the rest, as a copy
            // of 20 bytes does, finds each in one store and need not wait.
            _mm_storeu_si128(last.cast(), _mm256_extracti128_si256::<1>(bytes));
            _mm_storeu_si128(first.cast(), _mm256_castsi256_si128(bytes));
            return _mm512_movepi8_mask(_mm512_or_si512(text, values)) == 0;
        }
    }
    // Top bit: not ASCII (which the look-up ignores), or no digit.
    let mut wrong = _mm512_setzero_si512();
    let mut decode_block = |block: &[u8; 64], bytes: &mut [u8; 32]| {
        let text = load(block);
        let values = values(text);
        wrong = _mm512_ternarylogic_epi64::<0xfe>(wrong, text, values);
        // SAFETY: 32 writable bytes; the access is unaligned.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), join(values)) };
    };
    for (block, bytes) in digits.as_chunks().0.iter().zip(output.as_chunks_mut().0) {
        decode_block(block, bytes);
    }
    if let (Some(block), Some(bytes)) = (digits.last_chunk(), output.last_chunk_mut()) {
        decode_block(block, bytes);
    }
    _mm512_movepi8_mask(wrong) == 0
}

/// Pairs of digit values, the high one first, to bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn join(values: __m512i) -> __m256i {
    _mm512_cvtepi16_epi8(_mm512_maddubs_epi16(values, _mm512_set1_epi16(0x01_10)))
}
