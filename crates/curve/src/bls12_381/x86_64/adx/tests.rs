//! The arithmetic against blst's, and square roots against squares.

use lydite_hash::cpu::Adx;
use proptest::prelude::*;

use super::{
    field::{Fp, Fp2, G1, G2, P, Words},
    maps::Map,
};
use crate::field::Field;

/// Words below p, often with extreme ones.
fn words() -> impl Strategy<Value = Words> {
    let word = prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()];
    prop::array::uniform6(word).prop_map(|mut words| {
        words[5] %= P[5] + 1;
        let below = words.iter().rev().lt(P.iter().rev());
        if below {
            words
        } else {
            core::array::from_fn(|i| P[i] - u64::from(i == 0))
        }
    })
}

/// Compares all operations of a field with those of another one.
fn compare<F: Field, G: Field>(a: [F; 4], to: impl Fn(&F) -> G) {
    let same = |name: &str, x: F, y: G| assert!(to(&x) == y, "{name}");
    let [b, c, d] = [&a[1], &a[2], &a[3]];
    let a = &a[0];
    let [x, y, z, w] = [a, b, c, d].map(&to);
    same("add", a.add(b), x.add(&y));
    same("sub", a.sub(b), x.sub(&y));
    same("negate", a.negate(), x.negate());
    same("half", a.half(), x.half());
    same("mul", a.mul(b), x.mul(&y));
    same("square", a.square(), x.square());
    same("invert", a.invert(), x.invert());
    same(
        "difference_of_products",
        F::difference_of_products(a, b, c, d),
        G::difference_of_products(&x, &y, &z, &w),
    );
    same(
        "product_minus_square",
        F::product_minus_square(a, b, c),
        G::product_minus_square(&x, &y, &z),
    );
    same("zero", F::ZERO, G::ZERO);
    same("one", F::ONE, G::ONE);
}

proptest! {
    #[test]
    fn the_same_as_blst(elements in prop::array::uniform4([words(), words()])) {
        if Adx::detect().is_none() {
            return Ok(());
        }
        let elements = elements.map(|parts| parts.map(Fp::from_montgomery));
        compare(elements.map(|[re, _]| re), G1::to_blst);
        compare(elements.map(Fp2::new), G2::to_blst);
        let [a, b] = elements[0];
        let (mut power, mut product) = (a, a);
        power.square_times(3);
        product.multiply(&b);
        prop_assert!(power == a.square().square().square());
        prop_assert!(product == a.mul(&b));
        let a = Fp2::new([a, b]);
        prop_assert!(a.mul(&a.conjugate()) == Fp2::new([a.norm(), Fp::ZERO]));
        prop_assert!(G2::from_blst(&G2::to_blst(&a)) == a);
    }

    /// `y^2 d^3` is g or else a multiple of it that depends on nothing.
    #[test]
    fn roots(parts in prop::array::uniform4(words()), real in any::<bool>()) {
        if Adx::detect().is_none() {
            return Ok(());
        }
        let [a, b, c, d] = parts.map(Fp::from_montgomery);
        prop_assume!(a != Fp::ZERO && c != Fp::ZERO);
        let (root, inverse, is_first) = G1::root(&a, &c);
        let one = G1::root(&Fp::ONE.negate(), &Fp::ONE);
        prop_assert!(!one.2 && one.1 == Fp::ONE);
        let factor = if is_first { Fp::ONE } else { one.0.square().negate() };
        prop_assert!(inverse.mul(&c) == Fp::ONE);
        prop_assert!(root.square().mul(&c).mul(&c).mul(&c) == a.mul(&factor));

        // Real numbers have roots that are real or imaginary.
        let [b, d] = if real { [Fp::ZERO; 2] } else { [b, d] };
        let (g, d) = (Fp2::new([a, b]), Fp2::new([c, d]));
        let (root, inverse, is_first) = G2::root(&g, &d);
        prop_assert!(inverse.mul(&d) == Fp2::ONE);
        let z = Fp2::new([Fp::ONE.double().negate(), Fp::ONE.negate()]);
        let factor = if is_first { Fp2::ONE } else { z.square().mul(&z) };
        prop_assert!(root.square().mul(&d).mul(&d).mul(&d) == g.mul(&factor));
        prop_assert!(!real || is_first);
    }
}
