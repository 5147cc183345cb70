//! Comparison with num-bigint, on limbs biased towards edge cases for carries and quotient estimates.
#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use alloc::{format, string::ToString, vec::Vec};
use core::array;
use num_bigint::{BigInt, BigUint, Sign};
use proptest::{prelude::*, sample::select};

fn limb() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => select(&[0, 1, 2, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1, (1 << 63) + 1, 1 << 32][..]),
        2 => (0u32..64).prop_map(|bit| 1 << bit),
        1 => (0u32..64).prop_map(|bit| u64::MAX >> bit),
        3 => any::<u64>(),
    ]
}

/// Every length in limbs is as likely as the full one.
fn limbs<const N: usize>() -> impl Strategy<Value = [u64; N]> {
    (prop::collection::vec(limb(), N), 0..=N)
        .prop_map(|(limbs, length)| array::from_fn(|i| if i < length { limbs[i] } else { 0 }))
}

fn number() -> impl Strategy<Value = U256> {
    limbs().prop_map(U256)
}

fn big(limbs: &[u64]) -> BigUint {
    BigUint::from_bytes_le(
        &limbs
            .iter()
            .flat_map(|limb| limb.to_le_bytes())
            .collect::<Vec<_>>(),
    )
}

fn wrapped(value: &BigUint) -> U256 {
    let mut digits = value.to_u64_digits();
    digits.resize(4.max(digits.len()), 0);
    U256([digits[0], digits[1], digits[2], digits[3]])
}

fn modulus() -> BigUint {
    BigUint::from(1u8) << 256
}

/// Returns the wrapped value and whether it did not fit.
fn overflowing(value: &BigUint) -> (U256, bool) {
    (wrapped(value), *value >= modulus())
}

fn assert_division<const N: usize>(n: [u64; N], d: [u64; 4]) {
    let (quotient, remainder) = division::div_rem(&n, &d);
    assert_eq!(big(&quotient), big(&n) / big(&d), "{n:x?} / {d:x?}");
    assert_eq!(big(&remainder), big(&n) % big(&d), "{n:x?} % {d:x?}");
    if let Ok(short) = <[u64; 4]>::try_from(n.as_slice()) {
        let short = U256::from_limbs(short).checked_div(U256::from_limbs(d));
        assert_eq!(
            short.map(|q| q.0[..] == quotient),
            Some(true),
            "{n:x?} / {d:x?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 2048 },
        failure_persistence: None, // Miri cannot access files
        ..ProptestConfig::default()
    })]

    #[test]
    fn sums_and_differences_by_pairs((a, b) in (number(), number())) {
        prop_assert_eq!(a.add_pairs(b), overflowing(&(big(&a.0) + big(&b.0))));
        prop_assert_eq!(a.sub_pairs(b), (wrapped(&((modulus() + big(&a.0) - big(&b.0)) % modulus())), a < b));
    }

    #[test]
    fn sums_and_products(a in number(), b in number()) {
        let (x, y) = (big(&a.0), big(&b.0));
        prop_assert_eq!(a.overflowing_add(b), overflowing(&(&x + &y)));
        prop_assert_eq!(a.overflowing_sub(b), (wrapped(&(&x + modulus() - &y)), x < y));
        let product = &x * &y;
        prop_assert_eq!(a.overflowing_mul(b), overflowing(&product));
        prop_assert_eq!(a * b, wrapped(&product));
        prop_assert_eq!(big(a.widening_mul(b).limbs()), product.clone());
        let fits = product < modulus();
        prop_assert_eq!(a.checked_mul(b), fits.then(|| wrapped(&product)));
        prop_assert_eq!(a.saturating_mul(b), if fits { wrapped(&product) } else { U256::MAX });
        prop_assert_eq!(a.saturating_add(b), a.checked_add(b).unwrap_or(U256::MAX));
        prop_assert_eq!(a.saturating_sub(b), a.checked_sub(b).unwrap_or(U256::ZERO));
        prop_assert_eq!(b + b.wrapping_neg(), U256::ZERO);
        prop_assert_eq!(a.cmp(&b), x.cmp(&y));
        prop_assert_eq!((a < b, a <= b, a > b, a >= b), (x < y, x <= y, x > y, x >= y));
        prop_assert_eq!((a.min(b), a.max(b)), if x < y { (a, b) } else { (b, a) });
        prop_assert_eq!([a & b, a | b, a ^ b, !a], [&x & &y, &x | &y, &x ^ &y, modulus() - 1u8 - &x].map(|v| wrapped(&v)));
    }

    #[test]
    fn division_by_halves(a in limb(), b in limb(), low in limb()) {
        prop_assume!(a != b);
        let (high, divisor) = (a.min(b), a.max(b));
        let numerator = u128::from(high) << 64 | u128::from(low);
        let (quotient, remainder) = division::div_by_halves(high, low, divisor);
        prop_assert_eq!(u128::from(quotient), numerator / u128::from(divisor));
        prop_assert_eq!(u128::from(remainder), numerator % u128::from(divisor));
    }

    #[test]
    fn division(n in number(), d in number()) {
        prop_assume!(!d.is_zero());
        assert_division(n.0, d.0);
        prop_assert_eq!(n / d, wrapped(&(big(&n.0) / big(&d.0))));
        prop_assert_eq!(n % d, wrapped(&(big(&n.0) % big(&d.0))));
    }

    #[test]
    fn division_of_512_bits(n in limbs::<8>(), d in number()) {
        prop_assume!(!d.is_zero());
        assert_division(n, d.0);
    }

    /// Numerators next to a multiple of the divisor, which expose an estimate that is one too large.
    #[test]
    fn division_next_to_multiples(q in number(), d in number(), offset in -2i8..=2) {
        prop_assume!(!d.is_zero());
        let product = BigInt::from_biguint(Sign::Plus, big(&q.0) * big(&d.0)) + offset;
        prop_assume!(product.sign() != Sign::Minus);
        let mut digits = product.to_biguint().unwrap().to_u64_digits();
        prop_assume!(digits.len() <= 8);
        digits.resize(8, 0);
        assert_division::<8>(array::from_fn(|i| digits[i]), d.0);
        if digits[4..] == [0; 4] {
            assert_division::<4>(array::from_fn(|i| digits[i]), d.0);
        }
    }

    #[test]
    fn product_and_quotient(a in number(), b in number(), d in number()) {
        let (x, y, z) = (big(&a.0), big(&b.0), big(&d.0));
        let quotient = (!d.is_zero()).then(|| &x * &y / &z).filter(|q| *q < modulus());
        prop_assert_eq!(mul_div(a, b, d), quotient.map(|q| wrapped(&q)));
    }

    #[test]
    fn shifts_and_bits(a in number(), bits in 0u32..300) {
        let x = big(&a.0);
        prop_assert_eq!(a << bits, wrapped(&(&x << bits)));
        prop_assert_eq!(a >> bits, wrapped(&(&x >> bits)));
        prop_assert_eq!(a.bit(bits), x.bit(bits.into()));
        prop_assert_eq!(u64::from(a.bit_len()), x.bits());
        prop_assert_eq!(a.byte_len() as u64, x.bits().div_ceil(8));
        prop_assert_eq!(u64::from(a.trailing_zeros()), x.trailing_zeros().unwrap_or(256));
        prop_assert_eq!(a.leading_zeros() + a.bit_len(), 256);
    }

    #[test]
    fn powers(base in prop_oneof![number(), (0u64..20).prop_map(U256::from)], exponent in 0u32..300) {
        prop_assert_eq!(base.overflowing_pow(exponent), overflowing(&big(&base.0).pow(exponent)));
    }

    #[test]
    fn byte_orders(a in number()) {
        let mut bytes = a.to_be_bytes();
        prop_assert_eq!(BigUint::from_bytes_be(&bytes), big(&a.0));
        prop_assert_eq!(U256::from_be_bytes(bytes), a);
        prop_assert_eq!(U256::from(B256::from(a)), a);
        prop_assert_eq!(U256::from_be_slice(&bytes[32 - a.byte_len()..]), Some(a));
        bytes.reverse();
        prop_assert_eq!(a.to_le_bytes(), bytes);
        prop_assert_eq!(U256::from_le_bytes(bytes), a);
    }

    #[test]
    fn text(a in number()) {
        let x = big(&a.0);
        prop_assert_eq!(a.to_string(), x.to_string());
        prop_assert_eq!(format!("{a:#x} {a:X} {a:?} {a:>80}"), format!("{x:#x} {x:X} {x} {:>80}", x.to_string()));
        prop_assert_eq!(x.to_string().parse::<U256>().unwrap(), a);
        prop_assert_eq!(format!("{x:#x}").parse::<U256>().unwrap(), a);
        prop_assert_eq!(format!("0x{x:0100X}").parse::<U256>().unwrap(), a);
        let beyond = x + modulus();
        prop_assert_eq!(beyond.to_string().parse::<U256>(), Err(Error::Overflow));
        prop_assert_eq!(format!("{beyond:#x}").parse::<U256>(), Err(Error::Overflow));
    }

    #[test]
    fn signed_text(a in number(), bits in 1u32..=256) {
        let sign = if a.bit(255) { modulus() } else { BigUint::ZERO };
        let x = BigInt::from(big(&a.0)) - BigInt::from(sign);
        prop_assert_eq!(I256(a).to_string(), x.to_string());
        prop_assert_eq!(x.to_string().parse::<I256>().unwrap(), I256(a));
        prop_assert_eq!(format!("{:>+90}", I256(a)), format!("{x:>+90}"));
        let bound = BigInt::from(1) << (bits - 1);
        prop_assert_eq!(I256(a).fits(bits), -&bound <= x && x < bound);
        let y = i128::from_le_bytes(a.to_le_bytes()[..16].try_into().unwrap());
        prop_assert_eq!(I256::from(y).to_string(), y.to_string());
        prop_assert_eq!(I256::from(y).cmp(&I256(a)), BigInt::from(y).cmp(&x));
    }

    #[test]
    fn sums_of_512_bits(a in limbs::<8>(), b in limbs::<8>()) {
        let (x, y) = (U512::from_limbs(a), U512::from_limbs(b));
        let sum = big(&a) + big(&b);
        prop_assert_eq!(x.checked_add(y).map(|s| big(s.limbs())), (sum.bits() <= 512).then_some(sum));
        prop_assert_eq!(x.cmp(&y), big(&a).cmp(&big(&b)));
        prop_assert_eq!(x.to_u256(), (big(&a) < modulus()).then(|| wrapped(&big(&a))));
    }

    #[test]
    fn any_text_is_judged_without_panic(text: alloc::string::String) {
        let decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        prop_assert_eq!(text.parse::<U256>().is_ok(), decimal && text.len() < 78);
    }
}

/// All pairs of the edge limbs, in every position of a small shape: exhaustive where proptest only samples.
#[test]
fn division_of_all_edges() {
    const EDGES: [u64; 5] = [0, 1, 1 << 63, u64::MAX - 1, u64::MAX];
    let shape = |mut index: usize| {
        array::from_fn(|_| {
            let limb = EDGES[index % 5];
            index /= 5;
            limb
        })
    };
    let step = if cfg!(miri) { 97 } else { 1 };
    for n in (0..625).step_by(step) {
        for d in (1..625).step_by(step) {
            assert_division::<4>(shape(n), shape(d));
        }
    }
}

#[test]
fn division_by_zero() {
    assert_eq!(U256::ONE.div_rem(U256::ZERO), None);
    assert_eq!(U512::MAX.div_rem(U256::ZERO), None);
    assert_eq!(U256::MAX / U256::ZERO, U256::ZERO);
    assert_eq!(U256::ZERO.checked_div(U256::ZERO), None);
    assert_eq!(U256::MAX % U256::ZERO, U256::ZERO);
    assert_eq!(mul_div(U256::ZERO, U256::ZERO, U256::ZERO), None);
}

#[test]
fn malformed_text() {
    let error = |text: &str| text.parse::<U256>().unwrap_err();
    assert_eq!(error(""), Error::Empty);
    assert_eq!(error("0x"), Error::Empty);
    assert_eq!(
        error("-1"),
        Error::InvalidDigit {
            offset: 0,
            byte: b'-'
        }
    );
    assert_eq!(
        error("12a"),
        Error::InvalidDigit {
            offset: 2,
            byte: b'a'
        }
    );
    assert_eq!(
        error("0x1g"),
        Error::InvalidDigit {
            offset: 3,
            byte: b'g'
        }
    );
    let long = "9".repeat(100);
    assert_eq!(error(&long), Error::Overflow);
    assert_eq!(
        error(&(long + "_")),
        Error::InvalidDigit {
            offset: 100,
            byte: b'_'
        }
    );
    assert_eq!(
        "+1".parse::<I256>(),
        Err(Error::InvalidDigit {
            offset: 0,
            byte: b'+'
        })
    );
    assert_eq!("-".parse::<I256>(), Err(Error::Empty));
    assert_eq!(
        "--1".parse::<I256>(),
        Err(Error::InvalidDigit {
            offset: 1,
            byte: b'-'
        })
    );
    assert_eq!(
        error("1x").to_string(),
        "byte 1: expected a digit, found 0x78"
    );
}

#[test]
fn signed_range() {
    assert_eq!(I256::MIN.to_string().parse::<I256>(), Ok(I256::MIN));
    assert_eq!(I256::MAX.to_string().parse::<I256>(), Ok(I256::MAX));
    assert_eq!(
        (I256::MAX.0 + U256::ONE).to_string().parse::<I256>(),
        Err(Error::Overflow)
    );
    assert_eq!(
        format!("-{}", I256::MIN.0 + U256::ONE).parse::<I256>(),
        Err(Error::Overflow)
    );
    assert_eq!("-0".parse::<I256>(), Ok(I256::default()));
    assert_eq!("-0x80".parse::<I256>(), Ok(I256::from(-128i64)));
}

#[test]
fn conversions() {
    assert_eq!(u64::try_from(U256::from(u64::MAX)), Ok(u64::MAX));
    assert_eq!(u64::try_from(U256::from(1u128 << 64)), Err(Error::Overflow));
    assert_eq!(u128::try_from(U256::from(u128::MAX)), Ok(u128::MAX));
    assert_eq!(u128::try_from(U256::ONE << 128), Err(Error::Overflow));
    assert_eq!(U256::from_be_slice(&[]), Some(U256::ZERO));
    assert_eq!(U256::from_be_slice(&[0; 33]), None);
}

/// The amounts of `vectors/eth-ops`, read from the file.
#[test]
fn report_vectors() {
    let file = include_str!("../../vectors/eth-ops/vectors.json");
    // Extracts the integers between quotes after `operation`, in file order, without a JSON parser.
    let numbers = |operation: &str| {
        let at = file.find(&format!("\"{operation}\"")).unwrap();
        let end = at + file[at..].find("agreed_by").unwrap();
        let quoted = file[at..end]
            .split('"')
            .skip(2)
            .filter_map(|text| text.parse::<U256>().ok());
        quoted.collect::<Vec<_>>()
    };
    let [a, b, sum] = numbers("u256_add")[..] else {
        panic!()
    };
    assert_eq!(a + b, sum);
    let [a, b, product] = numbers("u256_mul")[..] else {
        panic!()
    };
    assert_eq!(a * b, product);
    let [a, b, quotient] = numbers("u256_div")[..] else {
        panic!()
    };
    assert_eq!(a / b, quotient);
    let values = numbers("u256_mulDiv");
    let (inputs, expected) = values.split_at(9);
    assert_eq!(expected.len(), 3);
    for (input, expected) in inputs.chunks(3).zip(expected) {
        assert_eq!(mul_div(input[0], input[1], input[2]), Some(*expected));
    }
}
