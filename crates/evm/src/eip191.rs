//! EIP-191 signed data: the hash that a wallet signs for a message.
//!
//! `0x19 <version> <version-specific data> <data to sign>`, hashed with Keccak-256. This module implements versions
//! 0x45 (`personal_sign`) and 0x00 (intended validator); version 0x01 is [`crate::eip712`].
//!
//! Source: [EIP-191](https://eips.ethereum.org/EIPS/eip-191). Does not allocate. Messages are public: not constant
//! time.

use lydite_bytes::{Address, B256};
use lydite_hash::Keccak256;

/// `"\x19Ethereum Signed Message:\n"`: 0x19, then 0x45 (`E`) as the version byte.
const PERSONAL_PREFIX: &[u8] = b"\x19Ethereum Signed Message:\n";

/// Returns the hash that `personal_sign` and `eth_sign` sign (version 0x45).
///
/// `keccak256("\x19Ethereum Signed Message:\n" || decimal length of the message in bytes || message)`. To sign a
/// 32-byte hash "as a message", pass it as a message of length 32.
///
/// ```
/// let hash = lydite_evm::eip191::hash_message(b"Hello World");
/// assert_eq!(hash.to_string(), "0xa1de988600a42c4b4ab089b619297c17d53cffae5d5120d82d8a92d0bb3b78f2");
/// ```
#[must_use]
pub fn hash_message(message: &[u8]) -> B256 {
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = message.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let mut keccak = Keccak256::new();
    keccak.update(PERSONAL_PREFIX);
    keccak.update(&digits[start..]);
    keccak.update(message);
    B256::from(keccak.finalize())
}

/// Returns the hash of data intended for one validating contract (version 0x00).
///
/// `keccak256(0x19 || 0x00 || validator || data)`.
///
/// ```
/// use lydite_bytes::Address;
/// let hash = lydite_evm::eip191::hash_with_validator(&Address::ZERO, b"");
/// assert_eq!(hash.0, lydite_hash::keccak256(&[&[0x19, 0x00][..], &[0; 20]].concat()));
/// ```
#[must_use]
pub fn hash_with_validator(validator: &Address, data: &[u8]) -> B256 {
    let mut keccak = Keccak256::new();
    keccak.update(&[0x19, 0x00]);
    keccak.update(&validator.0);
    keccak.update(data);
    B256::from(keccak.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, vec, vec::Vec};

    /// The definition, implemented with an allocation.
    fn reference(message: &[u8]) -> B256 {
        let mut data: Vec<u8> =
            format!("\x19Ethereum Signed Message:\n{}", message.len()).into_bytes();
        data.extend_from_slice(message);
        B256::from(lydite_hash::keccak256(&data))
    }

    #[test]
    fn every_digit_count() {
        for length in [
            0, 1, 9, 10, 11, 99, 100, 101, 135, 136, 137, 999, 1000, 12_345, 100_000,
        ] {
            let message = vec![0xab; length];
            assert_eq!(
                hash_message(&message),
                reference(&message),
                "length {length}"
            );
        }
    }

    #[test]
    fn validator_is_part_of_the_hash() {
        let data = b"attack at dawn";
        let mut preimage = vec![0x19, 0x00];
        preimage.extend_from_slice(&[0x11; 20]);
        preimage.extend_from_slice(data);
        assert_eq!(
            hash_with_validator(&Address([0x11; 20]), data).0,
            lydite_hash::keccak256(&preimage)
        );
        assert_ne!(
            hash_with_validator(&Address([0x11; 20]), data),
            hash_with_validator(&Address([0x12; 20]), data)
        );
    }
}
