//! `a P + b G` and square roots for public numbers, for recovery and verification. Variable-time.

use super::{
    super::super::{
        curve::Secp256k1,
        field::{BETA, FieldElement, square_root_chain},
        multiply::{GENERATOR_ENTRIES, GeneratorTable},
        scalar::Signed128,
    },
    field::{Element, Lanes},
};
use crate::{
    field::LazyField,
    group::{Affine, Curve, Jacobian, odd_multiples},
    lanes::LANES,
};

/// The curve in eight lanes.
#[derive(Clone, Copy)]
struct CurveX8;

impl Curve for CurveX8 {
    type Field = Element;
    const A_IS_MINUS_3: bool = false;

    fn b() -> Element {
        // SAFETY: the dispatch uses `Element` only after checking that the CPU has AVX2 and FMA.
        unsafe { Element::splat([7, 0, 0, 0]) }
    }
}

/// Computes square roots of `x^3 + 7`. A lane without a square root holds an arbitrary value.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn lift_x(x: &[[u64; 4]; LANES]) -> [FieldElement; LANES] {
    square_root_chain(
        Affine::<CurveX8>::right_side(&Element::load(x)),
        |a, b| a.mul(b),
        |a, n| {
            let mut power = *a;
            for _ in 0..n {
                power = power.square();
            }
            power
        },
    )
    .store()
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

#[inline]
#[target_feature(enable = "avx2,fma")]
fn negate_where(point: Affine<CurveX8>, negative: [bool; LANES]) -> Affine<CurveX8> {
    Affine {
        x: point.x,
        y: point.y.negate_where(negative),
    }
}

/// Returns for each lane its multiple of P, given the table's x and y.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn entry(x: &[Lanes; ENTRIES], y: &[Lanes; ENTRIES], digits: [i16; LANES]) -> Affine<CurveX8> {
    let index = digits.map(|digit| usize::from(digit.unsigned_abs() / 2));
    let point = Affine {
        x: Element::gather(index.map(|i| &x[i])),
        y: Element::gather(index.map(|i| &y[i])),
    };
    negate_where(point, digits.map(|digit| digit < 0))
}

/// Returns for each lane its entry of the static table of G (`half` 0) or 2^128 G (1).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn static_entry(table: GeneratorTable<'_>, half: usize, digits: [i16; LANES]) -> Affine<CurveX8> {
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
        x: Element::load(&words(0)),
        y: Element::load(&words(4)),
    };
    negate_where(point, digits.map(|digit| digit < 0))
}

/// Computes `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G` for each lane. A lane with Z = 0 had an exceptional case
/// and must be computed in another way.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn multiply_add(
    points: &[Affine<Secp256k1>; LANES],
    a: &[[Signed128; 2]; LANES],
    generator: GeneratorTable<'_>,
    b: &[[Signed128; 2]; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    const DIGITS: usize = 128 / WINDOW;
    const STATIC_DIGITS: usize = 128_usize.div_ceil(STATIC_WINDOW);
    let load = |coordinate: fn(&Affine<Secp256k1>) -> &FieldElement| {
        Element::load(
            &points
                .each_ref()
                .map(|p| coordinate(p).normalize().to_words()),
        )
    };
    let p = Affine::<CurveX8> {
        x: load(|p| &p.x),
        y: load(|p| &p.y),
    };
    let (table, scale) = odd_multiples::<_, ENTRIES>(&p);
    let beta = Element::splat(BETA);
    let y: [Lanes; ENTRIES] = core::array::from_fn(|i| table[i].y.lanes());
    let x: [[Lanes; ENTRIES]; 2] = [
        core::array::from_fn(|i| table[i].x.lanes()),
        core::array::from_fn(|i| table[i].x.mul(&beta).lanes()),
    ];
    let a: [[Digits<DIGITS>; LANES]; 2] =
        core::array::from_fn(|i| a.each_ref().map(|a| Digits::new(WINDOW, &a[i])));
    let b: [[Digits<STATIC_DIGITS>; LANES]; 2] =
        core::array::from_fn(|i| b.each_ref().map(|b| Digits::new(STATIC_WINDOW, &b[i])));

    let mut sum: Jacobian<CurveX8> =
        entry(&x[0], &y, a[0].each_ref().map(|k| k.digits[DIGITS - 1])).into();
    for position in (0..=WINDOW * (DIGITS - 1)).rev() {
        let first = position == WINDOW * (DIGITS - 1);
        if !first {
            sum = sum.double();
        }
        if position % WINDOW == 0 {
            let i = position / WINDOW;
            for image in usize::from(first)..2 {
                let point = entry(&x[image], &y, a[image].each_ref().map(|k| k.digits[i]));
                sum = sum.add_incomplete(&point, &sum.z).0;
            }
        }
        if position % STATIC_WINDOW == 0 {
            let i = position / STATIC_WINDOW;
            for (half, b) in b.iter().enumerate() {
                let point = static_entry(generator, half, b.each_ref().map(|k| k.digits[i]));
                sum = sum.add_incomplete(&point, &sum.z.mul(&scale)).0;
            }
        }
    }
    // Subtract the multiples that made even multipliers odd.
    let mut subtract = |point: &Affine<CurveX8>, z: fn(&Element, &Element) -> Element, even| {
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
    let (x, y, z) = (sum.x.store(), sum.y.store(), sum.z.mul(&scale).store());
    core::array::from_fn(|lane| Jacobian {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    })
}
