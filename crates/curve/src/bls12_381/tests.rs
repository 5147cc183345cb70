#![allow(clippy::unwrap_used)]

use alloc::vec::Vec;

use blst::{
    blst_fp, blst_fp2, blst_fp6, blst_p1_affine_generator, blst_p2_affine,
    blst_p2_affine_generator, blst_p2_uncompress, blst_precompute_lines,
};
use hex_literal::hex;
use proptest::prelude::*;

use super::{
    dispatch::Backend,
    encoding::{read_g1, read_g2, write_g1, write_g2},
    fields::{Element, Fp, Fp2, G1},
    groups::Group,
    msm::{msm, read_scalar},
    pairing::pairing_check_with,
    *,
};
use crate::{field::LazyField, group::Affine};

/// Returns the result of every backend, which must be the same.
fn every_backend<T: PartialEq + core::fmt::Debug>(f: impl Fn(Backend) -> T) -> T {
    let expected = f(Backend::Blst);
    for backend in Backend::available() {
        assert_eq!(f(backend), expected, "{backend:?}");
    }
    expected
}

fn g1_msm(
    pairs: impl IntoIterator<Item = ([u8; G1_LENGTH], [u8; 32])>,
) -> Result<[u8; G1_LENGTH], Error> {
    let pairs: Vec<_> = pairs.into_iter().collect();
    every_backend(|backend| Ok(write_g1(msm(backend, pairs.clone(), read_g1)?)))
}

fn g2_msm(
    pairs: impl IntoIterator<Item = ([u8; G2_LENGTH], [u8; 32])>,
) -> Result<[u8; G2_LENGTH], Error> {
    let pairs: Vec<_> = pairs.into_iter().collect();
    every_backend(|backend| Ok(write_g2(msm(backend, pairs.clone(), read_g2)?)))
}

fn pairing_check(
    pairs: impl IntoIterator<Item = ([u8; G1_LENGTH], [u8; G2_LENGTH])>,
) -> Result<bool, Error> {
    let pairs: Vec<_> = pairs.into_iter().collect();
    every_backend(|backend| pairing_check_with(backend, pairs.clone()))
}

fn verify_proof(
    commitment: &[u8; 48],
    z: &[u8; 32],
    y: &[u8; 32],
    proof: &[u8; 48],
) -> Result<(), Error> {
    every_backend(|backend| kzg::verify_proof_with(backend, commitment, z, y, proof))
}

/// tau G2 of the ceremony, compressed. Source: [EIP-4844], the trusted setup's `g2_monomial[1]`.
const TAU: [u8; 96] = hex!(
    "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72"
    "185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2"
);

/// Compares the tables of [`kzg`] with lines from blst's function, as `examples/generate_tables.rs` writes them.
#[test]
fn tables_of_lines_are_those_of_the_points() {
    let mut tau = blst_p2_affine::default();
    // SAFETY: `TAU` has 96 bytes; the output is a valid point.
    let read = unsafe { blst_p2_uncompress(&mut tau, TAU.as_ptr()) };
    assert_eq!(read, blst::BLST_ERROR::BLST_SUCCESS);
    // SAFETY: blst returns a valid pointer to a static.
    let mut negated = unsafe { *blst_p2_affine_generator() };
    negated.y = Element(negated.y).negate(1).0;
    for (point, name) in [(negated, "negated_generator"), (tau, "tau")] {
        let mut lines = [blst_fp6::default(); 68];
        // SAFETY: reads a valid point and writes 68 lines, for which the array has room.
        unsafe { blst_precompute_lines(lines.as_mut_ptr(), &point) };
        // Divided by the factor of y, because the library evaluates them at (-2 x, 2 y).
        let bytes: Vec<u8> = lines
            .iter()
            .flat_map(|line| {
                let [constant, by_x, by_y] = line.fp2.map(Element);
                let inverse = by_y.invert();
                [by_x.negate(1).mul(&inverse), constant.mul(&inverse).half()]
            })
            .flat_map(|Element(c)| c.fp)
            .flat_map(|c| c.l)
            .flat_map(u64::to_le_bytes)
            .collect();
        let path = std::format!("{}/src/bls12_381/{name}.bin", env!("CARGO_MANIFEST_DIR"));
        assert!(std::fs::read(&path).unwrap() == bytes, "{name}");
    }
}

/// Compares the table of [`kzg`], and sums computed with it, with blst's multiplication.
#[test]
fn multiples_of_points_and_the_generator() {
    // SAFETY: blst returns a valid pointer to a static.
    let generator = unsafe { *blst_p1_affine_generator() };
    let generator = Affine {
        x: Element(generator.x),
        y: Element(generator.y),
    };
    let multiple = |point: &Affine<G1>, k: &[u8; 32]| G1::multiple(point, &read_scalar(k));
    for i in 0..64 {
        let entry = multiple(&generator, &scalar(2 * i + 1))
            .to_affine()
            .unwrap();
        let in_table = generator::generator_multiple(i as usize);
        assert!(entry.x == in_table.x && entry.y == in_table.y, "{i}");
    }
    let mut last = kzg::ORDER;
    last[31] -= 1;
    let mut scalars = std::vec![[0; 32], scalar(1), scalar(2), last];
    // X^2 and its neighbours, and pseudo-random values below r.
    for low in [0, 1, u64::MAX] {
        let mut bytes = [0; 32];
        bytes[16..]
            .copy_from_slice(&(0xd201_0000_0001_0000_u128.pow(2) + u128::from(low)).to_be_bytes());
        scalars.push(bytes);
    }
    let mut state = 7_u64;
    for _ in 0..20 {
        let mut bytes = [0; 32];
        for chunk in bytes.as_chunks_mut().0 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            *chunk = (state ^ state >> 29).to_be_bytes();
        }
        bytes[0] &= 0x3f;
        scalars.push(bytes);
    }
    for k in [1, 2, 3, 12345] {
        let point = multiple(&generator, &scalar(k)).to_affine().unwrap();
        for (i, a) in scalars.iter().enumerate() {
            for b in [a, &scalars[(5 * i + 1) % scalars.len()], &scalars[0]] {
                let expected = multiple(&point, a).add(&multiple(&generator, b).negate());
                for backend in Backend::available() {
                    let sum = backend.multiply_subtract(&point, a, b);
                    assert!(sum.equals(&expected), "{backend:?} {k} {a:?} {b:?}");
                }
            }
        }
    }
}

fn generator() -> [u8; G1_LENGTH] {
    // SAFETY: blst returns a valid pointer to a static.
    let point = unsafe { *blst_p1_affine_generator() };
    write_g1(Some(Affine {
        x: Element(point.x),
        y: Element(point.y),
    }))
}

fn scalar(k: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&k.to_be_bytes());
    bytes
}

/// Compares the affine sum with blst's Jacobian sum.
#[test]
fn special_sums() {
    let g = generator();
    let mut minus = g;
    minus[48..].copy_from_slice(
        &Fp::from_bytes(g.last_chunk().unwrap())
            .unwrap()
            .negate(1)
            .to_bytes(),
    );
    let zero = [0; G1_LENGTH];
    assert_eq!(g1_add(&g, &minus), Ok(zero));
    assert_eq!(g1_add(&g, &zero), Ok(g));
    assert_eq!(g1_add(&zero, &zero), Ok(zero));
    let mut sum = zero;
    for k in 0..40 {
        assert_eq!(g1_msm([(g, scalar(k))]), Ok(sum), "{k}");
        sum = g1_add(&sum, &g).unwrap();
    }
    let mut order = kzg::ORDER;
    assert_eq!(g1_msm([(g, order)]), Ok(zero));
    order[31] += 3;
    assert_eq!(g1_msm([(g, order)]), g1_msm([(g, scalar(3))]));
    assert_eq!(
        g1_msm([(g, [0xff; 32]), (zero, [1; 32])]),
        g1_msm([(g, [0xff; 32])])
    );
}

fn generator_2() -> [u8; G2_LENGTH] {
    // SAFETY: blst returns a valid pointer to a static.
    let point = unsafe { *blst_p2_affine_generator() };
    write_g2(Some(Affine {
        x: Element(point.x),
        y: Element(point.y),
    }))
}

/// The product of e(a P, b Q) is one if the sum of a b is zero, for points at infinity in any position.
#[test]
fn products_that_are_one() {
    let (zero_p, zero_q) = ([0; G1_LENGTH], [0; G2_LENGTH]);
    let minus = |k: u64| {
        let mut scalar = kzg::ORDER;
        let low = u64::from_be_bytes(*scalar.last_chunk().unwrap());
        scalar[24..].copy_from_slice(&(low - k).to_be_bytes());
        scalar
    };
    let g1 = |k: [u8; 32]| g1_msm([(generator(), k)]).unwrap();
    let g2 = |k: u64| g2_msm([(generator_2(), scalar(k))]).unwrap();
    for count in [2, 3, 4, 5, 8, 9, 16, 17, 18] {
        let factors = (1..count).map(|i| (3 * i + 2, i * i + 1));
        let sum: u64 = factors.clone().map(|(a, b)| a * b).sum();
        let mut pairs: Vec<_> = factors.map(|(a, b)| (g1(scalar(a)), g2(b))).collect();
        pairs.push((g1(minus(sum)), g2(1)));
        assert_eq!(pairing_check(pairs.clone()), Ok(true), "{count}");
        let mut more = pairs.clone();
        more.insert(1, (zero_p, g2(5)));
        more.insert(0, (generator(), zero_q));
        more.push((zero_p, zero_q));
        assert_eq!(pairing_check(more), Ok(true), "{count}");
        pairs[0].0 = g1(scalar(6));
        assert_eq!(pairing_check(pairs), Ok(false), "{count}");
    }
    assert_eq!(pairing_check([]), Ok(true));
    assert_eq!(pairing_check([(zero_p, zero_q)]), Ok(true));
}

/// Two proofs from the reference vectors; the EVM tests use all of them. Source: [EIP-4844], `verify_kzg_proof`.
#[test]
fn kzg_proofs() {
    let commitment = hex!(
        "a421e229565952cfff4ef3517100a97da1d4fe57956fa50a442f92af03b1bf37adacc8ad4ed209b31287ea5bb94d9d06"
    );
    let cases = [
        (
            scalar(1),
            hex!("1824b159acc5056f998c4fefecbc4ff55884b7fa0003480200000001fffffffe"),
            hex!(
                "b0c829a8d2d3405304fecbea193e6c67f7c3912a6adc7c3737ad3f8a3b750425c1531a7426f03033a3994bc82a10609f"
            ),
        ),
        (
            hex!("5eb7004fe57383e6c88b99d839937fddf3f99279353aaf8d5c9a75f91ce33c62"),
            hex!("5ee1e9a4a06a02ca6ea14b0ca73415a8ba0fba888f18dde56df499b480d4b9e0"),
            hex!(
                "a1fcd37a924af9ec04143b44853c26f6b0738f6e15a3e0755057e7d5460406c7e148adb0e2d608982140d0ae42fe0b3b"
            ),
        ),
    ];
    let mut infinity = [0; 48];
    infinity[0] = 0xc0;
    for (z, mut y, proof) in cases {
        assert_eq!(verify_proof(&commitment, &z, &y, &proof), Ok(()));
        let wrong = Err(Error::ProofMismatch);
        assert_eq!(verify_proof(&commitment, &z, &y, &infinity), wrong);
        assert_eq!(verify_proof(&infinity, &z, &y, &proof), wrong);
        y[31] ^= 1;
        assert_eq!(verify_proof(&commitment, &z, &y, &proof), wrong);
        // A point with x = 4, which is not in the subgroup.
        let mut outside = [0; 48];
        (outside[0], outside[47]) = (0x80, 4);
        let expected = Err(Error::NotInSubgroup);
        assert_eq!(verify_proof(&commitment, &z, &y, &outside), expected);
        assert_eq!(verify_proof(&outside, &z, &y, &proof), expected);
        assert_eq!(verify_proof(&outside, &z, &y, &infinity), expected);
    }
    // The polynomial 0.
    let zero = [0; 32];
    assert_eq!(
        verify_proof(&infinity, &scalar(5), &zero, &infinity),
        Ok(())
    );
}

/// A scalar must be below r. If z = r or y = r were taken as 0, these proofs for constant polynomials would be valid.
#[test]
fn kzg_scalars_of_the_order() {
    let generator = {
        // SAFETY: blst returns a valid pointer to a static.
        let point = unsafe { *blst_p1_affine_generator() };
        let mut bytes = [0; 48];
        // SAFETY: `bytes` has room for the 48 bytes written; the input is a valid point.
        unsafe { blst::blst_p1_affine_compress(bytes.as_mut_ptr(), &point) };
        bytes
    };
    let mut infinity = [0; 48];
    infinity[0] = 0xc0;
    let (zero, one, order) = (scalar(0), scalar(1), kzg::ORDER);
    let mut last = order;
    last[31] -= 1;
    let mut above = order;
    above[31] += 1;
    // The polynomial 1 has the value 1 at every z, the polynomial 0 has the value 0; the proof is infinity for both.
    for z in [zero, one, last] {
        assert_eq!(verify_proof(&generator, &z, &one, &infinity), Ok(()));
        assert_eq!(verify_proof(&infinity, &z, &zero, &infinity), Ok(()));
    }
    let refused = Err(Error::ScalarOutOfRange);
    for bad in [order, above, [0xff; 32]] {
        assert_eq!(verify_proof(&generator, &bad, &one, &infinity), refused);
        assert_eq!(verify_proof(&infinity, &bad, &zero, &infinity), refused);
        assert_eq!(verify_proof(&infinity, &zero, &bad, &infinity), refused);
        assert_eq!(verify_proof(&infinity, &bad, &bad, &infinity), refused);
    }
}

/// (0, 2), of order 3, and (-1, 2 + u): points of the curves that are not in the subgroups.
fn outside_the_subgroups() -> ([u8; G1_LENGTH], [u8; G2_LENGTH]) {
    let mut first = [0; G1_LENGTH];
    first[95] = 2;
    let second = write_g2(Some(Affine {
        x: Fp2::ONE.negate(1),
        y: Element(blst::blst_fp2 {
            fp: [Fp::ONE.double().0, Fp::ONE.0],
        }),
    }));
    (first, second)
}

/// One point outside the subgroup, at every position of sums and products with lengths near the sizes of chunks and
/// lanes.
#[test]
fn one_point_of_many_outside_the_subgroup() {
    let (p, q) = (generator(), generator_2());
    let (outside_p, outside_q) = outside_the_subgroups();
    for count in [
        1_usize, 2, 7, 8, 9, 15, 16, 17, 18, 24, 25, 31, 32, 33, 40, 65,
    ] {
        let places = [0, count / 2, count.saturating_sub(2), count - 1];
        for at in places {
            let with = |first: bool| {
                let pairs = (0..count).map(move |i| {
                    let outside = i == at;
                    let p = if outside && first { outside_p } else { p };
                    let q = if outside && !first { outside_q } else { q };
                    (p, q)
                });
                pairs.collect::<Vec<_>>()
            };
            for first in [true, false] {
                assert_eq!(
                    pairing_check(with(first)),
                    Err(Error::NotInSubgroup),
                    "pairing, {at} of {count}"
                );
            }
            let terms = with(true).into_iter().map(|(p, _)| (p, scalar(3)));
            assert_eq!(
                g1_msm(terms),
                Err(Error::NotInSubgroup),
                "G1, {at} of {count}"
            );
            let terms = with(false).into_iter().map(|(_, q)| (q, scalar(3)));
            assert_eq!(
                g2_msm(terms),
                Err(Error::NotInSubgroup),
                "G2, {at} of {count}"
            );
        }
        assert!(g1_msm((0..count).map(|_| (p, scalar(3)))).is_ok());
        assert!(g2_msm((0..count).map(|_| (q, scalar(3)))).is_ok());
    }
}

/// A single pair never gives one, but its points are still checked. Pairs with infinity are not counted; sixteen pairs
/// are one loop.
#[test]
fn one_pair() {
    let p = generator();
    let mut minus = p;
    let y = Fp::from_bytes(p.last_chunk().unwrap()).unwrap();
    minus[48..].copy_from_slice(&y.negate(1).to_bytes());
    let q = generator_2();
    let (zero_p, zero_q) = ([0; G1_LENGTH], [0; G2_LENGTH]);
    assert_eq!(pairing_check([(p, q)]), Ok(false));
    assert_eq!(pairing_check([(zero_p, q), (p, q), (p, zero_q)]), Ok(false));
    assert_eq!(pairing_check([(p, q), (minus, q)]), Ok(true));
    let mut pairs = [(p, q), (minus, q)].repeat(8);
    assert_eq!(pairing_check(pairs.clone()), Ok(true));
    pairs.push((p, q));
    assert_eq!(pairing_check(pairs), Ok(false));
    let (outside_p, outside_q) = outside_the_subgroups();
    assert_eq!(pairing_check([(outside_p, q)]), Err(Error::NotInSubgroup));
    assert_eq!(pairing_check([(p, outside_q)]), Err(Error::NotInSubgroup));
}

/// The multiple by double and add, without a reduction modulo the order.
fn double_and_add<const LENGTH: usize>(
    add: impl Fn(&[u8; LENGTH], &[u8; LENGTH]) -> Result<[u8; LENGTH], Error>,
    point: &[u8; LENGTH],
    scalar: &[u8; 32],
) -> [u8; LENGTH] {
    let bits = scalar
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    bits.fold([0; LENGTH], |sum, bit| {
        let sum = add(&sum, &sum).unwrap();
        if bit == 1 {
            add(&sum, point).unwrap()
        } else {
            sum
        }
    })
}

/// Adds a small number to a scalar.
fn plus(mut scalar: [u8; 32], number: i64) -> [u8; 32] {
    let low = u64::from_be_bytes(*scalar.last_chunk().unwrap());
    scalar[24..].copy_from_slice(&low.checked_add_signed(number).unwrap().to_be_bytes());
    scalar
}

/// Scalars of every length, around the order, and around the powers of the curve's parameter.
#[test]
fn multiples_by_special_scalars() {
    const X: u128 = 0xd201_0000_0001_0000;
    let mut scalars: Vec<_> = (0..18).map(scalar).collect();
    scalars.extend([-2, -1, 0, 1, 2].map(|i| plus(kzg::ORDER, i)));
    scalars.extend([[0xff; 32], [0x80; 32]]);
    for power in [X, X * X] {
        for k in [power - 1, power, power + 1] {
            let mut bytes = [0; 32];
            bytes[16..].copy_from_slice(&k.to_be_bytes());
            scalars.push(bytes);
        }
    }
    for length in (2..32).step_by(3) {
        let mut bytes = [0xab; 32];
        bytes[..32 - length].fill(0);
        scalars.push(bytes);
    }
    let (outside_p, outside_q) = outside_the_subgroups();
    let (p, q) = (generator(), generator_2());
    let p3 = double_and_add(g1_add, &p, &scalar(3));
    let q3 = double_and_add(g2_add, &q, &scalar(3));
    for k in scalars {
        assert_eq!(
            g1_msm([(p, k)]),
            Ok(double_and_add(g1_add, &p, &k)),
            "{k:?}"
        );
        assert_eq!(
            g2_msm([(q, k)]),
            Ok(double_and_add(g2_add, &q, &k)),
            "{k:?}"
        );
        assert_eq!(g1_msm([(p, k); 3]), g1_msm([(p3, k)]), "{k:?}");
        assert_eq!(g2_msm([(q, k); 3]), g2_msm([(q3, k)]), "{k:?}");
        assert_eq!(g1_msm([([0; G1_LENGTH], k)]), Ok([0; G1_LENGTH]));
        assert_eq!(g2_msm([([0; G2_LENGTH], k)]), Ok([0; G2_LENGTH]));
        for outside in [outside_p, g1_add(&outside_p, &p).unwrap()] {
            assert_eq!(g1_msm([(outside, k)]), Err(Error::NotInSubgroup));
            assert_eq!(g1_msm([(p, k), (outside, k)]), Err(Error::NotInSubgroup));
        }
        for outside in [outside_q, g2_add(&outside_q, &q).unwrap()] {
            assert_eq!(g2_msm([(outside, k)]), Err(Error::NotInSubgroup));
            assert_eq!(g2_msm([(q, k), (outside, k)]), Err(Error::NotInSubgroup));
        }
    }
}

proptest! {
    #[test]
    fn inverses_times_their_elements_are_one(words: [[u64; 6]; 2], zero in 0..4) {
        let [c0, c1] = words.map(|mut l| {
            // Below p.
            l[5] >>= 4;
            Element(blst_fp { l })
        });
        let c0 = if zero & 1 == 1 { Fp::ZERO } else { c0 };
        let c1 = if zero & 2 == 2 { Fp::ZERO } else { c1 };
        let x = Element(blst_fp2 { fp: [c0.0, c1.0] });
        for c in [c0, c1] {
            let product = if c == Fp::ZERO { Fp::ZERO } else { Fp::ONE };
            prop_assert!(c.mul(&c.invert()) == product);
        }
        let product = if x == Fp2::ZERO { Fp2::ZERO } else { Fp2::ONE };
        prop_assert!(x.mul(&x.invert()) == product);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn multiples_are_those_of_double_and_add(a: [u8; 32], b: [u8; 32], length in 1..=32_usize) {
        let (p, q) = (g1_msm([(generator(), a)]).unwrap(), g2_msm([(generator_2(), a)]).unwrap());
        let mut short = b;
        short[..32 - length].fill(0);
        for k in [a, b, short] {
            prop_assert_eq!(g1_msm([(p, k)]), Ok(double_and_add(g1_add, &p, &k)));
            prop_assert_eq!(g2_msm([(q, k)]), Ok(double_and_add(g2_add, &q, &k)));
        }
    }

    /// Compares sums of every size in G2 with sums of single products.
    #[test]
    fn msm_in_g2_is_the_sum_of_products(scalars in proptest::collection::vec(any::<[u8; 32]>(), 0..20)) {
        let pairs: Vec<_> = scalars
            .iter()
            .enumerate()
            .map(|(i, k)| (g2_msm([(generator_2(), scalar(i as u64 % 7))]).unwrap(), *k))
            .collect();
        let mut sum = [0; G2_LENGTH];
        for pair in &pairs {
            sum = g2_add(&sum, &g2_msm([*pair]).unwrap()).unwrap();
        }
        prop_assert_eq!(g2_msm(pairs), Ok(sum));
    }

    /// Compares sums of every size, computed with buckets, with sums of single products.
    #[test]
    fn msm_is_the_sum_of_products(scalars in proptest::collection::vec(any::<[u8; 32]>(), 0..80)) {
        let pairs: Vec<_> = scalars
            .iter()
            .enumerate()
            .map(|(i, k)| (g1_msm([(generator(), scalar(i as u64 % 7))]).unwrap(), *k))
            .collect();
        let mut sum = [0; G1_LENGTH];
        for pair in &pairs {
            sum = g1_add(&sum, &g1_msm([*pair]).unwrap()).unwrap();
        }
        prop_assert_eq!(g1_msm(pairs), Ok(sum));
    }
}

/// Elements with exceptional cases on their way to G1: one whose d is 0 without its exception, and those whose points are
/// in the kernel of the isogeny, or of order 11 after it, once by each of the two x.
const EXCEPTIONAL: [[u8; 48]; 5] = [
    hex!(
        "01f7462c8b6cbf74db38f4a9a3d71bda12f01df4948d09ff046edbdd403fc31088b69520ee5c57fb7cc51062bde821b8"
    ),
    hex!(
        "068951d10be6961019aa800a51cf48b707fc9e40700510406be9242d0c8dd866afdec0d66f9dc2cf1dc944702ec161bb"
    ),
    hex!(
        "0854a3cb180882d5b1efc1c3cc5b3fb33b27cb739f1389986ca46e1c5cb5010d8a06fd781c63074868f316d95b8f8405"
    ),
    hex!(
        "04d493ec5cdd5c504832f931b104c20cdfe60548537d48cf4db96571b7e9b8f32361917cea9cff5545635d7894b29c63"
    ),
    hex!(
        "05d04cac19c12a404fd5dfc726e4db453b68beda3ce986c21e44b2baff0aa595dbfaeeb95d424bec89cc48f6c8e920a6"
    ),
];

#[test]
fn maps_of_exceptional_elements() {
    for (i, bytes) in EXCEPTIONAL.iter().enumerate() {
        let element = Fp::from_bytes(bytes).unwrap();
        let point = every_backend(|backend| write_g1(backend.map_to_g1(&element)));
        assert_eq!(point == [0; G1_LENGTH], i > 0, "{i}");
    }
}

fn element() -> impl Strategy<Value = [u8; 48]> {
    let small = (0..4u8).prop_map(|n| {
        let mut bytes = [0; 48];
        bytes[47] = n;
        bytes
    });
    let any = any::<([u64; 6], bool)>().prop_map(|(mut words, high)| {
        // Below p, and often close to it.
        words[0] = if high {
            0x1a01_11ea_397f_e699
        } else {
            words[0] >> 4
        };
        let mut bytes = [0; 48];
        for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_be_bytes();
        }
        bytes
    });
    prop_oneof![1 => small, 9 => any]
}

proptest! {
    #[test]
    fn maps_are_the_same_for_all_backends(re in element(), im in element()) {
        let element = Fp::from_bytes(&re).unwrap();
        every_backend(|backend| write_g1(backend.map_to_g1(&element)));
        let mut both = [0; 96];
        both[..48].copy_from_slice(&re);
        both[48..].copy_from_slice(&im);
        let element = Fp2::from_bytes(&both).unwrap();
        every_backend(|backend| write_g2(backend.map_to_g2(&element)));
    }
}
