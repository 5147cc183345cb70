//! 0x05: modular exponentiation.
//!
//! Input: the lengths of base, exponent and modulus as words of 32 bytes, then the three numbers, big-endian. Short
//! input is padded with zeros; extra input is ignored. Output: the power, as long as the modulus. Since Osaka, no
//! length may exceed 1024.
//!
//! Source: \[EIP-198\], \[EIP-2565\] (gas since Berlin), \[EIP-7823\] and \[EIP-7883\] (bounds and gas since Osaka).

use alloc::{borrow::Cow, vec::Vec};

use lydite_curve::modexp::modexp;

use super::{Error, Fork, GasUsed, charge, padded, since};

/// Maximum length since Osaka.
const LONGEST: u64 = 1024;
/// Maximum length of base and modulus before Osaka: beyond this, the gas exceeds 10^12, far more than any block has.
const LONGEST_PAYABLE: u64 = 1 << 24;

/// The header of an input.
struct Header {
    /// The result of [`lengths`].
    lengths: [u64; 3],
    /// Number of bits in the first 32 bytes of the exponent.
    head_bits: u64,
}

/// Returns the lengths of base, exponent and modulus, each capped at `u64::MAX`.
fn lengths(input: &[u8]) -> [u64; 3] {
    [0, 32, 64].map(|at| {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(padded::<32>(input, at).as_chunks().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        match words {
            [0, 0, 0, length] => length,
            _ => u64::MAX,
        }
    })
}

impl Header {
    fn new(input: &[u8], lengths: [u64; 3]) -> Self {
        let mut head_bits = 0;
        for (i, byte) in slice(input, position(lengths[0]), lengths[1].min(32))
            .iter()
            .enumerate()
        {
            if *byte != 0 {
                head_bits = 8 * (lengths[1].min(32) - i as u64) - u64::from(byte.leading_zeros());
                break;
            }
        }
        Self { lengths, head_bits }
    }

    fn gas(&self, fork: Fork) -> u64 {
        let [base, exponent, modulus] = self.lengths;
        let longest = u128::from(base.max(modulus));
        let (multiplier, words) = (
            if fork >= Fork::Osaka { 16 } else { 8 },
            longest.div_ceil(8),
        );
        let iterations = u128::from(exponent.saturating_sub(32)) * multiplier
            + u128::from(self.head_bits.saturating_sub(1));
        let iterations = iterations.max(1);
        let gas = if fork >= Fork::Osaka {
            let complexity = if longest <= 32 { 16 } else { 2 * words * words };
            complexity.saturating_mul(iterations).max(500)
        } else if fork >= Fork::Berlin {
            ((words * words).saturating_mul(iterations) / 3).max(200)
        } else {
            let square = longest.saturating_mul(longest);
            let complexity = match longest {
                0..=64 => square,
                65..=1024 => square / 4 + 96 * longest - 3072,
                _ => (square / 16).saturating_add(480 * longest - 199_680),
            };
            complexity.saturating_mul(iterations) / 20
        };
        u64::try_from(gas).unwrap_or(u64::MAX)
    }
}

/// Returns the position of the exponent in the input, after a base of this length.
fn position(base: u64) -> u64 {
    base.saturating_add(96)
}

/// Returns the part of this range that the input contains.
fn slice(input: &[u8], from: u64, length: u64) -> &[u8] {
    let clamp = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(input.len());
    &input[clamp(from)..clamp(from.saturating_add(length))]
}

/// Returns this range of the input, padded with zeros to `length`.
fn number(input: &[u8], from: u64, length: u64) -> Cow<'_, [u8]> {
    let bytes = slice(input, from, length);
    if bytes.len() as u64 == length {
        return bytes.into();
    }
    let mut padded = bytes.to_vec();
    padded.resize(length as usize, 0);
    padded.into()
}

/// Returns the gas for an input, capped at `u64::MAX`.
#[must_use]
pub fn gas(input: &[u8], fork: Fork) -> u64 {
    Header::new(input, lengths(input)).gas(fork)
}

/// Runs the precompile and stores the output in `out`.
///
/// # Errors
/// [`Error::NotActive`], [`Error::OutOfGas`] or [`Error::ModexpLength`].
pub fn run(input: &[u8], gas_limit: u64, fork: Fork, out: &mut Vec<u8>) -> Result<GasUsed, Error> {
    out.clear();
    since(Fork::Byzantium, fork)?;
    let lengths = lengths(input);
    if fork >= Fork::Osaka && lengths.iter().any(|length| *length > LONGEST) {
        return Err(Error::ModexpLength);
    }
    let [base, exponent, modulus] = lengths;
    let gas = charge(Header::new(input, lengths).gas(fork), gas_limit)?;
    if base.max(modulus) > LONGEST_PAYABLE {
        return Err(Error::OutOfGas);
    }
    if modulus == 0 {
        return Ok(gas);
    }
    out.resize(modulus as usize, 0);
    let exponent_at = position(base);
    let modulus_at = exponent_at.saturating_add(exponent);
    // A zero modulus, also one beyond the input, needs no computation.
    if slice(input, modulus_at, modulus)
        .iter()
        .all(|byte| *byte == 0)
    {
        return Ok(gas);
    }
    // The input contains at least part of the modulus, and so everything before it.
    modexp(
        slice(input, 96, base),
        slice(input, exponent_at, exponent),
        &number(input, modulus_at, modulus),
        out,
    );
    Ok(gas)
}
