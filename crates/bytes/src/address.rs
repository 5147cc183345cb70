//! Ethereum addresses: 20 bytes, displayed with the mixed-case checksum of EIP-55.

#![forbid(unsafe_code)]

use crate::{
    B256, FixedBytes, hex,
    hex::portable::{lanes, nibbles},
};
use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::{fmt, str::FromStr};
use lydite_hash::{keccak256, keccak256_batch};

/// The 20-byte address of an account or contract.
///
/// ```
/// use lydite_bytes::Address;
///
/// let address = Address::from_hex("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")?;
/// assert_eq!(address.to_checksum(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
/// assert!(Address::parse_checksummed("0xf39FD6e51aad88F6F4ce6aB8827279cffFb92266").is_err());
/// # Ok::<(), lydite_bytes::hex::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Address(pub [u8; 20]);

/// The reason why a text is not a checksummed address.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// Not 40 hexadecimal digits.
    Hex(hex::Error),
    /// The letter at `offset` of the text (prefix included) is in the wrong case (EIP-55).
    Checksum {
        /// Offset of the first letter in the wrong case.
        offset: usize,
    },
}

impl Error {
    /// Returns the offset of the invalid byte; `None` if the length is wrong.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        match self {
            Self::Hex(error) => error.offset(),
            Self::Checksum { offset } => Some(*offset),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hex(error) => error.fmt(f),
            Self::Checksum { offset } => {
                write!(
                    f,
                    "byte {offset}: letter case does not match the EIP-55 checksum"
                )
            }
        }
    }
}

impl core::error::Error for Error {}

impl From<hex::Error> for Error {
    #[inline]
    fn from(error: hex::Error) -> Self {
        Self::Hex(error)
    }
}

impl Address {
    /// All bytes zero.
    pub const ZERO: Self = Self([0; 20]);

    /// Parses 40 digits in any case, with or without `0x`. The checksum is not checked: see
    /// [`Address::parse_checksummed`].
    ///
    /// # Errors
    /// Those of [`hex::decode_to_array`].
    #[inline]
    pub fn from_hex(text: impl AsRef<[u8]>) -> Result<Self, hex::Error> {
        hex::decode_to_array(text).map(Self)
    }

    /// Parses 40 digits, with or without `0x`, and requires every letter to be in the case that EIP-55 specifies. Text
    /// that is all lower or all upper case is not exempt: it fails like any other.
    ///
    /// # Errors
    /// [`Error::Hex`] if the text is not 40 digits, or [`Error::Checksum`] at the first letter in the wrong case.
    pub fn parse_checksummed(text: impl AsRef<[u8]>) -> Result<Self, Error> {
        let text = text.as_ref();
        let address = Self::from_hex(text)?;
        let skipped = text.len() - 40;
        let expected = &address.to_checksum_buffer()[2..];
        match text[skipped..]
            .iter()
            .zip(expected)
            .position(|(a, b)| a != b)
        {
            None => Ok(address),
            Some(at) => Err(Error::Checksum {
                offset: skipped + at,
            }),
        }
    }

    /// Returns `0x` and 40 ASCII digits with the checksum of EIP-55: a letter is upper case if the corresponding nibble
    /// of the Keccak-256 hash of the lower-case digits (without `0x`) is 8 or more.
    #[inline]
    pub fn to_checksum_buffer(&self) -> [u8; 42] {
        let mut digits = [0; 40];
        hex::encode_fixed(&self.0, &mut digits);
        checksummed(&digits, &keccak256(&digits))
    }

    /// Returns [`Address::to_checksum_buffer`] of each address, with batches of hashes.
    ///
    /// ```
    /// use lydite_bytes::Address;
    /// let addresses = [Address::ZERO, Address([0xab; 20])];
    /// let texts = Address::to_checksum_buffers(&addresses);
    /// assert_eq!(texts, addresses.map(|address| address.to_checksum_buffer()));
    /// ```
    pub fn to_checksum_buffers(addresses: &[Self]) -> Vec<[u8; 42]> {
        const BATCH: usize = 64;
        let mut texts = Vec::with_capacity(addresses.len());
        let (mut digits, mut hashes) = ([[0; 40]; BATCH], [[0; 32]; BATCH]);
        for addresses in addresses.chunks(BATCH) {
            for (address, digits) in addresses.iter().zip(&mut digits) {
                hex::encode_fixed(&address.0, digits);
            }
            let inputs = digits.each_ref().map(<[u8; 40]>::as_slice);
            let count = addresses.len();
            let hashed = keccak256_batch(&inputs[..count], &mut hashes[..count]);
            debug_assert!(hashed.is_ok(), "the lengths are equal");
            let pairs = digits.iter().zip(&hashes).take(count);
            texts.extend(pairs.map(|(digits, hash)| checksummed(digits, hash)));
        }
        texts
    }

    /// Returns [`Address::to_checksum_buffer`] as a string.
    #[inline]
    pub fn to_checksum(&self) -> String {
        core::str::from_utf8(&self.to_checksum_buffer())
            .unwrap_or_default()
            .to_owned()
    }

    /// Returns the account of a secp256k1 public key, `x || y` big-endian: the last 20 bytes of its Keccak-256 hash
    /// (Yellow Paper, appendix F). Does not check that the key is on the curve.
    #[inline]
    pub fn from_public_key(public_key: &[u8; 64]) -> Self {
        Self::from_hash(keccak256(public_key))
    }

    /// Returns the address of the contract that this account creates with a transaction with `nonce`: the last 20 bytes
    /// of `keccak256(rlp([self, nonce]))`.
    pub fn create(&self, nonce: u64) -> Self {
        // List header, 0x94 || address, and the nonce in at most 9 bytes.
        let mut rlp = [0; 31];
        rlp[1] = 0x80 + 20;
        rlp[2..22].copy_from_slice(&self.0);
        let bytes = nonce.to_be_bytes();
        let significant = &bytes[nonce.leading_zeros() as usize / 8..];
        let end = if let [byte @ ..=0x7f] = significant {
            rlp[22] = *byte;
            23
        } else {
            rlp[22] = 0x80 + significant.len() as u8;
            rlp[23..23 + significant.len()].copy_from_slice(significant);
            23 + significant.len()
        };
        rlp[0] = 0xc0 + end as u8 - 1;
        Self::from_hash(keccak256(&rlp[..end]))
    }

    /// Returns the address of the contract that this account creates with CREATE2 (EIP-1014): the last 20 bytes of
    /// `keccak256(0xff || self || salt || keccak256(init_code))`.
    pub fn create2(&self, salt: &[u8; 32], init_code_hash: &[u8; 32]) -> Self {
        let mut preimage = [0xff; 85];
        preimage[1..21].copy_from_slice(&self.0);
        preimage[21..53].copy_from_slice(salt);
        preimage[53..].copy_from_slice(init_code_hash);
        Self::from_hash(keccak256(&preimage))
    }

    #[inline]
    fn from_hash(hash: [u8; 32]) -> Self {
        let mut address = [0; 20];
        address.copy_from_slice(&hash[12..]);
        Self(address)
    }

    /// Returns the address in the low 20 bytes of a big-endian word, the format of the ABI and the EVM.
    #[inline]
    pub fn into_word(self) -> B256 {
        FixedBytes(crate::word::right_aligned(&self.0))
    }

    /// Returns the bytes as a slice.
    #[inline]
    pub const fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Address {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<[u8; 20]> for Address {
    #[inline]
    fn from(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }
}

impl From<Address> for [u8; 20] {
    #[inline]
    fn from(address: Address) -> Self {
        address.0
    }
}

impl TryFrom<&[u8]> for Address {
    type Error = core::array::TryFromSliceError;

    #[inline]
    fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
        bytes.try_into().map(Self)
    }
}

impl FromStr for Address {
    type Err = hex::Error;

    /// Like [`Address::from_hex`].
    #[inline]
    fn from_str(text: &str) -> Result<Self, hex::Error> {
        Self::from_hex(text)
    }
}

/// Returns `0x` and the digits, those letters in upper case whose nibble of the digits' hash is 8 or more.
#[inline]
fn checksummed(digits: &[u8; 40], hash: &[u8; 32]) -> [u8; 42] {
    let mut text = [0; 42];
    let (prefix, output) = text.split_at_mut(2);
    prefix.copy_from_slice(b"0x");
    let words = digits
        .as_chunks::<8>()
        .0
        .iter()
        .zip(hash.as_chunks::<4>().0);
    for (output, (digits, hash)) in output.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        let digits = u64::from_le_bytes(*digits);
        // The top bit of each nibble, and the bit that only letters have, at the position of the case bit 0x20.
        let upper = (nibbles(*hash) & lanes(0x08)) << 2;
        let letters = (digits & lanes(0x40)) >> 1;
        *output = (digits & !(upper & letters)).to_le_bytes();
    }
    text
}

impl fmt::Display for Address {
    /// Displays the checksummed form; `{:x}` writes lower case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(core::str::from_utf8(&self.to_checksum_buffer()).unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::LowerHex for Address {
    /// Displays `0x` and 40 lower-case digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write_prefixed(f, &self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use alloc::{format, string::ToString, vec};

    /// EIP-55, "Test Cases".
    const CHECKSUMMED: [&str; 8] = [
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        "0xde709f2102306220921060314715629080e2fb77",
        "0x27b1fdb04752bbc536007a920d24acb045561c26",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ];

    #[test]
    fn eip_55_vectors() {
        for text in CHECKSUMMED {
            let address = Address::parse_checksummed(text).unwrap();
            assert_eq!(address.to_checksum(), text);
            // More than one batch, the last one partly filled.
            let buffers = Address::to_checksum_buffers(&[address; 130]);
            assert_eq!(buffers, vec![*text.as_bytes().first_chunk().unwrap(); 130]);
            assert_eq!(address.to_string(), text);
            assert_eq!(format!("{address:?}"), text);
            assert_eq!(format!("{address:x}"), text.to_lowercase());
            assert_eq!(Address::parse_checksummed(&text[2..]).unwrap(), address);
            assert_eq!(text.to_lowercase().parse::<Address>().unwrap(), address);
        }
    }

    #[test]
    fn every_letter_in_the_wrong_case_is_found() {
        for text in CHECKSUMMED {
            for at in 2..42 {
                let mut wrong = text.as_bytes().to_vec();
                if !wrong[at].is_ascii_alphabetic() {
                    continue;
                }
                wrong[at] ^= 0x20;
                let error = Error::Checksum { offset: at };
                assert_eq!(Address::parse_checksummed(&wrong), Err(error));
                assert_eq!(
                    Address::parse_checksummed(&wrong[2..]),
                    Err(Error::Checksum { offset: at - 2 })
                );
            }
        }
    }

    #[test]
    fn malformed_text() {
        let hex_error = |text: &str| match Address::parse_checksummed(text) {
            Err(Error::Hex(error)) => error,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            hex_error(""),
            hex::Error::Length {
                expected: 40,
                actual: 0
            }
        );
        assert_eq!(
            hex_error("0x"),
            hex::Error::Length {
                expected: 40,
                actual: 0
            }
        );
        assert_eq!(
            hex_error(&"1".repeat(41)),
            hex::Error::OddLength { digits: 41 }
        );
        assert_eq!(
            hex_error("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg"),
            hex::Error::InvalidDigit {
                offset: 41,
                byte: b'g'
            }
        );
    }

    /// EIP-1014, "Examples": address, salt, init code, result.
    #[test]
    fn eip_1014_vectors() {
        for [deployer, salt, init_code, expected] in [
            [
                "0x0000000000000000000000000000000000000000",
                "0x0000000000000000000000000000000000000000000000000000000000000000",
                "0x00",
                "0x4D1A2e2bB4F88F0250f26Ffff098B0b30B26BF38",
            ],
            [
                "0xdeadbeef00000000000000000000000000000000",
                "0x0000000000000000000000000000000000000000000000000000000000000000",
                "0x00",
                "0xB928f69Bb1D91Cd65274e3c79d8986362984fDA3",
            ],
            [
                "0xdeadbeef00000000000000000000000000000000",
                "0x000000000000000000000000feed000000000000000000000000000000000000",
                "0x00",
                "0xD04116cDd17beBE565EB2422F2497E06cC1C9833",
            ],
            [
                "0x0000000000000000000000000000000000000000",
                "0x0000000000000000000000000000000000000000000000000000000000000000",
                "0xdeadbeef",
                "0x70f2b2914A2a4b783FaEFb75f459A580616Fcb5e",
            ],
            [
                "0x00000000000000000000000000000000deadbeef",
                "0x00000000000000000000000000000000000000000000000000000000cafebabe",
                "0xdeadbeef",
                "0x60f3f640a8508fC6a86d45DF051962668E1e8AC7",
            ],
            [
                "0x00000000000000000000000000000000deadbeef",
                "0x00000000000000000000000000000000000000000000000000000000cafebabe",
                "0xdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
                "0x1d8bfDC5D46DC4f61D6b6115972536eBE6A8854C",
            ],
            [
                "0x0000000000000000000000000000000000000000",
                "0x0000000000000000000000000000000000000000000000000000000000000000",
                "0x",
                "0xE33C0C7F7df4809055C3ebA6c09CFe4BaF1BD9e0",
            ],
        ] {
            let code_hash = keccak256(&hex::decode(init_code).unwrap());
            let salt = hex::decode_to_array(salt).unwrap();
            let address = Address::from_hex(deployer)
                .unwrap()
                .create2(&salt, &code_hash);
            assert_eq!(address.to_checksum(), expected);
        }
    }

    /// Computed with Python's rlp and eth-utils; the nonces are those at which the RLP form changes.
    #[test]
    fn create_addresses() {
        let deployer = Address::from_hex("0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0").unwrap();
        for (nonce, expected) in [
            (0, "0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d"),
            (1, "0x343c43a37d37dff08ae8c4a11544c718abb4fcf8"),
            (2, "0xf778b86fa74e846c4f0a1fbd1335fe81c00a0c91"),
            (3, "0xfffd933a0bc612844eaf0c6fe3e5b8e9b6c1d19c"),
            (0x7f, "0x06d9a77f5e4b311bae8d559db9cdb4df94104aa0"),
            (0x80, "0x08e190dcb7b73f5fcdabb43e102215c83659a76d"),
            (0x100, "0x3837c1ae70354f670550c746580199ac6a73cb0a"),
            (u64::MAX, "0x9bc924993b60399df164c3763a964301d3db95ca"),
        ] {
            assert_eq!(format!("{:x}", deployer.create(nonce)), expected);
        }
    }

    #[test]
    fn words() {
        let address = Address([0xab; 20]);
        assert_eq!(address.into_word().0[..12], [0; 12]);
        assert_eq!(address.into_word().0[12..], address.0);
        assert!(Address::try_from(&[0; 19][..]).is_err());
    }
}
