//! One permutation of either kind, for hashes that depend on one another. Elements are signed 32-bit numbers in the
//! lower halves of 64-bit words. Their order, [`order`], places corresponding elements of the state's two halves
//! opposite each other ([`Rows`]).
//!
//! The time is that of the longest chain of dependent instructions, not of the number of instructions. So:
//!
//! - A linear layer adds the products of one column at a time, which are independent of each other. All linear layers
//!   of full rounds have the form ((A, B), (B, A)), so with the sum and the difference of the state's halves, half of
//!   the products suffice ([`super::poseidon1`]).
//! - The S-boxes of the partial rounds are one chain of scalar multiplications, with 64-bit Montgomery reductions of
//!   two instructions, [`reduce_wide`]. In each round z^2 and k z are computed in parallel, so the next round's z
//!   depends on z^2 k z without waiting for y = z^3. The contributions of earlier y are computed with vectors in the
//!   meantime.
//!
//! Bounds are those of [`super::poseidon1`]: a state between rounds is at most 0.57 p. Constant time: no branch or
//! address depends on an element.

use core::arch::x86_64::*;

use lydite_hash::cpu::{Avx2, Avx512};

use super::super::tables::Tables;
use super::super::{Permutation, Poseidon1, Poseidon2};
use super::poseidon1::{GROUP, GROUP_OF_SUMS, Numbers, SUMS, fold, reduce, signed, unreduced_cube};
use super::vectors::Vectors;
use crate::koalabear::{MODULUS, R, add, inverse, minus, mul, pow};

/// Number of words for the values of 20 or 23 partial rounds, or for the longest state.
const ALL: usize = 24;
/// Maximum number of elements in half a state.
const HALF: usize = 12;
/// Products added between two folds, for outputs of the partial rounds' S-boxes, which are below p.
const CUBES: usize = 3;
/// p^-1 mod 2^64
const INVERSE: u64 = {
    // Each step doubles the number of correct bits.
    let mut inverse = 1_u64;
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(inverse.wrapping_mul(MODULUS as u64)));
        step += 1;
    }
    inverse
};
/// A multiple of p that makes folded sums positive.
const POSITIVE: u64 = (MODULUS as u64) << 28;

pub(super) type Words = [i64; ALL];

/// The constants of Poseidon, width 16.
pub(super) static POSEIDON1_16: Single<16, 20> = Single::new::<Poseidon1>();
/// The constants of Poseidon, width 24.
pub(super) static POSEIDON1_24: Single<24, 23> = Single::new::<Poseidon1>();
/// The constants of Poseidon2, width 16.
pub(super) static POSEIDON2_16: Single<16, 20> = Single::new::<Poseidon2>();
/// The constants of Poseidon2, width 24.
pub(super) static POSEIDON2_24: Single<24, 23> = Single::new::<Poseidon2>();

/// The index of the element at each position. Two elements that are half a state apart are at the same position in the
/// first and the second eight words, or in the two halves of the third.
const fn order<const W: usize>() -> [usize; W] {
    let mut order = [0; W];
    let mut lane = 0;
    while lane < W {
        order[lane] = match lane {
            8..16 => W / 2 + lane - 8,
            16..20 => lane - 8,
            _ => lane,
        };
        lane += 1;
    }
    order
}

/// Constants by column, in the order of [`order`]. All except the last two fields are signed values of least magnitude.
pub(super) struct Single<const W: usize, const P: usize> {
    /// Constants of the first round, plus (p - 1) / 2.
    first: Words,
    /// Linear layer of full rounds: rows of (A + B) / 2 at the positions of the first half's elements, of (A - B) / 2
    /// elsewhere.
    full: [Words; HALF],
    /// The layer before the first round, in the same form.
    leading: [Words; HALF],
    /// Constants of the next round, as half the sum and half the difference of those for the two halves. The last entry
    /// is for the layer before the first round.
    full_start: [Words; 9],
    /// The coefficient of each element in each z.
    z_from_x: [Words; W],
    z_start: Words,
    /// The coefficient of each y in each z except the next two.
    z_from_y: [Words; P],
    out_from_x: [Words; W],
    out_from_y: [Words; P],
    out_start: Words,
    /// The coefficients of y in the next z and in the one after that, times p^-1.
    next: u64,
    after_next: u64,
}

impl<const W: usize, const P: usize> Single<W, P> {
    const fn new<K: Permutation<W, P>>() -> Self {
        let specification = &K::SPECIFICATION;
        // All scales are 1. See `tables` for the power of R in each product. An S-box of a full round divides by R^2, a
        // scalar reduction by -R^2.
        let tables = &Tables::new(specification, true, 1);
        let r3 = pow(R, 3);
        let r5 = pow(R, 5);
        let order = order::<W>();
        let half = W / 2;
        let mut single = Self {
            first: [0; ALL],
            full: [[0; ALL]; HALF],
            leading: [[0; ALL]; HALF],
            full_start: [[0; ALL]; 9],
            z_from_x: [[0; ALL]; W],
            z_start: [0; ALL],
            z_from_y: [[0; ALL]; P],
            out_from_x: [[0; ALL]; W],
            out_from_y: [[0; ALL]; P],
            out_start: [0; ALL],
            next: (mul(minus(tables.z_from_y[0]), r5) as u64).wrapping_mul(INVERSE),
            after_next: (mul(minus(tables.z_from_y[1]), r5) as u64).wrapping_mul(INVERSE),
        };
        let mut lane = 0;
        while lane < W {
            let i = order[lane] % half;
            let is_sum = order[lane] < half;
            // Half of a number from each of the two halves, added or subtracted
            let mut j = 0;
            while j < half {
                let matrix = &specification.full_matrix;
                let (a, b) = (matrix[i][j], matrix[i][j + half]);
                assert!(a == matrix[i + half][j + half] && b == matrix[i + half][j]);
                let both = mul(add(a, if is_sum { b } else { minus(b) }), inverse(2));
                single.full[j][lane] = signed(mul(both, r3));
                single.leading[j][lane] = signed(mul(both, R));
                j += 1;
            }
            let mut round = 0;
            while round < 9 {
                let next = match round {
                    8 => &tables.full[0],
                    7 => &[0; W],
                    _ => &tables.full[round + 1],
                };
                let (a, b) = (next[i], next[i + half]);
                let both = mul(add(a, if is_sum { b } else { minus(b) }), inverse(2));
                single.full_start[round][lane] = signed(mul(both, R));
                round += 1;
            }
            let i = order[lane];
            let first = if specification.leading_layer {
                0
            } else {
                tables.full[0][i]
            };
            single.first[lane] = add(first, MODULUS / 2) as i64;
            single.out_start[lane] = signed(mul(tables.out_constant[i], R));
            let mut from = 0;
            while from < W {
                let j = order[from];
                single.out_from_x[from][lane] = signed(tables.out_from_x[i][j]);
                from += 1;
            }
            let mut t = 0;
            while t < P {
                single.z_from_x[lane][t] = signed(minus(tables.z_from_x[t][i]));
                single.out_from_y[t][lane] = signed(mul(tables.out_from_y[i][t], r5));
                t += 1;
            }
            lane += 1;
        }
        let mut t = 0;
        while t < P {
            single.z_start[t] = signed(mul(minus(tables.z_constant[t]), R));
            let mut later = t + 3;
            while later < P {
                let k = tables.z_from_y[later - t - 1];
                single.z_from_y[t][later] = signed(mul(minus(k), r5));
                later += 1;
            }
            t += 1;
        }
        check_columns(&single.full, GROUP_OF_SUMS, SUMS);
        check_columns(&single.leading, GROUP_OF_SUMS, 101);
        check_columns(&single.z_from_x, GROUP, 57);
        check_columns(&single.out_from_x, GROUP, 57);
        check_columns(&single.out_from_y, CUBES, 101);
        single
    }
}

/// Checks that `group` products with elements of at most `percent` hundredths of p, plus the result of the previous
/// fold, stay below 2^63.
const fn check_columns<const N: usize>(columns: &[Words; N], group: usize, percent: u64) {
    let mut lane = 0;
    while lane < ALL {
        let mut sum = 0;
        let mut j = 0;
        while j < N {
            if j % group == 0 {
                sum = 0;
            }
            sum += columns[j][lane].unsigned_abs();
            assert!(sum < ((1 << 63) - (1 << 58)) / (MODULUS as u64 / 100 * percent));
            j += 1;
        }
        lane += 1;
    }
}

/// Vectors of 64-bit words in the order of [`order`].
pub(super) trait Rows: Vectors {
    /// Reads vector `index` of the words.
    fn load64(self, words: &Words, index: usize) -> Self::Vector;
    /// Writes vector `index` of the words.
    fn store64(self, words: &mut Words, index: usize, vector: Self::Vector);
    /// Computes the sums of the state's two halves at the positions of the first half, and the differences at those of
    /// the second.
    fn sums_and_differences<const N: usize>(self, x: &[Self::Vector; N]) -> [Self::Vector; N];
    /// `first` at the positions of the first half, and `second` at those of the second.
    fn spread<const N: usize>(self, first: i64, second: i64) -> [Self::Vector; N];
}

impl Rows for Avx2 {
    #[inline(always)]
    fn load64(self, words: &Words, index: usize) -> __m256i {
        let words = &words.as_chunks::<4>().0[index];
        // SAFETY: `self` is evidence of the instruction; the reference is to 32 readable bytes, and the load has no
        // alignment requirement.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store64(self, words: &mut Words, index: usize, vector: __m256i) {
        let words = &mut words.as_chunks_mut::<4>().0[index];
        // SAFETY: `self` is evidence of the instruction; the reference is to 32 writable bytes, and the store has no
        // alignment requirement.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn sums_and_differences<const N: usize>(self, x: &[__m256i; N]) -> [__m256i; N] {
        let mut out = *x;
        for (first, second) in [(0, 2), (1, 3), (4, 5)] {
            if second < N {
                out[first] = self.add64(x[first], x[second]);
                out[second] = self.sub64(x[first], x[second]);
            }
        }
        out
    }

    #[inline(always)]
    fn spread<const N: usize>(self, first: i64, second: i64) -> [__m256i; N] {
        let mut out = [self.splat64(first); N];
        for index in [2, 3, 5] {
            if index < N {
                out[index] = self.splat64(second);
            }
        }
        out
    }
}

impl Rows for Avx512 {
    #[inline(always)]
    fn load64(self, words: &Words, index: usize) -> __m512i {
        let words = &words.as_chunks::<8>().0[index];
        // SAFETY: `self` is evidence of the instruction; the reference is to 64 readable bytes, and the load has no
        // alignment requirement.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store64(self, words: &mut Words, index: usize, vector: __m512i) {
        let words = &mut words.as_chunks_mut::<8>().0[index];
        // SAFETY: `self` is evidence of the instruction; the reference is to 64 writable bytes, and the store has no
        // alignment requirement.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
    }

    #[inline(always)]
    fn sums_and_differences<const N: usize>(self, x: &[__m512i; N]) -> [__m512i; N] {
        let mut out = *x;
        out[0] = self.add64(x[0], x[1]);
        out[1] = self.sub64(x[0], x[1]);
        for x in &mut out[2..] {
            // SAFETY: `self` is evidence of the instructions.
            *x = unsafe {
                let swapped = _mm512_shuffle_i64x2::<0b01_00_11_10>(*x, *x);
                _mm512_mask_sub_epi64(_mm512_add_epi64(*x, swapped), 0xf0, swapped, *x)
            };
        }
        out
    }

    #[inline(always)]
    fn spread<const N: usize>(self, first: i64, second: i64) -> [__m512i; N] {
        let (first, second) = (self.splat64(first), self.splat64(second));
        // SAFETY: `self` is evidence of the instruction.
        let both = unsafe { _mm512_mask_blend_epi64(0xf0, first, second) };
        let mut out = [both; N];
        (out[0], out[1]) = (first, second);
        out
    }
}

#[inline(always)]
fn load<V: Rows, const N: usize>(words: &Words, v: V) -> [V::Vector; N] {
    let mut vectors = [v.splat(0); N];
    for (index, vector) in vectors.iter_mut().enumerate() {
        *vector = v.load64(words, index);
    }
    vectors
}

#[inline(always)]
fn store<V: Rows, const N: usize>(words: &mut Words, vectors: &[V::Vector; N], v: V) {
    for (index, vector) in vectors.iter().enumerate() {
        v.store64(words, index, *vector);
    }
}

/// Adds the products of a column and `by`, vector by vector.
#[inline(always)]
fn multiply_add<V: Rows, const N: usize>(
    sums: &mut [V::Vector; N],
    column: &Words,
    by: &[V::Vector; N],
    v: V,
) {
    for ((sum, column), by) in sums.iter_mut().zip(load::<V, N>(column, v)).zip(by) {
        *sum = v.add64(*sum, v.mul_signed(column, *by));
    }
}

#[inline(always)]
fn fold_all<V: Rows, const N: usize>(sums: &mut [V::Vector; N], n: &Numbers<V>) {
    for sum in sums {
        *sum = fold(*sum, n);
    }
}

#[inline(always)]
fn reduce_all<V: Rows, const N: usize>(sums: &[V::Vector; N], n: &Numbers<V>) -> [V::Vector; N] {
    let mut out = *sums;
    for sum in &mut out {
        *sum = n.v.upper(reduce(*sum, n));
    }
    out
}

/// Adds the products of all columns and elements, in independent groups of `GROUP`.
#[inline(always)]
fn multiply<V: Rows, const W: usize, const N: usize>(
    start: &Words,
    columns: &[Words; W],
    elements: &Words,
    n: &Numbers<V>,
) -> [V::Vector; N] {
    let mut sums = load(start, n.v);
    for (columns, elements) in columns.chunks(GROUP).zip(elements.chunks(GROUP)) {
        let mut part = [n.v.splat(0); N];
        for (column, element) in columns.iter().zip(elements) {
            multiply_add(&mut part, column, &[n.v.splat64(*element); N], n.v);
        }
        fold_all(&mut part, n);
        for (sum, part) in sums.iter_mut().zip(part) {
            *sum = n.v.add64(*sum, part);
        }
    }
    sums
}

/// A linear layer of full rounds, applied to sums and differences.
#[inline(always)]
fn linear_layer<V: Rows, const W: usize, const N: usize>(
    x: &[V::Vector; N],
    columns: &[Words; HALF],
    start: &Words,
    n: &Numbers<V>,
) -> [V::Vector; N] {
    let mut words = [0; ALL];
    store(&mut words, x, n.v);
    let mut sums = load(start, n.v);
    for (group, columns) in columns[..W / 2].chunks(GROUP_OF_SUMS).enumerate() {
        let mut part = [n.v.splat(0); N];
        for (j, column) in (group * GROUP_OF_SUMS..).zip(columns) {
            let (sum, difference) = if j < 8 { (j, j + 8) } else { (j + 8, j + 12) };
            let by = n.v.spread(words[sum], words[difference]);
            multiply_add(&mut part, column, &by, n.v);
        }
        fold_all(&mut part, n);
        for (sum, part) in sums.iter_mut().zip(part) {
            *sum = n.v.add64(*sum, part);
        }
    }
    reduce_all(&n.v.sums_and_differences(&sums), n)
}

/// S-boxes, then sums and differences.
#[inline(always)]
fn cubes<V: Rows, const N: usize>(x: &[V::Vector; N], n: &Numbers<V>) -> [V::Vector; N] {
    let mut cubes = *x;
    for x in &mut cubes {
        *x = unreduced_cube(*x, n);
    }
    reduce_all(&n.v.sums_and_differences(&cubes), n)
}

/// Returns -t / 2^64 modulo p, below p, given t / p modulo 2^64: the upper half of t minus the product of the argument
/// and p.
#[inline]
fn reduce_wide(t: u64) -> u64 {
    ((u128::from(t) * u128::from(MODULUS)) >> 64) as u64
}

/// All partial rounds.
#[inline(always)]
fn partial<V: Rows, const W: usize, const P: usize, const N: usize, const M: usize>(
    state: &[V::Vector; N],
    single: &Single<W, P>,
    n: &Numbers<V>,
) -> [V::Vector; N] {
    let mut x = [0; ALL];
    store(&mut x, state, n.v);
    let mut z: [_; M] = multiply(&single.z_start, &single.z_from_x, &x, n);
    // For each z, the sum of the contributions of y from three or more rounds before
    let mut sums = [0; ALL];
    store(&mut sums, &z, n.v);
    let mut out = multiply(&single.out_start, &single.out_from_x, &x, n);

    let started = |sum: i64| {
        sum.cast_unsigned()
            .wrapping_add(POSITIVE)
            .wrapping_mul(INVERSE)
    };
    let mut now = reduce_wide(started(sums[0]));
    let mut rest = started(sums[1]);
    for t in 0..P {
        let over = now.wrapping_mul(INVERSE);
        let square = reduce_wide(now.wrapping_mul(over));
        let next = reduce_wide(now.wrapping_mul(single.next)).wrapping_mul(INVERSE);
        let y = reduce_wide(square.wrapping_mul(over));
        now = reduce_wide(square.wrapping_mul(next).wrapping_add(rest));
        // Read the sum before this y's contributions to later z are stored.
        let sum = if t + 2 < P { sums[t + 2] } else { 0 };
        rest = started(sum).wrapping_add(y.wrapping_mul(single.after_next));

        let y = n.v.splat64(y.cast_signed());
        multiply_add(&mut z, &single.z_from_y[t], &[y; M], n.v);
        fold_all(&mut z, n);
        store(&mut sums, &z, n.v);
        multiply_add(&mut out, &single.out_from_y[t], &[y; N], n.v);
        if t % CUBES == CUBES - 1 {
            fold_all(&mut out, n);
        }
    }
    fold_all(&mut out, n);
    reduce_all(&out, n)
}

/// Applies a permutation. `W` and `P` follow from `K`; `N` is the number of vectors for `W` words, `M` for [`ALL`].
#[inline(always)]
pub(super) fn permute<
    K: Permutation<W, P>,
    V: Rows,
    const W: usize,
    const P: usize,
    const N: usize,
    const M: usize,
>(
    elements: &mut [u32; W],
    single: &Single<W, P>,
    v: V,
) {
    let n = &Numbers::new(v);
    let order = const { order::<W>() };
    let mut words = [0; ALL];
    for (word, i) in words.iter_mut().zip(order) {
        *word = i64::from(elements[i]);
    }
    let mut state: [_; N] = load(&words, v);
    // Convert integers below p to signed ones with |x| at most p / 2: add (p - 1) / 2, reduce, and subtract it.
    let half = v.splat((MODULUS / 2).cast_signed());
    for (x, constant) in state.iter_mut().zip(load::<V, N>(&single.first, v)) {
        let sum = v.add(*x, constant);
        let reduced = v.min(sum, v.sub(sum, n.modulus));
        *x = v.sub(reduced, half);
    }
    if K::SPECIFICATION.leading_layer {
        let x = v.sums_and_differences(&state);
        state = linear_layer::<V, W, N>(&x, &single.leading, &single.full_start[8], n);
    }
    for round in 0..8 {
        if round == 4 {
            state = partial::<V, W, P, N, M>(&state, single, n);
        }
        let x = cubes(&state, n);
        state = linear_layer::<V, W, N>(&x, &single.full, &single.full_start[round], n);
    }
    for x in &mut state {
        *x = v.min(*x, v.add(*x, n.modulus));
    }
    store(&mut words, &state, v);
    for (word, i) in words.iter().zip(order) {
        elements[i] = *word as u32;
    }
}
