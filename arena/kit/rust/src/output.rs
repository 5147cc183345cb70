//! The results of calls: their bytes for `verify`, their words for the checksum.

use std::hint::black_box;

/// The checksum of a batch: the wrapping sum of all output words.
///
/// It has several lanes that are folded once at the end. Byte strings are read 8 bytes per load in every build: a wider
/// load waits for the cache if the output was just written by narrower stores, and if the load size followed the
/// build's instruction set, a contender built for the local CPU would read its outputs in less time than one that
/// selects instructions at run time. A row measures neither.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    words: [u64; 4],
}

/// The sum of `lane` and a little-endian word. The compiler cannot merge these loads into vectors.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn add(mut lane: u64, word: &[u8; 8]) -> u64 {
    // SAFETY: `add` reads the eight bytes of `word`, which need no alignment, and writes `lane` and the flags.
    unsafe {
        core::arch::asm!(
            "add {lane}, qword ptr [{word}]",
            lane = inout(reg) lane,
            word = in(reg) word,
            options(pure, readonly, nostack),
        );
    }
    lane
}
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn add(lane: u64, word: &[u8; 8]) -> u64 {
    lane.wrapping_add(u64::from_le_bytes(*word))
}

impl Sum {
    /// Adds a word.
    #[inline(always)]
    pub fn word(&mut self, word: u64) {
        self.words[0] = self.words[0].wrapping_add(word);
    }

    /// Adds four words.
    #[inline(always)]
    pub fn words4(&mut self, words: &[u64; 4]) {
        for (lane, word) in self.words.iter_mut().zip(words) {
            *lane = lane.wrapping_add(*word);
        }
    }

    /// Adds a byte string, zero-padded to a multiple of eight and read as little-endian words.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<32>();
        for block in blocks {
            let (words, _) = block.as_chunks::<8>();
            for (lane, word) in self.words.iter_mut().zip(words) {
                *lane = add(*lane, word);
            }
        }
        let (words, tail) = rest.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !tail.is_empty() {
            // The last eight bytes contain the tail at their upper end, so shift out the rest instead of copying a few
            // bytes.
            self.word(match bytes.last_chunk::<8>() {
                Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * tail.len()),
                None => short_word(tail),
            });
        }
    }

    pub(crate) fn total(self) -> u64 {
        self.words.into_iter().fold(0, u64::wrapping_add)
    }
}

/// One to seven bytes as a little-endian word, read with loads that may overlap.
#[inline(always)]
fn short_word(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last));
        u64::from(u32::from_le_bytes(*first)) | last << (8 * (n - 4))
    } else {
        let (middle, last) = (n / 2, n - 1);
        u64::from(bytes[0])
            | u64::from(bytes[middle]) << (8 * middle)
            | u64::from(bytes[last]) << (8 * last)
    }
}

/// The result of a call. Implement it for the library's own types if a conversion would cost additional time.
pub trait Output {
    /// Adds the output's words to the checksum. Must read every byte.
    fn add(&self, sum: &mut Sum);

    /// Appends the output's bytes; returns false if the call was rejected.
    fn write(&self, out: &mut Vec<u8>) -> bool;
}

impl Output for () {
    #[inline(always)]
    fn add(&self, _: &mut Sum) {}

    fn write(&self, _: &mut Vec<u8>) -> bool {
        true
    }
}

impl<const N: usize> Output for [u8; N] {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.bytes(self);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(self);
        true
    }
}

/// A 256-bit integer as little-endian limbs.
impl Output for [u64; 4] {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        sum.words4(self);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self.iter().flat_map(|limb| limb.to_le_bytes()));
        true
    }
}

/// Only the pointer passes through `black_box`, which is enough to force the bytes to be written and read back. A
/// pointer and length pair would be stored and loaded again as one piece, and that load would wait for the length.
impl Output for &[u8] {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        black_box(self.as_ptr());
        sum.bytes(self);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(self);
        true
    }
}

/// Bytes in a library's own container type.
pub struct Held<B>(pub B);

impl<B: AsRef<[u8]>> Output for Held<B> {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        self.0.as_ref().add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.0.as_ref().write(out)
    }
}

/// Heap results pass through `black_box`, so that the compiler cannot remove the allocation.
impl Output for Vec<u8> {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        self.as_slice().add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.as_slice().write(out)
    }
}

impl Output for String {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        self.as_bytes().add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.as_bytes().write(out)
    }
}

/// Several outputs of one call (a batch), padded separately.
impl<O: Output> Output for Vec<O> {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        black_box(self.as_ptr());
        for one in self {
            one.add(sum);
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.iter().all(|one| one.write(out))
    }
}

impl<A: Output, B: Output> Output for (A, B) {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        self.0.add(sum);
        self.1.add(sum);
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.0.write(out) && self.1.write(out)
    }
}

/// A rejected call adds nothing, so the checksum differs from the expected one, as intended.
impl<O: Output> Output for Option<O> {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        if let Some(output) = self {
            output.add(sum);
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.as_ref().is_some_and(|output| output.write(out))
    }
}

impl<O: Output, E> Output for Result<O, E> {
    #[inline(always)]
    fn add(&self, sum: &mut Sum) {
        if let Ok(output) = self {
            output.add(sum);
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.as_ref().is_ok_and(|output| output.write(out))
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn bytes_equal_padded_words() {
        let bytes: Vec<u8> = (0..100u8).map(|i| i.wrapping_mul(37) ^ 0xa5).collect();
        for length in 0..bytes.len() {
            let mut padded = bytes[..length].to_vec();
            padded.resize(length.next_multiple_of(8), 0);
            let expected = padded
                .as_chunks::<8>()
                .0
                .iter()
                .fold(0u64, |t, w| t.wrapping_add(u64::from_le_bytes(*w)));
            let mut sum = Sum::default();
            sum.bytes(&bytes[..length]);
            assert_eq!(sum.total(), expected, "length {length}");
        }
    }
}
