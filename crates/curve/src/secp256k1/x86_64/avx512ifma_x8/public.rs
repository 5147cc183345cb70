//! `a P + b G` and square roots for public numbers, for recovery and verification. Variable-time.

use core::arch::x86_64::*;

use super::{
    super::super::{
        curve::Secp256k1,
        field::{BETA, FieldElement, square_root_chain},
        multiply::{GENERATOR_ENTRIES, GeneratorTable},
        scalar::Signed128,
    },
    super::digits::{self, Digit, generator_digits, point_digits},
    LANES,
    field::Field,
    point::{AffineLanes, JacobianLanes},
};
use crate::group::{Affine, Jacobian, sums_with_one_z};
use crate::lanes::load;

/// Computes square roots of `x^3 + 7`. A lane without a square root holds an arbitrary value.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn lift_x(x: &[[u64; 4]; LANES]) -> [FieldElement; LANES] {
    let x = Field::load(x);
    let seven = Field::splat(&[7, 0, 0, 0]);
    let cube = x.square().mul(&x);
    square_root_chain(
        cube.add(&seven),
        |a, b| a.mul(b),
        |a, n| (0..n).fold(*a, |power, _| power.square()),
    )
    .store(1)
}

/// One digit of each lane's multiplier of P.
struct Digits {
    entries: [u64; LANES],
    /// The lanes whose unit has these images of the endomorphism, the first and the second.
    images: [__mmask8; 2],
    negative: __mmask8,
    zero: __mmask8,
}

impl Digits {
    fn new(digits: [Option<Digit>; LANES]) -> Self {
        let mut out = Self {
            entries: [0; LANES],
            images: [0; 2],
            negative: 0,
            zero: 0,
        };
        for (lane, digit) in digits.into_iter().enumerate() {
            let bit = 1 << lane;
            let Some(Digit { unit, entry, .. }) = digit else {
                out.zero |= bit;
                continue;
            };
            out.entries[lane] = u64::from(entry);
            if let 1 | 2 = unit.image {
                out.images[usize::from(unit.image) - 1] |= bit;
            }
            if unit.negative {
                out.negative |= bit;
            }
        }
        out
    }
}

/// The multiples of P that are digits, up to a unit, with x of size at most 4 and y at most 3, and `beta x`.
struct Table {
    points: [AffineLanes; digits::ENTRIES],
    beta_x: [Field; digits::ENTRIES],
}

impl Table {
    /// Returns the table on an isomorphic curve, and its scale: a point there with Z is the point with `Z * scale`
    /// here.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new(p: &AffineLanes) -> (Self, Field) {
        let beta = Field::splat(&BETA);
        let betas = [beta, beta.square()];
        let [double, same] = p.double_with_one_z();
        let mut table = [*p; digits::ENTRIES - 1];
        let (last, scale) = sums_with_one_z(
            &mut table,
            [same, double],
            p.y.times::<2>(),
            |a, b| a.mul(b),
            |p, scale| p.scaled(scale),
            |i, step, sum| {
                let mut step = *step;
                let unit = digits::TURNS[i - 1];
                if let 1 | 2 = unit.image {
                    step.x = step.x.mul(&betas[usize::from(unit.image) - 1]);
                }
                if unit.negative {
                    step.y = step.y.negate::<2>();
                }
                step.add_with_one_z(sum)
            },
        );
        let mut points = [last; digits::ENTRIES];
        points[..table.len()].copy_from_slice(&table);
        let beta_x = points.map(|point| point.x.mul(&beta));
        (Self { points, beta_x }, scale)
    }

    /// Returns for each lane its multiple of P. A lane whose digit is 0 gets an arbitrary one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn entry(&self, digits: &Digits) -> AffineLanes {
        let index = load(&digits.entries);
        let (mut x, mut beta_x, mut y) = (self.points[0].x, self.beta_x[0], self.points[0].y);
        for i in 1..digits::ENTRIES {
            let here = _mm512_cmpeq_epi64_mask(index, _mm512_set1_epi64(i as i64));
            x = x.select(here, &self.points[i].x);
            beta_x = beta_x.select(here, &self.beta_x[i]);
            y = y.select(here, &self.points[i].y);
        }
        // 1 + beta + beta^2 = 0. The sizes are at most 4 and 1.
        let beta_beta_x = x.add(&beta_x).negate::<6>();
        let x = x.select(digits.images[0], &beta_x);
        let x = x.select(digits.images[1], &beta_beta_x);
        AffineLanes { x, y }.negate_where(digits.negative)
    }
}

/// Returns for each lane its entry of the static table of G (`half` 0) or 2^128 G (1).
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn static_entry(table: GeneratorTable<'_>, half: usize, digits: [i16; LANES]) -> AffineLanes {
    let rows = digits.map(|digit| {
        let index = usize::from(digit.unsigned_abs() / 2);
        let entry: &[u8; 64] = &table.0[half * GENERATOR_ENTRIES + index];
        // SAFETY: the reference is valid for reads of 64 bytes, and the load needs no alignment.
        unsafe { _mm512_loadu_si512(entry.as_ptr().cast()) }
    });
    AffineLanes::from_rows(rows).negate_where(mask(digits.map(|digit| digit < 0)))
}

/// The mask of the lanes that are `true`.
fn mask(lanes: [bool; LANES]) -> __mmask8 {
    (0..LANES).fold(0, |mask, lane| mask | u8::from(lanes[lane]) << lane)
}

/// Computes `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G` for each lane, for odd b. A lane with Z = 0 had an
/// exceptional case and must be computed in another way.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply_add(
    points: &[Affine<Secp256k1>; LANES],
    a: &[[Signed128; 2]; LANES],
    generator: GeneratorTable<'_>,
    b: &[[Signed128; 2]; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    const HIGHEST: usize = digits::COUNT - 1;
    let p = AffineLanes {
        x: Field::load(&core::array::from_fn(|lane| {
            points[lane].x.normalize().to_words()
        })),
        y: Field::load(&core::array::from_fn(|lane| {
            points[lane].y.normalize().to_words()
        })),
    };
    let (table, scale) = Table::new(&p);
    let a = a.each_ref().map(point_digits);
    let a: [Digits; digits::COUNT] =
        core::array::from_fn(|i| Digits::new(a.each_ref().map(|a| a[i])));
    let b = b.each_ref().map(|b| b.each_ref().map(generator_digits));

    let one = Field::splat(&[1, 0, 0, 0]);
    let mut infinite = a[HIGHEST].zero;
    let AffineLanes { x, y } = table.entry(&a[HIGHEST]);
    let mut sum = JacobianLanes {
        x,
        y,
        z: one.select(infinite, &Field::zero()),
    };
    for position in (0..digits::WINDOW * HIGHEST).rev() {
        sum = sum.double();
        if position % digits::WINDOW == 0 {
            let digits = &a[position / digits::WINDOW];
            let entry = table.entry(digits);
            let mut next = sum.add(&entry);
            if digits.zero | infinite != 0 {
                let AffineLanes { x, y } = entry;
                next = next.select(infinite, &JacobianLanes { x, y, z: one });
                next = next.select(digits.zero, &sum);
                infinite &= digits.zero;
            }
            sum = next;
        }
        if position % digits::GENERATOR_WINDOW == 0 {
            let i = position / digits::GENERATOR_WINDOW;
            for half in 0..2 {
                let entry = static_entry(generator, half, b.each_ref().map(|b| b[half][i]));
                sum = sum.add_as(&entry, &sum.z.mul(&scale));
            }
            // An addition to infinity is an exceptional case.
            infinite = 0;
        }
    }
    // The sizes after an addition: 5, 1 and 1.
    let (x, y, z) = (sum.x.store(3), sum.y.store(1), sum.z.mul(&scale).store(1));
    core::array::from_fn(|lane| Jacobian {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    })
}
