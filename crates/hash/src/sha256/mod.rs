//! SHA-256 \[FIPS180-4\].
//!
//! Compression is done by the crate `sha2`, which uses the CPU's SHA instructions if available. If the CPU also has
//! AVX-512, our kernel is used, which pads in registers. The time depends on the length of the input, not on its bytes.

mod dispatch;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use dispatch::Backend;

/// Computes SHA-256 of `data`.
///
/// ```
/// let digest = lydite_hash::sha256(b"abc");
/// assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
/// ```
#[inline]
pub fn sha256(data: &[u8]) -> [u8; 32] {
    Backend::detect().finish(&SHA256_INITIAL, data, data.len() as u64)
}

/// Computes SHA-256 of the first `length` bytes of `buffer`, padding in place: bytes after them are overwritten. If
/// there is no room for the padding, 72 bytes, this is [`sha256`]. Faster for data that was just written in small
/// pieces, because the masked loads of [`sha256`] would wait for those stores.
///
/// ```
/// let mut buffer = [0; 128];
/// buffer[..3].copy_from_slice(b"abc");
/// assert_eq!(lydite_hash::sha256_in_place(&mut buffer, 3), lydite_hash::sha256(b"abc"));
/// ```
#[inline]
pub fn sha256_in_place(buffer: &mut [u8], length: usize) -> [u8; 32] {
    let end = (length + 9).next_multiple_of(64);
    match buffer.get_mut(length..length + 72) {
        Some(padding) => {
            // More zeros than required, so that they take few stores.
            padding.fill(0);
            padding[0] = 0x80;
        }
        None => return sha256(&buffer[..length]),
    }
    buffer[end - 8..end].copy_from_slice(&((length as u64) << 3).to_be_bytes());
    Backend::detect().padded(&SHA256_INITIAL, buffer[..end].as_chunks().0)
}

/// The initial state of SHA-256: the first 32 bits of the fractional parts of the square roots of the first eight
/// primes (FIPS 180-4, 5.3.3).
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

/// Streaming SHA-256: the digest is that of [`sha256`], however the input is split.
///
/// ```
/// let mut hasher = lydite_hash::Sha256::new();
/// hasher.update(b"a");
/// hasher.update(b"bc");
/// assert_eq!(hasher.finalize(), lydite_hash::sha256(b"abc"));
/// ```
#[derive(Clone)]
pub struct Sha256 {
    state: [u32; 8],
    /// Number of bytes absorbed. Those of an incomplete last block are in `block`.
    length: u64,
    block: [u8; 64],
    backend: Backend,
}

impl Sha256 {
    /// Creates an empty hasher.
    pub fn new() -> Self {
        Self::with_backend(Backend::detect())
    }

    fn with_backend(backend: Backend) -> Self {
        Self {
            state: SHA256_INITIAL,
            length: 0,
            block: [0; 64],
            backend,
        }
    }

    /// Returns the number of bytes in `block`.
    fn used(&self) -> usize {
        (self.length % 64) as usize
    }

    /// Absorbs `data`.
    pub fn update(&mut self, mut data: &[u8]) {
        let used = self.used();
        self.length += data.len() as u64;
        if used > 0 {
            let room = &mut self.block[used..];
            let Some((head, rest)) = data.split_at_checked(room.len()) else {
                room[..data.len()].copy_from_slice(data);
                return;
            };
            room.copy_from_slice(head);
            data = rest;
            self.backend.absorb(&mut self.state, &[self.block]);
        }
        let (blocks, rest) = data.as_chunks();
        self.backend.absorb(&mut self.state, blocks);
        self.block[..rest.len()].copy_from_slice(rest);
    }

    /// Discards all absorbed data.
    pub fn reset(&mut self) {
        *self = Self::with_backend(self.backend);
    }

    /// Returns the digest of all absorbed data.
    pub fn finalize(self) -> [u8; 32] {
        self.backend
            .finish(&self.state, &self.block[..self.used()], self.length)
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sha256").finish_non_exhaustive()
    }
}
