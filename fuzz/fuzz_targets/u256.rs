//! U256 and its 512-bit intermediate against num-bigint.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::bytes::{U256, mul_div};
use num_bigint::BigUint;

fn big(x: &U256) -> BigUint {
    BigUint::from_bytes_le(&x.to_le_bytes())
}

fuzz_target!(|input: ([u64; 4], [u64; 4], [u64; 4], u8)| {
    let [a, b, d] = [input.0, input.1, input.2].map(U256::from_limbs);
    let modulus = BigUint::from(1u8) << 256;
    assert_eq!(big(&a.wrapping_add(b)), (big(&a) + big(&b)) % &modulus);
    assert_eq!(big(&a.wrapping_mul(b)), (big(&a) * big(&b)) % &modulus);
    assert_eq!(
        big(&a.wrapping_sub(b)),
        (big(&a) + &modulus - big(&b)) % &modulus
    );
    // Include shorter divisors: the algorithm depends on their length.
    let d = d >> u32::from(input.3);
    if d == U256::ZERO {
        assert_eq!(mul_div(a, b, d), None);
        return;
    }
    let (quotient, remainder) = a.div_rem(d).unwrap();
    assert_eq!(big(&quotient), big(&a) / big(&d));
    assert_eq!(big(&remainder), big(&a) % big(&d));
    let exact = big(&a) * big(&b) / big(&d);
    assert_eq!(
        mul_div(a, b, d).map(|x| big(&x)),
        (exact < modulus).then_some(exact)
    );
    assert_eq!(a.to_string(), big(&a).to_string());
    assert_eq!(a.to_string().parse::<U256>().unwrap(), a);
});
