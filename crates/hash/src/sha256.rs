//! SHA-256 (FIPS 180-4) from `sha2`, which already uses SHA-NI where the CPU has it; this is only our shape of its API.

use sha2::{Digest as _, block_api::compress256};

/// SHA-256 of `data`.
///
/// ```
/// let digest = lydite_hash::sha256(b"abc");
/// assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
/// ```
pub fn sha256(data: &[u8]) -> [u8; 32] {
    let mut state = SHA256_INITIAL;
    let (blocks, tail) = data.as_chunks::<64>();
    if !blocks.is_empty() {
        compress256(&mut state, blocks);
    }
    let mut last = [0; 64 + 72];
    last[..tail.len()].copy_from_slice(tail);
    finish(state, &mut last, tail.len(), data.len())
}

/// SHA-256 of the first `length` bytes of `buffer`, padded where they stand: what is behind them is overwritten. Without
/// room for the padding, 72 bytes, they are hashed as by [`sha256`].
///
/// ```
/// let mut buffer = [0; 128];
/// buffer[..3].copy_from_slice(b"abc");
/// assert_eq!(lydite_hash::sha256_in_place(&mut buffer, 3), lydite_hash::sha256(b"abc"));
/// ```
#[inline]
pub fn sha256_in_place(buffer: &mut [u8], length: usize) -> [u8; 32] {
    if buffer.len() < length + 72 {
        return sha256(&buffer[..length]);
    }
    finish(SHA256_INITIAL, buffer, length, length)
}

/// Pads the last `tail` bytes of a message of `length`, which stand at the start of `buffer` with 72 bytes behind them, and
/// compresses them. (By hand, since `Sha256::digest` takes 25 ns more for its buffer and counters.)
#[inline(always)]
fn finish(mut state: [u32; 8], buffer: &mut [u8], tail: usize, length: usize) -> [u8; 32] {
    let end = (tail + 9).next_multiple_of(64);
    buffer[tail] = 0x80;
    // More zeros than it takes, so that they are a few stores.
    buffer[tail + 1..][..64].fill(0);
    buffer[end - 8..end].copy_from_slice(&((length as u64) << 3).to_be_bytes());
    compress256(&mut state, buffer[..end].as_chunks().0);
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}

/// SHA-256's initial state: the first 32 bits of the fractional parts of the square roots of the first eight primes (FIPS
/// 180-4, 5.3.3).
pub const SHA256_INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Streaming SHA-256: any split of the input gives the digest of [`sha256`].
///
/// ```
/// let mut hasher = lydite_hash::Sha256::new();
/// hasher.update(b"a");
/// hasher.update(b"bc");
/// assert_eq!(hasher.finalize(), lydite_hash::sha256(b"abc"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sha256(sha2::Sha256);

impl Sha256 {
    /// A hasher that has absorbed nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Absorbs `data`.
    pub fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    /// The digest of everything absorbed.
    pub fn finalize(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_shot_equals_streaming_at_every_length() {
        let data: [u8; 400] = core::array::from_fn(|i| (i * 7) as u8);
        for length in (0..data.len()).step_by(if cfg!(miri) { 57 } else { 1 }) {
            let expected: [u8; 32] = sha2::Sha256::digest(&data[..length]).into();
            assert_eq!(sha256(&data[..length]), expected, "{length} bytes");
            for room in [0, 8, 71, 72, 90] {
                let mut buffer = data;
                let buffer = &mut buffer[..(length + room).min(data.len())];
                assert_eq!(sha256_in_place(buffer, length), expected, "{length} bytes");
            }
        }
    }

    #[test]
    fn fips_180_example_of_two_blocks() {
        // FIPS 180-2, appendix B.2.
        let message = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        let expected = [
            0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8, 0xe5, 0xc0, 0x26, 0x93, 0x0c, 0x3e,
            0x60, 0x39, 0xa3, 0x3c, 0xe4, 0x59, 0x64, 0xff, 0x21, 0x67, 0xf6, 0xec, 0xed, 0xd4,
            0x19, 0xdb, 0x06, 0xc1,
        ];
        assert_eq!(sha256(message), expected);
        for split in 0..=message.len() {
            let mut hasher = Sha256::new();
            hasher.update(&message[..split]);
            hasher.update(&message[split..]);
            assert_eq!(hasher.finalize(), expected);
        }
    }
}
