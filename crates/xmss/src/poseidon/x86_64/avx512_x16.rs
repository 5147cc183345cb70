//! Sixteen permutations of Poseidon at once with AVX-512: element `i` of state `l` is 32-bit word `l` of vector `i`.
//!
//! Elements are signed between the steps, so Montgomery reductions subtract and need no correction. Multiplications
//! take 32-bit words to 64-bit products, so every vector is processed twice: its even words and its odd words.
//!
//! The bottleneck is the multiplier, which accepts one instruction per cycle on current processors. So:
//!
//! - Linear layers of full rounds are circulant, so they have the form ((A, B), (B, A)). With u and v the sum and the
//!   difference of the state's two halves, (A + B) u and (A - B) v are the sum and the difference of the result's two
//!   halves, doubled. This takes half the products. The sums are computed inside the S-box, before its last reduction.
//!   Inputs satisfy |x| <= 0.57 p; |u| and |v| are at most [`SUMS`] hundredths of p.
//! - In linear layers with small coefficients, words are split into signed 16-bit halves, with two products per
//!   instruction (`vpmaddwd`) and the constants of the next round in the start value. The result stays doubled, which
//!   the scales of the tables account for. Outputs are at most 0.57 p.
//! - Everything else is dot products with constants of at most p / 2 [`super::super::tables`]. At most [`GROUP`] or
//!   [`CUBES`] products are added before the sum is folded using 2^32 = 2^25 - 2. After one Montgomery reduction,
//!   outputs are at most 0.53 p.
//!
//! Constant time: no branch or address depends on an element.

use core::arch::x86_64::*;

use super::super::tables::{Specification, Tables};
use super::super::{LANES, Lanes, Permutation, Poseidon1};
use crate::koalabear::{MODULUS, R, add, inverse, mul};

/// Products added between two folds, for elements of a state, which are at most 0.57 p.
pub(super) const GROUP: usize = 8;
/// Products added between two folds, for outputs of an S-box, which are at most 0.69 p.
const CUBES: usize = 6;
/// Bound of sums of two cubes, in hundredths of p.
pub(super) const SUMS: u64 = 88;
/// Products added between two folds, for sums of two cubes.
pub(super) const GROUP_OF_SUMS: usize = 4;
/// Rows of a matrix processed at once, with two sums each.
const ROWS: usize = 4;
/// Number of blocks of rows, for 24 elements or 23 partial rounds.
const BLOCKS: usize = 6;

/// A vector split into its even and its odd words: each is a signed 32-bit number in the lower half of a 64-bit word.
/// The upper half is arbitrary.
#[derive(Clone, Copy)]
pub(super) struct Halves {
    pub even: __m512i,
    pub odd: __m512i,
}

/// [`super::super::tables::Tables`] with signed constants of at most p / 2, in the width that the products need.
struct Wide<const W: usize, const P: usize> {
    /// Constants of the first round, plus (p - 1) / 2.
    first: [u32; W],
    /// Pairs of coefficients for `vpmaddwd` by row, first of A + B, then of A - B.
    pairs: [[i32; W]; W],
    /// Start values of the sums of lower and upper halves, by round.
    small_start: [[[i32; 2]; W]; 8],
    // Rows are in blocks of `ROWS`. Blocks past the end are zero.
    /// Half as many rows. Each consists of a row of (A + B) / 2 followed by a row of (A - B) / 2.
    dense_rows: [[[i32; W]; ROWS]; BLOCKS],
    dense_start: [[[i64; ROWS]; BLOCKS]; 8],
    z_from_x: [[[i32; W]; ROWS]; BLOCKS],
    z_from_y: [i32; P],
    z_start: [[i64; ROWS]; BLOCKS],
    out_from_x: [[[i32; W]; ROWS]; BLOCKS],
    out_from_y: [[[i32; P]; ROWS]; BLOCKS],
    out_start: [[i64; ROWS]; BLOCKS],
}

/// The representative of least magnitude.
pub(super) const fn signed(value: u32) -> i64 {
    if value > MODULUS / 2 {
        value as i64 - MODULUS as i64
    } else {
        value as i64
    }
}

/// Packs two 16-bit numbers into a word.
const fn pair(low: i64, high: i64) -> i32 {
    (low as i32 & 0xffff) | (high as i32) << 16
}

/// Splits a number into a signed 16-bit part and the rest divided by 2^16.
const fn halves_of(number: i64) -> [i32; 2] {
    let low = ((number + (1 << 15)) & 0xffff) - (1 << 15);
    [low as i32, ((number - low) >> 16) as i32]
}

/// Checks that `group` products with elements of at most `percent` hundredths of p, plus the result of the previous
/// fold, stay below 2^63.
const fn signed_row<const N: usize>(row: &[u32; N], group: usize, percent: u64) -> [i32; N] {
    let mut out = [0; N];
    let mut sum = 0;
    let mut j = 0;
    while j < N {
        out[j] = signed(row[j]) as i32;
        if j % group == 0 {
            sum = 0;
        }
        sum += out[j].unsigned_abs() as u64;
        assert!(sum < ((1 << 63) - (1 << 57)) / (MODULUS as u64 / 100 * percent));
        j += 1;
    }
    out
}

impl<const W: usize, const P: usize> Wide<W, P> {
    const fn new<K: Permutation<W, P>>() -> Self {
        let specification: &Specification<W, P> = &K::SPECIFICATION;
        let tables = &Tables::new(specification, K::DENSE, 2);
        let mut wide = Self {
            first: [0; W],
            pairs: [[0; W]; W],
            small_start: [[[0; 2]; W]; 8],
            dense_rows: [[[0; W]; ROWS]; BLOCKS],
            dense_start: [[[0; ROWS]; BLOCKS]; 8],
            z_from_x: [[[0; W]; ROWS]; BLOCKS],
            z_from_y: [0; P],
            z_start: [[0; ROWS]; BLOCKS],
            out_from_x: [[[0; W]; ROWS]; BLOCKS],
            out_from_y: [[[0; P]; ROWS]; BLOCKS],
            out_start: [[0; ROWS]; BLOCKS],
        };
        let matrix = &specification.full_matrix;
        let half = W / 2;
        let mut i = 0;
        while i < half {
            // Row i of A + B and of A - B
            let (mut sums, mut differences) = ([0; W], [0; W]);
            let mut j = 0;
            while j < half {
                let (a, b) = (matrix[i][j] as i64, matrix[i][j + half] as i64);
                assert!(a == matrix[i + half][j + half] as i64);
                assert!(b == matrix[i + half][j] as i64);
                (sums[j], differences[j]) = (a + b, a - b);
                j += 1;
            }
            if K::DENSE {
                // The same at the scale of the tables, halved
                let mut row = [0; W];
                let mut j = 0;
                while j < half {
                    let a = tables.dense_row[(j + W - i) % W];
                    let b = tables.dense_row[(j + half + W - i) % W];
                    row[j] = mul(add(a, b), inverse(2));
                    row[j + half] = mul(add(a, MODULUS - b), inverse(2));
                    j += 1;
                }
                wide.dense_rows[i / ROWS][i % ROWS] = signed_row(&row, GROUP_OF_SUMS, SUMS);
            } else {
                let (mut sum, mut difference, mut most) = (0, 0, 0);
                let mut j = 0;
                while j < half {
                    wide.pairs[i][j / 2] = pair(sums[j], sums[j + 1]);
                    wide.pairs[i + half][j / 2] = pair(differences[j], differences[j + 1]);
                    j += 2;
                }
                let mut j = 0;
                while j < half {
                    sum += sums[j];
                    difference += differences[j];
                    most += sums[j].abs() + differences[j].abs();
                    j += 1;
                }
                // Ensures that quotients by p, times 2^5, fit in 16 bits.
                assert!(most * SUMS as i64 / 100 < 1 << 10);
                let mut round = 0;
                while round < 8 {
                    // The constants of the next round. Those after the last round of the first half are in the tables
                    // of the partial rounds.
                    let (one, other) = match round {
                        7 => (0, 0),
                        _ => (tables.full[round + 1][i], tables.full[round + 1][i + half]),
                    };
                    let (mut one, other) = (signed(one), signed(other));
                    // As sum and difference, which must be even. Adding p changes the parity, since p is odd.
                    if (one + other) % 2 != 0 {
                        one += MODULUS as i64;
                    }
                    // Lower halves are read as signed after subtracting 2^15, so add the sum of the coefficients times
                    // 2^15.
                    wide.small_start[round][i] = halves_of((one + other) / 2 + (sum << 15));
                    wide.small_start[round][i + half] =
                        halves_of((one - other) / 2 + (difference << 15));
                    round += 1;
                }
            }
            i += 1;
        }
        let mut i = 0;
        while i < W {
            wide.first[i] = add(tables.full[0][i], MODULUS / 2);
            let mut round = 0;
            while K::DENSE && round < 7 {
                let next = tables.full[round + 1][i];
                wide.dense_start[round][i / ROWS][i % ROWS] = signed(mul(next, R));
                round += 1;
            }
            wide.out_from_x[i / ROWS][i % ROWS] = signed_row(&tables.out_from_x[i], GROUP, 57);
            wide.out_from_y[i / ROWS][i % ROWS] = signed_row(&tables.out_from_y[i], CUBES, 69);
            wide.out_start[i / ROWS][i % ROWS] = signed(mul(tables.out_constant[i], R));
            i += 1;
        }
        let mut t = 0;
        while t < P {
            wide.z_from_x[t / ROWS][t % ROWS] = signed_row(&tables.z_from_x[t], GROUP, 57);
            wide.z_from_y[t] = signed(tables.z_from_y[t]) as i32;
            // Any window of CUBES coefficients may be added up.
            let mut sum = 0;
            let mut j = (t + 1).saturating_sub(CUBES);
            while j <= t {
                sum += wide.z_from_y[j].unsigned_abs() as u64;
                j += 1;
            }
            assert!(sum < ((1 << 63) - (1 << 57)) / (MODULUS as u64 / 100 * 69));
            wide.z_start[t / ROWS][t % ROWS] = signed(mul(tables.z_constant[t], R));
            t += 1;
        }
        wide
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn splat(value: i32) -> __m512i {
    _mm512_set1_epi32(value)
}

/// The constants of the reductions, in every word.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub modulus: __m512i,
    /// p^-1 mod 2^32
    inverse: __m512i,
    /// 2^32 mod p
    r: __m512i,
}

impl Numbers {
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    pub(super) fn new() -> Self {
        // If LLVM knows these constants, it inserts two shifts between the two products of a reduction.
        core::hint::black_box(Self {
            modulus: splat(MODULUS.cast_signed()),
            inverse: splat(0x8100_0001_u32.cast_signed()),
            r: splat(R.cast_signed()),
        })
    }
}

/// Montgomery reduction of 64-bit words. The result, at most |t| / 2^32 + p / 2, is in the upper halves.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn reduce(t: __m512i, numbers: &Numbers) -> __m512i {
    let q = _mm512_mul_epu32(t, numbers.inverse);
    let m = _mm512_mul_epi32(q, numbers.modulus);
    _mm512_sub_epi64(t, m)
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn upper(t: __m512i) -> __m512i {
    _mm512_srli_epi64::<32>(t)
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn halves(x: __m512i) -> Halves {
    Halves {
        even: x,
        odd: upper(x),
    }
}

/// x^3 / 2^64, in the upper halves.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn cube(x: Halves, numbers: &Numbers) -> Halves {
    let one = |x| {
        let square = upper(reduce(_mm512_mul_epi32(x, x), numbers));
        reduce(_mm512_mul_epi32(square, x), numbers)
    };
    Halves {
        even: one(x.even),
        odd: one(x.odd),
    }
}

/// The sum and the difference of two cubes, in the upper halves.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn cubes(x: Halves, y: Halves, numbers: &Numbers) -> [Halves; 2] {
    let unreduced = |x| {
        let square = upper(reduce(_mm512_mul_epi32(x, x), numbers));
        _mm512_mul_epi32(square, x)
    };
    let both = |x, y| {
        let (x, y) = (unreduced(x), unreduced(y));
        [
            reduce(_mm512_add_epi64(x, y), numbers),
            reduce(_mm512_sub_epi64(x, y), numbers),
        ]
    };
    let [even, odd] = [both(x.even, y.even), both(x.odd, y.odd)];
    [
        Halves {
            even: even[0],
            odd: odd[0],
        },
        Halves {
            even: even[1],
            odd: odd[1],
        },
    ]
}

/// Combines results in the upper halves into one vector.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn join(x: Halves) -> __m512i {
    _mm512_mask_blend_epi32(0xaaaa, upper(x.even), x.odd)
}

/// Reduces a sum to below 2^57 modulo p, using 2^32 = 2^25 - 2.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn fold(t: __m512i, numbers: &Numbers) -> __m512i {
    let high = _mm512_mul_epi32(upper(t), numbers.r);
    let low = _mm512_maskz_mov_epi32(0x5555, t);
    _mm512_add_epi64(high, low)
}

/// Adds the products of `x` and [`ROWS`] rows, starting at column `from`, to the corresponding sums. Folds after every
/// `group` products and at the end.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn accumulate<const M: usize>(
    sums: &mut [Halves; ROWS],
    x: &[Halves],
    rows: &[[i32; M]; ROWS],
    from: usize,
    group: usize,
    numbers: &Numbers,
) {
    let mut done = 0;
    while done < x.len() {
        let end = x.len().min(done + group);
        for j in done..end {
            for (sum, row) in sums.iter_mut().zip(rows) {
                let constant = splat(row[from + j]);
                sum.even = _mm512_add_epi64(sum.even, _mm512_mul_epi32(x[j].even, constant));
                sum.odd = _mm512_add_epi64(sum.odd, _mm512_mul_epi32(x[j].odd, constant));
            }
        }
        for sum in &mut *sums {
            sum.even = fold(sum.even, numbers);
            sum.odd = fold(sum.odd, numbers);
        }
        done = end;
    }
}

/// Sums with these initial values.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn start(values: &[i64; ROWS]) -> [Halves; ROWS] {
    let mut sums = [zero(); ROWS];
    for (sum, value) in sums.iter_mut().zip(values) {
        let vector = _mm512_set1_epi64(*value);
        *sum = Halves {
            even: vector,
            odd: vector,
        };
    }
    sums
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn zero() -> Halves {
    Halves {
        even: _mm512_setzero_si512(),
        odd: _mm512_setzero_si512(),
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn split<const W: usize>(state: &[__m512i; W]) -> [Halves; W] {
    let mut out = [zero(); W];
    for (out, x) in out.iter_mut().zip(state) {
        *out = halves(*x);
    }
    out
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn reduce_halves(sum: Halves, numbers: &Numbers) -> Halves {
    Halves {
        even: reduce(sum.even, numbers),
        odd: reduce(sum.odd, numbers),
    }
}

/// All partial rounds.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn partial<const W: usize, const P: usize>(
    state: &mut [__m512i; W],
    wide: &Wide<W, P>,
    numbers: &Numbers,
) {
    let x = split(state);
    // The contribution of x to every z
    let mut z = [[zero(); ROWS]; BLOCKS];
    for ((z, rows), starts) in z.iter_mut().zip(&wide.z_from_x).zip(&wide.z_start) {
        *z = start(starts);
        accumulate(z, &x, rows, 0, GROUP, numbers);
    }
    // The S-boxes, one after another
    let z = z.as_flattened();
    let mut y = [zero(); P];
    for t in 0..P {
        let mut sum = z[t];
        // Process the latest y last, since it is available last.
        let mut done = 0;
        while done < t {
            let end = t.min(done + CUBES);
            for (j, y) in (done..end).zip(&y[done..end]) {
                let constant = splat(wide.z_from_y[t - j - 1]);
                sum.even = _mm512_add_epi64(sum.even, _mm512_mul_epi32(y.even, constant));
                sum.odd = _mm512_add_epi64(sum.odd, _mm512_mul_epi32(y.odd, constant));
            }
            sum.even = fold(sum.even, numbers);
            sum.odd = fold(sum.odd, numbers);
            done = end;
        }
        let z = reduce_halves(sum, numbers);
        let cube = cube(
            Halves {
                even: upper(z.even),
                odd: upper(z.odd),
            },
            numbers,
        );
        y[t] = Halves {
            even: upper(cube.even),
            odd: upper(cube.odd),
        };
    }
    // The state after the partial rounds
    for (block, out) in state.chunks_exact_mut(ROWS).enumerate() {
        let mut sums = start(&wide.out_start[block]);
        accumulate(&mut sums, &x, &wide.out_from_x[block], 0, GROUP, numbers);
        accumulate(&mut sums, &y, &wide.out_from_y[block], 0, CUBES, numbers);
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = join(reduce_halves(sum, numbers));
        }
    }
}

/// S-boxes and a linear layer with 31-bit coefficients.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn dense_round<const W: usize, const P: usize>(
    state: &mut [__m512i; W],
    round: usize,
    wide: &Wide<W, P>,
    numbers: &Numbers,
) {
    let half = W / 2;
    let mut x = [zero(); W];
    for k in 0..half {
        let [sum, difference] = cubes(halves(state[k]), halves(state[k + half]), numbers);
        for (k, cubes) in [(k, sum), (k + half, difference)] {
            x[k] = Halves {
                even: upper(cubes.even),
                odd: upper(cubes.odd),
            };
        }
    }
    for (block, rows) in wide.dense_rows[..half / ROWS].iter().enumerate() {
        let (mut a, mut b) = ([zero(); ROWS], [zero(); ROWS]);
        accumulate(&mut a, &x[..half], rows, 0, GROUP_OF_SUMS, numbers);
        accumulate(&mut b, &x[half..], rows, half, GROUP_OF_SUMS, numbers);
        let starts = &wide.dense_start[round];
        for (r, (a, b)) in a.into_iter().zip(b).enumerate() {
            let i = block * ROWS + r;
            let one = _mm512_set1_epi64(starts[block][r]);
            let other = _mm512_set1_epi64(starts[block + half / ROWS][r]);
            let add = |a, b, start| _mm512_add_epi64(_mm512_add_epi64(a, b), start);
            let subtract = |a, b, start| _mm512_add_epi64(_mm512_sub_epi64(a, b), start);
            let sum = Halves {
                even: add(a.even, b.even, one),
                odd: add(a.odd, b.odd, one),
            };
            let difference = Halves {
                even: subtract(a.even, b.even, other),
                odd: subtract(a.odd, b.odd, other),
            };
            state[i] = join(reduce_halves(sum, numbers));
            state[i + half] = join(reduce_halves(difference, numbers));
        }
    }
}

/// A linear layer with small coefficients, applied to the sums and the differences of the state's halves.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn small_layer<const W: usize, const P: usize>(
    state: &mut [__m512i; W],
    round: usize,
    wide: &Wide<W, P>,
) {
    let half = W / 2;
    // Halves of two elements in one vector. 2^15 is subtracted from the lower halves to make them signed.
    let mut low = [_mm512_setzero_si512(); W];
    let mut high = low;
    for (k, pair) in state.chunks_exact(2).enumerate() {
        let both = _mm512_mask_blend_epi16(0xaaaa_aaaa, pair[0], _mm512_slli_epi32::<16>(pair[1]));
        low[k] = _mm512_xor_si512(both, splat(0x8000_8000_u32.cast_signed()));
        high[k] = _mm512_mask_blend_epi16(0xaaaa_aaaa, _mm512_srli_epi32::<16>(pair[0]), pair[1]);
    }
    // Two separate loops, so that the halves stay in registers.
    for i in 0..half {
        let starts = &wide.small_start[round];
        let mut sum = [splat(starts[i][0]), splat(starts[i][1])];
        let mut difference = [splat(starts[i + half][0]), splat(starts[i + half][1])];
        for k in 0..half / 2 {
            let pair = splat(wide.pairs[i][k]);
            sum[0] = _mm512_add_epi32(sum[0], _mm512_madd_epi16(low[k], pair));
            sum[1] = _mm512_add_epi32(sum[1], _mm512_madd_epi16(high[k], pair));
        }
        for k in 0..half / 2 {
            let pair = splat(wide.pairs[i + half][k]);
            let (low, high) = (low[half / 2 + k], high[half / 2 + k]);
            difference[0] = _mm512_add_epi32(difference[0], _mm512_madd_epi16(low, pair));
            difference[1] = _mm512_add_epi32(difference[1], _mm512_madd_epi16(high, pair));
        }
        state[i] = reduce_small(
            _mm512_add_epi32(sum[0], difference[0]),
            _mm512_add_epi32(sum[1], difference[1]),
        );
        state[i + half] = reduce_small(
            _mm512_sub_epi32(sum[0], difference[0]),
            _mm512_sub_epi32(sum[1], difference[1]),
        );
    }
}

/// Reduces `high` * 2^16 + `low`, which must be less than 2^10 p, modulo p. The result is at most 0.57 p.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn reduce_small(low: __m512i, high: __m512i) -> __m512i {
    // The rounded quotient by p = 127 * 2^24 + 1: high / 2^10 * 1032 / 2^15.
    let quotient = _mm512_mulhrs_epi16(_mm512_srai_epi32::<10>(high), splat(1032));
    let value = _mm512_add_epi32(_mm512_slli_epi32::<16>(high), low);
    // Products with the signed lower halves
    let quotient_127 = _mm512_madd_epi16(quotient, splat(127));
    let quotient_1 = _mm512_madd_epi16(quotient, splat(1));
    _mm512_sub_epi32(
        _mm512_sub_epi32(value, quotient_1),
        _mm512_slli_epi32::<24>(quotient_127),
    )
}

/// Applies a permutation. `W` and `P` follow from `K`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn permute<K: Permutation<W, P>, const W: usize, const P: usize>(
    lanes: &mut Lanes<W>,
    wide: &Wide<W, P>,
) {
    let numbers = &Numbers::new();
    let modulus = numbers.modulus;
    let mut state = [_mm512_setzero_si512(); W];
    for (vector, column) in state.iter_mut().zip(&lanes.0) {
        *vector = load(column);
    }
    let half = W / 2;
    // Convert integers below p to signed ones with |x| at most p / 2: add (p - 1) / 2, reduce, and subtract it.
    for (x, constant) in state.iter_mut().zip(&wide.first) {
        let sum = _mm512_add_epi32(*x, splat(constant.cast_signed()));
        let reduced = _mm512_min_epu32(sum, _mm512_sub_epi32(sum, modulus));
        *x = _mm512_sub_epi32(reduced, splat((MODULUS / 2).cast_signed()));
    }
    for round in 0..8 {
        if round == 4 {
            partial(&mut state, wide, numbers);
        }
        if K::DENSE {
            dense_round(&mut state, round, wide, numbers);
            continue;
        }
        for k in 0..half {
            let [sum, difference] = cubes(halves(state[k]), halves(state[k + half]), numbers);
            state[k] = join(sum);
            state[k + half] = join(difference);
        }
        small_layer(&mut state, round, wide);
    }
    for (x, column) in state.iter().zip(&mut lanes.0) {
        store(column, _mm512_min_epu32(*x, _mm512_add_epi32(*x, modulus)));
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn load(words: &[u32; LANES]) -> __m512i {
    // SAFETY: the reference is to 64 readable bytes, and the load has no alignment requirement.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn store(words: &mut [u32; LANES], vector: __m512i) {
    // SAFETY: the reference is to 64 writable bytes, and the store has no alignment requirement.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
}

macro_rules! kernels {
    ($($all:ident: $kind:ty, $width:literal, $rounds:literal;)*) => {
        $(
            #[target_feature(enable = "avx512f,avx512bw")]
            pub(in super::super) fn $all(state: &mut Lanes<$width>) {
                static WIDE: Wide<$width, $rounds> = Wide::new::<$kind>();
                permute::<$kind, $width, $rounds>(state, &WIDE);
            }
        )*
    };
}

kernels! {
    poseidon1_16: Poseidon1, 16, 20;
    poseidon1_24: Poseidon1, 24, 23;
}
