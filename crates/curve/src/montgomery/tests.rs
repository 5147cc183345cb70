#![allow(clippy::unwrap_used)]

use alloc::vec::Vec;

use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;

/// The field prime of bn254: two spare bits.
#[derive(Clone, Copy)]
struct Spare;

impl Modulus for Spare {
    const P: [u64; 4] = [
        0x3c20_8c16_d87c_fd47,
        0x9781_6a91_6871_ca8d,
        0xb850_45b6_8181_585d,
        0x3064_4e72_e131_a029,
    ];
}

/// The field prime of P-256: no spare bits.
#[derive(Clone, Copy)]
struct Full;

impl Modulus for Full {
    const P: [u64; 4] = [u64::MAX, 0xffff_ffff, 0, 0xffff_ffff_0000_0001];
}

fn big(bytes: &[u8; 32]) -> BigUint {
    BigUint::from_bytes_be(bytes)
}

fn prime<M: Modulus>() -> BigUint {
    big(&crate::words::to_be(&M::P))
}

fn same<M: Modulus, K: Kernel>(element: Element<M, K>, expected: BigUint) {
    assert_eq!(big(&element.to_bytes()), expected % prime::<M>());
}

fn products<M: Modulus, K: Kernel>(bytes: &[[u8; 32]; 12]) {
    let p = &prime::<M>();
    let [a, b] = [0, 1].map(|half| {
        core::array::from_fn::<_, 6, _>(|i| {
            Element::<M, K>::from_bytes_reduced(&bytes[6 * half + i])
        })
    });
    let [x, y] = [0, 1].map(|half| core::array::from_fn::<_, 6, _>(|i| big(&bytes[6 * half + i])));
    for i in 0..6 {
        same(a[i], x[i].clone());
        assert_eq!(Element::from_bytes(&a[i].to_bytes()), Some(a[i]));
        same(a[i].mul(&b[i]), &x[i] * &y[i]);
        same(a[i].square(), &x[i] * &x[i]);
        same(a[i].add(&b[i]), &x[i] + &y[i]);
        same(a[i].sub(&b[i]), &x[i] + (p - &y[i] % p));
        same(a[i].negate(), p - &x[i] % p);
        same(a[i].invert(), x[i].modpow(&(p - 2u8), p));
    }
}

fn sums<K: Kernel>(bytes: &[[u8; 32]; 12]) {
    let [a, b] = [0, 1].map(|half| {
        core::array::from_fn::<_, 6, _>(|i| {
            Element::<Spare, K>::from_bytes_reduced(&bytes[6 * half + i])
        })
    });
    let sum = |n: usize| -> BigUint { (0..n).map(|i| big(&bytes[i]) * big(&bytes[6 + i])).sum() };
    same(Element::dot([&a[0], &a[1]], [&b[0], &b[1]]), sum(2));
    same(Element::dot(a.each_ref(), b.each_ref()), sum(6));
    // A negated 0, which is p, is allowed here.
    let zero = Element::<Spare, K>::ZERO.neg_unreduced();
    same(Element::dot([&a[0], &a[1]], [&b[0], &zero]), sum(1));
    same(Element::dot([&zero; 6], [&zero; 6]), BigUint::ZERO);
}

fn all(bytes: &[[u8; 32]; 12]) {
    products::<Spare, Portable>(bytes);
    products::<Full, Portable>(bytes);
    sums::<Portable>(bytes);
    #[cfg(target_arch = "x86_64")]
    if lydite_hash::cpu::Adx::detect().is_some() {
        products::<Spare, Adx>(bytes);
        products::<Full, Adx>(bytes);
        sums::<Adx>(bytes);
    }
}

#[test]
fn edges() {
    let near = |words: [u64; 4], by: u64| {
        let (words, _) = crate::words::sub(&words, &[by, 0, 0, 0]);
        crate::words::to_be(&words)
    };
    let mut edges: Vec<[u8; 32]> = Vec::new();
    for words in [Spare::P, Full::P, Spare::R, Full::R] {
        edges.extend((1..4).map(|by| near(words, by)));
        edges.push(near(words, 0));
    }
    edges.extend((0..3).map(|i| crate::words::to_be(&[i, 0, 0, 0])));
    edges.extend((0..4).map(|i| {
        let mut words = [0; 4];
        words[i] = u64::MAX;
        crate::words::to_be(&words)
    }));
    for (i, first) in edges.iter().enumerate() {
        all(&[*first; 12]);
        for second in &edges[i..] {
            all(&core::array::from_fn(|i| {
                if i % 3 == 0 { *first } else { *second }
            }));
        }
    }
    // The largest possible sums: all factors are p - 1 in Montgomery form.
    let largest =
        Element::<Spare, Portable>::new(crate::words::sub(&Spare::P, &[1, 0, 0, 0]).0).to_bytes();
    all(&[largest; 12]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]
    #[test]
    fn operations_are_those_of_integers(bytes: [[u8; 32]; 12]) {
        all(&bytes);
    }
}

#[test]
fn the_prime_itself_is_no_element() {
    for bytes in [crate::words::to_be(&Spare::P), [0xff; 32]] {
        assert_eq!(Element::<Spare, Portable>::from_bytes(&bytes), None);
    }
}
