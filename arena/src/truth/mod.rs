//! Reference outputs, computed by slow readable code that shares nothing with the library under test: tiny-keccak,
//! k256, num-bigint, and encoders written from the specifications. The vectors of `vectors/` test all of it.

pub mod abi;
pub mod bulk;
pub mod curve;
pub mod eip712;
pub mod ethereum;
pub mod events;
pub mod hash;
pub mod leansig;
pub mod leanvm;
pub mod precompiles;
pub mod receipts;
pub mod rlp;
pub mod secp256k1;
pub mod syrup;
pub mod token;
pub mod transaction;
pub mod trie;

use anyhow::{Context as _, Result, ensure};
use tiny_keccak::{Hasher as _, Keccak};

/// The expected output of one call: what `verify` must write, and what `run` must add to its checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The output blob.
    pub bytes: Vec<u8>,
    /// Wrapping sum of its 64-bit words, with each part zero-padded separately.
    pub sum: u64,
}

impl Expected {
    /// The output consisting of these parts.
    pub fn of(parts: &[Vec<u8>]) -> Self {
        Self {
            sum: parts
                .iter()
                .fold(0, |sum, part| sum.wrapping_add(word_sum(part))),
            bytes: parts.concat(),
        }
    }
}

/// Wrapping sum of the little-endian 64-bit words of one part, zero-padded to whole words.
pub fn word_sum(part: &[u8]) -> u64 {
    part.chunks(8).fold(0, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum.wrapping_add(u64::from_le_bytes(word))
    })
}

/// The expected checksum of `n` calls over these items, where call `k` works on item `k mod items`.
pub fn predict(expected: &[Expected], n: u64) -> u64 {
    let items = expected.len() as u64;
    let sum = |items: &[Expected]| {
        items
            .iter()
            .fold(0u64, |sum, item| sum.wrapping_add(item.sum))
    };
    let rest = (n % items) as usize;
    sum(expected)
        .wrapping_mul(n / items)
        .wrapping_add(sum(&expected[..rest]))
}

/// Keccak-256.
pub fn keccak256(data: &[u8]) -> [u8; 32] {
    let mut hasher = Keccak::v256();
    let mut out = [0; 32];
    hasher.update(data);
    hasher.finalize(&mut out);
    out
}

/// Lowercase hexadecimal without a prefix.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The checksum address of EIP-55.
pub fn checksum(address: &[u8]) -> String {
    let digits = hex(address);
    let hash = hex(&keccak256(digits.as_bytes()));
    let mixed = digits.chars().zip(hash.chars()).map(|(digit, nibble)| {
        if nibble >= '8' {
            digit.to_ascii_uppercase()
        } else {
            digit
        }
    });
    format!("0x{}", mixed.collect::<String>())
}

/// Decodes hexadecimal text in either case, without a prefix.
pub fn unhex(text: &[u8]) -> Result<Vec<u8>> {
    ensure!(text.len().is_multiple_of(2), "an odd number of digits");
    let digit = |c: u8| (c as char).to_digit(16).context("not a digit");
    text.chunks(2)
        .map(|pair| Ok((digit(pair[0])? * 16 + digit(pair[1])?) as u8))
        .collect()
}
