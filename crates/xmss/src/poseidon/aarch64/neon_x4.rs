//! Four permutations at once with NEON, four times: element `i` of state `l` is lane `l` of vector `i`.
//!
//! The algorithm and its bounds are those of [`super::super::portable`], except that a sum of products is folded after
//! each group of four (4 p^2 + 2^57 is below 2^64), and that the dense layer multiplies the sum and the difference of
//! the state's halves. LLVM does not vectorise that code for NEON. Constant time: no branch or address depends on an
//! element.

use core::arch::aarch64::*;

use super::super::tables::half_sums;
use super::super::{Lanes, Permutation, Poseidon1, Poseidon2};
use crate::koalabear::{MODULUS, R};

/// -p^-1 mod 2^32.
const NEGATIVE_INVERSE: u32 = 0x7eff_ffff;

macro_rules! kernels {
    ($($name:ident: $kind:ty, $width:literal, $rounds:literal;)*) => {
        $(
            #[target_feature(enable = "neon")]
            pub(in super::super) fn $name(state: &mut Lanes<$width>) {
                permute::<$kind, $width, $rounds>(state);
            }
        )*
    };
}

kernels! {
    poseidon1_16: Poseidon1, 16, 20;
    poseidon1_24: Poseidon1, 24, 23;
    poseidon2_16: Poseidon2, 16, 20;
    poseidon2_24: Poseidon2, 24, 23;
}

/// Applies the permutation of `K` to every lane.
#[target_feature(enable = "neon")]
#[inline]
fn permute<K: Permutation<W, P>, const W: usize, const P: usize>(state: &mut Lanes<W>) {
    for part in 0..4 {
        let mut vectors = [vdupq_n_u32(0); W];
        for (vector, column) in vectors.iter_mut().zip(&state.0) {
            *vector = load(&column.as_chunks().0[part]);
        }
        rounds::<K, W, P>(&mut vectors);
        for (vector, column) in vectors.into_iter().zip(&mut state.0) {
            let words = &mut column.as_chunks_mut::<4>().0[part];
            // SAFETY: the reference is to four writable words.
            unsafe { vst1q_u32(words.as_mut_ptr(), vector) }
        }
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn rounds<K: Permutation<W, P>, const W: usize, const P: usize>(state: &mut [uint32x4_t; W]) {
    if K::SPECIFICATION.leading_layer {
        full_layer::<K, W, P>(state);
    }
    for (half, rounds) in K::TABLES.full.chunks_exact(4).enumerate() {
        if half == 1 {
            partial::<K, W, P>(state);
        }
        for constants in rounds {
            for (x, constant) in state.iter_mut().zip(constants) {
                *x = cube(subtract_modulus(vaddq_u32(*x, vdupq_n_u32(*constant))));
            }
            full_layer::<K, W, P>(state);
        }
    }
}

/// All partial rounds; see [`super::super::tables`].
#[target_feature(enable = "neon")]
#[inline]
fn partial<K: Permutation<W, P>, const W: usize, const P: usize>(state: &mut [uint32x4_t; W]) {
    let tables = K::TABLES;
    // Coefficients of the latest y last, since it is available last.
    let z_from_y = const { &reversed(K::TABLES.z_from_y) };
    let mut y = [vdupq_n_u32(0); P];
    for t in 0..P {
        let sum = Wide::splat(0)
            .add_products(state, &tables.z_from_x[t])
            .add_products(&y[..t], &z_from_y[P - t..]);
        let z = vaddq_u32(sum.montgomery(), vdupq_n_u32(tables.z_constant[t]));
        y[t] = cube(subtract_modulus(z));
    }
    let mut out = *state;
    for (i, out) in out.iter_mut().enumerate() {
        let sum = Wide::splat(0)
            .add_products(state, &tables.out_from_x[i])
            .add_products(&y, &tables.out_from_y[i]);
        let constant = vdupq_n_u32(tables.out_constant[i]);
        *out = subtract_modulus(vaddq_u32(sum.montgomery(), constant));
    }
    *state = out;
}

const fn reversed<const P: usize>(words: [u32; P]) -> [u32; P] {
    let mut reversed = [0; P];
    let mut i = 0;
    while i < P {
        reversed[i] = words[P - 1 - i];
        i += 1;
    }
    reversed
}

/// The linear layer of full rounds.
#[target_feature(enable = "neon")]
#[inline]
fn full_layer<K: Permutation<W, P>, const W: usize, const P: usize>(state: &mut [uint32x4_t; W]) {
    if K::DENSE {
        dense_layer(const { &half_sums(&K::TABLES.dense_row) }, state);
    } else if K::SPECIFICATION.leading_layer {
        poseidon2_layer(state);
    } else {
        let rows = const {
            // The constant is also computed for dense matrices, whose coefficients are too large.
            &if K::DENSE {
                [[0; W]; W]
            } else {
                halves(&K::SPECIFICATION.full_matrix)
            }
        };
        circulant_layer(rows, state);
    }
}

/// Replaces the state's two halves by their sum u and their difference v, plus p. A layer ((A, B), (B, A)) then takes
/// half the products: (A + B) u and (A - B) v are the sum and the difference of the result's halves.
#[target_feature(enable = "neon")]
#[inline]
fn sums_and_differences<const W: usize>(state: &mut [uint32x4_t; W]) {
    let (low, high) = state.split_at_mut(W / 2);
    for (x, y) in low.iter_mut().zip(high) {
        let difference = vsubq_u32(vaddq_u32(*x, vdupq_n_u32(MODULUS)), *y);
        (*x, *y) = (vaddq_u32(*x, *y), difference);
    }
}

/// Multiplies by the circulant matrix of large coefficients whose [`half_sums`] are given.
#[target_feature(enable = "neon")]
#[inline]
fn dense_layer<const W: usize>(rows: &[[u32; W]; W], state: &mut [uint32x4_t; W]) {
    // A multiple of p that keeps the differences positive.
    const POSITIVE: u64 = (MODULUS as u64) << 27;
    let half = W / 2;
    sums_and_differences(state);
    let mut input = *state;
    for x in &mut input {
        *x = subtract_modulus(*x);
    }
    let (sums, differences) = input.split_at(half);
    for (i, row) in rows[..half].iter().enumerate() {
        let sum = Wide::splat(0).add_products(sums, &row[..half]);
        let difference = Wide::splat(0).add_products(differences, &row[half..]);
        state[i] = sum.add(difference).montgomery();
        state[i + half] = sum.add(Wide::splat(POSITIVE)).sub(difference).montgomery();
    }
}

/// Added to the coefficients of A - B to keep them positive.
const MORE: u32 = 128;

/// For a circulant matrix ((A, B), (B, A)), returns the rows of (A + B, A - B + [`MORE`]).
const fn halves<const W: usize>(matrix: &[[u32; W]; W]) -> [[u32; W]; W] {
    let mut rows = [[0; W]; W];
    let mut i = 0;
    while i < W / 2 {
        let mut j = 0;
        while j < W / 2 {
            let (a, b) = (matrix[i][j], matrix[i][j + W / 2]);
            rows[i][j] = a + b;
            rows[i][j + W / 2] = a + MORE - b;
            j += 1;
        }
        i += 1;
    }
    rows
}

/// Multiplies by twice the circulant matrix of small coefficients whose [`halves`] are given.
#[target_feature(enable = "neon")]
#[inline]
fn circulant_layer<const W: usize>(rows: &[[u32; W]; W], state: &mut [uint32x4_t; W]) {
    // Keeps the results positive.
    const POSITIVE: u64 = 512 * MODULUS as u64;
    let half = W / 2;
    sums_and_differences(state);
    let input = *state;
    let (sums, differences) = input.split_at(half);
    let mut excess = Wide::splat(0);
    for y in differences {
        excess = excess.add_product(*y, MORE);
    }
    for (i, row) in rows[..half].iter().enumerate() {
        let mut sum = Wide::splat(POSITIVE);
        for (x, row) in sums.as_chunks().0.iter().zip(row.as_chunks().0) {
            sum = sum.add_four(x, row);
        }
        let mut difference = Wide::splat(0);
        for (x, row) in differences
            .as_chunks()
            .0
            .iter()
            .zip(row[half..].as_chunks().0)
        {
            difference = difference.add_four(x, row);
        }
        let difference = difference.sub(excess);
        state[i] = sum.add(difference).reduce_small();
        state[i + half] = sum.sub(difference).reduce_small();
    }
}

/// Poseidon2's full layer: M_4 on each block of four elements, then adds to each element the sum of those at its
/// position in all blocks.
#[target_feature(enable = "neon")]
#[inline]
fn poseidon2_layer<const W: usize>(state: &mut [uint32x4_t; W]) {
    let mut wide = [Wide::splat(0); W];
    let mut sums = [Wide::splat(0); 4];
    for (block, x) in wide
        .as_chunks_mut::<4>()
        .0
        .iter_mut()
        .zip(state.as_chunks::<4>().0)
    {
        let all = Wide::splat(0)
            .add_product(x[0], 1)
            .add_product(x[1], 1)
            .add_product(x[2], 1)
            .add_product(x[3], 1);
        for i in 0..4 {
            // 2 x_i + 3 x_(i+1) + x_(i+2) + x_(i+3)
            block[i] = all.add_product(x[i], 1).add_product(x[(i + 1) % 4], 2);
            sums[i] = sums[i].add(block[i]);
        }
    }
    for (i, (out, wide)) in state.iter_mut().zip(&wide).enumerate() {
        *out = wide.add(sums[i % 4]).reduce_small();
    }
}

/// A 64-bit number in every lane.
#[derive(Clone, Copy)]
struct Wide {
    /// Lanes 0 and 1.
    low: uint64x2_t,
    /// Lanes 2 and 3.
    high: uint64x2_t,
}

impl Wide {
    #[target_feature(enable = "neon")]
    #[inline]
    fn splat(number: u64) -> Self {
        let low = vdupq_n_u64(number);
        Self { low, high: low }
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            low: vaddq_u64(self.low, other.low),
            high: vaddq_u64(self.high, other.high),
        }
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self {
            low: vsubq_u64(self.low, other.low),
            high: vsubq_u64(self.high, other.high),
        }
    }

    /// Adds `x` times `coefficient`.
    #[target_feature(enable = "neon")]
    #[inline]
    fn add_product(self, x: uint32x4_t, coefficient: u32) -> Self {
        self.add_products_of(x, vdupq_n_u32(coefficient))
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn add_products_of(self, x: uint32x4_t, y: uint32x4_t) -> Self {
        Self {
            low: vmlal_u32(self.low, vget_low_u32(x), vget_low_u32(y)),
            high: vmlal_high_u32(self.high, x, y),
        }
    }

    /// Adds each element times its coefficient.
    #[target_feature(enable = "neon")]
    #[inline]
    fn add_four(self, elements: &[uint32x4_t; 4], coefficients: &[u32; 4]) -> Self {
        let [a, b, c, d] = *elements;
        let four = load(coefficients);
        let low = vmlal_laneq_u32::<0>(self.low, vget_low_u32(a), four);
        let low = vmlal_laneq_u32::<1>(low, vget_low_u32(b), four);
        let low = vmlal_laneq_u32::<2>(low, vget_low_u32(c), four);
        let low = vmlal_laneq_u32::<3>(low, vget_low_u32(d), four);
        let high = vmlal_high_laneq_u32::<0>(self.high, a, four);
        let high = vmlal_high_laneq_u32::<1>(high, b, four);
        let high = vmlal_high_laneq_u32::<2>(high, c, four);
        let high = vmlal_high_laneq_u32::<3>(high, d, four);
        Self { low, high }
    }

    /// Adds each element times its coefficient, which are below p, to numbers below 2^57. The result is below 2^57.
    #[target_feature(enable = "neon")]
    #[inline]
    fn add_products(mut self, elements: &[uint32x4_t], coefficients: &[u32]) -> Self {
        let (fours, rest) = elements.as_chunks::<4>();
        let (four_coefficients, rest_coefficients) = coefficients.as_chunks::<4>();
        for (elements, coefficients) in fours.iter().zip(four_coefficients) {
            self = self.add_four(elements, coefficients).fold();
        }
        if rest.is_empty() {
            return self;
        }
        for (x, coefficient) in rest.iter().zip(rest_coefficients) {
            self = self.add_product(*x, *coefficient);
        }
        self.fold()
    }

    /// Returns less than 2^57 with the same remainder modulo p.
    #[target_feature(enable = "neon")]
    #[inline]
    fn fold(self) -> Self {
        let fold = |sum| {
            let low = vandq_u64(sum, vdupq_n_u64(0xffff_ffff));
            vmlal_u32(low, vshrn_n_u64::<32>(sum), vdup_n_u32(R))
        };
        Self {
            low: fold(self.low),
            high: fold(self.high),
        }
    }

    /// The lower words.
    #[target_feature(enable = "neon")]
    #[inline]
    fn lower(self) -> uint32x4_t {
        vuzp1q_u32(
            vreinterpretq_u32_u64(self.low),
            vreinterpretq_u32_u64(self.high),
        )
    }

    /// The number divided by 2^32, modulo p, for numbers below 2^32 p.
    #[target_feature(enable = "neon")]
    #[inline]
    fn montgomery(self) -> uint32x4_t {
        let m = vmulq_u32(self.lower(), vdupq_n_u32(NEGATIVE_INVERSE));
        let Self { low, high } = self.add_product(m, MODULUS);
        let upper = vuzp2q_u32(vreinterpretq_u32_u64(low), vreinterpretq_u32_u64(high));
        subtract_modulus(upper)
    }

    /// The number modulo p, for numbers below 2048 p.
    #[target_feature(enable = "neon")]
    #[inline]
    fn reduce_small(self) -> uint32x4_t {
        // v / p = v / 2^24 / 127, and 516 / 2^16 is slightly below 1 / 127.
        let high = vshrn_high_n_u64::<24>(vshrn_n_u64::<24>(self.low), self.high);
        let quotient = vshrq_n_u32::<16>(vmulq_u32(high, vdupq_n_u32(516)));
        subtract_modulus(vmlsq_u32(self.lower(), quotient, vdupq_n_u32(MODULUS)))
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn load(words: &[u32; 4]) -> uint32x4_t {
    // SAFETY: the reference is to four readable words.
    unsafe { vld1q_u32(words.as_ptr()) }
}

/// Returns whichever of x and x - p is not negative. Requires x < 2 p.
#[target_feature(enable = "neon")]
#[inline]
fn subtract_modulus(x: uint32x4_t) -> uint32x4_t {
    vminq_u32(x, vsubq_u32(x, vdupq_n_u32(MODULUS)))
}

/// x^3 / 2^64 modulo p.
#[target_feature(enable = "neon")]
#[inline]
fn cube(x: uint32x4_t) -> uint32x4_t {
    let square = Wide::splat(0).add_products_of(x, x).montgomery();
    Wide::splat(0).add_products_of(square, x).montgomery()
}
