//! Poseidon in vectors: element `i` of state `l` is 32-bit word `l` of vector `i`.
//!
//! Elements are signed between the steps, so Montgomery reductions subtract and need no correction. Multiplications
//! take 32-bit words to 64-bit products, so every vector is processed twice: its even words and its odd words.
//!
//! The bottleneck is the multiplier. So:
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

use super::super::single::{GROUP, GROUP_OF_SUMS, SUMS};
use super::super::tables::{Specification, Tables, half_sums};
use super::super::{Lanes, Permutation, Poseidon1};
use super::vectors::Vectors;
use crate::koalabear::{MODULUS, R, add, mul, signed};

/// Products added between two folds, for outputs of an S-box, which are at most 0.69 p.
const CUBES: usize = 6;
/// Rows of a matrix processed at once, with two sums each.
const ROWS: usize = 4;
/// Number of blocks of rows, for 24 elements or 23 partial rounds.
const BLOCKS: usize = 6;

/// A vector split into its even and its odd words: each is a signed 32-bit number in the lower half of a 64-bit word.
/// The upper half is arbitrary.
#[derive(Clone, Copy)]
pub(super) struct Halves<V: Vectors> {
    pub even: V::Vector,
    pub odd: V::Vector,
}

/// The tables for width 16.
pub(super) static WIDTH_16: Wide<16, 20> = Wide::new::<Poseidon1>();
/// The tables for width 24.
pub(super) static WIDTH_24: Wide<24, 23> = Wide::new::<Poseidon1>();

/// [`super::super::tables::Tables`] with signed constants of at most p / 2, in the width that the products need.
pub(super) struct Wide<const W: usize, const P: usize> {
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
                let row = &half_sums(&tables.dense_row)[i];
                wide.dense_rows[i / ROWS][i % ROWS] = signed_row(row, GROUP_OF_SUMS, SUMS);
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

/// The constants of the reductions, in every word.
#[derive(Clone, Copy)]
pub(super) struct Numbers<V: Vectors> {
    pub v: V,
    pub modulus: V::Vector,
    /// p^-1 mod 2^32
    inverse: V::Vector,
    /// 2^32 mod p
    r: V::Vector,
}

impl<V: Vectors> Numbers<V> {
    #[inline(always)]
    pub(super) fn new(v: V) -> Self {
        // If LLVM knows these constants, it loads some of them again where they are used.
        core::hint::black_box(Self {
            v,
            modulus: v.splat(MODULUS.cast_signed()),
            inverse: v.splat(0x8100_0001_u32.cast_signed()),
            r: v.splat(R.cast_signed()),
        })
    }
}

/// Montgomery reduction of 64-bit words. The result, at most |t| / 2^32 + p / 2, is in the upper halves.
#[inline(always)]
pub(super) fn reduce<V: Vectors>(t: V::Vector, n: &Numbers<V>) -> V::Vector {
    let v = n.v;
    let q = v.mul(t, n.inverse);
    let m = v.mul_signed(q, n.modulus);
    v.sub64(t, m)
}

#[inline(always)]
pub(super) fn halves<V: Vectors>(x: V::Vector, v: V) -> Halves<V> {
    Halves {
        even: x,
        odd: v.upper(x),
    }
}

/// x^3 / 2^32, of 64 bits.
#[inline(always)]
fn unreduced_cube<V: Vectors>(x: V::Vector, n: &Numbers<V>) -> V::Vector {
    let square = n.v.upper(reduce(n.v.mul_signed(x, x), n));
    n.v.mul_signed(square, x)
}

/// x^3 / 2^64, in the upper halves.
#[inline(always)]
pub(super) fn cube<V: Vectors>(x: Halves<V>, n: &Numbers<V>) -> Halves<V> {
    Halves {
        even: reduce(unreduced_cube(x.even, n), n),
        odd: reduce(unreduced_cube(x.odd, n), n),
    }
}

/// The sum and the difference of two cubes, in the upper halves.
#[inline(always)]
fn cubes<V: Vectors>(x: Halves<V>, y: Halves<V>, n: &Numbers<V>) -> [Halves<V>; 2] {
    let x = [unreduced_cube(x.even, n), unreduced_cube(x.odd, n)];
    let y = [unreduced_cube(y.even, n), unreduced_cube(y.odd, n)];
    [
        Halves {
            even: reduce(n.v.add64(x[0], y[0]), n),
            odd: reduce(n.v.add64(x[1], y[1]), n),
        },
        Halves {
            even: reduce(n.v.sub64(x[0], y[0]), n),
            odd: reduce(n.v.sub64(x[1], y[1]), n),
        },
    ]
}

/// Combines results in the upper halves into one vector.
#[inline(always)]
pub(super) fn join<V: Vectors>(x: Halves<V>, v: V) -> V::Vector {
    v.blend32(v.upper(x.even), x.odd)
}

/// Reduces a sum to below 2^57 modulo p, using 2^32 = 2^25 - 2.
#[inline(always)]
pub(super) fn fold<V: Vectors>(t: V::Vector, n: &Numbers<V>) -> V::Vector {
    let v = n.v;
    let high = v.mul_signed(v.upper(t), n.r);
    let low = v.even(t);
    v.add64(high, low)
}

/// Adds the products of `x` and [`ROWS`] rows, starting at column `from`, to the corresponding sums. Folds after every
/// `group` products and at the end.
#[inline(always)]
fn accumulate<V: Vectors, const M: usize>(
    sums: &mut [Halves<V>; ROWS],
    x: &[Halves<V>],
    rows: &[[i32; M]; ROWS],
    from: usize,
    group: usize,
    n: &Numbers<V>,
) {
    let v = n.v;
    let mut done = 0;
    while done < x.len() {
        let end = x.len().min(done + group);
        for j in done..end {
            for (sum, row) in sums.iter_mut().zip(rows) {
                let constant = v.splat(row[from + j]);
                sum.even = v.add64(sum.even, v.mul_signed(x[j].even, constant));
                sum.odd = v.add64(sum.odd, v.mul_signed(x[j].odd, constant));
            }
        }
        for sum in &mut *sums {
            sum.even = fold(sum.even, n);
            sum.odd = fold(sum.odd, n);
        }
        done = end;
    }
}

/// Sums with these initial values.
#[inline(always)]
fn start<V: Vectors>(values: &[i64; ROWS], v: V) -> [Halves<V>; ROWS] {
    let mut sums = [zero(v); ROWS];
    for (sum, value) in sums.iter_mut().zip(values) {
        let vector = v.splat64(*value);
        *sum = Halves {
            even: vector,
            odd: vector,
        };
    }
    sums
}

#[inline(always)]
fn zero<V: Vectors>(v: V) -> Halves<V> {
    Halves {
        even: v.splat(0),
        odd: v.splat(0),
    }
}

#[inline(always)]
fn split<V: Vectors, const W: usize>(state: &[V::Vector; W], v: V) -> [Halves<V>; W] {
    let mut out = [zero(v); W];
    for (out, x) in out.iter_mut().zip(state) {
        *out = halves(*x, v);
    }
    out
}

#[inline(always)]
fn reduce_halves<V: Vectors>(sum: Halves<V>, n: &Numbers<V>) -> Halves<V> {
    Halves {
        even: reduce(sum.even, n),
        odd: reduce(sum.odd, n),
    }
}

/// All partial rounds.
#[inline(always)]
fn partial<V: Vectors, const W: usize, const P: usize>(
    state: &mut [V::Vector; W],
    wide: &Wide<W, P>,
    n: &Numbers<V>,
) {
    let v = n.v;
    let x = split(state, v);
    // The contribution of x to every z
    let mut z = [[zero(v); ROWS]; BLOCKS];
    for ((z, rows), starts) in z.iter_mut().zip(&wide.z_from_x).zip(&wide.z_start) {
        *z = start(starts, v);
        accumulate(z, &x, rows, 0, GROUP, n);
    }
    // The S-boxes, one after another
    let z = z.as_flattened();
    let mut y = [zero(v); P];
    for t in 0..P {
        let mut sum = z[t];
        // Process the latest y last, since it is available last.
        let mut done = 0;
        while done < t {
            let end = t.min(done + CUBES);
            for (j, y) in (done..end).zip(&y[done..end]) {
                let constant = v.splat(wide.z_from_y[t - j - 1]);
                sum.even = v.add64(sum.even, v.mul_signed(y.even, constant));
                sum.odd = v.add64(sum.odd, v.mul_signed(y.odd, constant));
            }
            sum.even = fold(sum.even, n);
            sum.odd = fold(sum.odd, n);
            done = end;
        }
        let z = reduce_halves(sum, n);
        let cube = cube(
            Halves {
                even: v.upper(z.even),
                odd: v.upper(z.odd),
            },
            n,
        );
        y[t] = Halves {
            even: v.upper(cube.even),
            odd: v.upper(cube.odd),
        };
    }
    // The state after the partial rounds
    for (block, out) in state.chunks_exact_mut(ROWS).enumerate() {
        let mut sums = start(&wide.out_start[block], v);
        accumulate(&mut sums, &x, &wide.out_from_x[block], 0, GROUP, n);
        accumulate(&mut sums, &y, &wide.out_from_y[block], 0, CUBES, n);
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = join(reduce_halves(sum, n), v);
        }
    }
}

/// S-boxes and a linear layer with 31-bit coefficients.
#[inline(always)]
fn dense_round<V: Vectors, const W: usize, const P: usize>(
    state: &mut [V::Vector; W],
    round: usize,
    wide: &Wide<W, P>,
    n: &Numbers<V>,
) {
    let v = n.v;
    let half = W / 2;
    let mut x = [zero(v); W];
    for k in 0..half {
        let [sum, difference] = cubes(halves(state[k], v), halves(state[k + half], v), n);
        for (k, cubes) in [(k, sum), (k + half, difference)] {
            x[k] = Halves {
                even: v.upper(cubes.even),
                odd: v.upper(cubes.odd),
            };
        }
    }
    for (block, rows) in wide.dense_rows[..half / ROWS].iter().enumerate() {
        let (mut a, mut b) = ([zero(v); ROWS], [zero(v); ROWS]);
        accumulate(&mut a, &x[..half], rows, 0, GROUP_OF_SUMS, n);
        accumulate(&mut b, &x[half..], rows, half, GROUP_OF_SUMS, n);
        let starts = &wide.dense_start[round];
        for (r, (a, b)) in a.into_iter().zip(b).enumerate() {
            let i = block * ROWS + r;
            let one = v.splat64(starts[block][r]);
            let other = v.splat64(starts[block + half / ROWS][r]);
            let sum = Halves {
                even: v.add64(v.add64(a.even, b.even), one),
                odd: v.add64(v.add64(a.odd, b.odd), one),
            };
            let difference = Halves {
                even: v.add64(v.sub64(a.even, b.even), other),
                odd: v.add64(v.sub64(a.odd, b.odd), other),
            };
            state[i] = join(reduce_halves(sum, n), v);
            state[i + half] = join(reduce_halves(difference, n), v);
        }
    }
}

/// A linear layer with small coefficients, applied to the sums and the differences of the state's halves.
#[inline(always)]
fn small_layer<V: Vectors, const W: usize, const P: usize>(
    state: &mut [V::Vector; W],
    round: usize,
    wide: &Wide<W, P>,
    v: V,
) {
    let half = W / 2;
    // Halves of two elements in one vector. 2^15 is subtracted from the lower halves to make them signed.
    let mut low = [v.splat(0); W];
    let mut high = low;
    for (k, pair) in state.chunks_exact(2).enumerate() {
        let both = v.blend16(pair[0], v.shl(pair[1], 16));
        low[k] = v.xor(both, v.splat(0x8000_8000_u32.cast_signed()));
        high[k] = v.blend16(v.shr(pair[0], 16), pair[1]);
    }
    // Two separate loops, so that the halves stay in registers.
    for i in 0..half {
        let starts = &wide.small_start[round];
        let mut sum = [v.splat(starts[i][0]), v.splat(starts[i][1])];
        let mut difference = [v.splat(starts[i + half][0]), v.splat(starts[i + half][1])];
        for k in 0..half / 2 {
            let pair = v.splat(wide.pairs[i][k]);
            sum[0] = v.add(sum[0], v.dot16(low[k], pair));
            sum[1] = v.add(sum[1], v.dot16(high[k], pair));
        }
        for k in 0..half / 2 {
            let pair = v.splat(wide.pairs[i + half][k]);
            let (low, high) = (low[half / 2 + k], high[half / 2 + k]);
            difference[0] = v.add(difference[0], v.dot16(low, pair));
            difference[1] = v.add(difference[1], v.dot16(high, pair));
        }
        state[i] = reduce_small(
            v.add(sum[0], difference[0]),
            v.add(sum[1], difference[1]),
            v,
        );
        state[i + half] = reduce_small(
            v.sub(sum[0], difference[0]),
            v.sub(sum[1], difference[1]),
            v,
        );
    }
}

/// Reduces `high` * 2^16 + `low`, which must be less than 2^10 p, modulo p. The result is at most 0.57 p.
#[inline(always)]
fn reduce_small<V: Vectors>(low: V::Vector, high: V::Vector, v: V) -> V::Vector {
    // The rounded quotient by p = 127 * 2^24 + 1: high / 2^10 * 1032 / 2^15.
    let quotient = v.mul_high16(v.shr_signed(high, 10), v.splat(1032));
    let value = v.add(v.shl(high, 16), low);
    // Products with the signed lower halves
    let quotient_127 = v.dot16(quotient, v.splat(127));
    let quotient_1 = v.dot16(quotient, v.splat(1));
    v.sub(v.sub(value, quotient_1), v.shl(quotient_127, 24))
}

/// Applies a permutation. `W` and `P` follow from `K`.
#[inline(always)]
pub(super) fn permute<K: Permutation<W, P>, V: Vectors, const W: usize, const P: usize>(
    lanes: &mut Lanes<W>,
    wide: &Wide<W, P>,
    v: V,
) {
    let n = &Numbers::new(v);
    for part in 0..V::PARTS {
        let mut state = [v.splat(0); W];
        for (vector, column) in state.iter_mut().zip(&lanes.0) {
            *vector = v.load(column, part);
        }
        rounds::<K, V, W, P>(&mut state, wide, n);
        for (vector, column) in state.iter().zip(&mut lanes.0) {
            let positive = v.min(*vector, v.add(*vector, n.modulus));
            v.store(column, part, positive);
        }
    }
}

#[inline(always)]
fn rounds<K: Permutation<W, P>, V: Vectors, const W: usize, const P: usize>(
    state: &mut [V::Vector; W],
    wide: &Wide<W, P>,
    n: &Numbers<V>,
) {
    let v = n.v;
    let half = W / 2;
    // Convert integers below p to signed ones with |x| at most p / 2: add (p - 1) / 2, reduce, and subtract it.
    for (x, constant) in state.iter_mut().zip(&wide.first) {
        let sum = v.add(*x, v.splat(constant.cast_signed()));
        let reduced = v.min(sum, v.sub(sum, n.modulus));
        *x = v.sub(reduced, v.splat((MODULUS / 2).cast_signed()));
    }
    for round in 0..8 {
        if round == 4 {
            partial(state, wide, n);
        }
        if K::DENSE {
            dense_round(state, round, wide, n);
            continue;
        }
        for k in 0..half {
            let [sum, difference] = cubes(halves(state[k], v), halves(state[k + half], v), n);
            state[k] = join(sum, v);
            state[k + half] = join(difference, v);
        }
        small_layer(state, round, wide, v);
    }
}
