//! The Miller loop and the final exponentiation.

use super::{
    super::super::{
        pairing::{Pair, each_step, hard_part},
        tower,
    },
    pairs::Pairs,
    tower::{Factor, Fp2, Fp12},
};
use crate::montgomery::Adx;

/// Minimum number of pairs for one lane per pair. With fewer, the point is computed with the scalar field.
const LANES_FROM: usize = 2;

/// Computes the product of the Miller functions of at most eight pairs, up to a factor in Fp2. Returns `None` if a
/// point of the twist is not in G2.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn miller_loop(pairs: &mut [Pair<Adx>]) -> Option<tower::Fp12<Adx>> {
    let mut f = Fp12::one();
    let in_subgroup = if pairs.len() < LANES_FROM {
        each_step(
            &mut f,
            |f| f.square(),
            |f, step| {
                for pair in pairs.iter_mut() {
                    let [a, b, c] = pair.take(step).map(Some);
                    let line = [a, b, c, None, None, None, None, None];
                    // A factor of 1/16 in Fp does not matter, as the final exponent is a multiple of p^2 - 1.
                    let line = Factor::new(&Fp2::load_sixteenth(&line));
                    *f = f.mul_by_line([0, 1, 2].map(|lane| (&line, lane)));
                }
            },
        );
        pairs.iter().all(Pair::is_in_subgroup)
    } else {
        let mut pairs = Pairs::new(pairs);
        each_step(
            &mut f,
            |f| f.square(),
            |f, step| {
                let lines = pairs.take(step);
                for lane in 0..pairs.count() {
                    *f = f.mul_by_line(lines.each_ref().map(|c| (c, lane)));
                }
            },
        );
        pairs.are_in_subgroup()
    };
    in_subgroup.then(|| f.store())
}

/// Like the scalar `final_exponentiation_is_one`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn final_exponentiation_is_one(f: &tower::Fp12<Adx>) -> bool {
    // (p^6 - 1)(p^2 + 1)
    let f = Fp12::load(&f.conjugate().mul(&f.invert()));
    let f = f.frobenius().frobenius().mul(&f);
    let power = hard_part(
        &f,
        |a, b| a.mul(b),
        |a| a.cyclotomic_square(),
        |a| a.conjugate(),
        |a| a.frobenius(),
    );
    power.store() == tower::Fp12::ONE
}
