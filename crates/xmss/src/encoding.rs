//! Incomparable encodings of messages: no codeword is greater than or equal to another in every digit.

use crate::hash::Digest;
use crate::koalabear::MODULUS;

/// An encoding of message hashes into one digit per chain.
pub trait Encoding: Send + Sync + 'static {
    /// Number of digits in a codeword, which is the number of hash chains in an epoch, at most 256.
    const CHAINS: usize;
    /// Upper bound of a digit (exclusive), at most 256: the number of steps in a chain plus one.
    const BASE: usize;
    /// Maximum number of counters that a signer tries.
    const TRIES: u64;
    /// The sum of a codeword's digits, if it is the same for all.
    #[cfg(feature = "keystore")]
    const TARGET_SUM: Option<u32>;

    /// Writes the codeword of a message hash to `codeword`, [`Self::CHAINS`] bytes. Returns false if this hash has
    /// none.
    fn encode(hash: &Digest, codeword: &mut [u8]) -> bool;
}

/// The digits of a message hash.
pub trait Digits: Send + Sync + 'static {
    /// Number of digits.
    const COUNT: usize;
    /// Bits per digit, at most 8.
    const BITS: u32;

    /// Writes the digits. Returns false if this hash has none.
    fn digits(hash: &Digest, digits: &mut [u8]) -> bool;
}

/// `V` octal digits by rejection: p - 1 = 127 * 8^8, so an element below p - 1 gives eight uniform digits after
/// division by 127, and p - 1 itself is rejected [HHKTW26 §6.1].
pub enum Aborting<const V: usize> {}

impl<const V: usize> Digits for Aborting<V> {
    const COUNT: usize = V;
    const BITS: u32 = 3;

    fn digits(hash: &Digest, digits: &mut [u8]) -> bool {
        let mut accepted = true;
        for (element, digits) in hash.iter().zip(digits.chunks_mut(8)) {
            accepted &= *element != MODULUS - 1;
            let mut rest = element / 127;
            for digit in digits {
                *digit = (rest & 7) as u8;
                rest >>= 3;
            }
        }
        accepted
    }
}

/// `V` digits of `BITS` bits, least significant first, of the integer whose base-p digits are the hash's first five
/// elements, most significant first.
pub enum Radix<const V: usize, const BITS: u32> {}

impl<const V: usize, const BITS: u32> Digits for Radix<V, BITS> {
    const COUNT: usize = V;
    const BITS: u32 = BITS;

    fn digits(hash: &Digest, digits: &mut [u8]) -> bool {
        // p^5 < 2^155, so the integer fits in five words.
        let mut integer = [0_u32; 5];
        for element in &hash[..5] {
            let mut carry = u64::from(*element);
            for word in &mut integer {
                carry += u64::from(*word) * u64::from(MODULUS);
                *word = carry as u32;
                carry >>= 32;
            }
        }
        for (i, digit) in digits.iter_mut().enumerate() {
            let bit = i as u32 * BITS;
            let word = |i: u32| integer.get(i as usize).map_or(0, |&word| u64::from(word));
            let window = word(bit / 32) | word(bit / 32 + 1) << 32;
            *digit = (window >> (bit % 32) & ((1 << BITS) - 1)) as u8;
        }
        true
    }
}

/// Digits that add up to `SUM` are codewords; others are rejected [DKKW25, construction 6].
pub struct TargetSum<D, const SUM: u32>(core::marker::PhantomData<D>);

impl<D: Digits, const SUM: u32> Encoding for TargetSum<D, SUM> {
    const CHAINS: usize = D::COUNT;
    const BASE: usize = 1 << D::BITS;
    const TRIES: u64 = 100_000;
    #[cfg(feature = "keystore")]
    const TARGET_SUM: Option<u32> = Some(SUM);

    fn encode(hash: &Digest, codeword: &mut [u8]) -> bool {
        D::digits(hash, codeword)
            && codeword.iter().map(|&digit| u32::from(digit)).sum::<u32>() == SUM
    }
}

/// Codewords are the digits followed by a checksum of `C` digits: the sum of each digit's distance to the maximum
/// [DKKW25, construction 5].
pub struct Winternitz<D, const C: usize>(core::marker::PhantomData<D>);

impl<D: Digits, const C: usize> Encoding for Winternitz<D, C> {
    const CHAINS: usize = D::COUNT + C;
    const BASE: usize = 1 << D::BITS;
    const TRIES: u64 = 1;
    #[cfg(feature = "keystore")]
    const TARGET_SUM: Option<u32> = None;

    fn encode(hash: &Digest, codeword: &mut [u8]) -> bool {
        let (digits, checksum) = codeword.split_at_mut(D::COUNT);
        let accepted = D::digits(hash, digits);
        let mut sum: usize = digits
            .iter()
            .map(|&digit| Self::BASE - 1 - usize::from(digit))
            .sum();
        for digit in checksum {
            *digit = (sum % Self::BASE) as u8;
            sum /= Self::BASE;
        }
        accepted
    }
}

/// 42 octal digits of a hash of 16 bytes that add up to 195: 21 in each little-endian word of 64 bits, whose highest bit
/// must be zero.
pub enum PinnedTargetSum {}

impl Encoding for PinnedTargetSum {
    const CHAINS: usize = 42;
    const BASE: usize = 8;
    const TRIES: u64 = 1 << 32;
    #[cfg(feature = "keystore")]
    const TARGET_SUM: Option<u32> = Some(195);

    #[inline]
    fn encode(hash: &Digest, codeword: &mut [u8]) -> bool {
        let [a, b] = [0, 2].map(|i| u64::from(hash[i]) | u64::from(hash[i + 1]) << 32);
        if (a | b) >> 63 != 0 || digit_sum(a) + digit_sum(b) != 195 {
            return false;
        }
        for (digits, mut word) in codeword.chunks_mut(21).zip([a, b]) {
            for digit in digits {
                *digit = (word & 7) as u8;
                word >>= 3;
            }
        }
        true
    }
}

/// The sum of 21 octal digits.
#[inline]
fn digit_sum(word: u64) -> u64 {
    const EVEN: u64 = 0o707_070_707_070_707_070_707;
    const FIELDS: u64 = 0x003f_03f0_3f03_f03f;
    // Sums of two digits in fields of 6 bits, of four in fields of 12, and of all fields but the last.
    let pairs = (word & EVEN) + (word >> 3 & EVEN);
    let fours = (pairs & FIELDS) + (pairs >> 6 & FIELDS);
    (fours.wrapping_mul(0x0001_0010_0100_1001) >> 48 & 0xfff) + (pairs >> 60)
}
