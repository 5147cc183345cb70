//! The field, compared with big integers.

use super::{super::field::square_root_chain, *};

const PRIME: [u64; 4] = [0xffff_fffe_ffff_fc2f, u64::MAX, u64::MAX, u64::MAX];

fn prime() -> BigUint {
    to_big(&PRIME)
}

/// Returns an element and the integer that it represents.
fn element(words: [u64; 4]) -> (FieldElement, BigUint) {
    let big = to_big(&words) % prime();
    (FieldElement::from_words(to_words(&big)), big)
}

/// Returns the same value with magnitude 8 and the largest allowed limbs: -(-x), from limbs of 16 p.
fn stretched(x: &FieldElement) -> FieldElement {
    x.negate(1).normalize().negate(7)
}

/// p, which represents 0.
const ZERO_OF_MAGNITUDE_1: FieldElement = FieldElement::from_words(PRIME);

fn value(x: &FieldElement) -> BigUint {
    to_big(&x.normalize().to_words())
}

#[test]
fn field_bytes() {
    let p = crate::words::to_be(&PRIME);
    assert!(FieldElement::from_bytes(&p).is_none());
    assert!(FieldElement::from_bytes(&[0xff; 32]).is_none());
    let mut below = p;
    below[31] -= 1;
    assert_eq!(FieldElement::from_bytes(&below).unwrap().to_bytes(), below);
    assert_eq!(
        FieldElement::from_bytes(&[0; 32]).unwrap().to_bytes(),
        [0; 32]
    );
}

#[test]
fn field_zero_in_every_disguise() {
    for magnitude in 1..=31 {
        let zero = FieldElement::ZERO.negate(magnitude);
        assert!(zero.is_zero());
        assert_eq!(value(&zero), BigUint::ZERO);
        assert!(!zero.add(&FieldElement::ONE).is_zero());
        assert_eq!(value(&zero.add(&FieldElement::ONE)), BigUint::from(1u8));
    }
    assert_eq!(value(&FieldElement::ZERO.invert()), BigUint::ZERO);
    assert_eq!(value(&FieldElement::ZERO.invert_vartime()), BigUint::ZERO);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn field_arithmetic(a in words(PRIME), b in words(PRIME), c in words(PRIME), d in words(PRIME), k in 0u32..8) {
        let p = prime();
        let ((a, big_a), (b, big_b), (c, big_c), (d, big_d)) = (element(a), element(b), element(c), element(d));
        prop_assert_eq!(value(&a.add(&b)), (&big_a + &big_b) % &p);
        prop_assert_eq!(value(&a.sub(&b, 1)), (&big_a + &p - &big_b) % &p);
        prop_assert_eq!(value(&a.mul_small(k)), &big_a * k % &p);
        prop_assert_eq!(value(&a.half().add(&a.half())), big_a.clone());
        prop_assert_eq!(value(&stretched(&a)), big_a.clone());
        prop_assert_eq!(value(&stretched(&a).half().mul_small(2)), big_a.clone());
        prop_assert_eq!(value(&a.mul(&b)), &big_a * &big_b % &p);
        prop_assert_eq!(value(&stretched(&a).mul(&stretched(&b))), &big_a * &big_b % &p);
        prop_assert_eq!(value(&stretched(&a).square()), &big_a * &big_a % &p);
        let sum = (&big_a * &big_b + &big_c * &big_d) % &p;
        prop_assert_eq!(value(&FieldElement::sum_of_products(&a, &b, &c, &d)), sum.clone());
        let negated = |x: &FieldElement, m| x.negate(1).normalize().negate(m);
        let stretched_sum = FieldElement::sum_of_products(&negated(&a, 3), &stretched(&b), &stretched(&c), &negated(&d, 3));
        prop_assert_eq!(value(&stretched_sum), sum);
        // Magnitudes 2 and 29, and 1 of the square: 59 of 64.
        let twice = a.add(&ZERO_OF_MAGNITUDE_1);
        let line = FieldElement::product_minus_square(&twice, &b, &negated(&c, 26), &d);
        prop_assert_eq!(value(&line), (&big_a * (&big_b + &p - &big_c) + &p * &p - &big_d * &big_d) % &p);
        prop_assert_eq!(value(&stretched(&a).square_times(3)), big_a.modpow(&8u8.into(), &p));
        prop_assert!(a.equals(&stretched(&a)));
        prop_assert_eq!(a.equals(&b), big_a == big_b);
    }

    #[test]
    fn field_inverse_and_root(a in words(PRIME)) {
        let p = prime();
        let (a, big) = element(a);
        let inverse = big.modpow(&(&p - 2u8), &p);
        prop_assert_eq!(value(&stretched(&a).invert()), inverse.clone());
        prop_assert_eq!(value(&stretched(&a).invert_vartime()), inverse);
        let is_square = big.modpow(&((&p - 1u8) >> 1), &p) <= BigUint::from(1u8);
        let root = |a| square_root_chain(a, FieldElement::mul, FieldElement::square_times);
        prop_assert_eq!(root(a).square().equals(&a), is_square);
        let root = root(a.square());
        prop_assert!(root.equals(&a) || root.equals(&a.negate(1)));
    }
}

proptest! {
    #![proptest_config(config())]

    /// The products of 32-bit targets, tested on every target with the largest operands.
    #[test]
    fn field_products_of_small_limbs(limbs in proptest::array::uniform20(0u64..=u64::MAX)) {
        // Magnitude 8; half of the limbs are at their bound.
        let element = |i: usize| -> [u64; 5] {
            core::array::from_fn(|j| {
                let bound = 16 * ((1 << if j == 4 { 48 } else { 52 }) - 1);
                let limb = limbs[5 * i + j];
                if limb % 2 == 0 { bound } else { limb % (bound + 1) }
            })
        };
        // Two products of magnitudes 4 and 8 add up to the allowed 64.
        let [a, b] = [element(0), element(1)];
        let [c, d] = [element(2), element(3)].map(|limbs| limbs.map(|limb| limb / 2));
        let big = |limbs: &[u64; 5]| limbs.iter().rev().fold(BigUint::ZERO, |sum, &limb| (sum << 52u32) + limb);
        let found = |limbs: [u64; 5]| value(&FieldElement::with_magnitude(limbs, 1));
        let p = prime();
        prop_assert_eq!(found(words32::multiply(&a, &b)), big(&a) * big(&b) % &p);
        prop_assert_eq!(found(words32::square(&a)), big(&a) * big(&a) % &p);
        let sum = big(&a) * big(&c) + big(&b) * big(&d);
        prop_assert_eq!(found(words32::sum_of_products(&a, &c, &b, &d)), sum % &p);
        let [half_a, half_c] = [&a, &c].map(|limbs| limbs.map(|limb| limb / 2));
        let sum = big(&half_a) * big(&c) + big(&half_c) * big(&half_c);
        prop_assert_eq!(found(words32::product_plus_square(&half_a, &c, &half_c)), sum % p);
    }
}
