//! Encoding of value trees that cross between the languages.
//!
//! To Rust: a sequence of 8-byte words. Bytes and text follow their length, padded to whole words.
//!
//! To JavaScript: three areas, each read from front to back: 8-byte words, all text in one piece (decoded with one
//! call, then sliced), bytes. The first word holds the lengths of the first two areas in bytes, the second whether the
//! text is ASCII. Text lengths count UTF-16 units, which are the units of JavaScript's `slice`.

use lydite::bytes::{Address, U256, hex};

use crate::failure::Failure;

/// Reads a tape written by JavaScript.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(input: &'a [u8]) -> Self {
        Self { rest: input }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Failure> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(short)?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads a word as two halves.
    pub fn word(&mut self) -> Result<(usize, usize), Failure> {
        let word = self.limb()?;
        Ok((word as u32 as usize, (word >> 32) as usize))
    }

    pub fn limb(&mut self) -> Result<u64, Failure> {
        let (word, rest) = self.rest.split_first_chunk().ok_or_else(short)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*word))
    }

    /// Reads bytes preceded by their length.
    pub fn bytes(&mut self) -> Result<&'a [u8], Failure> {
        let (length, _) = self.word()?;
        self.padded(length)
    }

    /// Reads the given number of bytes.
    pub fn padded(&mut self, length: usize) -> Result<&'a [u8], Failure> {
        let bytes = self.take(length)?;
        self.take(length.wrapping_neg() & 7)?;
        Ok(bytes)
    }

    /// Reads a bigint or number from JavaScript: its sign and its limbs.
    pub fn number(&mut self) -> Result<(bool, Vec<u64>), Failure> {
        let (count, negative) = self.word()?;
        let bytes = self.take(count.checked_mul(8).ok_or_else(short)?)?;
        let (limbs, _) = bytes.as_chunks();
        Ok((
            negative != 0,
            limbs.iter().map(|&limb| u64::from_le_bytes(limb)).collect(),
        ))
    }

    /// Reads the sign and magnitude of a number, if it has at most 256 bits.
    pub fn magnitude(&mut self) -> Result<Option<(bool, U256)>, Failure> {
        let (count, negative) = self.word()?;
        let bytes = self.take(count.checked_mul(8).ok_or_else(short)?)?;
        let (limbs, _) = bytes.as_chunks();
        let mut value = [0; 4];
        if limbs.len() > value.len() {
            return Ok(None);
        }
        for (value, limb) in value.iter_mut().zip(limbs) {
            *value = u64::from_le_bytes(*limb);
        }
        Ok(Some((negative != 0, U256::from_limbs(value))))
    }

    /// Reads a non-negative number that fits its type.
    pub fn unsigned<T: TryFrom<U256>>(&mut self, name: &str) -> Result<T, Failure> {
        match self.magnitude()? {
            Some((negative, value)) if !negative || value.is_zero() => T::try_from(value).ok(),
            _ => None,
        }
        .ok_or_else(|| {
            let bits = 8 * size_of::<T>();
            Failure::encode(format_args!(
                "{name}: expected an unsigned integer of at most {bits} bits"
            ))
        })
    }

    pub fn text(&mut self) -> Result<&'a str, Failure> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|error| Failure::argument(format_args!("text: {error}")))
    }
}

#[cold]
fn short() -> Failure {
    Failure::argument("unexpected end of tape")
}

/// The two's complement of a number with this sign and magnitude, if it fits 256 bits.
pub fn twos_complement(negative: bool, magnitude: U256) -> Option<U256> {
    let value = if negative {
        magnitude.wrapping_neg()
    } else {
        magnitude
    };
    (magnitude.is_zero() || value.bit(255) == negative).then_some(value)
}

/// Writes a tape for JavaScript.
pub struct Writer {
    words: Vec<u8>,
    text: String,
    bytes: Vec<u8>,
}

impl Writer {
    pub fn new() -> Self {
        Self {
            words: vec![0; 16],
            text: String::new(),
            bytes: Vec::new(),
        }
    }

    pub fn word(&mut self, low: usize, high: usize) {
        self.limb(low as u32 as u64 | (high as u64) << 32);
    }

    pub fn limb(&mut self, limb: u64) {
        self.words.extend_from_slice(&limb.to_le_bytes());
    }

    pub fn float(&mut self, value: f64) {
        self.limb(value.to_bits());
    }

    /// Writes a number: sign and number of limbs, limbs.
    pub fn number(&mut self, negative: bool, limbs: &[u64]) {
        let count = limbs
            .iter()
            .rposition(|&limb| limb != 0)
            .map_or(0, |i| i + 1);
        self.word(count, negative.into());
        for &limb in &limbs[..count] {
            self.limb(limb);
        }
    }

    pub fn unsigned(&mut self, value: &U256) {
        self.number(false, value.limbs());
    }

    /// Writes a number given in two's complement.
    pub fn signed(&mut self, value: &U256) {
        if value.bit(255) {
            self.number(true, value.wrapping_neg().limbs());
        } else {
            self.unsigned(value);
        }
    }

    pub fn text(&mut self, text: &str) {
        let units = if text.is_ascii() {
            text.len()
        } else {
            text.encode_utf16().count()
        };
        self.word(units, 0);
        self.text.push_str(text);
    }

    /// Writes bytes whose length JavaScript knows.
    pub fn fixed_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len(), 0);
        self.fixed_bytes(bytes);
    }

    /// Writes `0x` and the digits, 2 + 2 n characters.
    pub fn hex(&mut self, bytes: &[u8]) {
        self.text.push_str(&hex::encode_prefixed(bytes));
    }

    /// Writes an address with its checksum: 42 characters.
    pub fn address(&mut self, address: &Address) {
        let text = address.to_checksum_buffer();
        self.text.extend(text.iter().map(|&byte| char::from(byte)));
    }

    /// Appends what another writer has written.
    #[cfg(feature = "captp")]
    pub fn append(&mut self, other: Self) {
        self.words.extend_from_slice(&other.words[16..]);
        self.text.push_str(&other.text);
        self.bytes.extend_from_slice(&other.bytes);
    }

    pub fn finish(mut self) -> Vec<u8> {
        let ascii = self.text.is_ascii();
        let mut out = std::mem::take(&mut self.words);
        let lengths = [out.len() as u32, self.text.len() as u32, ascii.into(), 0];
        for (place, length) in out.chunks_exact_mut(4).zip(lengths) {
            place.copy_from_slice(&length.to_le_bytes());
        }
        out.reserve_exact(self.text.len() + self.bytes.len());
        out.extend_from_slice(self.text.as_bytes());
        out.extend_from_slice(&self.bytes);
        out
    }
}
