//! BLAKE2s-256 without a key: one message, many messages of equal length, or one block of each of [`LANES`] messages.
//!
//! The kernels hold word `i` of message `l` at `columns[i][l]`. Their rounds are a schedule (`rounds!`) of one step
//! (`round!`), so a hash with another schedule, such as BLAKE3, differs in these macros only. Constant time: no branch or
//! address depends on the words.
//!
//! Source: \[RFC7693\].

use crate::keccak::Error;

/// Calls `round!` with each row of the schedule SIGMA, \[RFC7693\] §2.7. Straight-line code for each row addresses the
/// message words directly.
macro_rules! rounds {
    ($($context:ident)*) => {
        round!($($context)*, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        round!($($context)*, 14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3);
        round!($($context)*, 11 8 12 0 5 2 15 13 10 14 3 6 7 1 9 4);
        round!($($context)*, 7 9 3 1 13 12 11 14 2 6 5 10 4 0 15 8);
        round!($($context)*, 9 0 5 7 2 4 10 15 14 1 11 12 6 8 3 13);
        round!($($context)*, 2 12 6 10 0 11 8 3 4 13 7 5 15 14 1 9);
        round!($($context)*, 12 5 1 15 14 13 4 10 0 7 6 3 9 2 8 11);
        round!($($context)*, 13 11 7 14 12 1 3 9 5 0 15 4 8 6 2 10);
        round!($($context)*, 6 15 14 9 11 3 0 8 12 2 13 7 1 4 10 5);
        round!($($context)*, 10 2 8 4 7 6 1 5 15 11 9 14 3 12 13 0);
    };
}

/// One round on the working vector `v` with the message words `m`, both arrays of any type that the functions `add` and
/// `xor` and the macro `rotate!` (to the right) take. The four steps of a half round are interleaved, since
/// they are independent.
macro_rules! round {
    ($v:ident $m:ident $add:ident $xor:ident $rotate:ident,
     $s0:literal $s1:literal $s2:literal $s3:literal $s4:literal $s5:literal $s6:literal $s7:literal
     $s8:literal $s9:literal $s10:literal $s11:literal $s12:literal $s13:literal $s14:literal $s15:literal) => {
        round!(@half $v $m $add $xor $rotate, [0 4 8 12 $s0] [1 5 9 13 $s2] [2 6 10 14 $s4] [3 7 11 15 $s6], 16 12);
        round!(@half $v $m $add $xor $rotate, [0 4 8 12 $s1] [1 5 9 13 $s3] [2 6 10 14 $s5] [3 7 11 15 $s7], 8 7);
        round!(@half $v $m $add $xor $rotate, [0 5 10 15 $s8] [1 6 11 12 $s10] [2 7 8 13 $s12] [3 4 9 14 $s14], 16 12);
        round!(@half $v $m $add $xor $rotate, [0 5 10 15 $s9] [1 6 11 12 $s11] [2 7 8 13 $s13] [3 4 9 14 $s15], 8 7);
    };
    (@half $v:ident $m:ident $add:ident $xor:ident $rotate:ident,
     $([$a:literal $b:literal $c:literal $d:literal $x:literal])*, $r:tt $t:tt) => {
        $($v[$a] = $add($add($v[$a], $m[$x]), $v[$b]);)*
        $($v[$d] = $rotate!($xor($v[$d], $v[$a]), $r);)*
        $($v[$c] = $add($v[$c], $v[$d]);)*
        $($v[$b] = $rotate!($xor($v[$b], $v[$c]), $t);)*
    };
}

/// Defines `compress_lanes` and `compress_first` of a kernel with vectors of `WIDTH` words, by its functions `load`,
/// `store`, `splat` and `compress`. `$feature` is their attribute, if they need one.
#[allow(unused_macros)] // targets without such a kernel
macro_rules! parts {
    ($(#[$feature:meta])?) => {
        $(#[$feature])?
        pub(in super::super) fn compress_lanes<const W: usize>(
            state: &mut Columns<8>,
            block: [&Column; W],
            counter: u64,
            last: bool,
        ) {
            for part in 0..LANES / WIDTH {
                let h = state.each_ref().map(|column| load(column, part));
                let words = compress(h, block, part, counter, last);
                for (column, word) in state.iter_mut().zip(words) {
                    store(column, part, word);
                }
            }
        }

        $(#[$feature])?
        pub(in super::super) fn compress_first<const W: usize, const N: usize>(
            block: [&Column; W],
            counter: u64,
            last: bool,
            out: &mut Columns<N>,
        ) {
            for part in 0..LANES / WIDTH {
                let h = INITIAL.map(|word| splat(word));
                for (column, word) in out.iter_mut().zip(compress(h, block, part, counter, last)) {
                    store(column, part, word);
                }
            }
        }
    };
}

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod dispatch;
mod portable;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm32;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use dispatch::Backend;

/// Number of messages that a kernel compresses at once.
pub const LANES: usize = 16;

/// A word of each of [`LANES`] messages.
pub type Column = [u32; LANES];

/// `N` words of each of [`LANES`] messages: word `i` of message `l` is `columns[i][l]`.
pub type Columns<const N: usize> = [Column; N];

/// Length of a block in bytes.
pub const BLOCK: usize = 64;

const IV: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// The state before the first block, for 32 bytes of output and no key.
pub const INITIAL: [u32; 8] = {
    let mut state = IV;
    state[0] ^= 0x0101_0020;
    state
};

/// The second half of the working vector: `counter` is the number of bytes up to the end of this block.
#[inline]
fn second_half(counter: u64, last: bool) -> [u32; 8] {
    let mut words = IV;
    words[4] ^= counter as u32;
    words[5] ^= (counter >> 32) as u32;
    if last {
        words[6] = !words[6];
    }
    words
}

/// Computes the BLAKE2s-256 hash of `data`.
///
/// ```
/// // RFC 7693, appendix B.
/// assert_eq!(lydite_hash::blake2s256(b"abc")[..4], [0x50, 0x8c, 0x5e, 0x8c]);
/// ```
pub fn blake2s256(data: &[u8]) -> [u8; 32] {
    let mut state = INITIAL;
    // The last block is never empty, unless the message is.
    let blocks = data.len().div_ceil(BLOCK).max(1);
    let (whole, _) = data.as_chunks::<BLOCK>();
    for (block, counter) in whole.iter().take(blocks - 1).zip(1..) {
        portable::compress(&mut state, &words(block), BLOCK as u64 * counter, false);
    }
    let rest = &data[BLOCK * (blocks - 1)..];
    let mut block = [0; BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    portable::compress(&mut state, &words(&block), data.len() as u64, true);
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    digest
}

/// The words of a block.
#[inline]
fn words(block: &[u8; BLOCK]) -> [u32; 16] {
    let chunks = block.as_chunks().0;
    core::array::from_fn(|i| u32::from_le_bytes(chunks[i]))
}

/// Computes [`blake2s256`] of every input, [`LANES`] at a time.
///
/// ```
/// use lydite_hash::{blake2s256, blake2s256_batch};
///
/// let mut digests = [[0; 32]; 2];
/// blake2s256_batch(&[*b"one", *b"two"], &mut digests)?;
/// assert_eq!(digests, [blake2s256(b"one"), blake2s256(b"two")]);
/// # Ok::<(), lydite_hash::keccak::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::BatchLength`] if the slices differ in length; no output is then written.
pub fn blake2s256_batch<const N: usize>(
    inputs: &[[u8; N]],
    out: &mut [[u8; 32]],
) -> Result<(), Error> {
    Backend::detect().blake2s256_batch(inputs, out)
}

impl Backend {
    /// [`blake2s256_batch`] with this backend.
    ///
    /// # Errors
    ///
    /// [`Error::BatchLength`] if the slices differ in length; no output is then written.
    pub fn blake2s256_batch<const N: usize>(
        self,
        inputs: &[[u8; N]],
        out: &mut [[u8; 32]],
    ) -> Result<(), Error> {
        if inputs.len() != out.len() {
            return Err(Error::BatchLength {
                inputs: inputs.len(),
                outputs: out.len(),
            });
        }
        for (inputs, out) in inputs.chunks(LANES).zip(out.chunks_mut(LANES)) {
            let mut state = INITIAL.map(|word| [word; LANES]);
            let blocks = N.div_ceil(BLOCK).max(1);
            for number in 0..blocks {
                let mut block = [[0; LANES]; 16];
                for (l, input) in inputs.iter().enumerate() {
                    let mut bytes = [0; BLOCK];
                    let part = &input[BLOCK * number..N.min(BLOCK * (number + 1))];
                    bytes[..part.len()].copy_from_slice(part);
                    for (column, word) in block.iter_mut().zip(words(&bytes)) {
                        column[l] = word;
                    }
                }
                let last = number + 1 == blocks;
                let counter = if last { N } else { BLOCK * (number + 1) };
                self.compress_lanes(&mut state, block.each_ref(), counter as u64, last);
            }
            for (l, digest) in out.iter_mut().enumerate() {
                for (bytes, column) in digest.as_chunks_mut().0.iter_mut().zip(&state) {
                    *bytes = column[l].to_le_bytes();
                }
            }
        }
        Ok(())
    }
}

/// Updates `state` by compressing one block of a single message. `counter` is the number of bytes up to the end of the
/// block, without padding.
#[inline]
pub fn compress(state: &mut [u32; 8], block: &[u32; 16], counter: u64, last: bool) {
    portable::compress(state, block, counter, last);
}
