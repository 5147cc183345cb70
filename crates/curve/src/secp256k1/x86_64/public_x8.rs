//! `a P + b G` and square roots for public numbers, eight at a time, over any field of eight lanes. For recovery and
//! verification. Variable-time.
//!
//! The group law is that of `group.rs`. All lanes take the same steps; [`digits`] has the digits. If a sum equals its
//! addend or its opposite, the lane's Z becomes 0 and stays 0, and the caller computes that lane again with the scalar
//! code.

use super::{
    super::{
        curve::Secp256k1,
        field::{BETA, FieldElement, square_root_chain},
        multiply::{GENERATOR_ENTRIES, GeneratorTable},
        scalar::Signed128,
    },
    digits::{self, Digit, generator_digits, point_digits},
    field_x8::{CurveX8, FieldX8, negate_where},
};
use crate::{
    group::{Affine, Jacobian, sums_with_one_z},
    lanes::LANES,
};

/// Computes square roots of `x^3 + 7`. A lane without a square root holds an arbitrary value.
#[inline(always)]
pub(super) fn lift_x<F: FieldX8>(x: &[[u64; 4]; LANES]) -> [FieldElement; LANES] {
    square_root_chain(
        Affine::<CurveX8<F>>::right_side(&F::load(x)),
        |a, b| a.mul(b),
        |a, n| a.square_times(n),
    )
    .store(1)
}

/// The masks of the lanes that are `true`.
fn masks(lanes: [bool; LANES]) -> [u64; LANES] {
    lanes.map(|lane| u64::from(lane).wrapping_neg())
}

/// The multiples of P that are digits, up to a unit: x, beta x and beta^2 x of each, and y.
struct Table<F> {
    x: [[F; digits::ENTRIES]; 3],
    y: [F; digits::ENTRIES],
}

impl<F: FieldX8> Table<F> {
    /// Returns the table on an isomorphic curve, and its scale: a point there with Z is the point with `Z * scale`
    /// here.
    #[inline(always)]
    fn new(p: &Affine<CurveX8<F>>) -> (Self, F) {
        let beta = F::splat(BETA);
        let betas = [F::ONE, beta, beta.square()];
        let [double, same] = p.double_with_one_z();
        let mut table = [*p; digits::ENTRIES - 1];
        let (last, scale) = sums_with_one_z(
            &mut table,
            [same, double],
            p.y,
            F::mul,
            Affine::scaled,
            |i, step, sum| {
                let mut step = *step;
                let unit = digits::TURNS[i - 1];
                if unit.image != 0 {
                    step.x = step.x.mul(&betas[usize::from(unit.image)]);
                }
                if unit.negative {
                    step.y = step.y.negate(1);
                }
                step.add_with_one_z(sum, 1)
            },
        );
        let at = |i: usize| if i < table.len() { table[i] } else { last };
        let x: [F; digits::ENTRIES] = core::array::from_fn(|i| at(i).x);
        let beta_x = x.map(|x| x.mul(&beta));
        // 1 + beta + beta^2 = 0. The magnitudes are at most 4 and 1.
        let beta_beta_x = core::array::from_fn(|i| x[i].add(&beta_x[i]).negate(5));
        let table = Self {
            x: [x, beta_x, beta_beta_x],
            y: core::array::from_fn(|i| at(i).y),
        };
        (table, scale)
    }

    /// Returns for each lane its multiple of P. A lane whose digit is 0 gets an arbitrary one.
    #[inline(always)]
    fn entry(&self, digits: [Option<Digit>; LANES]) -> Affine<CurveX8<F>> {
        let digits = digits.map(|digit| digit.unwrap_or(Digit::ANY));
        let point = Affine {
            x: F::gather(
                digits
                    .map(|digit| &self.x[usize::from(digit.unit.image)][usize::from(digit.entry)]),
            ),
            y: F::gather(digits.map(|digit| &self.y[usize::from(digit.entry)])),
        };
        negate_where(point, masks(digits.map(|digit| digit.unit.negative)))
    }
}

/// Returns `yes` in the lanes that are `true`, `no` in the others.
#[inline(always)]
fn select<F: FieldX8>(
    no: &Jacobian<CurveX8<F>>,
    lanes: [bool; LANES],
    yes: &Jacobian<CurveX8<F>>,
) -> Jacobian<CurveX8<F>> {
    let masks = masks(lanes);
    Jacobian {
        x: no.x.select(masks, &yes.x),
        y: no.y.select(masks, &yes.y),
        z: no.z.select(masks, &yes.z),
    }
}

/// Returns for each lane its entry of the static table of G (`half` 0) or 2^128 G (1).
#[inline(always)]
fn static_entry<F: FieldX8>(
    table: GeneratorTable<'_>,
    half: usize,
    digits: [i16; LANES],
) -> Affine<CurveX8<F>> {
    let rows = digits.map(|digit| {
        table.0[half * GENERATOR_ENTRIES + usize::from(digit.unsigned_abs() / 2)]
            .as_chunks::<8>()
            .0
    });
    let words = |first| {
        core::array::from_fn(|lane| {
            core::array::from_fn(|i| u64::from_le_bytes(rows[lane][first + i]))
        })
    };
    let point = Affine {
        x: F::load(&words(0)),
        y: F::load(&words(4)),
    };
    negate_where(point, masks(digits.map(|digit| digit < 0)))
}

/// Computes `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G` for each lane, for odd b. A lane with Z = 0 had an
/// exceptional case and must be computed in another way.
#[inline(always)]
pub(super) fn multiply_add<F: FieldX8>(
    points: &[Affine<Secp256k1>; LANES],
    a: &[[Signed128; 2]; LANES],
    generator: GeneratorTable<'_>,
    b: &[[Signed128; 2]; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    let load = |coordinate: fn(&Affine<Secp256k1>) -> &FieldElement| {
        F::load(
            &points
                .each_ref()
                .map(|p| coordinate(p).normalize().to_words()),
        )
    };
    let p = Affine::<CurveX8<F>> {
        x: load(|p| &p.x),
        y: load(|p| &p.y),
    };
    let (table, scale) = Table::new(&p);
    let a = a.each_ref().map(point_digits);
    let b = b.each_ref().map(|b| b.each_ref().map(generator_digits));

    const HIGHEST: usize = digits::COUNT - 1;
    let digits = a.each_ref().map(|a| a[HIGHEST]);
    let mut infinite = digits.map(|digit| digit.is_none());
    let entry = table.entry(digits);
    let mut sum = Jacobian {
        z: F::ONE.select(masks(infinite), &F::ZERO),
        ..entry.into()
    };
    for position in (0..digits::WINDOW * HIGHEST).rev() {
        sum.double_assign();
        if position % digits::WINDOW == 0 {
            let digits = a.each_ref().map(|a| a[position / digits::WINDOW]);
            let zero = digits.map(|digit| digit.is_none());
            let entry = table.entry(digits);
            let special = zero.contains(&true) || infinite.contains(&true);
            let before = special.then_some(sum);
            sum.add_assign_incomplete(&entry, None);
            if let Some(before) = before {
                sum = select(&sum, infinite, &entry.into());
                sum = select(&sum, zero, &before);
                infinite = core::array::from_fn(|lane| infinite[lane] && zero[lane]);
            }
        }
        if position % digits::GENERATOR_WINDOW == 0 {
            let i = position / digits::GENERATOR_WINDOW;
            for half in 0..2 {
                let point = static_entry(generator, half, b.each_ref().map(|b| b[half][i]));
                sum.add_assign_incomplete(&point, Some(&scale));
            }
            // An addition to infinity is an exceptional case.
            infinite = [false; LANES];
        }
    }
    let (x, y, z) = (sum.x.store(6), sum.y.store(4), sum.z.mul(&scale).store(1));
    core::array::from_fn(|lane| Jacobian {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    })
}
