//! Exhaustive tests of the group law and the multiplications, on subgroups of 7, 13 and 199 points.
//!
//! The curves are y^2 = x^3 + b over the field of secp256k1. They have six isomorphism classes, with orders p + 1 - t
//! for the six traces t that the complex multiplication by sqrt(-3) allows: with 4 p = t0^2 + 3 v^2 and t0 the trace of
//! secp256k1, they are +-t0, +-(t0 + 3 v) / 2, +-(t0 - 3 v) / 2. For b = 6, 2, 4 the order N has the small factor 7
//! (twice), 13 (twice), 199. A generator is N / m (or N / m^2) times a point. If there are several subgroups of order m
//! (b = 6), it generates one that (x, y) -> (beta x, y) maps to itself. b is the smallest possible, as in
//! libsecp256k1's exhaustive tests; the generators were computed for these tests.

use super::*;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
use crate::secp256k1::field::saturated;
#[cfg(target_arch = "x86_64")]
use crate::secp256k1::x86_64::adx;
use crate::{
    field::SecretField,
    group::Curve,
    secp256k1::{
        generator::{CombTable, Digits},
        multiply::{GeneratorTable, multiply_add_vartime},
        scalar::Signed128,
        secret_multiply::{multiply, multiply_secret},
    },
};

macro_rules! small_curve {
    ($name:ident, $b:literal, $x:expr, $y:expr) => {
        #[derive(Clone, Copy)]
        struct $name<F>(core::marker::PhantomData<F>);
        impl<F: FieldRepr> Curve for $name<F> {
            type Field = F;
            const A_IS_MINUS_3: bool = false;

            fn b() -> F {
                F::from_words([$b, 0, 0, 0])
            }
        }
        impl<F: FieldRepr> Endomorphism for $name<F> {
            const GENERATOR: [[u64; 4]; 2] = [$x, $y];
        }
    };
}

small_curve!(
    Order7,
    6,
    [
        0xda03_e084_4148_f6b6,
        0x0c46_a3e8_6f8c_5d90,
        0x18bf_4f59_e42f_e81a,
        0x0232_6e2a_429e_6400,
    ],
    [
        0x3b25_418c_ff4a_b0cf,
        0x6425_2f42_8ca4_4e17,
        0x2df5_3eb6_9827_4ff4,
        0x1e60_e897_a7c0_0c7c,
    ]
);
small_curve!(
    Order13,
    2,
    [
        0x88e4_89aa_3d68_746b,
        0x929c_645b_e565_84aa,
        0x346a_9753_30b1_2e1d,
        0x3ad3_e1ec_92dc_070a,
    ],
    [
        0x939f_806d_37ad_f8ac,
        0x0eaf_9a43_f6ef_fe55,
        0x0878_44ea_43f4_603e,
        0x54cb_1b6b_dc8c_1273,
    ]
);
small_curve!(
    Order199,
    4,
    [
        0xfb12_940c_9ea6_6c18,
        0x3b01_7a7d_a808_c2f1,
        0xa749_dd39_2b4f_b069,
        0xfa7c_c9a7_0737_f2db,
    ],
    [
        0xcfe5_2572_7f05_01ed,
        0x48df_246c_808d_ae72,
        0x8732_bc91_1f3a_2868,
        0x78ac_123a_5ed8_aef3,
    ]
);

/// x and y as words; `None` is infinity.
type Plain = Option<[[u64; 4]; 2]>;

fn plain<C: Endomorphism>(point: Option<Affine<C>>) -> Plain {
    point.map(|p| [p.x.reduced(), p.y.reduced()])
}

fn plain_sum<C: Endomorphism>(point: Jacobian<C>) -> Plain {
    plain(point.to_affine())
}

/// Returns all multiples of the generator, starting with infinity, computed with the chord-and-tangent rule.
fn multiples<C: Endomorphism>(order: usize) -> Vec<Option<Affine<C>>> {
    let generator = Affine::<C>::generator();
    assert!(generator.is_on_curve());
    let mut all = alloc::vec![None, Some(generator)];
    let mut last = generator;
    for i in 2..=order {
        let slope = if i == 2 {
            last.x.square().triple().mul(&last.y.double().invert())
        } else {
            last.y
                .sub(&generator.y, 1)
                .mul(&last.x.sub(&generator.x, 1).invert())
        };
        if i == order {
            // The last one is -G; the next step leads to infinity.
            assert_eq!(plain(Some(last.negate_if(true))), plain(Some(generator)));
            break;
        }
        let x = slope.square().sub(&last.x.add(&generator.x), 2);
        let y = slope.mul(&generator.x.sub(&x, 4)).sub(&generator.y, 1);
        let [x, y] = [x, y].map(|coordinate| C::Field::from_words(coordinate.reduced()));
        last = Affine { x, y };
        assert!(last.is_on_curve());
        all.push(Some(last));
    }
    assert_eq!(all.len(), order);
    all
}

/// Returns a non-zero element.
fn any_element<F: FieldRepr>(seed: usize) -> F {
    F::from_words(crate::words::from_be(&bytes32(seed as u64)).map(|word| word >> 1))
}

/// Returns the point with this Z. For infinity, X and Y are arbitrary.
fn jacobian<C: Endomorphism>(point: &Option<Affine<C>>, z: &C::Field) -> Jacobian<C> {
    let Some(point) = point else {
        return Jacobian {
            x: *z,
            y: z.square(),
            z: C::Field::ZERO,
        };
    };
    Jacobian {
        x: point.x.mul(&z.square()),
        y: point.y.mul(&z.square().mul(z)),
        z: *z,
    }
}

fn group_law<C: Endomorphism>(order: usize) {
    let points = multiples::<C>(order);
    let expected: Vec<Plain> = points.iter().copied().map(plain).collect();
    for i in 0..order {
        let z = any_element(i);
        let a = jacobian(&points[i], &z);
        assert_eq!(plain_sum(a), expected[i]);
        assert_eq!(plain_sum(a.double()), expected[2 * i % order]);
        for j in 0..order {
            let sum = expected[(i + j) % order];
            let b = jacobian(&points[j], &any_element(2 * order + j));
            assert_eq!(plain_sum(a.add(&b)), sum, "{i} + {j}");
            assert_eq!(a.equals(&b), i == j);
            let Some(other) = points[j] else { continue };
            assert_eq!(plain_sum(a.add_affine(&other)), sum, "{i} + {j}");
            assert_eq!(plain_sum(a.add_complete(&other)), sum, "{i} + {j}");
            // The sum is correct or has Z = 0, and Z = 0 in every exceptional case.
            let (incomplete, ratio) = a.add_incomplete(&other, &a.z);
            assert_eq!(
                incomplete.z.is_zero_mask().declassify(),
                i == 0 || i == j || i + j == order
            );
            if !incomplete.is_infinity() {
                assert_eq!(plain_sum(incomplete), sum, "{i} + {j}");
                assert_eq!(a.z.mul(&ratio).reduced(), incomplete.z.reduced());
            }
            // On the curve whose points have Z divided by the scale.
            let scale: C::Field = any_element(order + j);
            let mut scaled = a;
            scaled.z = a.z.mul(&scale.invert());
            let mut scaled = scaled.add_scaled(&other, Some(&scale));
            scaled.z = scaled.z.mul(&scale);
            assert_eq!(plain_sum(scaled), sum, "{i} + {j}");
        }
    }
}

/// Runs a test with each field representation.
macro_rules! each_field {
    ($field:ident => $body:block) => {{
        {
            type $field = FieldElement;
            $body
        }
        #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
        {
            {
                type $field = saturated::Public;
                $body
            }
            {
                type $field = saturated::Secret;
                $body
            }
        }
        #[cfg(target_arch = "x86_64")]
        if Backend::detect() != Backend::Portable {
            {
                type $field = adx::Public;
                $body
            }
            {
                type $field = adx::Secret;
                $body
            }
        }
    }};
}

#[test]
fn group_law_on_small_groups() {
    each_field!(F => {
        group_law::<Order7<F>>(7);
        group_law::<Order13<F>>(13);
        group_law::<Order199<F>>(199);
    });
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

/// Checks one `a0 P + a1 lambda P + b0 G + b1 2^128 G`.
fn check<C: Endomorphism, const ENTRIES: usize>(
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
        plain_sum(sum),
        plain(points[expected]),
        "{p} {a0} {a1} {b0} {b1}"
    );
}

/// Returns `lambda` such that lambda G = (beta x, y).
fn eigenvalue<C: Endomorphism>(points: &[Option<Affine<C>>]) -> usize {
    let image = plain(points[1].map(|p| p.endomorphism()));
    points.iter().position(|p| plain(*p) == image).unwrap()
}

fn all_multiplications<C: Endomorphism, const ENTRIES: usize>(order: usize, entries: usize) {
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
    each_field!(F => {
        all_multiplications::<Order7<F>, 2>(7, 2);
        all_multiplications::<Order13<F>, 4>(13, 4);
        // 199^4 is too many: test all pairs, with the other multipliers derived from them.
        let points = multiples::<Order199<F>>(199);
        let lambda = eigenvalue(&points);
        let table = generator_table::<Order199<F>>(64);
        for p in 1..199 {
            for a0 in (0..199).step_by(3) {
                let [a1, b0, b1] = [5 * p + a0, p + 7 * a0, p * a0].map(|k| k % 199);
                check::<_, 8>(&points, GeneratorTable(&table), lambda, [p, a0, a1, b0, b1]);
            }
        }
    });
}

/// The comb uses n G = infinity only when it replaces an even k by n - k; in the small group n G is (n mod 199) G.
#[test]
fn comb_on_a_small_group() {
    each_field!(F => {
        let points = multiples::<Order199<F>>(199);
        let table = comb_table::<Order199<F>>();
        let order_rest = to_words(&(to_big(&ORDER) % 199u32))[0] as usize;
        for k in 1..3 * 199 {
            let mut bytes = [0; 32];
            bytes[30..].copy_from_slice(&(k as u16).to_be_bytes());
            let digits = Digits::new(&Scalar::from_bytes_reduced(&bytes));
            let expected = if k % 2 == 1 { k } else { k + 199 - order_rest };
            let expected = plain(points[expected % 199]);
            let product = generator::multiply_generator::<Order199<F>>(CombTable(&table), &digits);
            assert_eq!(plain_sum(product), expected, "{k}");
        }
    });
}

#[test]
fn secret_multiplication_on_a_small_group() {
    each_field!(F => {
        let points = multiples::<Order199<F>>(199);
        let lambda = eigenvalue(&points);
        let power = |exponent| (0..exponent).fold(1, |power, _| power * 2 % 199);
        let mut exceptional = 0;
        for p in 1..199 {
            for i in 0..199 {
                // Every pair (p, k1 + k2 lambda), with halves of all sizes up to 2^129.
                let halves = [i, 7 * i + p].map(|seed| {
                    let random = bytes32(seed as u64);
                    let words = crate::words::from_be(&random);
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
                let expected = plain(points[p * (k1 + lambda * k2) % 199]);
                let point = points[p].unwrap();
                let incomplete = multiply::<_, false>(&point, &halves);
                exceptional += usize::from(incomplete.is_infinity());
                assert_eq!(plain_sum(multiply::<_, true>(&point, &halves)), expected);
                assert_eq!(plain_sum(multiply_secret(&point, &halves)), expected);
            }
        }
        assert!(exceptional > 1000 && exceptional < 198 * 199, "{exceptional}");
    });
}

/// Compares the two multiplications with each other, on secp256k1.
#[test]
fn multiplications_agree() {
    let generator = Affine::<Secp256k1>::generator();
    for i in 0..200 {
        let [a, b] = [bytes32(i), bytes32(i + 200)].map(|bytes| Scalar::from_bytes_reduced(&bytes));
        let expected = plain(Some(multiply_generator(&a.add(&b))));
        let multiply_add = |point: &Affine<_>, factors: &(Scalar, Scalar)| {
            let sum = Backend::detect().multiply_add_of_one(point, factors);
            plain_sum(sum)
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
