//! Arithmetic modulo the order against big integers.

use super::*;
use crate::secp256k1::scalar::Signed128;

fn order() -> BigUint {
    to_big(&ORDER)
}

fn scalar(words: [u64; 4]) -> (Scalar, BigUint) {
    (
        Scalar::from_bytes_reduced(&crate::words_to_be(&words)),
        to_big(&words) % order(),
    )
}

fn value(x: &Scalar) -> BigUint {
    to_big(x.words())
}

#[test]
fn scalar_edges() {
    for (words, valid) in [
        ([0; 4], false),
        (ORDER, false),
        ([u64::MAX; 4], false),
        ([1, 0, 0, 0], true),
    ] {
        assert_eq!(
            Scalar::from_bytes_nonzero(&crate::words_to_be(&words)).is_some(),
            valid
        );
    }
    assert!(Scalar::ZERO.invert() == Scalar::ZERO);
    assert!(Scalar::ZERO.invert_vartime() == Scalar::ZERO);
    assert!(Scalar::ZERO.negate() == Scalar::ZERO);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn scalar_arithmetic(a in words(ORDER), b in words(ORDER)) {
        let n = order();
        let ((a, big_a), (b, big_b)) = (scalar(a), scalar(b));
        prop_assert_eq!(value(&a), big_a.clone());
        prop_assert_eq!(value(&a.add(&b)), (&big_a + &big_b) % &n);
        prop_assert_eq!(value(&a.negate()), (&n - &big_a) % &n);
        prop_assert_eq!(value(&a.mul(&b)), &big_a * &big_b % &n);
        prop_assert_eq!(a.is_high().declassify(), big_a > (&n >> 1));
        let inverse = big_a.modpow(&(&n - 2u8), &n);
        prop_assert_eq!(value(&a.invert()), inverse.clone());
        prop_assert_eq!(value(&a.invert_vartime()), inverse);
    }

    #[test]
    fn scalar_split(k in words(ORDER)) {
        let lambda = BigUint::parse_bytes(b"5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72", 16).unwrap();
        let n = order();
        let (k, big) = scalar(k);
        let signed = |part: Signed128| {
            let magnitude = BigUint::from(part.magnitude);
            if part.negative { &n - magnitude } else { magnitude }
        };
        let [k1, k2] = k.split_vartime().map(signed);
        prop_assert_eq!((k1 + k2 * &lambda) % &n, big.clone());
        let power = BigUint::from(1u8) << 130;
        let [v1, v2] = k.split_for_digits().map(|v| {
            let value = to_big(&[v[0], v[1], v[2], 0]);
            assert!(value.bits() <= 129);
            (value << 1) + 1u8 + &n - (&power % &n)
        });
        prop_assert_eq!((v1 + v2 * &lambda) % &n, big.clone());
        let [low, high] = k.halves().map(signed);
        prop_assert_eq!((high << 128) + low, big);
    }
}
