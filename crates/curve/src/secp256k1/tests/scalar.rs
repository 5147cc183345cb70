//! Arithmetic modulo the order, compared with big integers.

use super::*;
use crate::secp256k1::scalar::Signed128;

fn order() -> BigUint {
    to_big(&ORDER)
}

fn scalar(words: [u64; 4]) -> (Scalar, BigUint) {
    (
        Scalar::from_bytes_reduced(&crate::words::to_be(&words)),
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
            Scalar::from_bytes_nonzero(&crate::words::to_be(&words)).is_some(),
            valid
        );
    }
    assert!(Scalar::ZERO.invert() == Scalar::ZERO);
    assert!(Scalar::ZERO.invert_vartime() == Scalar::ZERO);
    assert!(Scalar::ZERO.negate() == Scalar::ZERO);
}

/// Products whose last fold carries out of 256 bits, which happens by chance once in 2^123.
///
/// With K = 2^256 - n, the folds turn T = a b into A = T mod 2^256 + K floor(T / 2^256), A into B and B into C in the
/// same way. All are congruent to T modulo n, and C < 2 n. So for T = rho (mod n) with rho < n, C is rho or n + rho =
/// 2^256 + rho - K. The fold carries if C is the latter and rho >= K. With B = rho + m n, C is the latter exactly if
/// rho < m K; and B, a multiple of the small part of T, has m = 2 if T / 2^512 is above about 0.62 (as K^2 = 1.6 *
/// 2^256). So rho is taken from [K, 2 K), a near n, and b = rho / a.
#[test]
fn scalar_products_that_carry_last() {
    let n = order();
    let one = BigUint::from(1u8);
    let power = &one << 256;
    let complement: BigUint = &power - &n;
    let fold = |t: &BigUint| (t % &power) + (t >> 256) * &complement;
    let mut carries = 0;
    for below in 1..=32u8 {
        let a = &n - below;
        let inverse = a.modpow(&(&n - 2u8), &n);
        for rho in [
            complement.clone(),
            &complement + 1u8,
            (&complement << 1) - 1u8,
        ] {
            let b = &rho * &inverse % &n;
            let folded = fold(&fold(&fold(&(&a * &b))));
            carries += usize::from(folded >= power);
            let product = scalar(to_words(&a)).0.mul(&scalar(to_words(&b)).0);
            assert_eq!(value(&product), rho, "n - {below}");
        }
    }
    assert!(carries > 30, "{carries}");
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
        prop_assert_eq!((high << 128) + low, big.clone());
        #[cfg(target_arch = "x86_64")]
        {
            let odd = k.odd_halves_vartime();
            prop_assert!(odd.iter().all(|half| half.magnitude & 1 == 1));
            let [low, high] = odd.map(signed);
            prop_assert_eq!(((high << 128) + low) % &n, big);
        }
    }
}
