//! `a P + b G` and square roots for public numbers, eight at a time, over any field of eight lanes. For recovery and
//! verification. Variable-time.
//!
//! The group law is that of `group.rs`. All lanes take the same steps: digits come from a regular recoding (odd, never
//! zero), so no step is skipped and no sum starts at infinity. If a sum equals its addend or its opposite, the lane's Z
//! becomes 0 and stays 0, and the caller computes that lane again with the scalar code.

use super::{
    super::{
        curve::Secp256k1,
        field::{BETA, FieldElement, square_root_chain},
        multiply::{GENERATOR_ENTRIES, GeneratorTable},
        scalar::Signed128,
    },
    field_x8::{CurveX8, FieldX8, negate_where},
};
use crate::{
    group::{Affine, Jacobian, odd_multiples},
    lanes::LANES,
};

/// Computes square roots of `x^3 + 7`. A lane without a square root holds an arbitrary value.
#[inline(always)]
pub(super) fn lift_x<F: FieldX8>(x: &[[u64; 4]; LANES]) -> [FieldElement; LANES] {
    square_root_chain(
        Affine::<CurveX8<F>>::right_side(&F::load(x)),
        |a, b| a.mul(b),
        |a, n| {
            let mut power = *a;
            for _ in 0..n {
                power = power.square();
            }
            power
        },
    )
    .store(1)
}

/// Entries in the table of P: the odd multiples up to 15.
const ENTRIES: usize = 8;
/// Distance in bits between the digits of a multiplier of P.
const WINDOW: usize = 4;
/// Distance in bits between the digits of a multiplier of G: the static table's odd multiples are below
/// `2^STATIC_WINDOW`.
const STATIC_WINDOW: usize = GENERATOR_ENTRIES.ilog2() as usize + 1;

/// Odd digits of a 128-bit multiplier, `window` bits apart, and whether the multiplier was even, so that 1 was added.
///
/// Source: [JT09] algorithm 6.
#[derive(Clone, Copy)]
struct Digits<const COUNT: usize> {
    digits: [i16; COUNT],
    even: bool,
    negative: bool,
}

impl<const COUNT: usize> Digits<COUNT> {
    fn new(window: usize, k: &Signed128) -> Self {
        let mut digits = [0; COUNT];
        // 2^128 - 1 is odd: no overflow.
        let mut rest = k.magnitude | 1;
        for digit in &mut digits[..COUNT - 1] {
            // The low W + 1 bits minus 2^W; the rest stays odd.
            *digit = (rest & ((2 << window) - 1)) as i16 - (1 << window);
            rest = (rest >> window) | 1;
        }
        digits[COUNT - 1] = rest as i16;
        if k.negative {
            digits = digits.map(|digit| -digit);
        }
        Self {
            digits,
            even: k.magnitude & 1 == 0,
            negative: k.negative,
        }
    }
}

/// The masks of the lanes that are `true`.
fn masks(lanes: [bool; LANES]) -> [u64; LANES] {
    lanes.map(|lane| u64::from(lane).wrapping_neg())
}

/// Returns for each lane its multiple of P, given the table's x and y.
#[inline(always)]
fn entry<F: FieldX8>(
    x: &[F; ENTRIES],
    y: &[F; ENTRIES],
    digits: [i16; LANES],
) -> Affine<CurveX8<F>> {
    let index = digits.map(|digit| usize::from(digit.unsigned_abs() / 2));
    let point = Affine {
        x: F::gather(index.map(|i| &x[i])),
        y: F::gather(index.map(|i| &y[i])),
    };
    negate_where(point, masks(digits.map(|digit| digit < 0)))
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

/// Computes `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G` for each lane. A lane with Z = 0 had an exceptional case
/// and must be computed in another way.
#[inline(always)]
pub(super) fn multiply_add<F: FieldX8>(
    points: &[Affine<Secp256k1>; LANES],
    a: &[[Signed128; 2]; LANES],
    generator: GeneratorTable<'_>,
    b: &[[Signed128; 2]; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    const DIGITS: usize = 128 / WINDOW;
    const STATIC_DIGITS: usize = 128_usize.div_ceil(STATIC_WINDOW);
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
    let (table, scale) = odd_multiples::<_, ENTRIES>(&p);
    let beta = F::splat(BETA);
    let y: [F; ENTRIES] = table.map(|point| point.y);
    let x: [[F; ENTRIES]; 2] = [
        table.map(|point| point.x),
        table.map(|point| point.x.mul(&beta)),
    ];
    let a: [[Digits<DIGITS>; LANES]; 2] =
        core::array::from_fn(|i| a.each_ref().map(|a| Digits::new(WINDOW, &a[i])));
    let b: [[Digits<STATIC_DIGITS>; LANES]; 2] =
        core::array::from_fn(|i| b.each_ref().map(|b| Digits::new(STATIC_WINDOW, &b[i])));

    let mut sum: Jacobian<CurveX8<F>> =
        entry(&x[0], &y, a[0].each_ref().map(|k| k.digits[DIGITS - 1])).into();
    for position in (0..=WINDOW * (DIGITS - 1)).rev() {
        let first = position == WINDOW * (DIGITS - 1);
        if !first {
            sum.double_assign();
        }
        if position % WINDOW == 0 {
            let i = position / WINDOW;
            for image in usize::from(first)..2 {
                let point = entry(&x[image], &y, a[image].each_ref().map(|k| k.digits[i]));
                sum.add_assign_incomplete(&point, None);
            }
        }
        if position % STATIC_WINDOW == 0 {
            let i = position / STATIC_WINDOW;
            for (half, b) in b.iter().enumerate() {
                let point = static_entry(generator, half, b.each_ref().map(|k| k.digits[i]));
                sum.add_assign_incomplete(&point, Some(&scale));
            }
        }
    }
    // Subtract the multiples that made even multipliers odd.
    let mut subtract = |point: &Affine<CurveX8<F>>, z: fn(&F, &F) -> F, even| {
        let even = masks(even);
        let difference = sum.add_incomplete(point, &z(&sum.z, &scale)).0;
        sum = Jacobian {
            x: sum.x.select(even, &difference.x),
            y: sum.y.select(even, &difference.y),
            z: sum.z.select(even, &difference.z),
        };
    };
    for image in 0..2 {
        let digits = a[image].each_ref().map(|k| if k.negative { 1 } else { -1 });
        let point = entry(&x[image], &y, digits);
        subtract(&point, |z, _| *z, a[image].each_ref().map(|k| k.even));
    }
    for (half, b) in b.iter().enumerate() {
        let digits = b.each_ref().map(|k| if k.negative { 1 } else { -1 });
        let point = static_entry(generator, half, digits);
        subtract(
            &point,
            |z, scale| z.mul(scale),
            b.each_ref().map(|k| k.even),
        );
    }
    let (x, y, z) = (sum.x.store(6), sum.y.store(4), sum.z.mul(&scale).store(1));
    core::array::from_fn(|lane| Jacobian {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    })
}
