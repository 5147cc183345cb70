//! `a P + b G` and square roots for public numbers, for recovery and verification. Variable-time.

use core::arch::x86_64::*;

use super::{
    super::super::{
        curve::Secp256k1,
        field::{BETA, FieldElement, square_root_chain},
        multiply::{GENERATOR_ENTRIES, GeneratorTable},
        scalar::Signed128,
    },
    LANES,
    field::Field,
    point::{AffineLanes, JacobianLanes},
};
use crate::group::{Affine, Jacobian, odd_multiples_by};
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

/// Entries in the table of P: the odd multiples up to 15.
const ENTRIES: usize = 8;
/// Distance in bits between the digits of a multiplier of P.
const WINDOW: usize = 4;
/// Distance in bits between the digits of a multiplier of G: the static table's odd multiples are below
/// `2^STATIC_WINDOW`.
const STATIC_WINDOW: usize = GENERATOR_ENTRIES.ilog2() as usize + 1;

/// Odd digits of eight 128-bit multipliers, `W` bits apart: table indices of the absolute values, and signs. Also the
/// lanes in which the multiplier was even, so that 1 was added.
///
/// Source: [JT09] algorithm 6.
struct Digits<const COUNT: usize> {
    indices: [[u64; LANES]; COUNT],
    negative: [__mmask8; COUNT],
    even: __mmask8,
    even_negative: __mmask8,
}

impl<const COUNT: usize> Digits<COUNT> {
    fn new(window: usize, multipliers: [Signed128; LANES]) -> Self {
        let mut out = Self {
            indices: [[0; LANES]; COUNT],
            negative: [0; COUNT],
            even: 0,
            even_negative: 0,
        };
        for (lane, k) in multipliers.iter().enumerate() {
            let even = u8::from(k.magnitude & 1 == 0);
            out.even |= even << lane;
            out.even_negative |= u8::from(k.negative) << lane;
            // 2^128 - 1 is odd: no overflow.
            let mut rest = k.magnitude | 1;
            for i in 0..COUNT {
                // All digits except the last: the low W + 1 bits minus 2^W; the rest stays odd.
                let (digit, negative) = if i + 1 < COUNT {
                    let low = (rest & ((2 << window) - 1)) as i64 - (1 << window);
                    rest = (rest >> window) | 1;
                    (low.unsigned_abs(), low < 0)
                } else {
                    (rest as u64, false)
                };
                out.indices[i][lane] = digit / 2;
                out.negative[i] |= u8::from(negative != k.negative) << lane;
            }
        }
        out
    }
}

/// Odd multiples of P, with x of size at most 4 and y at most 3, and their images under the endomorphism: `(x, y)` and
/// `beta x`.
struct Table {
    points: [AffineLanes; ENTRIES],
    beta_x: [Field; ENTRIES],
}

impl Table {
    /// Returns the table on an isomorphic curve, and its scale: a point there with Z is the point with `Z * scale`
    /// here.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new(p: &AffineLanes) -> (Self, Field) {
        let mut points = [*p; ENTRIES];
        let scale = odd_multiples_by(
            &mut points,
            p.double_with_one_z(),
            p.y.times::<2>(),
            |a, b| a.mul(b),
            |p, scale| p.scaled(scale),
            |_, step, sum| step.add_with_one_z(sum),
        );
        let beta = Field::splat(&BETA);
        let beta_x = core::array::from_fn(|i| points[i].x.mul(&beta));
        (Self { points, beta_x }, scale)
    }

    /// Returns for each lane its entry, or the entry's image under the endomorphism.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn entry<const IMAGE: bool>(&self, indices: &[u64; LANES], negative: __mmask8) -> AffineLanes {
        let index = load(indices);
        let x_of = |i: usize| {
            if IMAGE {
                self.beta_x[i]
            } else {
                self.points[i].x
            }
        };
        let mut out = AffineLanes {
            x: x_of(0),
            y: self.points[0].y,
        };
        for i in 1..ENTRIES {
            let here = _mm512_cmpeq_epi64_mask(index, _mm512_set1_epi64(i as i64));
            out = AffineLanes {
                x: out.x.select(here, &x_of(i)),
                y: out.y.select(here, &self.points[i].y),
            };
        }
        out.negate_where(negative)
    }
}

/// Returns for each lane its entry of the static table of G (`half` 0) or 2^128 G (1).
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn static_entry(
    table: GeneratorTable<'_>,
    half: usize,
    indices: &[u64; LANES],
    negative: __mmask8,
) -> AffineLanes {
    let rows: [__m512i; LANES] = core::array::from_fn(|lane| {
        let entry: &[u8; 64] = &table.0[half * GENERATOR_ENTRIES + indices[lane] as usize];
        // SAFETY: the reference is valid for reads of 64 bytes, and the load needs no alignment.
        unsafe { _mm512_loadu_si512(entry.as_ptr().cast()) }
    });
    AffineLanes::from_rows(rows).negate_where(negative)
}

/// Computes `a[0] P + a[1] lambda P + b[0] G + b[1] 2^128 G` for each lane. A lane with Z = 0 had an exceptional case
/// and must be computed in another way.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(crate) fn multiply_add(
    points: &[Affine<Secp256k1>; LANES],
    a: &[[Signed128; 2]; LANES],
    generator: GeneratorTable<'_>,
    b: &[[Signed128; 2]; LANES],
) -> [Jacobian<Secp256k1>; LANES] {
    const DIGITS: usize = 128 / WINDOW;
    const STATIC_DIGITS: usize = 128_usize.div_ceil(STATIC_WINDOW);
    let p = AffineLanes {
        x: Field::load(&core::array::from_fn(|lane| {
            points[lane].x.normalize().to_words()
        })),
        y: Field::load(&core::array::from_fn(|lane| {
            points[lane].y.normalize().to_words()
        })),
    };
    let (table, scale) = Table::new(&p);
    let a: [Digits<DIGITS>; 2] =
        core::array::from_fn(|i| Digits::new(WINDOW, core::array::from_fn(|lane| a[lane][i])));
    let b: [Digits<STATIC_DIGITS>; 2] = core::array::from_fn(|i| {
        Digits::new(STATIC_WINDOW, core::array::from_fn(|lane| b[lane][i]))
    });

    let mut sum = JacobianLanes {
        x: p.x,
        y: p.y,
        z: Field::splat(&[1, 0, 0, 0]),
    };
    for position in (0..=WINDOW * (DIGITS - 1)).rev() {
        let first = position == WINDOW * (DIGITS - 1);
        if !first {
            sum = sum.double();
        }
        if position % WINDOW == 0 {
            let i = position / WINDOW;
            let entry = table.entry::<false>(&a[0].indices[i], a[0].negative[i]);
            if first {
                (sum.x, sum.y) = (entry.x, entry.y);
            } else {
                sum = sum.add(&entry);
            }
            sum = sum.add(&table.entry::<true>(&a[1].indices[i], a[1].negative[i]));
        }
        if position % STATIC_WINDOW == 0 {
            let i = position / STATIC_WINDOW;
            for (half, digits) in b.iter().enumerate() {
                let entry = static_entry(generator, half, &digits.indices[i], digits.negative[i]);
                sum = sum.add_as(&entry, &sum.z.mul(&scale));
            }
        }
    }
    // Subtract the multiples that made even multipliers odd.
    let first = [0; LANES];
    for (image, digits) in a.iter().enumerate() {
        let entry = if image == 0 {
            table.entry::<false>(&first, !digits.even_negative)
        } else {
            table.entry::<true>(&first, !digits.even_negative)
        };
        sum = sum.select(digits.even, &sum.add(&entry));
    }
    for (half, digits) in b.iter().enumerate() {
        let entry = static_entry(generator, half, &first, !digits.even_negative);
        sum = sum.select(digits.even, &sum.add_as(&entry, &sum.z.mul(&scale)));
    }
    // The sizes after an addition: 5, 1 and 1.
    let (x, y, z) = (sum.x.store(3), sum.y.store(1), sum.z.mul(&scale).store(1));
    core::array::from_fn(|lane| Jacobian {
        x: x[lane],
        y: y[lane],
        z: z[lane],
    })
}
