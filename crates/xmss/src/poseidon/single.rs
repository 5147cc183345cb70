//! One permutation of either kind, for hashes that depend on one another. Elements are signed 32-bit numbers in the
//! lower halves of 64-bit words. Their order, [`order`], places corresponding elements of the state's two halves
//! opposite each other ([`Rows`]).
//!
//! The time is that of the longest chain of dependent instructions, not of the number of instructions. So:
//!
//! - A linear layer adds the products of one column at a time, which are independent of each other. All linear layers
//!   of full rounds have the form ((A, B), (B, A)), so with the sum and the difference of the state's halves, half of
//!   the products suffice.
//! - The S-boxes of the partial rounds are one chain of scalar multiplications, with 64-bit Montgomery reductions of
//!   two instructions, [`reduce_wide`]. In each round z^2 and k z are computed in parallel, so the next round's z
//!   depends on z^2 k z without waiting for y = z^3. The contributions of earlier y are computed with vectors in the
//!   meantime.
//!
//! A state between rounds is at most 0.57 p. Constant time: no branch or address depends on an element.

use super::tables::Tables;
use super::{Permutation, Poseidon1, Poseidon2};
use crate::koalabear::{MODULUS, R, add, inverse, minus, mul, pow, signed, subtract_modulus};

/// Number of words for the values of 20 or 23 partial rounds, or for the longest state.
const ALL: usize = 24;
/// Products added between two folds, for elements of a state, which are at most 0.57 p.
pub(super) const GROUP: usize = 8;
/// Bound of sums of two cubes, in hundredths of p.
pub(super) const SUMS: u64 = 88;
/// Products added between two folds, for sums of two cubes.
pub(super) const GROUP_OF_SUMS: usize = 4;
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

/// The words of a state, or of the values of the partial rounds.
pub(super) type Words = [i64; ALL];
/// A coefficient of a matrix, which fits in 32 bits: of the size that products read without another instruction.
#[cfg(target_arch = "x86_64")]
type Coefficient = i64;
#[cfg(not(target_arch = "x86_64"))]
type Coefficient = i32;
/// A column of a matrix, in the order of [`order`].
pub(super) type Column = [Coefficient; ALL];

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
    first: [u32; ALL],
    /// Linear layer of full rounds: rows of (A + B) / 2 at the positions of the first half's elements, of (A - B) / 2
    /// elsewhere.
    full: [Column; HALF],
    /// The layer before the first round, in the same form.
    leading: [Column; HALF],
    /// Constants of the next round, as half the sum and half the difference of those for the two halves. The last entry
    /// is for the layer before the first round.
    full_start: [Words; 9],
    /// The coefficient of each element in each z.
    z_from_x: [Column; W],
    z_start: Words,
    /// The coefficient of each y in each z except the next two.
    z_from_y: [Column; P],
    out_from_x: [Column; W],
    out_from_y: [Column; P],
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
                single.full[j][lane] = signed(mul(both, r3)) as Coefficient;
                single.leading[j][lane] = signed(mul(both, R)) as Coefficient;
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
            single.first[lane] = add(first, MODULUS / 2);
            single.out_start[lane] = signed(mul(tables.out_constant[i], R));
            let mut from = 0;
            while from < W {
                let j = order[from];
                single.out_from_x[from][lane] = signed(tables.out_from_x[i][j]) as Coefficient;
                from += 1;
            }
            let mut t = 0;
            while t < P {
                single.z_from_x[lane][t] = signed(minus(tables.z_from_x[t][i])) as Coefficient;
                single.out_from_y[t][lane] =
                    signed(mul(tables.out_from_y[i][t], r5)) as Coefficient;
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
                single.z_from_y[t][later] = signed(mul(minus(k), r5)) as Coefficient;
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
#[allow(
    clippy::unnecessary_cast,
    reason = "necessary where a coefficient has 32 bits"
)]
const fn check_columns<const N: usize>(columns: &[Column; N], group: usize, percent: u64) {
    let mut lane = 0;
    while lane < ALL {
        let mut sum = 0;
        let mut j = 0;
        while j < N {
            if j % group == 0 {
                sum = 0;
            }
            sum += columns[j][lane].unsigned_abs() as u64;
            assert!(sum < ((1 << 63) - (1 << 58)) / (MODULUS as u64 / 100 * percent));
            j += 1;
        }
        lane += 1;
    }
}

/// The operations of one instruction set on vectors of 64-bit words in the order of [`order`]. Products read the lower
/// halves of words as signed numbers.
pub(super) trait Rows {
    /// A vector.
    type Vector: Copy;
    /// Words per vector.
    const WORDS: usize;

    /// Reads vector `index` of the words.
    fn load(&self, words: &Words, index: usize) -> Self::Vector;
    /// Writes vector `index` of the words.
    fn store(&self, words: &mut Words, index: usize, vector: Self::Vector);
    /// The same word everywhere.
    fn splat(&self, word: i64) -> Self::Vector;
    /// `a` + `b`.
    fn add(&self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a` - `b`.
    fn sub(&self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a` * `b`.
    fn mul(&self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `sum` plus the product of `by` and vector `index` of the column.
    fn add_products(
        &self,
        sum: Self::Vector,
        column: &Column,
        index: usize,
        by: Self::Vector,
    ) -> Self::Vector;
    /// Reduces to below 2^57 modulo p, using 2^32 = 2^25 - 2.
    fn fold(&self, t: Self::Vector) -> Self::Vector;
    /// Montgomery reduction. The result, at most |t| / 2^32 + p / 2, is in the lower halves.
    fn reduce(&self, t: Self::Vector) -> Self::Vector;

    /// Computes the sums of the state's two halves at the positions of the first half, and the differences at those of
    /// the second. The default is for vectors of at most four words, which do not cross from one half to the other.
    #[inline(always)]
    fn sums_and_differences<const N: usize>(&self, x: &[Self::Vector; N]) -> [Self::Vector; N] {
        let mut out = *x;
        for first in 0..N {
            let second = match first * Self::WORDS {
                0..8 => first + 8 / Self::WORDS,
                16..20 => first + 4 / Self::WORDS,
                _ => continue,
            };
            out[first] = self.add(x[first], x[second]);
            out[second] = self.sub(x[first], x[second]);
        }
        out
    }

    /// `first` at the positions of the first half, and `second` at those of the second. The default is as above.
    #[inline(always)]
    fn spread<const N: usize>(&self, first: i64, second: i64) -> [Self::Vector; N] {
        let (first, second) = (self.splat(first), self.splat(second));
        let mut out = [first; N];
        for (index, vector) in out.iter_mut().enumerate() {
            if matches!(index * Self::WORDS, 8..16 | 20..24) {
                *vector = second;
            }
        }
        out
    }
}

#[inline(always)]
fn load<R: Rows, const N: usize>(words: &Words, rows: &R) -> [R::Vector; N] {
    let mut vectors = [rows.splat(0); N];
    for (index, vector) in vectors.iter_mut().enumerate() {
        *vector = rows.load(words, index);
    }
    vectors
}

#[inline(always)]
fn store<R: Rows, const N: usize>(words: &mut Words, vectors: &[R::Vector; N], rows: &R) {
    for (index, vector) in vectors.iter().enumerate() {
        rows.store(words, index, *vector);
    }
}

/// Adds the products of a column and `by`, vector by vector.
#[inline(always)]
fn multiply_add<R: Rows, const N: usize>(
    sums: &mut [R::Vector; N],
    column: &Column,
    by: &[R::Vector; N],
    rows: &R,
) {
    for (index, (sum, by)) in sums.iter_mut().zip(by).enumerate() {
        *sum = rows.add_products(*sum, column, index, *by);
    }
}

#[inline(always)]
fn fold_all<R: Rows, const N: usize>(sums: &mut [R::Vector; N], rows: &R) {
    for sum in sums {
        *sum = rows.fold(*sum);
    }
}

#[inline(always)]
fn reduce_all<R: Rows, const N: usize>(sums: &[R::Vector; N], rows: &R) -> [R::Vector; N] {
    let mut out = *sums;
    for sum in &mut out {
        *sum = rows.reduce(*sum);
    }
    out
}

/// Adds the products of all columns and elements, in independent groups of `GROUP`.
#[inline(always)]
fn multiply<R: Rows, const W: usize, const N: usize>(
    start: &Words,
    columns: &[Column; W],
    elements: &Words,
    rows: &R,
) -> [R::Vector; N] {
    let mut sums = load(start, rows);
    for (columns, elements) in columns.chunks(GROUP).zip(elements.chunks(GROUP)) {
        let mut part = [rows.splat(0); N];
        for (column, element) in columns.iter().zip(elements) {
            multiply_add(&mut part, column, &[rows.splat(*element); N], rows);
        }
        fold_all(&mut part, rows);
        for (sum, part) in sums.iter_mut().zip(part) {
            *sum = rows.add(*sum, part);
        }
    }
    sums
}

/// A linear layer of full rounds, applied to sums and differences.
#[inline(always)]
fn linear_layer<R: Rows, const W: usize, const N: usize>(
    x: &[R::Vector; N],
    columns: &[Column; HALF],
    start: &Words,
    rows: &R,
) -> [R::Vector; N] {
    let mut words = [0; ALL];
    store(&mut words, x, rows);
    let mut sums = load(start, rows);
    for (group, columns) in columns[..W / 2].chunks(GROUP_OF_SUMS).enumerate() {
        let mut part = [rows.splat(0); N];
        for (j, column) in (group * GROUP_OF_SUMS..).zip(columns) {
            let (sum, difference) = if j < 8 { (j, j + 8) } else { (j + 8, j + 12) };
            let by = rows.spread(words[sum], words[difference]);
            multiply_add(&mut part, column, &by, rows);
        }
        fold_all(&mut part, rows);
        for (sum, part) in sums.iter_mut().zip(part) {
            *sum = rows.add(*sum, part);
        }
    }
    reduce_all(&rows.sums_and_differences(&sums), rows)
}

/// S-boxes, then sums and differences.
#[inline(always)]
fn cubes<R: Rows, const N: usize>(x: &[R::Vector; N], rows: &R) -> [R::Vector; N] {
    let mut cubes = *x;
    for x in &mut cubes {
        let square = rows.reduce(rows.mul(*x, *x));
        *x = rows.mul(square, *x);
    }
    reduce_all(&rows.sums_and_differences(&cubes), rows)
}

/// Returns -t / 2^64 modulo p, below p, given t / p modulo 2^64: the upper half of t minus the product of the argument
/// and p.
#[inline]
fn reduce_wide(t: u64) -> u64 {
    ((u128::from(t) * u128::from(MODULUS)) >> 64) as u64
}

/// All partial rounds.
#[inline(always)]
fn partial<R: Rows, const W: usize, const P: usize, const N: usize, const M: usize>(
    state: &[R::Vector; N],
    single: &Single<W, P>,
    rows: &R,
) -> [R::Vector; N] {
    let mut x = [0; ALL];
    store(&mut x, state, rows);
    let mut z: [_; M] = multiply(&single.z_start, &single.z_from_x, &x, rows);
    // For each z, the sum of the contributions of y from three or more rounds before
    let mut sums = [0; ALL];
    store(&mut sums, &z, rows);
    let mut out = multiply(&single.out_start, &single.out_from_x, &x, rows);

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

        let y = rows.splat(y.cast_signed());
        multiply_add(&mut z, &single.z_from_y[t], &[y; M], rows);
        fold_all(&mut z, rows);
        store(&mut sums, &z, rows);
        multiply_add(&mut out, &single.out_from_y[t], &[y; N], rows);
        if t % CUBES == CUBES - 1 {
            fold_all(&mut out, rows);
        }
    }
    fold_all(&mut out, rows);
    reduce_all(&out, rows)
}

/// Applies a permutation. `W` and `P` follow from `K`; `N` is the number of vectors for `W` words, `M` for [`ALL`].
#[inline(always)]
pub(super) fn permute<
    K: Permutation<W, P>,
    R: Rows,
    const W: usize,
    const P: usize,
    const N: usize,
    const M: usize,
>(
    elements: &mut [u32; W],
    single: &Single<W, P>,
    rows: &R,
) {
    const { assert!(N * R::WORDS == W && M * R::WORDS == ALL) };
    let order = const { order::<W>() };
    let mut words = [0; ALL];
    for ((word, constant), i) in words.iter_mut().zip(single.first).zip(order) {
        // Adding (p - 1) / 2, reducing, and subtracting it gives |x| at most p / 2.
        let sum = elements[i].wrapping_add(constant);
        *word = i64::from(subtract_modulus(sum)) - i64::from(MODULUS / 2);
    }
    let mut state: [_; N] = load(&words, rows);
    if K::SPECIFICATION.leading_layer {
        let x = rows.sums_and_differences(&state);
        state = linear_layer::<R, W, N>(&x, &single.leading, &single.full_start[8], rows);
    }
    for round in 0..8 {
        if round == 4 {
            state = partial::<R, W, P, N, M>(&state, single, rows);
        }
        let x = cubes(&state, rows);
        state = linear_layer::<R, W, N>(&x, &single.full, &single.full_start[round], rows);
    }
    store(&mut words, &state, rows);
    for (word, i) in words.iter().zip(order) {
        // The lower half is a signed number above -p.
        let element = *word as u32;
        elements[i] = element.min(element.wrapping_add(MODULUS));
    }
}

/// Defines the permutations for one instruction set, with vectors of `$words` words. `$rows` makes the operations from
/// the evidence.
macro_rules! kernels {
    ($feature:literal, $evidence:ty, $words:literal, $rows:path) => {
        $crate::poseidon::single::kernels! {
            $feature, $evidence, $words, $rows:
            poseidon1_16_one: Poseidon1, 16, 20, POSEIDON1_16;
            poseidon1_24_one: Poseidon1, 24, 23, POSEIDON1_24;
            poseidon2_16_one: Poseidon2, 16, 20, POSEIDON2_16;
            poseidon2_24_one: Poseidon2, 24, 23, POSEIDON2_24;
        }
    };
    (
        $feature:literal, $evidence:ty, $words:literal, $rows:path:
        $($name:ident: $kind:ident, $width:literal, $rounds:literal, $constants:ident;)*
    ) => {
        $(
            #[target_feature(enable = $feature)]
            pub(in super::super) fn $name(state: &mut [u32; $width], evidence: $evidence) {
                use $crate::poseidon::{$kind, single};
                single::permute::<$kind, _, $width, $rounds, { $width / $words }, { 24 / $words }>(
                    state,
                    &single::$constants,
                    &$rows(evidence),
                );
            }
        )*
    };
}
pub(super) use kernels;
