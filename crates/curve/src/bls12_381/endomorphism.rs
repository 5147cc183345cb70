//! The curve's parameter, the endomorphism of G1, and the decomposition of multipliers: \[Scott21\], \[GLV01\],
//! \[GLS09\].

use blst::blst_fp;

use super::fields::{Element, Fp, G1};
use crate::{field::LazyField, group::Affine};

/// The absolute value of the curve's parameter: r = X^4 - X^2 + 1.
pub(super) const X: u64 = 0xd201_0000_0001_0000;

/// A cube root of 1 in Fp, in blst's form.
pub(super) const BETA: Fp = Element(blst_fp {
    l: [
        0x30f1_361b_798a_64e8,
        0xf3b8_ddab_7ece_5a2a,
        0x16a8_ca3a_c615_77f7,
        0xc26a_2ff8_74fd_029b,
        0x3636_b766_6070_1c6e,
        0x051b_a4ab_241b_6160,
    ],
});

/// The endomorphism of the curve. It equals -X^2 times the point exactly if the point is in the subgroup.
pub(super) fn g1_image(p: &Affine<G1>) -> Affine<G1> {
    Affine {
        x: p.x.mul(&BETA),
        y: p.y,
    }
}

/// Returns the four digits of a number below r to base X, lowest first.
pub(super) fn x_digits(mut k: [u64; 4]) -> [u64; 4] {
    core::array::from_fn(|_| {
        let mut rest = 0;
        for word in k.iter_mut().rev() {
            let dividend = u128::from(rest) << 64 | u128::from(*word);
            *word = (dividend / u128::from(X)) as u64;
            rest = (dividend % u128::from(X)) as u64;
        }
        rest
    })
}

/// Combines digits to base X into digits to base X^2.
pub(super) fn halves(digits: &[u64; 4]) -> [u128; 2] {
    let [d0, d1, d2, d3] = digits.map(u128::from);
    [d0 + d1 * u128::from(X), d2 + d3 * u128::from(X)]
}
