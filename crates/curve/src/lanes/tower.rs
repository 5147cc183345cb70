//! Lane permutations for products in Fp12 = Fp2\[w\]/(w^6 - xi), for any xi. Lane k of eight holds the coefficient of
//! w^k; lanes 6 and 7 are zero. Indices 8 to 15 select from a second vector.

use core::arch::x86_64::__mmask8;

use super::LANES;

/// Lanes 0, 2, 4.
pub(crate) const EVEN: __mmask8 = 0b01_0101;
/// Lanes 1, 3, 5.
pub(crate) const ODD: __mmask8 = 0b10_1010;

/// Broadcasts one lane to all.
pub(crate) const SPLAT: [[u64; LANES]; LANES] = {
    let (mut lanes, mut n) = ([[0; LANES]; LANES], 0);
    while n < LANES {
        lanes[n] = [n as u64; LANES];
        n += 1;
    }
    lanes
};

/// Indices into `(b, xi b)` for the product with the coefficient of w^n: lane k selects the coefficient of w^(k - n).
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

/// A zero lane, for lanes without a product.
const NONE: u64 = 6;

/// Index pairs for squaring: lane k gets (i, j) with `i + j = k` or `i + j = k + 6`. Products with i != j are doubled
/// by doubling the first factor: indices into `(a, 2 a)` for the first, into `(a, xi a)` for the second.
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
