//! Which lanes the products in Fp12 = Fp2\[w\]/(w^6 - xi) take where lane k of eight is the coefficient of w^k, for any xi. Lanes
//! 6 and 7 are zero. Lanes 8 to 15 are those of a second vector.

use crate::lanes::LANES;

/// One lane in all.
pub(crate) const SPLAT: [[u64; LANES]; LANES] = {
    let (mut lanes, mut n) = ([[0; LANES]; LANES], 0);
    while n < LANES {
        lanes[n] = [n as u64; LANES];
        n += 1;
    }
    lanes
};

/// Of `(b, xi b)` for the product with the coefficient of w^n: lane k takes that of w^(k - n).
pub(crate) const ROTATED: [[u64; LANES]; 6] = {
    let (mut lanes, mut n) = ([[6; LANES]; 6], 0);
    while n < 6 {
        let mut k = 0;
        while k < 6 {
            lanes[n][k] = if k >= n { k - n } else { LANES + k + 6 - n } as u64;
            k += 1;
        }
        n += 1;
    }
    lanes
};

/// What lanes have no product.
const NONE: u64 = 6;

/// For the square: pairs (i, j) with `i + j = k` or `i + j = k + 6` in lane k, those of different i and j doubled, which is
/// done to the first: lanes of `(a, 2 a)`, and of `(a, xi a)`.
pub(crate) const SQUARE: [[[u64; LANES]; 2]; 4] = [
    [[0, NONE, 1, NONE, 2, NONE, 6, 6], [0, 6, 1, 6, 2, 6, 6, 6]],
    [
        [3, 8, 4, 8, 5, 8, 6, 6],
        [8 + 3, 1, 8 + 4, 3, 8 + 5, 5, 6, 6],
    ],
    [
        [8 + 1, 8 + 2, 8, 8 + 1, 8, 8 + 1, 6, 6],
        [8 + 5, 8 + 5, 2, 2, 4, 4, 6, 6],
    ],
    [
        [8 + 2, 8 + 3, 8 + 3, 8 + 4, 8 + 1, 8 + 2, 6, 6],
        [8 + 4, 8 + 4, 8 + 5, 8 + 5, 3, 3, 6, 6],
    ],
];
