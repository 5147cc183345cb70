//! The constants of the kernels, derived from the specification at compile time.
//!
//! The fast forms rest on two ideas.
//!
//! *Scales instead of conversions.* A Montgomery reduction divides by R = 2^32. Instead of converting to Montgomery
//! form and back, every stage of the permutation carries its state multiplied by a known power of R, and the constants
//! are chosen so that input and output are plain integers below p. The S-box turns a scale s into s^3 R^-2. Working
//! back from scale 1 at the output takes cube roots, which exist and are unique because 3 does not divide p - 1.
//!
//! *Unrolled partial rounds.* Let A be the matrix M with its first column set to zero, z_t the input of the S-box in
//! partial round t, and y_t = z_t^3. The state before round t is A^t x + sum of A^(t-1-j) M e_0 y_j + constants. So
//! every z_t, and the state after all partial rounds, is a dot product of constants with the first state x and the
//! earlier y. This takes 1086 products for width 16; going round by round takes 5120.

use super::constants::{MDS_16, MDS_24, ROUND_CONSTANTS_16, ROUND_CONSTANTS_24};
use crate::koalabear::{R, add, cube_root, inverse, minus, mul};

/// A permutation of `W` elements with `P` partial rounds between four full rounds before and four after.
#[derive(Clone, Copy)]
pub(crate) struct Specification<const W: usize, const P: usize> {
    /// Added before the S-boxes of the full rounds.
    pub full: [[u32; W]; 8],
    /// Added before the S-boxes of the partial rounds.
    pub partial: [[u32; W]; P],
    /// The linear layer of full rounds.
    pub full_matrix: [[u32; W]; W],
    /// The linear layer of partial rounds.
    pub partial_matrix: [[u32; W]; W],
    /// Whether the linear layer of full rounds is also applied before the first round, as in Poseidon2.
    pub leading_layer: bool,
}

/// The constants of a [`Specification`] in the form that the kernels use.
pub(crate) struct Tables<const W: usize, const P: usize> {
    /// Added before the S-boxes of the full rounds, at the scale of each round. The fifth is zero, since it is included
    /// in `out_constant`.
    pub full: [[u32; W]; 8],
    /// Coefficients of z_t in x.
    pub z_from_x: [[u32; W]; P],
    /// Coefficients of z_t in y_j, at `t - j - 1`.
    pub z_from_y: [u32; P],
    /// The constant term of z_t, not divided by R.
    pub z_constant: [u32; P],
    /// Coefficients in x of the state after the partial rounds.
    pub out_from_x: [[u32; W]; W],
    /// Coefficients in y of the state after the partial rounds.
    pub out_from_y: [[u32; P]; W],
    /// Constant term of the state after the partial rounds, including the constants of the next full round; not divided
    /// by R.
    pub out_constant: [u32; W],
    /// First row of the circulant linear layer of full rounds, if that layer ends with a Montgomery reduction.
    pub dense_row: [u32; W],
}

/// The matrices of [`Tables`] by columns, for a single state: the products of one input with all its coefficients are
/// added to all outputs at once.
pub(crate) struct Columns<const W: usize, const P: usize> {
    pub dense: [[u32; W]; W],
    pub z_from_x: [[u32; P]; W],
    pub out_from_x: [[u32; W]; W],
    pub out_from_y: [[u32; W]; P],
}

impl<const W: usize, const P: usize> Columns<W, P> {
    pub(super) const fn new(tables: &Tables<W, P>) -> Self {
        let mut columns = Self {
            dense: [[0; W]; W],
            z_from_x: [[0; P]; W],
            out_from_x: [[0; W]; W],
            out_from_y: [[0; W]; P],
        };
        let mut j = 0;
        while j < W {
            let mut i = 0;
            while i < W {
                columns.dense[j][i] = tables.dense_row[(j + W - i) % W];
                columns.out_from_x[j][i] = tables.out_from_x[i][j];
                i += 1;
            }
            let mut t = 0;
            while t < P {
                columns.z_from_x[j][t] = tables.z_from_x[t][j];
                columns.out_from_y[t][j] = tables.out_from_y[j][t];
                t += 1;
            }
            j += 1;
        }
        columns
    }
}

/// For a circulant matrix ((A, B), (B, A)) with this first row, returns the rows of ((A + B) / 2, (A - B) / 2), and
/// zeros.
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
pub(super) const fn half_sums<const W: usize>(row: &[u32; W]) -> [[u32; W]; W] {
    let mut rows = [[0; W]; W];
    let mut i = 0;
    while i < W / 2 {
        let mut j = 0;
        while j < W / 2 {
            let (a, b) = (row[(j + W - i) % W], row[(j + W / 2 + W - i) % W]);
            rows[i][j] = mul(add(a, b), inverse(2));
            rows[i][j + W / 2] = mul(add(a, minus(b)), inverse(2));
            j += 1;
        }
        i += 1;
    }
    rows
}

pub(super) const fn circulant<const W: usize>(row: [u32; W]) -> [[u32; W]; W] {
    let mut matrix = [[0; W]; W];
    let mut i = 0;
    while i < W {
        let mut j = 0;
        while j < W {
            matrix[i][j] = row[(j + W - i) % W];
            j += 1;
        }
        i += 1;
    }
    matrix
}

/// Poseidon of width 16 [LEANSIG, POSEIDON].
pub(super) const POSEIDON1_16: Specification<16, 20> = poseidon1(MDS_16, ROUND_CONSTANTS_16);
/// Poseidon of width 24.
pub(super) const POSEIDON1_24: Specification<24, 23> = poseidon1(MDS_24, ROUND_CONSTANTS_24);
/// Poseidon2 of width 16, as in Plonky3 2117e4b [P3, POSEIDON2].
pub(super) const POSEIDON2_16: Specification<16, 20> = poseidon2(ROUND_CONSTANTS_16, {
    let h = inverse(2);
    let (h8, h3, h4, h24) = (power(h, 8), power(h, 3), power(h, 4), power(h, 24));
    [
        minus(2),
        1,
        2,
        h,
        3,
        4,
        minus(h),
        minus(3),
        minus(4),
        h8,
        h3,
        h24,
        minus(h8),
        minus(h3),
        minus(h4),
        minus(h24),
    ]
});
/// Poseidon2 of width 24.
pub(super) const POSEIDON2_24: Specification<24, 23> = poseidon2(ROUND_CONSTANTS_24, {
    let h = inverse(2);
    let (h2, h3, h4, h5, h6) = (
        power(h, 2),
        power(h, 3),
        power(h, 4),
        power(h, 5),
        power(h, 6),
    );
    let (h7, h8, h9, h24) = (power(h, 7), power(h, 8), power(h, 9), power(h, 24));
    [
        minus(2),
        1,
        2,
        h,
        3,
        4,
        minus(h),
        minus(3),
        minus(4),
        h8,
        h2,
        h3,
        h4,
        h5,
        h6,
        h24,
        minus(h8),
        minus(h3),
        minus(h4),
        minus(h5),
        minus(h6),
        minus(h7),
        minus(h9),
        minus(h24),
    ]
});

const fn power(base: u32, exponent: u64) -> u32 {
    crate::koalabear::pow(base, exponent)
}

/// The constants are ordered by round: four full rounds, the partial rounds, four full rounds.
const fn poseidon1<const W: usize, const P: usize, const N: usize>(
    row: [u32; W],
    constants: [[u32; W]; N],
) -> Specification<W, P> {
    assert!(N == P + 8);
    let mut full = [[0; W]; 8];
    let mut partial = [[0; W]; P];
    let mut round = 0;
    while round < 4 {
        full[round] = constants[round];
        full[4 + round] = constants[4 + P + round];
        round += 1;
    }
    round = 0;
    while round < P {
        partial[round] = constants[4 + round];
        round += 1;
    }
    Specification {
        full,
        partial,
        full_matrix: circulant(row),
        partial_matrix: circulant(row),
        leading_layer: false,
    }
}

/// The constants are in stream order: eight full rounds, then one for each partial round. The full layer is circ(2 M_4,
/// M_4, ...) with M_4 = circ(2, 3, 1, 1). The partial layer is all ones plus a diagonal.
const fn poseidon2<const W: usize, const P: usize, const N: usize>(
    stream: [[u32; W]; N],
    diagonal: [u32; W],
) -> Specification<W, P> {
    let mut full = [[0; W]; 8];
    let mut round = 0;
    while round < 8 {
        full[round] = stream[round];
        round += 1;
    }
    let mut partial = [[0; W]; P];
    round = 0;
    while round < P {
        partial[round][0] = stream[8 + round / W][round % W];
        round += 1;
    }
    let mut full_matrix = [[0; W]; W];
    let mut partial_matrix = [[1; W]; W];
    let four = circulant([2, 3, 1, 1]);
    let mut i = 0;
    while i < W {
        partial_matrix[i][i] = add(1, diagonal[i]);
        let mut j = 0;
        while j < W {
            let times = if i / 4 == j / 4 { 2 } else { 1 };
            full_matrix[i][j] = times * four[i % 4][j % 4];
            j += 1;
        }
        i += 1;
    }
    Specification {
        full,
        partial,
        full_matrix,
        partial_matrix,
        leading_layer: true,
    }
}

const fn row_times<const W: usize>(row: &[u32; W], matrix: &[[u32; W]; W]) -> [u32; W] {
    let mut product = [0; W];
    let mut j = 0;
    while j < W {
        let mut sum = 0;
        let mut k = 0;
        while k < W {
            sum += row[k] as u64 * matrix[k][j] as u64 % crate::koalabear::MODULUS as u64;
            k += 1;
        }
        product[j] = (sum % crate::koalabear::MODULUS as u64) as u32;
        j += 1;
    }
    product
}

pub(super) const fn times_column<const W: usize>(
    matrix: &[[u32; W]; W],
    column: &[u32; W],
) -> [u32; W] {
    let mut product = [0; W];
    let mut i = 0;
    while i < W {
        let mut sum = 0;
        let mut k = 0;
        while k < W {
            sum += matrix[i][k] as u64 * column[k] as u64 % crate::koalabear::MODULUS as u64;
            k += 1;
        }
        product[i] = (sum % crate::koalabear::MODULUS as u64) as u32;
        i += 1;
    }
    product
}

const fn times<const W: usize>(a: &[[u32; W]; W], b: &[[u32; W]; W]) -> [[u32; W]; W] {
    let mut product = [[0; W]; W];
    let mut i = 0;
    while i < W {
        product[i] = row_times(&a[i], b);
        i += 1;
    }
    product
}

const fn scaled<const N: usize>(mut values: [u32; N], factor: u32) -> [u32; N] {
    let mut i = 0;
    while i < N {
        values[i] = mul(values[i], factor);
        i += 1;
    }
    values
}

impl<const W: usize, const P: usize> Tables<W, P> {
    /// If `dense`, the linear layer of full rounds has 31-bit coefficients, so it ends with a Montgomery reduction, and
    /// its coefficients bring every scale back to 1. Otherwise the layer may return `factor` times the specified
    /// result.
    pub(super) const fn new(specification: &Specification<W, P>, dense: bool, factor: u32) -> Self {
        let r2 = mul(R, R);
        let r2_inverse = inverse(r2);
        // Scales of the state before the S-boxes of each full round.
        let mut scales = [1; 8];
        let mut before_partial = 1;
        if !dense {
            if specification.leading_layer {
                before_partial = factor;
            }
            let mut round = 0;
            while round < 4 {
                scales[round] = before_partial;
                let cube = mul(mul(before_partial, before_partial), before_partial);
                before_partial = mul(mul(cube, r2_inverse), factor);
                round += 1;
            }
            let mut scale = 1;
            while round > 0 {
                round -= 1;
                scale = cube_root(mul(mul(scale, r2), inverse(factor)));
                scales[4 + round] = scale;
            }
        }
        let mut full = [[0; W]; 8];
        let mut round = 0;
        while round < 8 {
            if round != 4 {
                full[round] = scaled(specification.full[round], scales[round]);
            }
            round += 1;
        }

        // A, and M e_0
        let matrix = &specification.partial_matrix;
        let mut a = *matrix;
        let mut column = [0; W];
        let mut i = 0;
        while i < W {
            column[i] = a[i][0];
            a[i][0] = 0;
            i += 1;
        }
        // z_t and y_t have scale R, and a product is divided by R.
        let x_to_z = mul(r2, inverse(before_partial));
        let after = scales[4];
        let x_to_out = mul(mul(after, R), inverse(before_partial));

        let mut z_from_x = [[0; W]; P];
        let mut z_from_y = [0; P];
        let mut z_constant = [0; P];
        let mut out_from_y = [[0; P]; W];
        let mut row = [0; W];
        row[0] = 1;
        let mut constants = [0; W];
        let mut t = 0;
        while t < P {
            z_from_x[t] = scaled(row, x_to_z);
            let mut product = 0;
            let mut k = 0;
            while k < W {
                product = add(product, mul(row[k], column[k]));
                constants[k] = add(constants[k], specification.partial[t][k]);
                k += 1;
            }
            z_from_y[t] = mul(product, R);
            z_constant[t] = mul(constants[0], R);
            row = row_times(&row, &a);
            constants = times_column(&a, &constants);
            t += 1;
        }
        let mut i = 0;
        while i < W {
            constants[i] = mul(add(constants[i], specification.full[4][i]), after);
            i += 1;
        }
        while t > 0 {
            t -= 1;
            let scaled = scaled(column, after);
            let mut i = 0;
            while i < W {
                out_from_y[i][t] = scaled[i];
                i += 1;
            }
            column = times_column(&a, &column);
        }
        // A^P by squaring, starting at the highest bit
        let mut power = a;
        let mut bit = usize::BITS - 1 - P.leading_zeros();
        while bit > 0 {
            bit -= 1;
            power = times(&power, &power);
            if P >> bit & 1 == 1 {
                power = times(&power, &a);
            }
        }
        let mut i = 0;
        while i < W {
            power[i] = scaled(power[i], x_to_out);
            i += 1;
        }
        Self {
            full,
            z_from_x,
            z_from_y,
            z_constant,
            out_from_x: power,
            out_from_y,
            out_constant: constants,
            dense_row: if dense {
                scaled(specification.full_matrix[0], mul(r2, R))
            } else {
                [0; W]
            },
        }
    }
}
