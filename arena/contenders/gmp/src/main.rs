//! GMP as a contender: modular exponentiation with the encoding of EIP-198.

use arena_kit::{locked_version, modexp_lengths, precompile, run};
use rug::Integer;
use rug::integer::Order;

/// Reads the number of `length` bytes at `at`.
fn number(input: &[u8], at: usize, length: usize) -> Integer {
    let given = input.get(at..).unwrap_or_default();
    match given.get(..length) {
        Some(bytes) => Integer::from_digits(bytes, Order::Msf),
        None => Integer::from_digits(given, Order::Msf) << (8 * (length - given.len())) as u32,
    }
}

fn modexp(input: &[u8]) -> Option<Vec<u8>> {
    let [base, exponent, modulus] = modexp_lengths(input)?;
    let mut out = vec![0; modulus];
    let b = number(input, 96, base);
    let e = number(input, 96 + base, exponent);
    let m = number(input, 96 + base + exponent, modulus);
    if m > 1 {
        let power = b.pow_mod(&e, &m).ok()?;
        let digits = power.significant_digits::<u8>();
        power.write_digits(&mut out[modulus - digits..], Order::Msf);
    }
    Some(out)
}

fn main() {
    // This is the version of the crate that bundles GMP, not GMP's own.
    let version = locked_version(include_str!("../../Cargo.lock"), "gmp-mpfr-sys");
    run("gmp", version, vec![precompile("precompile_05", modexp)]);
}
