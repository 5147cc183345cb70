#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::{string::String, vec::Vec};
use std::format;

use proptest::prelude::*;

use super::*;
use crate::{field::Field, group::Jacobian, montgomery::Portable};

/// The order of both groups.
const ORDER: [u8; 32] =
    hex_literal::hex!("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001");

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

fn vectors(name: &str) -> Vec<(String, Vec<u8>, Vec<u8>)> {
    let path = format!(
        "{}/vectors/precompiles/geth/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    cases
        .iter()
        .map(|case| {
            let text = |field: &str| case[field].as_str().unwrap();
            (
                text("Name").into(),
                unhex(text("Input")),
                unhex(text("Expected")),
            )
        })
        .collect()
}

fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}

#[test]
fn every_backend_agrees_with_geth() {
    for backend in Backend::available() {
        for (name, input, expected) in vectors("bn256Add") {
            let input: [u8; 128] = padded(&input);
            let halves = input.as_chunks::<64>().0;
            let sum = backend.add(&halves[0], &halves[1]).unwrap();
            assert_eq!(sum.as_slice(), expected, "{backend:?} {name}");
        }
        for (name, input, expected) in vectors("bn256ScalarMul") {
            let input: [u8; 96] = padded(&input);
            let (p, k) = (input.first_chunk().unwrap(), input.last_chunk().unwrap());
            let product = backend.multiply(p, k).unwrap();
            assert_eq!(product.as_slice(), expected, "{backend:?} {name}");
        }
        for (name, input, expected) in vectors("bn256Pairing") {
            let pairs = input.as_chunks::<192>().0.iter();
            let pairs = pairs.map(|pair| (pair.first_chunk().unwrap(), pair.last_chunk().unwrap()));
            let answer = backend.pairing_check(pairs).unwrap();
            assert_eq!(
                u8::from(answer),
                *expected.last().unwrap(),
                "{backend:?} {name}"
            );
        }
    }
}

fn g1() -> [u8; 64] {
    let mut bytes = [0; 64];
    (bytes[31], bytes[63]) = (1, 2);
    bytes
}

/// The generator of G2. Source: \[EIP-197\].
fn g2() -> [u8; 128] {
    padded(&unhex(concat!(
        "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2",
        "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed",
        "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b",
        "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa",
    )))
}

fn scalar(k: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&k.to_be_bytes());
    bytes
}

fn negated(mut p: [u8; 64]) -> [u8; 64] {
    let y = Fp::<Portable>::from_bytes(p.last_chunk().unwrap()).unwrap();
    p[32..].copy_from_slice(&y.negate().to_bytes());
    p
}

/// Multiples with and without a table, against sums.
#[test]
fn short_scalars() {
    let p = multiply(&g1(), &scalar(0x1234_5678_9abc_def0)).unwrap();
    for backend in Backend::available() {
        let mut sum = [0; 64];
        for k in 0..if cfg!(miri) { 3 } else { 200 } {
            assert_eq!(backend.multiply(&p, &scalar(k)), Ok(sum), "{backend:?} {k}");
            let mut opposite = ORDER;
            opposite[24..].copy_from_slice(&(0x43e1_f593_f000_0001 - k).to_be_bytes());
            let zero = backend.add(&backend.multiply(&p, &opposite).unwrap(), &sum);
            assert_eq!(zero, Ok([0; 64]), "{backend:?} -{k}");
            sum = backend.add(&sum, &p).unwrap();
        }
        let limit = u64::from(u32::MAX);
        let near = if cfg!(miri) { 1 } else { 20 };
        for k in limit - near..limit + near {
            let next = backend.add(&backend.multiply(&p, &scalar(k)).unwrap(), &p);
            assert_eq!(
                backend.multiply(&p, &scalar(k + 1)),
                next,
                "{backend:?} {k}"
            );
        }
    }
}

/// Computes a multiple of a point of the twist, bit by bit.
fn multiple<K: Kernel>(q: &Affine<G2<K>>, k: &[u8; 32]) -> Jacobian<G2<K>> {
    let mut sum = Jacobian::INFINITY;
    for bit in (0..256).rev() {
        sum = sum.double();
        if k[31 - bit / 8] >> (bit % 8) & 1 == 1 {
            sum = sum.add_affine(q);
        }
    }
    sum
}

fn write_g2<K: Kernel>(q: &Affine<G2<K>>) -> [u8; 128] {
    let mut bytes = [0; 128];
    for (i, c) in [q.x.c1, q.x.c0, q.y.c1, q.y.c0].iter().enumerate() {
        bytes[32 * i..32 * i + 32].copy_from_slice(&c.to_bytes());
    }
    bytes
}

type PairBytes = ([u8; 64], [u8; 128]);

fn pair(p: &[u8; 64], q: &[u8; 128]) -> PairBytes {
    (*p, *q)
}

fn check(pairs: &[PairBytes]) -> Result<bool, Error> {
    let pairs = || pairs.iter().map(|(p, q)| (p, q));
    let portable = Backend::Portable.pairing_check(pairs());
    for backend in Backend::available() {
        assert_eq!(backend.pairing_check(pairs()), portable, "{backend:?}");
    }
    portable
}

#[test]
fn pairing_is_bilinear() {
    let q = read_twist::<Portable>(&g2()).unwrap().unwrap();
    for (a, b) in [(1, 1), (2, 3), (0x1234_5678_9abc, 77), (u64::MAX, 1 << 63)] {
        // e(a P, b Q) e(-ab P, Q) = 1.
        let ap = multiply(&g1(), &scalar(a)).unwrap();
        let bq = write_g2(&multiple(&q, &scalar(b)).to_affine().unwrap());
        let abp = multiply(&ap, &scalar(b)).unwrap();
        let mut pairs = [pair(&ap, &bq), pair(&negated(abp), &g2())];
        assert_eq!(check(&pairs), Ok(true));
        pairs[1] = pair(&negated(add(&abp, &g1()).unwrap()), &g2());
        assert_eq!(check(&pairs), Ok(false));
        assert_eq!(check(&pairs[..1]), Ok(false));
    }
}

/// More pairs than one Miller loop processes, including infinities.
#[test]
fn many_pairs() {
    let mut pairs = Vec::new();
    for count in 0..40u64 {
        // The sum of 1 to n, and its opposite.
        let total = scalar(count * (count + 1) / 2);
        let last = negated(multiply(&g1(), &total).unwrap());
        pairs.push(pair(&last, &g2()));
        assert_eq!(check(&pairs), Ok(true), "{count}");
        pairs.pop();
        assert_eq!(check(&pairs), Ok(count == 0), "{count}");
        pairs.push(pair(&[0; 64], &g2()));
        pairs.push(pair(&g1(), &[0; 128]));
        pairs.push(pair(&multiply(&g1(), &scalar(count + 1)).unwrap(), &g2()));
        if count % 7 != 0 {
            // Keep the test short.
            let keep = pairs.len() - 1;
            pairs.swap(keep, keep - 2);
            pairs.truncate(keep - 1);
        }
    }
}

/// Returns a square root in Fp2, if there is one, by trying both roots of the norm.
fn sqrt<K: Kernel>(a: &Fp2<K>) -> Option<Fp2<K>> {
    let power = |x: &Fp<K>| {
        // p = 3 (mod 4): x^((p + 1) / 4).
        let mut e = P::P;
        e[0] += 1;
        let mut root = Fp::ONE;
        for bit in (2..256).rev() {
            root = root.square();
            if e[bit / 64] >> (bit % 64) & 1 == 1 {
                root = root.mul(x);
            }
        }
        root
    };
    let norm = power(&a.c0.square().add(&a.c1.square()));
    [norm, norm.negate()].into_iter().find_map(|norm| {
        let c0 = power(&a.c0.add(&norm).half());
        let c1 = a.c1.mul(&c0.double().invert());
        let root = Fp2 { c0, c1 };
        (root.square() == *a).then_some(root)
    })
}

#[test]
fn membership_in_g2_is_that_of_the_order() {
    let generator = read_twist::<Portable>(&g2()).unwrap().unwrap();
    assert!(multiple(&generator, &ORDER).is_infinity());
    let (mut found, mut i) = (0, 0);
    while found < 12 {
        i += 1;
        let x = Fp2::<Portable> {
            c0: Fp::from_bytes(&scalar(i)).unwrap(),
            c1: Fp::from_bytes(&scalar(i * i)).unwrap(),
        };
        let Some(y) = sqrt(&x.square().mul(&x).add(&G2::b())) else {
            continue;
        };
        found += 1;
        let point = Affine::<G2<Portable>> { x, y };
        assert!(point.is_on_curve());
        // A random point of the twist is in G2 with probability 2^-254; its multiple by the cofactor always is.
        assert!(!multiple(&point, &ORDER).is_infinity());
        assert!(!pairing::is_in_subgroup(&point));
        let outside = pair(&g1(), &write_g2(&point));
        assert_eq!(check(&[outside]), Err(Error::NotInSubgroup));
        let outside_with_infinity = pair(&[0; 64], &outside.1);
        assert_eq!(check(&[outside_with_infinity]), Err(Error::NotInSubgroup));
        // At every position of a vectorised loop. The coordinates of all pairs are checked first.
        let mut pairs = [pair(&g1(), &g2()); 4];
        let place = found % 4;
        pairs[place] = outside;
        assert_eq!(check(&pairs), Err(Error::NotInSubgroup));
        pairs[(place + 1) % 4].0[63] ^= 1;
        assert_eq!(check(&pairs), Err(Error::NotOnCurve));
        // 2 p - r.
        let cofactor = {
            let double = |words: &[u64; 4]| {
                num_bigint::BigUint::from_bytes_be(&crate::words::to_be(words)) * 2u8
            };
            let n = double(&P::P) - num_bigint::BigUint::from_bytes_be(&ORDER);
            let bytes = n.to_bytes_be();
            let mut k = [0; 32];
            k[32 - bytes.len()..].copy_from_slice(&bytes);
            k
        };
        let cleared = multiple(&point, &cofactor).to_affine().unwrap();
        assert!(multiple(&cleared, &ORDER).is_infinity());
        assert!(pairing::is_in_subgroup(&cleared));
        // Not in G2: the part outside G2, the point of the smallest order derived from it, and the sum of both.
        let rest = multiple(&point, &ORDER).to_affine().unwrap();
        assert!(!pairing::is_in_subgroup(&rest));
        let mut smallest = [0; 32];
        let quotient = num_bigint::BigUint::from_bytes_be(&cofactor) / 10069u32;
        let bytes = quotient.to_bytes_be();
        smallest[32 - bytes.len()..].copy_from_slice(&bytes);
        if let Some(smallest) = multiple(&rest, &smallest).to_affine() {
            assert!(!pairing::is_in_subgroup(&smallest));
        }
        let sum = Jacobian::from(cleared)
            .add_affine(&point)
            .to_affine()
            .unwrap();
        assert!(!pairing::is_in_subgroup(&sum));
    }
}

#[test]
fn what_is_refused() {
    let p = crate::words::to_be(&P::P);
    let mut point = g1();
    point[..32].copy_from_slice(&p);
    assert_eq!(add(&point, &[0; 64]), Err(Error::CoordinateOutOfRange));
    assert_eq!(add(&[0; 64], &point), Err(Error::CoordinateOutOfRange));
    assert_eq!(multiply(&point, &[0; 32]), Err(Error::CoordinateOutOfRange));
    let mut point = g1();
    point[63] = 3;
    assert_eq!(add(&point, &[0; 64]), Err(Error::NotOnCurve));
    assert_eq!(add(&[0; 64], &point), Err(Error::NotOnCurve));
    assert_eq!(multiply(&point, &[0; 32]), Err(Error::NotOnCurve));
    let mut twisted = g2();
    twisted[127] ^= 1;
    assert_eq!(check(&[pair(&[0; 64], &twisted)]), Err(Error::NotOnCurve));
    assert_eq!(
        check(&[pair(&g1(), &g2()), pair(&point, &g2())]),
        Err(Error::NotOnCurve)
    );
    for i in 0..6 {
        let (mut point, mut twisted) = pair(&g1(), &g2());
        match i {
            0 | 1 => point[32 * i..32 * i + 32].copy_from_slice(&p),
            _ => twisted[32 * i - 64..32 * i - 32].copy_from_slice(&p),
        }
        assert_eq!(check(&[(point, twisted)]), Err(Error::CoordinateOutOfRange));
    }
}

#[test]
fn special_sums_and_products() {
    let (g, minus) = (g1(), negated(g1()));
    assert_eq!(add(&g, &minus), Ok([0; 64]));
    assert_eq!(add(&g, &[0; 64]), Ok(g));
    assert_eq!(add(&[0; 64], &[0; 64]), Ok([0; 64]));
    assert_eq!(add(&g, &g), multiply(&g, &scalar(2)));
    assert_eq!(multiply(&g, &scalar(0)), Ok([0; 64]));
    assert_eq!(multiply(&g, &scalar(1)), Ok(g));
    assert_eq!(multiply(&g, &ORDER), Ok([0; 64]));
    let mut before = ORDER;
    before[31] -= 1;
    assert_eq!(multiply(&g, &before), Ok(minus));
    assert_eq!(multiply(&[0; 64], &[0xff; 32]), Ok([0; 64]));
    let mut sum = [0; 64];
    for k in 0..100 {
        assert_eq!(multiply(&g, &scalar(k)), Ok(sum), "{k}");
        sum = add(&sum, &g).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn multiplication_is_that_of_the_bits(k: [u8; 32], start in 1u64..1000) {
        let p = multiply(&g1(), &scalar(start)).unwrap();
        let mut sum = [0; 64];
        for bit in (0..256).rev() {
            sum = add(&sum, &sum).unwrap();
            if k[31 - bit / 8] >> (bit % 8) & 1 == 1 {
                sum = add(&sum, &p).unwrap();
            }
        }
        prop_assert_eq!(multiply(&p, &k), Ok(sum));
        prop_assert_eq!(multiply_with::<Portable>(&p, &k), Ok(sum));
    }
}
