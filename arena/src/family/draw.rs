//! Draws numbers and texts for the items of rows.

use num_bigint::BigUint;

use crate::random::Random;

/// A random number of exactly `bits` bits.
pub fn sized(random: &mut Random, bits: usize) -> BigUint {
    if bits == 0 {
        return BigUint::ZERO;
    }
    let mut value = BigUint::from_bytes_le(&random.bytes(bits.div_ceil(8)));
    value >>= bits.next_multiple_of(8) - bits;
    value.set_bit(bits as u64 - 1, true);
    value
}

/// A random number of `low..=high` bits, with all lengths equally likely.
pub fn spread(random: &mut Random, low: usize, high: usize) -> BigUint {
    let bits = random.between(low, high);
    sized(random, bits)
}

/// A number of the same magnitude with other low bits.
pub fn nudge(random: &mut Random, value: &BigUint) -> BigUint {
    let free = (value.bits() as usize / 2).min(32);
    (value >> free << free) | (sized(random, 64) >> (64 - free))
}

/// Whether an item of a row that returns yes or no is an invalid one: one in four, so that results cannot be guessed.
pub fn wrong(random: &mut Random) -> bool {
    random.word().is_multiple_of(4)
}

/// A secret key of secp256k1.
pub fn secret_key(random: &mut Random) -> Vec<u8> {
    // The top bit is clear, so the key is below the group order. If it is ever zero, the reference code reports an
    // error.
    let mut key = random.bytes(32);
    key[0] &= 0x7f;
    key
}

/// Random letters, digits and spaces.
pub fn letters(random: &mut Random, len: usize) -> String {
    (0..len)
        .map(|_| char::from(random.pick(b"abcdefghijklmnopqrstuvwxyz ABCDEFGHIJ0123456789")))
        .collect()
}

/// The text with every letter in either case.
pub fn mixed_case(random: &mut Random, text: &str) -> String {
    text.chars()
        .map(|c| {
            if random.word() & 1 == 0 {
                c.to_ascii_uppercase()
            } else {
                c
            }
        })
        .collect()
}
