//! Keccak-256 as used in Ethereum: the sponge of \[KECCAK\] with capacity 512 and the original padding `10*1` (domain
//! byte `0x01`), not the `0x06` of SHA3-256 [FIPS202 §6.1].
//!
//! The rate is 136 bytes, the digest 32 bytes. Batches also support SHAKE128 [FIPS202 §6.2], with a rate of 168 bytes.
//! The time depends on the length of the input, not on its bytes.

#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128"),
    test
))]
mod batch;
mod dispatch;
mod portable;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
#[cfg(any(target_arch = "wasm32", test))]
mod wasm32;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use dispatch::Backend;

/// Bytes absorbed per permutation: (1600 - 2 * 256) / 8.
const RATE: usize = 136;

/// Bytes absorbed per permutation of SHAKE128: (1600 - 2 * 128) / 8 [FIPS202 §6.2].
const SHAKE128_RATE: usize = 168;

/// First padding byte of Keccak-256, without domain bits.
const KECCAK_SUFFIX: u8 = 0x01;
/// First padding byte of SHA3-256, with the domain bits `01` [FIPS202 §6.1].
const SHA3_SUFFIX: u8 = 0x06;
/// First padding byte of SHAKE128, with the domain bits `1111` [FIPS202 §6.2].
const SHAKE_SUFFIX: u8 = 0x1f;

/// The 25 lanes, `state[x + 5 * y]`; lane bytes are little-endian [FIPS202 §3.1.2, §B.1].
type State = [u64; 25];

/// The state before the first block. A static, because a vector kernel would have to wait for zeros that were just
/// written.
static ZERO: State = [0; 25];

/// The reason why a batch is rejected.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The number of outputs does not match the number of inputs.
    BatchLength {
        /// Number of inputs.
        inputs: usize,
        /// Number of outputs.
        outputs: usize,
    },
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::BatchLength { inputs, outputs } => {
                write!(
                    f,
                    "batch: expected {inputs} outputs, one per input, found {outputs}"
                )
            }
        }
    }
}

impl core::error::Error for Error {}

/// Computes Keccak-256 of `data`.
///
/// ```
/// let digest = lydite_hash::keccak256(b"");
/// assert_eq!(digest[..4], [0xc5, 0xd2, 0x46, 0x01]);
/// ```
#[inline]
pub fn keccak256(data: &[u8]) -> [u8; 32] {
    Backend::detect().keccak256(data)
}

/// Computes Keccak-256 of `data` into `out`.
#[inline]
pub fn keccak256_into(data: &[u8], out: &mut [u8; 32]) {
    *out = keccak256(data);
}

/// Computes Keccak-256 at compile time, for selectors, topics and type hashes as constants. At run time, use
/// [`keccak256`], which is faster.
///
/// ```
/// const TOPIC: [u8; 32] = lydite_hash::keccak256_const(b"Transfer(address,address,uint256)");
/// assert_eq!(TOPIC[..4], [0xdd, 0xf2, 0x52, 0xad]);
/// ```
pub const fn keccak256_const(data: &[u8]) -> [u8; 32] {
    portable::keccak256(data)
}

/// Computes Keccak-256 of each input, into the output with the same index. Lengths may differ.
///
/// ```
/// use lydite_hash::{keccak256, keccak256_batch};
///
/// let mut digests = [[0; 32]; 2];
/// keccak256_batch(&[b"one", b"another"], &mut digests)?;
/// assert_eq!(digests, [keccak256(b"one"), keccak256(b"another")]);
/// # Ok::<(), lydite_hash::keccak::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::BatchLength`] if the slices differ in length; no output is then written.
pub fn keccak256_batch(inputs: &[&[u8]], out: &mut [[u8; 32]]) -> Result<(), Error> {
    Backend::detect().keccak256_batch(inputs, out)
}

/// Computes SHA3-256 of `data` [FIPS202 §6.1], which is different from Ethereum's Keccak-256.
///
/// ```
/// assert_eq!(lydite_hash::sha3_256(b"")[..4], [0xa7, 0xff, 0xc6, 0xf8]);
/// ```
pub fn sha3_256(data: &[u8]) -> [u8; 32] {
    Backend::detect().sponge::<RATE, 32>(SHA3_SUFFIX, &ZERO, data)
}

/// Computes the first `N` bytes of SHAKE128 of each input, into the output with the same index. `N` must be at most
/// 168, one block. The lengths of the inputs may differ.
///
/// ```
/// let mut out = [[0; 4]];
/// lydite_hash::shake128_batch(&[b""], &mut out)?;
/// assert_eq!(out, [[0x7f, 0x9c, 0x2b, 0xa4]]);
/// # Ok::<(), lydite_hash::keccak::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::BatchLength`] if the slices differ in length; no output is then written.
pub fn shake128_batch<const N: usize>(inputs: &[&[u8]], out: &mut [[u8; N]]) -> Result<(), Error> {
    Backend::detect().shake128_batch(inputs, out)
}

impl Backend {
    /// [`keccak256`](fn@keccak256) with this backend.
    #[inline]
    pub fn keccak256(self, data: &[u8]) -> [u8; 32] {
        self.sponge::<RATE, 32>(KECCAK_SUFFIX, &ZERO, data)
    }

    /// [`keccak256_batch`](fn@keccak256_batch) with this backend.
    ///
    /// # Errors
    ///
    /// [`Error::BatchLength`] if the slices differ in length; no output is then written.
    pub fn keccak256_batch(self, inputs: &[&[u8]], out: &mut [[u8; 32]]) -> Result<(), Error> {
        check_lengths(inputs.len(), out.len())?;
        self.sponge_all::<RATE, 32>(KECCAK_SUFFIX, inputs, out);
        Ok(())
    }

    /// [`shake128_batch`] with this backend.
    ///
    /// # Errors
    ///
    /// [`Error::BatchLength`] if the slices differ in length; no output is then written.
    pub fn shake128_batch<const N: usize>(
        self,
        inputs: &[&[u8]],
        out: &mut [[u8; N]],
    ) -> Result<(), Error> {
        const { assert!(N <= SHAKE128_RATE, "expected at most one block of output") };
        check_lengths(inputs.len(), out.len())?;
        self.sponge_all::<SHAKE128_RATE, N>(SHAKE_SUFFIX, inputs, out);
        Ok(())
    }

    /// Pads a block of which `length` < `R` bytes have been absorbed, and squeezes.
    #[inline]
    fn finish<const R: usize, const OUT: usize>(
        self,
        suffix: u8,
        state: &mut State,
        length: usize,
    ) -> [u8; OUT] {
        state[length / 8] ^= u64::from(suffix) << (8 * (length % 8));
        state[R / 8 - 1] ^= 1 << 63;
        self.permute(state);
        squeeze(state)
    }
}

/// Returns the first bytes of a state.
#[inline]
fn squeeze<const OUT: usize>(state: &State) -> [u8; OUT] {
    let mut out = [0; OUT];
    for (bytes, lane) in out.chunks_mut(8).zip(state) {
        bytes.copy_from_slice(&lane.to_le_bytes()[..bytes.len()]);
    }
    out
}

fn check_lengths(inputs: usize, outputs: usize) -> Result<(), Error> {
    if inputs == outputs {
        Ok(())
    } else {
        Err(Error::BatchLength { inputs, outputs })
    }
}

/// Streaming Keccak-256: the digest is that of [`keccak256`](fn@keccak256), however the input is split.
///
/// ```
/// let mut hasher = lydite_hash::Keccak256::new();
/// hasher.update(b"split ");
/// hasher.update(b"anywhere");
/// assert_eq!(hasher.finalize(), lydite_hash::keccak256(b"split anywhere"));
/// ```
#[derive(Clone)]
pub struct Keccak256 {
    state: State,
    /// Number of bytes absorbed of the current block, < [`RATE`].
    offset: usize,
    backend: Backend,
}

impl Keccak256 {
    /// Creates an empty hasher.
    pub fn new() -> Self {
        Self::with_backend(Backend::detect())
    }

    /// Creates an empty hasher with the given backend.
    pub fn with_backend(backend: Backend) -> Self {
        Self {
            state: [0; 25],
            offset: 0,
            backend,
        }
    }

    /// Absorbs `data`.
    pub fn update(&mut self, mut data: &[u8]) {
        if self.offset > 0 && data.len() >= RATE - self.offset {
            let (head, rest) = data.split_at(RATE - self.offset);
            xor_bytes(&mut self.state, self.offset, head);
            self.backend.permute(&mut self.state);
            self.offset = 0;
            data = rest;
        }
        if self.offset == 0 {
            let (blocks, rest) = data.as_chunks::<RATE>();
            self.backend.absorb(&mut self.state, blocks);
            data = rest;
        }
        xor_bytes(&mut self.state, self.offset, data);
        self.offset += data.len();
    }

    /// Discards all absorbed data. The backend stays the same.
    pub fn reset(&mut self) {
        *self = Self::with_backend(self.backend);
    }

    /// Returns the digest of all absorbed data.
    pub fn finalize(mut self) -> [u8; 32] {
        self.backend
            .finish::<RATE, 32>(KECCAK_SUFFIX, &mut self.state, self.offset)
    }
}

impl Default for Keccak256 {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Keccak256 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Keccak256").finish_non_exhaustive()
    }
}

/// XORs `data` into the state's bytes from `offset` on. Requires `offset + data.len()` <= [`RATE`].
#[inline]
fn xor_bytes(state: &mut State, mut offset: usize, mut data: &[u8]) {
    if !offset.is_multiple_of(8) {
        let (head, rest) = data.split_at(data.len().min(8 - offset % 8));
        state[offset / 8] ^= partial_word(head) << (8 * (offset % 8));
        offset += head.len();
        data = rest;
    }
    let (words, tail) = data.as_chunks::<8>();
    let (body, rest) = state[offset / 8..].split_at_mut(words.len());
    for (lane, word) in body.iter_mut().zip(words) {
        *lane ^= u64::from_le_bytes(*word);
    }
    if !tail.is_empty() {
        rest[0] ^= partial_word(tail);
    }
}

/// Converts up to 8 bytes to a little-endian word.
#[inline]
fn partial_word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, &byte| word << 8 | u64::from(byte))
}
