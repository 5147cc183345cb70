//! The group law and the multiplications, exhaustively, on subgroups of 7, 13 and 199 points.
//!
//! The curves are y^2 = x^3 + b over the field of secp256k1. There are six isomorphism classes of them, with orders
//! p + 1 - t for the six traces t that the complex multiplication by sqrt(-3) allows: with 4 p = t0^2 + 3 v^2 and t0 the
//! trace of secp256k1, they are +-t0, +-(t0 + 3 v) / 2, +-(t0 - 3 v) / 2. For b = 6, 2, 4 the order N has the small factor 7
//! (twice), 13 (twice), 199. A generator is N / m (or N / m^2) times a point, and, where there are several subgroups
//! of order m (b = 6), one that (x, y) -> (beta x, y) maps to itself. b is the least, as in libsecp256k1's exhaustive
//! tests; the generators were computed for these tests.

use super::*;
use crate::secp256k1::{
    generator::{CombTable, Digits},
    group::Projective,
    multiply::{GeneratorTable, multiply_add_vartime},
    scalar::Signed128,
    secret_multiply::multiply_secret,
};

macro_rules! small_curve {
    ($name:ident, $b:literal, $x:expr, $y:expr) => {
        #[derive(Clone, Copy)]
        enum $name {}
        impl Curve for $name {
            const B: u32 = $b;
            const GENERATOR: ([u64; 5], [u64; 5]) = ($x, $y);
        }
    };
}

small_curve!(
    Order7,
    6,
    [
        0x3e0844148f6b6,
        0xe86f8c5d90da0,
        0x42fe81a0c46a3,
        0x640018bf4f59e,
        0x2326e2a429e
    ],
    [
        0x5418cff4ab0cf,
        0x428ca44e173b2,
        0x8274ff464252f,
        0xc7c2df53eb69,
        0x1e60e897a7c0
    ]
);
small_curve!(
    Order13,
    2,
    [
        0x489aa3d68746b,
        0x5be56584aa88e,
        0xb12e1d929c64,
        0x70a346a97533,
        0x3ad3e1ec92dc
    ],
    [
        0xf806d37adf8ac,
        0x43f6effe55939,
        0x3f4603e0eaf9a,
        0x1273087844ea4,
        0x54cb1b6bdc8c
    ]
);
small_curve!(
    Order199,
    4,
    [
        0x2940c9ea66c18,
        0x7da808c2f1fb1,
        0xb4fb0693b017a,
        0xf2dba749dd392,
        0xfa7cc9a70737
    ],
    [
        0x525727f0501ed,
        0x6c808dae72cfe,
        0xf3a286848df24,
        0xaef38732bc911,
        0x78ac123a5ed8
    ]
);

/// x and y as words; `None` for infinity.
type Plain = Option<[[u64; 4]; 2]>;

fn plain<C: Curve>(point: Option<Affine<C>>) -> Plain {
    point.map(|p| [p.x.normalize().to_words(), p.y.normalize().to_words()])
}

fn plain_projective<C: Curve>(point: &Projective<C>) -> Plain {
    plain((!point.is_infinity()).then(|| point.to_affine()))
}

/// All multiples of the generator, from infinity on, by the chord-and-tangent rule.
fn multiples<C: Curve>(order: usize) -> Vec<Option<Affine<C>>> {
    let generator = Affine::<C>::generator();
    assert!(generator.is_on_curve());
    let mut all = alloc::vec![None, Some(generator)];
    let mut last = generator;
    for i in 2..=order {
        let slope = if i == 2 {
            last.x
                .square()
                .mul_small(3)
                .mul(&last.y.mul_small(2).invert())
        } else {
            last.y
                .sub(&generator.y, 1)
                .mul(&last.x.sub(&generator.x, 1).invert())
        };
        if i == order {
            // The last is -G, which the next step takes to infinity.
            assert!(last.x.equals(&generator.x) && last.y.equals(&generator.y.negate(1)));
            break;
        }
        let x = slope.square().sub(&last.x.add(&generator.x), 2).normalize();
        let y = slope
            .mul(&generator.x.sub(&x, 1))
            .sub(&generator.y, 1)
            .normalize();
        last = Affine::new(x, y);
        assert!(last.is_on_curve());
        all.push(Some(last));
    }
    assert_eq!(all.len(), order);
    all
}

/// Not 0.
fn any_element(seed: usize) -> FieldElement {
    FieldElement::from_words(crate::words_from_be(&bytes32(seed as u64)).map(|word| word >> 1))
}

fn jacobian<C: Curve>(point: &Option<Affine<C>>, z: &FieldElement) -> Jacobian<C> {
    let Some(point) = point else {
        return Jacobian::INFINITY;
    };
    Jacobian::new(
        point.x.mul(&z.square()),
        point.y.mul(&z.square().mul(z)),
        *z,
    )
}

fn group_law<C: Curve>(order: usize) {
    let points = multiples::<C>(order);
    let expected: Vec<Plain> = points.iter().copied().map(plain).collect();
    for i in 0..order {
        let z = any_element(i);
        let a = jacobian(&points[i], &z);
        assert_eq!(plain(a.to_affine_vartime()), expected[i]);
        assert_eq!(
            plain(a.double_vartime().to_affine_vartime()),
            expected[2 * i % order]
        );
        // The same point in homogeneous coordinates; infinity is (0 : Z : 0).
        let b = match &points[i] {
            Some(p) => Projective::new(p.x.mul(&z), p.y.mul(&z), z),
            None => Projective::new(FieldElement::ZERO, z, FieldElement::ZERO),
        };
        assert_eq!(plain_projective(&b.double()), expected[2 * i % order]);
        for j in 1..order {
            let other = points[j].unwrap();
            let sum = expected[(i + j) % order];
            assert_eq!(
                plain(a.add_affine_vartime(&other).to_affine_vartime()),
                sum,
                "{i} + {j}"
            );
            assert_eq!(plain_projective(&b.add_affine(&other)), sum, "{i} + {j}");
            // On the curve where Z is divided by the scale.
            let scale = any_element(order + j);
            let scaled = if a.infinity {
                a
            } else {
                Jacobian::new(a.x, a.y, z.mul(&scale.invert()))
            };
            let mut scaled = scaled.add_scaled_vartime(&other, &scale);
            scaled.z = scaled.z.mul(&scale);
            assert_eq!(plain(scaled.to_affine_vartime()), sum, "{i} + {j}");
        }
    }
}

#[test]
fn group_law_on_small_groups() {
    group_law::<Order7>(7);
    group_law::<Order13>(13);
    group_law::<Order199>(199);
}

/// A multiplier that is `k` modulo the order, of about 128 bits, positive or negative.
fn multiplier(k: usize, order: usize, seed: usize) -> Signed128 {
    let random = bytes32(seed as u64);
    let random = u128::from_be_bytes(*random.first_chunk().unwrap()) >> (random[31] % 128);
    let base = random - random % order as u128;
    if seed & 1 == 0 {
        Signed128 {
            negative: false,
            magnitude: base.saturating_sub(order as u128) + k as u128,
        }
    } else {
        Signed128 {
            negative: true,
            magnitude: base.saturating_sub(order as u128) + ((order - k) % order) as u128,
        }
    }
}

/// One `a0 P + a1 lambda P + b0 G + b1 2^128 G`.
fn check<C: Curve, const ENTRIES: usize>(
    points: &[Option<Affine<C>>],
    table: GeneratorTable<'_>,
    lambda: usize,
    [p, a0, a1, b0, b1]: [usize; 5],
) {
    let order = points.len();
    let seed = p + 3 * a0 + 7 * a1 + 11 * b0 + 13 * b1;
    let part = |k, i| multiplier(k, order, seed + i);
    let sum = multiply_add_vartime::<C, ENTRIES>(
        &points[p].unwrap(),
        &[part(a0, 0), part(a1, 1)],
        table,
        &[part(b0, 2), part(b1, 3)],
    );
    let power = (0..128).fold(1, |power, _| power * 2 % order);
    let expected = (p * (a0 + a1 * lambda) + b0 + b1 * power) % order;
    assert_eq!(
        plain(sum.to_affine_vartime()),
        plain(points[expected]),
        "{p} {a0} {a1} {b0} {b1}"
    );
}

/// `lambda` such that lambda G = (beta x, y).
fn eigenvalue<C: Curve>(points: &[Option<Affine<C>>]) -> usize {
    let image = plain(points[1].map(|p| p.endomorphism()));
    points.iter().position(|p| plain(*p) == image).unwrap()
}

fn all_multiplications<C: Curve, const ENTRIES: usize>(order: usize, entries: usize) {
    let points = multiples::<C>(order);
    let lambda = eigenvalue(&points);
    assert_eq!((lambda * lambda + lambda + 1) % order, 0);
    let table = generator_table::<C>(entries);
    for p in 1..order {
        for a0 in 0..order {
            for a1 in 0..order {
                for b0 in 0..order {
                    check::<C, ENTRIES>(
                        &points,
                        GeneratorTable(&table),
                        lambda,
                        [p, a0, a1, b0, (a0 + b0) % order],
                    );
                }
            }
        }
    }
}

#[test]
fn multiplication_on_small_groups() {
    all_multiplications::<Order7, 2>(7, 2);
    all_multiplications::<Order13, 4>(13, 4);
    // 199^4 is too many: all pairs, the rest following from them.
    let points = multiples::<Order199>(199);
    let lambda = eigenvalue(&points);
    let table = generator_table::<Order199>(64);
    for p in 1..199 {
        for a0 in (0..199).step_by(3) {
            let [a1, b0, b1] = [5 * p + a0, p + 7 * a0, p * a0].map(|k| k % 199);
            check::<Order199, POINT_ENTRIES>(
                &points,
                GeneratorTable(&table),
                lambda,
                [p, a0, a1, b0, b1],
            );
        }
    }
}

/// The comb knows that n G is infinity only where it negates an even k to n - k; in the small group n G is (n mod 199) G.
#[test]
fn comb_on_a_small_group() {
    let points = multiples::<Order199>(199);
    let table = comb_table::<Order199>();
    let order_rest = to_words(&(to_big(&ORDER) % 199u32))[0] as usize;
    for k in 1..3 * 199 {
        let mut bytes = [0; 32];
        bytes[30..].copy_from_slice(&(k as u16).to_be_bytes());
        let digits = Digits::new(&Scalar::from_bytes_reduced(&bytes));
        let expected = if k % 2 == 1 { k } else { k + 199 - order_rest };
        let expected = plain(points[expected % 199]);
        let product = generator::multiply_generator::<Order199>(CombTable(&table), &digits);
        assert_eq!(plain_projective(&product), expected, "{k}");
    }
}

#[test]
fn secret_multiplication_on_a_small_group() {
    let points = multiples::<Order199>(199);
    let lambda = eigenvalue(&points);
    let power = |exponent| (0..exponent).fold(1, |power, _| power * 2 % 199);
    for p in 1..199 {
        for i in 0..199 {
            // Every pair (p, k1 + k2 lambda), with halves of all sizes up to 2^129.
            let halves = [i, 7 * i + p].map(|seed| {
                let random = bytes32(seed as u64);
                let words = crate::words_from_be(&random);
                let shift = u32::from(random[0]) % 64;
                [
                    words[0],
                    words[1] >> shift,
                    words[2] & u64::from(shift == 0),
                ]
            });
            let [k1, k2] = halves.map(|v| {
                let low = u128::from(v[0]) | u128::from(v[1]) << 64;
                let v = (low % 199) as usize + v[2] as usize * power(128);
                2 * v + 1 + 199 - power(130)
            });
            let expected = p * (k1 + lambda * k2) % 199;
            assert_eq!(
                plain_projective(&multiply_secret(&points[p].unwrap(), &halves)),
                plain(points[expected]),
                "{p} {halves:?}"
            );
        }
    }
}

/// The two multiplications against each other, on secp256k1.
#[test]
fn multiplications_agree() {
    let generator = Affine::<Secp256k1>::generator();
    for i in 0..200 {
        let [a, b] = [bytes32(i), bytes32(i + 200)].map(|bytes| Scalar::from_bytes_reduced(&bytes));
        let expected = plain(Some(multiply_generator(&a.add(&b))));
        let multiply_add = |point: &Affine<_>, factors: &(Scalar, Scalar)| {
            let sum = Backend::detect().multiply_add_of_one(point, factors);
            plain(sum.to_affine_vartime())
        };
        assert_eq!(multiply_add(&generator, &(a, b)), expected);
        // c (d G) with c d = a + b.
        let d = Scalar::from_bytes_reduced(&bytes32(i + 400));
        let c = a.add(&b).mul(&d.invert());
        assert_eq!(
            multiply_add(&multiply_generator(&d), &(c, Scalar::ZERO)),
            expected
        );
    }
}
