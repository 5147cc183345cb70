//! The multiple of one point, computed alongside its subgroup check.
//!
//! Lanes 0 to 3 hold the point of the check, lanes 4 to 7 the sum: X, Y, Z, and an unused lane. Both are doubled by the
//! same products. The check multiplies by X, for G1 twice, and compares with the endomorphism's image. The sum adds odd
//! multiples of the point and of its images, by the signed digits of the scalar's parts. An addition takes all lanes.
//!
//! Points are projective (x = X / Z, y = Y / Z). Both formulas are complete: the curves have odd order. So the sum
//! starts with infinity, and nothing is assumed about the point before the check is complete.
//!
//! Source: \[RCB16\], algorithms 7 and 9; subgroups \[Scott21\]; decomposition \[GLV01\],
//! \[GLS09\].

use core::arch::x86_64::*;

use super::{
    super::super::endomorphism::X,
    field::Lanes,
    group::LaneGroup,
    pairs::{WIDTH, both, mask},
    products::{Factor, Limb, Loose, Operand},
};
use crate::{
    field::LazyField,
    group::{Affine, Digits, Jacobian, wnaf},
    lanes::{LANES, field::Degree},
    words::from_u128,
};

/// The first lane of the check.
pub(super) const CHECK: usize = 0;
/// The first lane of the sum.
const SUM: usize = WIDTH;

/// Moves lane indices for a point in lanes 0 to 3 to the point in the lanes from `first`.
const fn from_lane(first: usize, mut lanes: [u64; LANES]) -> [u64; LANES] {
    let mut i = 0;
    while i < LANES {
        lanes[i] += first as u64;
        i += 1;
    }
    lanes
}

/// The lanes of a `Summand` that hold sums of coordinates.
const SUMS: __mmask8 = 0b111_0000;

/// Selects each lane from itself.
const ALL: [u64; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Bits of a digit of the multiplier, with its sign.
const WINDOW: u32 = 4;
/// Odd multiples in a table.
const ENTRIES: usize = 1 << (WINDOW - 2);

/// A summand of [`add`]: X, Y, Z, unused, X + Y, Y + Z, X + Z, unused.
#[derive(Clone, Copy)]
pub(super) struct Summand<D: Degree>(Factor<D>);

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn load<G: LaneGroup>([x, y, z]: [G::Field; 3]) -> Factor<G::Degree> {
    let lanes = core::array::from_fn(|lane| [x, y, z, z][lane % WIDTH]);
    Factor::new(&Lanes::load(&lanes))
}

/// Converts a projective point.
pub(super) fn jacobian<G: LaneGroup>([x, y, z]: [G::Field; 3]) -> Jacobian<G> {
    Jacobian {
        x: x.mul(&z),
        y: y.mul(&z.square()),
        z,
    }
}

/// The product of two vectors with permuted lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn permuted_product<D: Degree>(
    (x, x_lanes): (&Factor<D>, &[u64; LANES]),
    (y, y_lanes): (&Factor<D>, &[u64; LANES]),
) -> Loose<D> {
    Loose::product_of_operands(Operand::new([x, x], x_lanes), Operand::new([y, y], y_lanes))
}

/// Multiplies by 3 b, where b is 4 for G1 and 4 xi for G2.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn times_3b<D: Degree>(limb: Limb<D>) -> Limb<D> {
    limb.times_xi::<1>().times::<12>()
}

/// Returns the point in the lanes from `first`, negated if `negate` is set. Takes sizes below 64.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn summand<D: Degree>(points: &Factor<D>, first: usize, negate: bool) -> Summand<D> {
    let second = from_lane(first, [0, 0, 0, 0, 1, 2, 2, 0]);
    let first = from_lane(first, [0, 1, 2, 2, 0, 1, 0, 2]);
    let [first_y, second_y] = if negate {
        [0b10_0010, 0b01_0000]
    } else {
        [0; 2]
    };
    let summand = Loose::each(|i| {
        let (p, limb) = (Loose::multiple::<64>(i), points.limb(i));
        let (first, second) = (limb.permuted(&first), limb.permuted(&second));
        let second = second.select(second_y, p.minus(second));
        first
            .select(first_y, p.minus(first))
            .plus_where::<SUMS>(second)
    });
    Summand(summand.factor::<0>())
}

/// Doubles both points, of sizes below 7: with `e = 3 b Z^2`, `X' = 2 X Y (Y^2 - 3 e)`, `Y' = (Y^2 + e) (Y^2 -
/// 3 e) + 8 e Y^2`, `Z' = 8 Y^3 Z`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn double<D: Degree>(points: &Factor<D>) -> Factor<D> {
    const X: [u64; LANES] = both([0, 1, 2, 1]);
    const Y: [u64; LANES] = both([1, 1, 2, 2]);
    let products = permuted_product((points, &X), (points, &Y)); // X Y, Y^2, Z^2, Y Z
    let [x, y] = second_factors(&products, |limb| times_3b(limb));
    doubled(&Loose::product(&x.factor::<16>(), &y.factor::<128>())).factor::<1>()
}

/// The factors of the second round of [`double`], given the products of the first, and the function that multiplies by
/// 3 b.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn second_factors<D: Degree>(
    products: &Loose<D>,
    times_3b: impl Fn(Limb<D>) -> Limb<D>,
) -> [Loose<D>; 2] {
    // e is in -15 p .. 27 p.
    let e = |i: usize| times_3b(products.limb(i).permuted(&const { both([2; 4]) }));
    [
        // 2 X Y, Y^2 + e, 8 Y^2, 8 Y^2.
        Loose::each(|i| {
            let limb = products.limb(i).permuted(&const { both([0, 1, 1, 1]) });
            limb.shifted(&[1, 0, 3, 3, 1, 0, 3, 3])
                .plus_where::<{ mask(1) }>(e(i))
        }),
        // Y^2 - 3 e, Y^2 - 3 e, e, Y Z.
        Loose::each(|i| {
            let (limb, e) = (products.limb(i), e(i));
            limb.permuted(&const { both([1, 1, 2, 3]) })
                .minus_where::<{ mask(0) | mask(1) }>(e.times::<3>())
                .select(mask(2), e)
        }),
    ]
}

/// The result of [`double`], given the products of the second round.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn doubled<D: Degree>(products: &Loose<D>) -> Loose<D> {
    Loose::each(|i| {
        let limb = products.limb(i);
        limb.permuted(&const { both([0, 1, 3, 3]) })
            .plus_where::<{ mask(1) }>(limb.permuted(&const { both([2; 4]) }))
    })
}

/// Adds to the point in the lanes from `FIRST`, or subtracts if `negate` is set. With `t0 = X1 X2`, `t1 = Y1
/// Y2`, `t2 = Z1 Z2`, `t3 = X1 Y2 + X2 Y1`, `t4 = Y1 Z2 + Y2 Z1`, `t5 = X1 Z2 + X2 Z1`, `u = t1 + 3 b t2`,
/// `v = t1 - 3 b t2` and `w = 3 b t5`: `X' = t3 v - t4 w`, `Y' = u v + 3 t0 w`, `Z' = t4 u + 3 t0 t3`.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn add<D: Degree, const FIRST: usize>(
    points: &mut Factor<D>,
    other: &Summand<D>,
    negate: bool,
) {
    // A difference is computed as the opposite of the sum of `other` and the opposite point.
    let point = summand(points, FIRST, negate);
    let products = Loose::product(&point.0, &other.0);
    // t0, t1, t2, unused, t3, t4, t5, unused.
    let t = Loose::each(|i| {
        let limb = products.limb(i);
        limb.minus_where::<SUMS>(limb.permuted(&[0, 0, 0, 0, 0, 1, 0, 0]))
            .minus_where::<SUMS>(limb.permuted(&[0, 0, 0, 0, 1, 2, 2, 0]))
    });
    // 3 b t2, and w, which is in -56 p .. 44 p.
    let b = |i: usize| times_3b(t.limb(i).permuted(&[2, 2, 2, 2, 6, 6, 6, 6]));
    // t1, t3.
    let c = |i: usize| t.limb(i).permuted(&[1, 1, 1, 1, 4, 4, 4, 4]);
    // t3, u, t4, unused, t4, 3 t0, 3 t0, unused.
    let x = Loose::each(|i| {
        let t = t.limb(i).permuted(&[4, 4, 5, 5, 5, 0, 0, 0]);
        t.plus_where::<0b110_0000>(t.times::<2>())
            .select(0b10, c(i).plus(b(i)))
    });
    // v, v, u, unused, w, w, t3, unused.
    let y = Loose::each(|i| {
        let (b, c) = (b(i), c(i));
        c.minus_where::<0b11>(b)
            .plus_where::<0b100>(b)
            .select(0b11_0000, b)
    });
    let products = Loose::product(&x.factor::<64>(), &y.factor::<64>());
    let y = if negate { mask(1) } else { 0 };
    let sum = Loose::each(|i| {
        let limb = products.limb(i);
        let first = limb.permuted(&[0, 1, 2, 2, 0, 1, 2, 2]);
        let second = limb.permuted(&[4, 5, 6, 6, 4, 5, 6, 6]);
        let sum = first.plus(second).select(mask(0), first.minus(second));
        let p = Loose::multiple::<4>(i);
        points
            .limb(i)
            .select(0x0f << FIRST, p.plus(sum).select(y, p.minus(sum)))
    });
    *points = sum.factor::<0>();
}

/// The images of both points, and their opposites: for points of the subgroup, the multiples by X^2 in G1
/// and by X in G2. Takes sizes below 64.
#[target_feature(enable = "avx512f,avx512ifma")]
fn opposite_image<D: Degree>(points: &Factor<D>, factors: &Factor<D>) -> Factor<D> {
    let conjugate = Loose::each(|i| points.limb(i).conjugate()).factor::<64>();
    Loose::product(&conjugate, factors).factor::<1>()
}

/// Returns the multiple of a point of the curve by a scalar, given in base X; `None` if the point is not in
/// the subgroup.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiple<G: LaneGroup>(point: &Affine<G>, scalar: &[u64; 4]) -> Option<Jacobian<G>> {
    let doublings = G::POWER * X.ilog2() as usize;
    let (zero, one) = (G::Field::ZERO, G::Field::ONE);
    let point = load::<G>([point.x, point.y, one]);
    let factors = load::<G>([G::BY_X, G::BY_Y.negate(1), one]);

    let mut digits = [([0; 129], 0); 4];
    let mut terms = 0;
    for (i, k) in G::multipliers(*scalar).enumerate() {
        if k != 0 {
            digits[i] = wnaf(&from_u128(k), WINDOW);
            terms = i + 1;
        }
    }
    let digits: &[Digits<129>] = &digits[..terms];
    let mut all_digits = digits
        .iter()
        .flat_map(|(digits, length)| &digits[..*length]);

    // Odd multiples, two in each vector.
    let mut multiples = [point; ENTRIES / 2];
    if all_digits.any(|digit| digit.unsigned_abs() > 1) {
        let double_point = double(&point);
        let two = summand(&double_point, CHECK, false);
        let four = summand(&double(&double_point), CHECK, false);
        add::<_, SUM>(&mut multiples[0], &two, false);
        for i in 1..multiples.len() {
            multiples[i] = multiples[i - 1];
            add::<_, CHECK>(&mut multiples[i], &four, false);
            add::<_, SUM>(&mut multiples[i], &four, false);
        }
    }
    let mut table = [[summand(&point, CHECK, false); ENTRIES]; 4];
    for (term, entries) in table[..terms].iter_mut().enumerate() {
        if term > 0 {
            multiples = multiples.map(|points| opposite_image(&points, &factors));
        }
        for (i, entry) in entries.iter_mut().enumerate() {
            *entry = summand(&multiples[i / 2], WIDTH * (i % 2), false);
        }
    }

    let mut base = summand(&point, CHECK, false);
    let mut points = load::<G>([zero, one, zero]);
    let length = digits.iter().map(|(_, length)| *length).max();
    for i in (0..length.max(Some(doublings + 1)).unwrap_or(0)).rev() {
        points = double(&points);
        let bit = i % X.ilog2() as usize;
        if i == doublings || i < doublings && X >> bit & 1 == 1 {
            add::<_, CHECK>(&mut points, &base, false);
        }
        if bit == 0 {
            base = summand(&points, CHECK, false);
        }
        for ((digits, _), entries) in digits.iter().zip(&table) {
            let digit = digits[i];
            if digit != 0 {
                let entry = &entries[usize::from(digit.unsigned_abs() / 2)];
                add::<_, SUM>(&mut points, entry, digit < 0);
            }
        }
    }

    let image = opposite_image(&point, &factors);
    let scaled = permuted_product((&image, &ALL), (&points, &[2; LANES]));
    let lanes = Loose::each(|i| points.limb(i).minus_where::<0b11>(scaled.limb(i)))
        .carried::<2>()
        .store();
    let [x, y, z, _, sum @ ..] = lanes;
    let [sum_x, sum_y, sum_z, _] = sum;
    (x.is_zero() && y.is_zero() && !z.is_zero()).then(|| jacobian([sum_x, sum_y, sum_z]))
}
