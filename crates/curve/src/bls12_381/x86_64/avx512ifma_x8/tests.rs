#![allow(clippy::unwrap_used)]

use alloc::vec::Vec;

use blst::*;
use lydite_hash::cpu::Avx512Ifma;

use super::{
    super::super::{
        endomorphism::X,
        fields::{Element, Fp, Fp2, G1, G2},
        groups::Group,
    },
    field::{Fp2Lanes, FpLanes},
    group::LaneGroup,
    multiple::multiple,
    pairing::{final_exponentiation, final_exponentiation_is_one, miller_loop},
    points,
    products::Factor,
    subgroup::{are_few_in_group, are_in_group},
    tower::Fp12,
};
use crate::{
    field::LazyField,
    group::{self, Affine, Jacobian},
    lanes::{LANES, field::Products},
};

/// Pseudo-random numbers.
fn numbers() -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    core::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 31
    })
}

/// Elements of Fp: 0, 1, -1, the largest words below p, and pseudo-random ones.
fn elements(from: &mut impl Iterator<Item = u64>) -> [Fp; LANES] {
    core::array::from_fn(|lane| match lane {
        0 => Fp::ZERO,
        1 => Fp::ONE,
        2 => Fp::ONE.negate(1),
        _ => {
            let mut l = core::array::from_fn(|_| from.next().unwrap());
            l[5] &= (1 << 60) - 1;
            Element(blst_fp { l })
        }
    })
}

#[test]
fn field_is_that_of_the_library() {
    if Avx512Ifma::detect().is_none() {
        return;
    }
    let mut numbers = numbers();
    for _ in 0..50 {
        let (a, mut b) = (elements(&mut numbers), elements(&mut numbers));
        b.rotate_left(3);
        // SAFETY: `Avx512Ifma::detect` was checked above.
        let [product, square, minus, more, twice, negative, sum] = unsafe {
            let (a, b) = (FpLanes::load(&a), FpLanes::load(&b));
            [
                a.mul(&b).store(),
                a.square().store(),
                a.minus::<3, 8, 9>(&b).mul(&a.times::<12>()).store(),
                a.minus_both(&b, &a).store(),
                a.minus_twice(&b, &a).store(),
                a.negate_where::<2>(0b1010_1010).store(),
                FpLanes::sum_of_products(&a.times::<12>(), &b, &a.negate::<2>(), &a).store(),
            ]
        };
        for i in 0..LANES {
            let (a, b) = (a[i], b[i]);
            assert!(product[i] == a.mul(&b), "{i}");
            assert!(square[i] == a.square());
            let eight = |x: &Fp| x.double().double().double();
            let twelve = eight(&a).add(&a.double().double());
            assert!(minus[i] == a.triple().sub(&eight(&b), 1).mul(&twelve));
            assert!(more[i] == b.negate(1));
            assert!(twice[i] == a.sub(&b, 1).sub(&a.double(), 1));
            assert!(negative[i] == if i % 2 == 1 { a.negate(1) } else { a });
            assert!(sum[i] == twelve.mul(&b).sub(&a.square(), 1));
        }
        let pairs = |a: &[Fp; LANES], b: &[Fp; LANES]| {
            core::array::from_fn(|i| {
                Element(blst::blst_fp2 {
                    fp: [a[i].0, b[(i + 5) % LANES].0],
                })
            })
        };
        let (c, d): ([Fp2; LANES], [Fp2; LANES]) = (pairs(&a, &b), pairs(&b, &a));
        // SAFETY: `Avx512Ifma::detect` was checked above.
        let [product, square, minus, sum] = unsafe {
            let (c, d) = (Fp2Lanes::load(&c), Fp2Lanes::load(&d));
            let large = c.minus::<12, 1, 2>(&d);
            [
                c.mul(&d).store(),
                c.square().store(),
                large.mul(&large).minus::<1, 1, 2>(&large.square()).store(),
                Fp2Lanes::sum_of_products(&c.times::<12>(), &d, &d.negate::<2>(), &c).store(),
            ]
        };
        for i in 0..LANES {
            assert!(product[i] == c[i].mul(&d[i]), "{i}");
            assert!(square[i] == c[i].square());
            assert!(minus[i].is_zero());
            let product = c[i].mul(&d[i]);
            let double = |x: &Fp2| x.double();
            let eight = double(&double(&double(&product)));
            assert!(sum[i] == eight.add(&product.triple()));
        }
    }
}

/// Compares the vector kernels of a group with blst. Multipliers in a sum have `bits` bits.
#[target_feature(enable = "avx512f,avx512ifma")]
fn sums_and_subgroup<G: Group>(generator: &Affine<G>, bits: u32) {
    let outside = G::outside();
    let by_blst = |p: &Affine<G>, k: u128| {
        let mut scalar = blst_scalar::default();
        scalar.b[..16].copy_from_slice(&k.to_le_bytes());
        G::multiple(p, &scalar)
    };
    let mut numbers = numbers();
    let mut points: Vec<Affine<G>> = (0..19)
        .map(|_| {
            let k = u128::from(numbers.next().unwrap());
            by_blst(generator, k).to_affine().unwrap()
        })
        .collect();
    // A repeated point and an opposite one.
    points[7] = points[3];
    points[12] = points[3].negate_if(true);

    for count in [0, 1, 2, 3, 7, 8, 9, 16, 19] {
        for same in [false, true] {
            let terms: Vec<_> = points[..count]
                .iter()
                .enumerate()
                .map(|(i, point)| {
                    let k = match i % 5 {
                        _ if same => 0xffff,
                        0 => u128::MAX,
                        1 => 0,
                        2 => 1 << (bits - 1),
                        _ => u128::from(numbers.next().unwrap()) << (bits - 64),
                    };
                    (*point, k & u128::MAX >> (128 - bits))
                })
                .collect();
            let expected = terms.iter().fold(Jacobian::INFINITY, |sum, (point, k)| {
                sum.add(&by_blst(point, *k))
            });
            assert!(points::sum(&terms).equals(&expected), "{count} {same}");
        }
    }

    // A multiple is that of blst, and its check that of all points in lanes.
    let one = |point: &Affine<G>, digits: [u64; 4]| {
        let scaled = |point: &Affine<G>, by: u64| by_blst(point, by.into()).to_affine();
        let result = multiple(point, &digits);
        assert_eq!(result.is_some(), G::contains(point));
        if let Some(result) = result {
            // By Horner's rule.
            let expected = digits.iter().rev().fold(None, |sum, digit| {
                let sum = sum.and_then(|sum| scaled(&sum, X));
                group::add_affine(sum, scaled(point, *digit))
            });
            let expected = expected.map_or(Jacobian::INFINITY, Jacobian::from);
            assert!(result.equals(&expected), "{digits:?}");
        }
    };
    let sum = group::add_affine(Some(points[0]), Some(outside)).unwrap();
    for digit in [0, 1, 2, 3, 7, 8, 15, X - 1, X / 2, 1 << 63] {
        for point in [points[0], outside, sum] {
            for at in 0..4 {
                let mut digits = [0; 4];
                digits[at] = digit;
                one(&point, digits);
                digits[(at + 1) % 4] = X - 1;
                one(&point, digits);
            }
            one(&point, [digit; 4]);
        }
    }
    for point in &points {
        one(point, core::array::from_fn(|_| numbers.next().unwrap() % X));
    }

    let check = |points: &[Affine<G>]| {
        let all = are_in_group(points);
        assert_eq!(all, points::are_in_group(points));
        let mut pairs = points.chunks(2);
        assert_eq!(all, pairs.all(|points| are_few_in_group(points)));
        all
    };
    assert!(Affine::<G>::checked(outside.x, outside.y, ()).is_ok());
    assert!(!G::contains(&outside));
    // The point outside, alone and added to a point of the group.
    let sum = group::add_affine(Some(points[0]), Some(outside.negate_if(true))).unwrap();
    for count in 1..=LANES {
        assert!(check(&points[..count]));
        for at in 0..count {
            for outside in [outside, sum] {
                let mut points = points.clone();
                points[at] = outside;
                assert!(!check(&points[..count]), "{count} {at}");
            }
        }
    }
}

#[test]
fn sums_and_subgroup_of_g1() {
    if Avx512Ifma::detect().is_some() {
        // SAFETY: blst returns a valid pointer to a static.
        let blst_p1_affine { x, y } = unsafe { *blst_p1_affine_generator() };
        let [x, y] = [x, y].map(Element);
        // SAFETY: `Avx512Ifma::detect` was checked above.
        unsafe { sums_and_subgroup::<G1>(&Affine { x, y }, 128) };
    }
}

#[test]
fn sums_and_subgroup_of_g2() {
    if Avx512Ifma::detect().is_some() {
        // SAFETY: blst returns a valid pointer to a static.
        let blst_p2_affine { x, y } = unsafe { *blst_p2_affine_generator() };
        let [x, y] = [x, y].map(Element);
        // SAFETY: `Avx512Ifma::detect` was checked above.
        unsafe { sums_and_subgroup::<G2>(&Affine { x, y }, 64) };
    }
}

/// An element of Fp12 whose coefficients include edge values.
fn fp12(from: &mut impl Iterator<Item = u64>) -> blst_fp12 {
    let mut coefficients: Vec<Fp> = elements(from)[..6].to_vec();
    coefficients.extend(&elements(from)[2..]);
    coefficients.rotate_left(from.next().unwrap() as usize % 12);
    let fp2 = |i: usize| blst_fp2 {
        fp: [coefficients[2 * i].0, coefficients[2 * i + 1].0],
    };
    let fp6 = |i: usize| blst_fp6 {
        fp2: [fp2(i), fp2(i + 1), fp2(i + 2)],
    };
    blst_fp12 {
        fp6: [fp6(0), fp6(3)],
    }
}

/// Calls a function of blst with two elements.
fn of_two(
    f: unsafe extern "C" fn(*mut blst_fp12, *const blst_fp12, *const blst_fp12),
    a: &blst_fp12,
    b: &blst_fp12,
) -> blst_fp12 {
    let mut out = blst_fp12::default();
    // SAFETY: the pointers come from references to field elements.
    unsafe { f(&mut out, a, b) };
    out
}

fn of_one(f: unsafe extern "C" fn(*mut blst_fp12, *const blst_fp12), a: &blst_fp12) -> blst_fp12 {
    let mut out = blst_fp12::default();
    // SAFETY: the pointers come from references to field elements.
    unsafe { f(&mut out, a) };
    out
}

fn conjugate(a: &blst_fp12) -> blst_fp12 {
    let mut out = *a;
    // SAFETY: the pointer comes from a reference to a field element.
    unsafe { blst_fp12_conjugate(&mut out) };
    out
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn tower_operations(numbers: &mut impl Iterator<Item = u64>) {
    let (a, b) = (fp12(numbers), fp12(numbers));
    let (x, y) = (Fp12::load(&a), Fp12::load(&b));
    let same = |x: Fp12, a: blst_fp12| assert!(x.store() == a);
    same(x, a);
    same(x.mul(&y), of_two(blst_fp12_mul, &a, &b));
    same(x.square(), of_one(blst_fp12_sqr, &a));
    same(x.conjugate(), conjugate(&a));
    // The coefficients of 1, w^2, w^3.
    let [c0, c1, c2] = b.fp6[0].fp2;
    let mut product = a;
    let line = blst_fp6 { fp2: [c0, c1, c2] };
    // SAFETY: the pointers come from references to field elements.
    unsafe { blst_fp12_mul_by_xy00z0(&mut product, &a, &line) };
    let mut lanes = [Fp2::ZERO; LANES];
    lanes[4..7].copy_from_slice(&[Element(c1), Element(c2), Element(c0)]);
    let lines = Factor::new(&Fp2Lanes::load(&lanes));
    same(x.mul_by_line(&lines, 4), product);

    // The result of each operation is the input of others, which tests the bounds.
    let mut frobenius = a;
    // SAFETY: the pointers come from references to field elements.
    unsafe { blst_fp12_frobenius_map(&mut frobenius, &a, 2) };
    let easy = of_two(
        blst_fp12_mul,
        &conjugate(&a),
        &of_one(blst_fp12_inverse, &a),
    );
    // SAFETY: the pointers come from references to field elements.
    unsafe { blst_fp12_frobenius_map(&mut frobenius, &easy, 2) };
    let mut a = of_two(blst_fp12_mul, &frobenius, &easy);
    let mut x = Fp12::load(&a);
    for i in 0..40 {
        (x, a) = (x.cyclotomic_square(), of_one(blst_fp12_cyclotomic_sqr, &a));
        if i % 7 == 3 {
            (x, a) = (
                x.conjugate().mul(&x),
                of_two(blst_fp12_mul, &conjugate(&a), &a),
            );
            (x, a) = (x.mul(&y), of_two(blst_fp12_mul, &a, &b));
            (x, a) = (
                x.mul(&x.conjugate()),
                of_two(blst_fp12_mul, &a, &conjugate(&a)),
            );
            same(x, a);
            x = Fp12::load(&frobenius);
            a = frobenius;
        }
        same(x, a);
    }
}

#[test]
fn tower_is_that_of_the_library() {
    if Avx512Ifma::detect().is_some() {
        let mut numbers = numbers();
        for _ in 0..20 {
            // SAFETY: `Avx512Ifma::detect` was checked above.
            unsafe { tower_operations(&mut numbers) };
        }
    }
}

/// Multiples of the generators by pseudo-random numbers.
fn pairs(numbers: &mut impl Iterator<Item = u64>, count: usize) -> Vec<(Affine<G1>, Affine<G2>)> {
    let mut pairs = Vec::new();
    for _ in 0..count {
        let (a, b) = (numbers.next().unwrap(), numbers.next().unwrap());
        let (mut p, mut q) = (blst_p1::default(), blst_p2::default());
        let (mut from_p, mut from_q) = (blst_p1::default(), blst_p2::default());
        // SAFETY: the pointers come from references to points and to the 8 bytes of scalars.
        unsafe {
            blst_p1_from_affine(&mut from_p, blst_p1_affine_generator());
            blst_p2_from_affine(&mut from_q, blst_p2_affine_generator());
            blst_p1_mult(&mut p, &from_p, a.to_le_bytes().as_ptr(), 64);
            blst_p2_mult(&mut q, &from_q, b.to_le_bytes().as_ptr(), 64);
        }
        pairs.push((
            G1::from_blst(&p).to_affine().unwrap(),
            G2::from_blst(&q).to_affine().unwrap(),
        ));
    }
    pairs
}

/// Our Miller loop gives the inverse of blst's. blst's final exponentiation uses an exponent of which ours is the
/// triple, or the same.
#[test]
fn pairing_is_that_of_the_library() {
    if Avx512Ifma::detect().is_none() {
        return;
    }
    let mut numbers = numbers();
    for count in [1, 2, 3, 4, 5, 8, 9] {
        let pairs = pairs(&mut numbers, count);
        // SAFETY: `Avx512Ifma::detect` was checked above.
        let ours = unsafe { miller_loop(&pairs) }.unwrap();
        let (ps, qs): (Vec<_>, Vec<_>) = pairs
            .iter()
            .map(|(p, q)| (G1::to_blst(p), G2::to_blst(q)))
            .unzip();
        let (ps_list, qs_list) = (
            [ps.as_ptr(), core::ptr::null()],
            [qs.as_ptr(), core::ptr::null()],
        );
        let mut theirs = blst_fp12::default();
        // SAFETY: reads `count` points of each list, which both have, and writes one field element.
        unsafe { blst_miller_loop_n(&mut theirs, qs_list.as_ptr(), ps_list.as_ptr(), count) };
        let (power, other) = (
            of_one(blst_final_exp, &ours),
            of_one(blst_final_exp, &theirs),
        );
        assert!(power == conjugate(&other), "{count}");
        // SAFETY: `Avx512Ifma::detect` was checked above; the pointers come from references to field elements.
        unsafe {
            assert!(!blst_fp12_is_one(&power));
            let cube = of_two(blst_fp12_mul, &of_one(blst_fp12_sqr, &power), &power);
            let exponentiated = final_exponentiation(&ours);
            assert!(exponentiated == cube || exponentiated == power, "{count}");
            assert!(!final_exponentiation_is_one(&ours));
            let one = of_two(blst_fp12_mul, &ours, &theirs);
            assert!(final_exponentiation_is_one(&one), "{count}");
        }

        // A point that is not in the subgroup, at every position.
        let outside = G2::outside();
        let sum = crate::group::add_affine(Some(pairs[0].1), Some(outside)).unwrap();
        for at in 0..count {
            for outside in [outside, sum] {
                let mut pairs = pairs.clone();
                pairs[at].1 = outside;
                // SAFETY: `Avx512Ifma::detect` was checked above.
                assert!(unsafe { miller_loop(&pairs) }.is_none(), "{count} {at}");
            }
        }
    }
}
