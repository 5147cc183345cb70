//! The rounds on rows: the working vector is a matrix of four rows a, b, c, d, each in one 256-bit vector, so that one
//! instruction works on all columns. For the diagonals, the rows a, c and d are rotated against b, whose words are the
//! last ones that a half round computes: the rotations of the others are then off the critical path.
//!
//! Lower bound: a half round is a chain of twelve instructions of one cycle, a round two of them.

use core::arch::x86_64::*;

/// Mixes the message block `m` into the working vector `v`.
#[target_feature(enable = "avx512f,avx512vl")]
pub(in super::super) fn mix(rounds: u32, v: &mut [u64; 16], m: &[u64; 16]) {
    let [a, b, c, d] = &mut v.as_chunks_mut::<4>().0 else {
        return;
    };
    let mut state = [&*a, &*b, &*c, &*d].map(|row| load4(row));
    let mut left = rounds;
    macro_rules! next {
        ($s0:literal $s1:literal $s2:literal $s3:literal $s4:literal $s5:literal $s6:literal $s7:literal
         $s8:literal $s9:literal $s10:literal $s11:literal $s12:literal $s13:literal $s14:literal $s15:literal) => {
            if left == 0 {
                break;
            }
            left -= 1;
            let columns = [
                gather::<$s0, $s2, $s4, $s6>(m),
                gather::<$s1, $s3, $s5, $s7>(m),
            ];
            half_round(&mut state, columns);
            state = turn::<false>(state);
            let diagonals = [
                gather::<$s14, $s8, $s10, $s12>(m),
                gather::<$s15, $s9, $s11, $s13>(m),
            ];
            half_round(&mut state, diagonals);
            state = turn::<true>(state);
        };
    }
    loop {
        each_row!(next);
    }
    for (row, vector) in [a, b, c, d].into_iter().zip(state) {
        // SAFETY: `row` has 32 bytes.
        unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), vector) };
    }
}

/// G on all columns at once, with the first and the second message word of each.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn half_round([a, b, c, d]: &mut [__m256i; 4], [first, second]: [__m256i; 2]) {
    *a = _mm256_add_epi64(_mm256_add_epi64(*a, first), *b);
    *d = _mm256_ror_epi64::<32>(_mm256_xor_si256(*d, *a));
    *c = _mm256_add_epi64(*c, *d);
    *b = _mm256_ror_epi64::<24>(_mm256_xor_si256(*b, *c));
    *a = _mm256_add_epi64(_mm256_add_epi64(*a, second), *b);
    *d = _mm256_ror_epi64::<16>(_mm256_xor_si256(*d, *a));
    *c = _mm256_add_epi64(*c, *d);
    *b = _mm256_ror_epi64::<63>(_mm256_xor_si256(*b, *c));
}

/// The message words at four places.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn gather<const A: usize, const B: usize, const C: usize, const D: usize>(
    m: &[u64; 16],
) -> __m256i {
    let [a, b, c, d] = [A, B, C, D].map(|place| m[place] as i64);
    _mm256_set_epi64x(d, c, b, a)
}

/// Moves the words of each diagonal into one lane, or back if `BACK`. The first word of b is in the last diagonal.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn turn<const BACK: bool>([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let up = |row| _mm256_permute4x64_epi64::<0b10_01_00_11>(row);
    let down = |row| _mm256_permute4x64_epi64::<0b00_11_10_01>(row);
    let [a, c] = if BACK {
        [down(a), up(c)]
    } else {
        [up(a), down(c)]
    };
    [a, b, c, _mm256_permute4x64_epi64::<0b01_00_11_10>(d)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn load4(words: &[u64; 4]) -> __m256i {
    // SAFETY: `words` has 32 bytes.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}
