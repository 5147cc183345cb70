//! The Miller loop and the final exponentiation.
//!
//! The parameter of the curve is -X, and r = X^4 - X^2 + 1. Ignoring its sign gives the inverse of the pairing.

use alloc::vec::Vec;

use blst::blst_fp12;

use super::{
    super::{
        super::{
            fields::{Fp, G1, G2},
            miller::{LINES, Step, each_step, line_part},
        },
        adx,
        final_exponentiation::hard_part,
    },
    field::{Fp2Lanes, FpLanes, LIMBS},
    pairs::{PAIRS, Pairs},
    products::Factor,
    tower::Fp12,
};
use crate::{
    field::LazyField,
    group::Affine,
    lanes::{LANES, field::Products, limbs},
};

/// Computes the product of the Miller functions, up to factors that the final exponentiation removes. Returns `None` if
/// a point of the twist is not in G2. The points of G1 must be in the subgroup.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn miller_loop(
    pairs: &[(Affine<G1>, Affine<G2>)],
) -> Option<blst_fp12> {
    let mut sets: Vec<Pairs> = pairs.chunks(PAIRS).map(|pairs| Pairs::new(pairs)).collect();
    let mut f = Fp12::load(&blst_fp12::default());
    each_step(
        &mut f,
        |f| f.square(),
        |f, _, step| {
            for set in &mut sets {
                let lines = match step {
                    Step::Double => set.double(),
                    Step::Add => set.add(),
                };
                for first in set.first_lanes() {
                    *f = f.mul_by_line(&lines, first);
                }
            }
        },
    );
    sets.iter()
        .all(|set| set.are_in_subgroup())
        .then(|| f.store())
}

/// The lines of two steps with both points of the KZG check: b and c for each point, then the same for the next step.
static LINE_PAIRS: [[[[u64; LANES]; LIMBS]; 2]; LINES / 2] = {
    let (mut lines, mut i) = ([[[[0; LANES]; LIMBS]; 2]; LINES / 2], 0);
    while i < 2 * LANES * lines.len() {
        let (at, lane, part) = (i / LANES / 2, i / 2 % LANES, i % 2);
        let limbs = limbs::<LIMBS>(&line_part(lane / 2 % 2, 2 * at + lane / 4, lane % 2, part).l);
        let mut limb = 0;
        while limb < LIMBS {
            lines[at][part][limb][lane] = limbs[limb].cast_unsigned();
            limb += 1;
        }
        i += 1;
    }
    lines
};

/// The Miller loop of the KZG check, given x / y and 1 / y of its points of G1, up to factors that the final
/// exponentiation removes.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn miller_loop_of_lines(factors: &[Option<[Fp; 2]>; 2]) -> blst_fp12 {
    let scale: [Fp; LANES] = core::array::from_fn(|lane| {
        factors[lane / 2 % 2].map_or(Fp::ZERO, |factors| factors[lane % 2])
    });
    let scale = FpLanes::load(&scale).adapted();
    let scaled = |[re, im]: &[[[u64; LANES]; LIMBS]; 2]| {
        let [re, im] = [FpLanes::from_rows(re), FpLanes::from_rows(im)];
        Factor::new(&Fp2Lanes::new([re.mul(&scale), im.mul(&scale)]))
    };
    let mut f = Fp12::load(&blst_fp12::default());
    let mut lines = scaled(&LINE_PAIRS[0]);
    each_step(
        &mut f,
        |f| f.square(),
        |f, i, _| {
            if i % 2 == 0 {
                lines = scaled(&LINE_PAIRS[i / 2]);
            }
            for (point, _) in factors
                .iter()
                .enumerate()
                .filter(|(_, factors)| factors.is_some())
            {
                *f = f.mul_by_monic_line(&lines, 4 * (i % 2) + 2 * point);
            }
        },
    );
    f.store()
}

/// Computes `f^(3 (p^12 - 1) / r)`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn final_exponentiation(f: &blst_fp12) -> blst_fp12 {
    let power = hard_part(
        &Fp12::load(&adx::easy_part(f)),
        |a, b| a.mul(b),
        |f, n| f.cyclotomic_square_times(n),
        |f| f.conjugate(),
        |f, n| Fp12::load(&adx::frobenius(&f.store(), n)),
    );
    power.store()
}

/// Whether the final exponentiation of `f` gives one.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(in super::super::super) fn final_exponentiation_is_one(f: &blst_fp12) -> bool {
    final_exponentiation(f) == blst_fp12::default()
}
