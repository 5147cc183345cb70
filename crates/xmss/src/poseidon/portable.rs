//! The permutations in safe Rust for `L` states at once: element `i` of state `l` is `state[i][l]`.
//!
//! Written to be vectorised by compilers: every inner loop runs over the lanes and multiplies two 32-bit words into a
//! 64-bit one. Elements are below p between the steps. Sums of products are kept below 2^64 by folding the upper half
//! (2^32 = 2^25 - 2 mod p) after every third product, and end with one Montgomery reduction. Constant time: no branch
//! or address depends on an element.

use super::Permutation;
use crate::koalabear::{MODULUS, R, subtract_modulus};

/// -p^-1 mod 2^32.
const NEGATIVE_INVERSE: u32 = 0x7eff_ffff;

/// Applies the permutation of `K` to every lane.
#[inline(always)]
pub(super) fn permute<K: Permutation<W, P>, const W: usize, const P: usize, const L: usize>(
    state: &mut [[u32; L]; W],
) {
    let tables = K::TABLES;
    if K::SPECIFICATION.leading_layer {
        K::small_layer(state);
    }
    for (half, rounds) in tables.full.chunks_exact(4).enumerate() {
        if half == 1 {
            partial::<K, W, P, L>(state);
        }
        for constants in rounds {
            for (element, constant) in state.iter_mut().zip(constants) {
                for x in element {
                    *x = cube(subtract_modulus(*x + constant));
                }
            }
            if K::DENSE {
                dense_layer::<K, W, P, L>(state);
            } else {
                K::small_layer(state);
            }
        }
    }
}

/// All partial rounds; see [`super::tables`].
#[inline(always)]
fn partial<K: Permutation<W, P>, const W: usize, const P: usize, const L: usize>(
    state: &mut [[u32; L]; W],
) {
    let tables = K::TABLES;
    let mut y = [[0; L]; P];
    for t in 0..P {
        let mut sum = Accumulator::new();
        sum.add(state, &tables.z_from_x[t]);
        // Process the latest y last, since it is available last.
        for (j, y) in y[..t].iter().enumerate() {
            sum.add(core::slice::from_ref(y), &[tables.z_from_y[t - j - 1]]);
        }
        y[t] = sum
            .finish()
            .map(|z| cube(subtract_modulus(z + tables.z_constant[t])));
    }
    let mut out = [[0; L]; W];
    for (i, out) in out.iter_mut().enumerate() {
        let mut sum = Accumulator::new();
        sum.add(state, &tables.out_from_x[i]);
        sum.add(&y, &tables.out_from_y[i]);
        *out = sum
            .finish()
            .map(|x| subtract_modulus(x + tables.out_constant[i]));
    }
    *state = out;
}

/// Applies the permutation of `K` to one state, for hashes that depend on one another. The parallelism is across the
/// outputs of a matrix.
#[inline(always)]
pub(super) fn permute_one<K: Permutation<W, P>, const W: usize, const P: usize>(
    state: &mut [u32; W],
) {
    let tables = K::TABLES;
    if K::SPECIFICATION.leading_layer {
        small_layer_one::<K, W, P>(state);
    }
    for (half, rounds) in tables.full.chunks_exact(4).enumerate() {
        if half == 1 {
            partial_one::<K, W, P>(state);
        }
        for constants in rounds {
            for (x, constant) in state.iter_mut().zip(constants) {
                *x = cube(subtract_modulus(*x + constant));
            }
            if K::DENSE {
                let mut sum = Accumulator::new();
                sum.add_columns(state, &K::COLUMNS.dense);
                *state = sum.finish();
            } else {
                small_layer_one::<K, W, P>(state);
            }
        }
    }
}

#[inline(always)]
fn small_layer_one<K: Permutation<W, P>, const W: usize, const P: usize>(state: &mut [u32; W]) {
    let mut lane = state.map(|x| [x]);
    K::small_layer(&mut lane);
    *state = lane.map(|[x]| x);
}

/// All partial rounds of one state.
#[inline(always)]
fn partial_one<K: Permutation<W, P>, const W: usize, const P: usize>(state: &mut [u32; W]) {
    let (tables, columns) = (K::TABLES, K::COLUMNS);
    let mut z = Accumulator::new();
    z.add_columns(state, &columns.z_from_x);
    z.fold();
    let mut y = [0; P];
    for t in 0..P {
        let mut sum = Accumulator {
            sum: [z.sum[t]],
            pending: 0,
        };
        for (j, y) in y[..t].iter().enumerate() {
            sum.add(&[[*y]], &[tables.z_from_y[t - j - 1]]);
        }
        let [z] = sum.finish();
        y[t] = cube(subtract_modulus(z + tables.z_constant[t]));
    }
    let mut out = Accumulator::new();
    out.add_columns(state, &columns.out_from_x);
    out.add_columns(&y, &columns.out_from_y);
    *state = out.finish();
    for (x, constant) in state.iter_mut().zip(&tables.out_constant) {
        *x = subtract_modulus(*x + constant);
    }
}

/// Multiplies by a circulant matrix of 31-bit coefficients.
#[inline(always)]
fn dense_layer<K: Permutation<W, P>, const W: usize, const P: usize, const L: usize>(
    state: &mut [[u32; L]; W],
) {
    let row = &K::TABLES.dense_row;
    let input = *state;
    for (i, out) in state.iter_mut().enumerate() {
        let mut sum = Accumulator::new();
        sum.add(&input[i..], &row[..W - i]);
        sum.add(&input[..i], &row[W - i..]);
        *out = sum.finish();
    }
}

/// A sum of products of elements in every lane.
struct Accumulator<const L: usize> {
    /// Below 2^57 + `pending` * p^2.
    sum: [u64; L],
    pending: u32,
}

impl<const L: usize> Accumulator<L> {
    #[inline(always)]
    fn new() -> Self {
        Self {
            sum: [0; L],
            pending: 0,
        }
    }

    #[inline(always)]
    fn add(&mut self, elements: &[[u32; L]], coefficients: &[u32]) {
        for (element, coefficient) in elements.iter().zip(coefficients) {
            if self.pending == 3 {
                self.fold();
            }
            self.pending += 1;
            for (sum, x) in self.sum.iter_mut().zip(element) {
                *sum += u64::from(*x) * u64::from(*coefficient);
            }
        }
    }

    /// Adds the product of each input and its column, element by element.
    #[inline(always)]
    fn add_columns(&mut self, inputs: &[u32], columns: &[[u32; L]]) {
        for (input, column) in inputs.iter().zip(columns) {
            self.add(core::slice::from_ref(column), &[*input]);
        }
    }

    #[inline(always)]
    fn fold(&mut self) {
        for sum in &mut self.sum {
            *sum = (*sum >> 32) * u64::from(R) + (*sum & 0xffff_ffff);
        }
        self.pending = 0;
    }

    /// Returns the sum divided by 2^32.
    #[inline(always)]
    fn finish(mut self) -> [u32; L] {
        self.fold();
        self.sum.map(|sum| subtract_modulus(montgomery(sum)))
    }
}

/// `t / 2^32` modulo p. The result is below `t / 2^32 + p`.
#[inline(always)]
fn montgomery(t: u64) -> u32 {
    let m = (t as u32).wrapping_mul(NEGATIVE_INVERSE);
    ((t + u64::from(m) * u64::from(MODULUS)) >> 32) as u32
}

/// x^3 / 2^64 modulo p.
#[inline(always)]
fn cube(x: u32) -> u32 {
    let square = subtract_modulus(montgomery(u64::from(x) * u64::from(x)));
    subtract_modulus(montgomery(u64::from(square) * u64::from(x)))
}

/// v mod p for v < 2048 p.
#[inline(always)]
fn reduce_small(v: u64) -> u32 {
    // v / p = v / 2^24 / 127, and 516 / 2^16 is slightly below 1 / 127.
    let quotient = ((v >> 24) * 516) >> 16;
    subtract_modulus((v - quotient * u64::from(MODULUS)) as u32)
}

/// Multiplies by twice a circulant matrix of small coefficients, each at most 128 and with a sum of at most 371. Such a
/// matrix has the form ((A, B), (B, A)), so multiplying the sum and the difference of the state's halves by A + B and A
/// - B takes half the products.
#[inline(always)]
pub(super) fn circulant_layer<const W: usize, const L: usize>(
    row: &[u32; W],
    state: &mut [[u32; L]; W],
) {
    // Offsets that keep the coefficients of A - B and the results positive.
    const MORE: u64 = 128;
    const POSITIVE: u64 = 512 * MODULUS as u64;
    let half = W / 2;
    let mut excess = [0; L];
    let (low, high) = state.split_at_mut(half);
    for (x, y) in low.iter_mut().zip(high) {
        for l in 0..L {
            (x[l], y[l]) = (x[l] + y[l], x[l] + MODULUS - y[l]);
            excess[l] += MORE * u64::from(y[l]);
        }
    }
    let input = *state;
    for i in 0..half {
        let mut sum = [POSITIVE; L];
        let mut difference = [0; L];
        for j in 0..half {
            let a = u64::from(row[(j + W - i) % W]);
            let b = u64::from(row[(j + half + W - i) % W]);
            for l in 0..L {
                sum[l] += u64::from(input[j][l]) * (a + b);
                difference[l] += u64::from(input[j + half][l]) * (a + MORE - b);
            }
        }
        for l in 0..L {
            state[i][l] = reduce_small(sum[l] + difference[l] - excess[l]);
            state[i + half][l] = reduce_small(sum[l] + excess[l] - difference[l]);
        }
    }
}

/// Poseidon2's full layer: M_4 on each block of four elements, then adds to each element the sum of those at its
/// position in all blocks.
#[inline(always)]
pub(super) fn poseidon2_layer<const W: usize, const L: usize>(state: &mut [[u32; L]; W]) {
    let mut wide = [[0_u64; L]; W];
    let mut sums = [[0_u64; L]; 4];
    for (block, x) in wide.chunks_exact_mut(4).zip(state.chunks_exact(4)) {
        for l in 0..L {
            let x: [u64; 4] = core::array::from_fn(|i| u64::from(x[i][l]));
            let all = x[0] + x[1] + x[2] + x[3];
            for i in 0..4 {
                // 2 x_i + 3 x_(i+1) + x_(i+2) + x_(i+3)
                let y = all + x[i] + 2 * x[(i + 1) % 4];
                block[i][l] = y;
                sums[i][l] += y;
            }
        }
    }
    for (i, (out, wide)) in state.iter_mut().zip(&wide).enumerate() {
        for l in 0..L {
            out[l] = reduce_small(wide[l] + sums[i % 4][l]);
        }
    }
}
