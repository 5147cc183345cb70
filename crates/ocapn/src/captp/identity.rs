//! Keys, signatures and the ids derived from them. Ed25519 is from ed25519-dalek: signing is constant time and the
//! secret is wiped.
use alloc::vec::Vec;
use core::fmt;

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use lydite_hash::sha256;

use super::codec::{Codec, Read, Write};
use super::{Error, ErrorKind};
use crate::syrup;

/// A secret key for one session. It is wiped on drop, and can be neither printed nor encoded.
#[derive(Clone)]
pub struct SecretKey(SigningKey);

/// The public key of one side of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PublicKey(pub [u8; 32]);

/// An Ed25519 signature: `r`, then `s`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature(pub [u8; 64]);

impl SecretKey {
    /// Creates a key from 32 secret bytes, which must come from a good source of randomness.
    pub fn from_bytes(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The public key that belongs to it.
    pub fn public_key(&self) -> PublicKey {
        PublicKey(self.0.verifying_key().to_bytes())
    }

    /// Signs `message`.
    pub fn sign(&self, message: &[u8]) -> Signature {
        Signature(self.0.sign(message).to_bytes())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({})", lydite_bytes::hex::encode(self.0))
    }
}

impl PublicKey {
    /// Fails unless this key signed `message`. Rejects keys of small order and signatures that are not canonical.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidKey`], [`ErrorKind::InvalidSignature`].
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        let key = VerifyingKey::from_bytes(&self.0).map_err(|_| ErrorKind::InvalidKey.at(0))?;
        key.verify_strict(message, &ed25519_dalek::Signature::from_bytes(&signature.0))
            .map_err(|_| ErrorKind::InvalidSignature.at(0))
    }

    /// The public id of this side of a session: the double hash of the key's encoding.
    pub fn id<C: Codec>(&self) -> [u8; 32] {
        let mut encoded = Vec::with_capacity(128);
        self.write(&mut C::writer(&mut encoded));
        sha256(&sha256(&encoded))
    }

    /// Reads a public key: `['public-key ['ecc ['curve 'Ed25519] ['flags 'eddsa] ['q bytes]]]`.
    pub fn read<'a, R: Read<'a>>(reader: &mut R) -> Result<Self, Error> {
        reader.begin_list()?;
        expect(reader, "public-key")?;
        reader.begin_list()?;
        expect(reader, "ecc")?;
        for (name, value) in [("curve", "Ed25519"), ("flags", "eddsa")] {
            reader.begin_list()?;
            expect(reader, name)?;
            expect(reader, value)?;
            reader.end_list()?;
        }
        let key = Self(*named(reader, "q")?);
        reader.end_list()?;
        reader.end_list()?;
        Ok(key)
    }

    /// Appends the key.
    pub fn write<W: Write>(&self, writer: &mut W) {
        writer.begin_list();
        writer.symbol("public-key");
        writer.begin_list();
        writer.symbol("ecc");
        for (name, value) in [("curve", "Ed25519"), ("flags", "eddsa")] {
            writer.begin_list();
            writer.symbol(name);
            writer.symbol(value);
            writer.end_list();
        }
        put_named(writer, "q", &self.0);
        writer.end_list();
        writer.end_list();
    }
}

impl Signature {
    /// Reads a signature: `['sig-val ['eddsa ['r bytes] ['s bytes]]]`.
    pub fn read<'a, R: Read<'a>>(reader: &mut R) -> Result<Self, Error> {
        reader.begin_list()?;
        expect(reader, "sig-val")?;
        reader.begin_list()?;
        expect(reader, "eddsa")?;
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(named(reader, "r")?);
        signature[32..].copy_from_slice(named(reader, "s")?);
        reader.end_list()?;
        reader.end_list()?;
        Ok(Self(signature))
    }

    /// Appends the signature.
    pub fn write<W: Write>(&self, writer: &mut W) {
        let (r, s) = self.0.split_at(32);
        writer.begin_list();
        writer.symbol("sig-val");
        writer.begin_list();
        writer.symbol("eddsa");
        put_named(writer, "r", r);
        put_named(writer, "s", s);
        writer.end_list();
        writer.end_list();
    }
}

/// Reads this symbol.
fn expect<'a, R: Read<'a>>(reader: &mut R, symbol: &str) -> Result<(), Error> {
    let offset = reader.offset();
    if reader.symbol()? == symbol {
        Ok(())
    } else {
        Err(ErrorKind::InvalidKey.at(offset))
    }
}

/// Reads `['name bytes]` with 32 bytes.
fn named<'a, R: Read<'a>>(reader: &mut R, name: &str) -> Result<&'a [u8; 32], Error> {
    reader.begin_list()?;
    expect(reader, name)?;
    let bytes = array(reader)?;
    reader.end_list()?;
    Ok(bytes)
}

fn put_named<W: Write>(writer: &mut W, name: &str, bytes: &[u8]) {
    writer.begin_list();
    writer.symbol(name);
    writer.bytes(bytes);
    writer.end_list();
}

/// Reads a byte array of 32 bytes.
pub(super) fn array<'a, R: Read<'a>>(reader: &mut R) -> Result<&'a [u8; 32], Error> {
    let offset = reader.offset();
    let wrong_length = ErrorKind::Value(syrup::ErrorKind::WrongLength).at(offset);
    reader.bytes()?.try_into().map_err(|_| wrong_length)
}

/// The id of the session between the sides with these public ids. The order of the arguments does not matter.
pub fn session_id(one: &[u8; 32], other: &[u8; 32]) -> [u8; 32] {
    let (low, high) = if one < other {
        (one, other)
    } else {
        (other, one)
    };
    let mut message = [0; 5 + 64];
    message[..5].copy_from_slice(b"prot0");
    message[5..37].copy_from_slice(low);
    message[37..].copy_from_slice(high);
    sha256(&sha256(&message))
}

/// Which of two crossed connections to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossed {
    /// The one that we opened. We abort theirs.
    KeepOurs,
    /// The one that they opened. We abort ours.
    KeepTheirs,
}

/// Resolves two peers connecting to each other at the same time. `ours` is the public id that we sent on the connection
/// that we opened, `theirs` the one that they sent on the connection that they opened. The connection with the lower id
/// is aborted. Returns `None` if the ids are equal, which only happens when a peer connects to itself: abort both.
pub fn crossed_hellos(ours: &[u8; 32], theirs: &[u8; 32]) -> Option<Crossed> {
    match ours.cmp(theirs) {
        core::cmp::Ordering::Less => Some(Crossed::KeepTheirs),
        core::cmp::Ordering::Greater => Some(Crossed::KeepOurs),
        core::cmp::Ordering::Equal => None,
    }
}
