//! How peers authenticate on the transport `websocket`: its designator is a public key, and the listener proves that it
//! has the secret key. The dialer stays anonymous.
//!
//! The first frame of the dialer is a [`challenge`], that of the listener the answer, [`answer_challenge`]. All further
//! frames are CapTP messages, one each, without framing.
//!
//! The answer is not bound to the connection: whoever can change what is sent can forward challenge and answer and take
//! the connection over. The proof is worth as much as the path is protected, for example by TLS.
//!
//! Source: Spritely Goblins 0.18 and Endo 1.1.1; no draft describes it.
use alloc::{string::String, vec::Vec};

use super::codec::{Codec as _, Read, Syrup, Write, label};
use super::handoff::{Signable, Signed};
use super::identity::{PublicKey, SecretKey, array};
use super::{Error, ErrorKind};

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// 32 bytes in groups of 5 bits.
const LENGTH: usize = 52;

impl PublicKey {
    /// The key as a designator: lower-case base32 without padding, 52 characters.
    pub fn to_designator(&self) -> String {
        let mut text = String::with_capacity(LENGTH);
        let (mut buffer, mut bits) = (0u32, 0);
        // The last character has 4 bits of padding.
        for byte in self.0.into_iter().chain([0]) {
            buffer = buffer << 8 | u32::from(byte);
            bits += 8;
            while bits >= 5 && text.len() < LENGTH {
                bits -= 5;
                text.push(char::from(ALPHABET[(buffer >> bits) as usize % 32]));
            }
        }
        text
    }

    /// Reads a designator. Each key has one: upper case and non-zero padding are rejected, since peers compare
    /// designators as text.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidKey`] at the offending character.
    pub fn from_designator(text: &str) -> Result<Self, Error> {
        let mut key = [0; 32];
        let (mut buffer, mut bits, mut length) = (0u32, 0, 0);
        for (i, byte) in text.bytes().enumerate() {
            let value = match byte {
                b'a'..=b'z' => byte - b'a',
                b'2'..=b'7' => byte - b'2' + 26,
                _ => return Err(ErrorKind::InvalidKey.at(i)),
            };
            buffer = buffer << 5 | u32::from(value);
            bits += 5;
            if bits >= 8 {
                bits -= 8;
                *key.get_mut(length).ok_or(ErrorKind::InvalidKey.at(i))? = (buffer >> bits) as u8;
                length += 1;
            }
        }
        if text.len() != LENGTH || buffer & 0xf != 0 {
            return Err(ErrorKind::InvalidKey.at(text.len()));
        }
        Ok(Self(key))
    }
}

/// `<init:peer-auth bytes>`. The record ensures that a listener signs nothing that has a meaning elsewhere.
struct PeerAuth<'a>(&'a [u8; 32]);

impl<'a> Signable<'a> for PeerAuth<'a> {
    fn read<R: Read<'a>>(reader: &mut R) -> Result<Self, Error> {
        label(reader, "init:peer-auth")?;
        let nonce = array(reader)?;
        reader.end_record()?;
        Ok(Self(nonce))
    }

    fn write<W: Write>(&self, writer: &mut W) -> Result<(), Error> {
        writer.begin_record("init:peer-auth");
        writer.bytes(self.0);
        writer.end_record();
        Ok(())
    }
}

/// The first frame of a dialer. The nonce must be random and used once.
pub fn challenge(nonce: &[u8; 32]) -> Vec<u8> {
    let mut message = Vec::new();
    // Writing it cannot fail.
    let _: Result<(), Error> = PeerAuth(nonce).write(&mut Syrup::writer(&mut message));
    message
}

/// The first frame of a listener: the dialer's challenge, signed with the key of the listener's designator.
///
/// # Errors
///
/// The message is not a challenge.
pub fn answer_challenge(message: &[u8], key: &SecretKey) -> Result<Vec<u8>, Error> {
    let mut reader = Syrup::reader(message);
    let auth = PeerAuth::read(&mut reader)?;
    reader.finish()?;
    let mut answer = Vec::new();
    Signed::sign::<Syrup>(key, auth)?.write(&mut Syrup::writer(&mut answer));
    Ok(answer)
}

/// The dialer's check of the answer to its challenge with this nonce, by the key in the designator that it dialed.
///
/// # Errors
///
/// The message is not the answer to this challenge, or the key did not sign it.
pub fn verify_answer(message: &[u8], nonce: &[u8; 32], key: &PublicKey) -> Result<(), Error> {
    let answer = Signed::<PeerAuth<'_>>::decode::<Syrup>(message)?;
    if answer.verify(key)?.0 == nonce {
        Ok(())
    } else {
        Err(ErrorKind::InvalidSignature.at(0))
    }
}
