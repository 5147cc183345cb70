//! Handoffs: a gifter gives a receiver the right to fetch a gift from an exporter.
use alloc::{borrow::Cow, vec::Vec};

use super::Error;
use super::codec::{Codec, Read, Write, label};
use super::identity::{PublicKey, SecretKey, Signature, array};
use super::locator::Peer;

/// A value that can be signed.
pub trait Signable<'a>: Sized {
    /// Reads the value.
    fn read<R: Read<'a>>(reader: &mut R) -> Result<Self, Error>;
    /// Appends the value.
    fn write<W: Write>(&self, writer: &mut W) -> Result<(), Error>;
}

/// `desc:sig-envelope`: a value, the exact bytes that were signed, and the signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Signed<'a, T> {
    value: T,
    encoded: Cow<'a, [u8]>,
    signature: Signature,
}

/// `desc:handoff-give`: from the gifter to the receiver, about a gift at the exporter.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoffGive<'a> {
    /// The receiver's key in its session with the gifter.
    pub receiver_key: PublicKey,
    /// Where the exporter can be found.
    pub exporter: Peer<'a>,
    /// The session between gifter and exporter.
    pub session: [u8; 32],
    /// The gifter's public id in that session.
    pub gifter_side: [u8; 32],
    /// The gift, as deposited at the exporter.
    pub gift: &'a [u8],
}

/// `desc:handoff-receive`: from the receiver to the exporter.
#[derive(Clone, Debug, PartialEq)]
pub struct HandoffReceive<'a> {
    /// The session between receiver and exporter.
    pub session: [u8; 32],
    /// The receiver's public id in that session.
    pub receiver_side: [u8; 32],
    /// A number used once in that session.
    pub count: u64,
    /// The gifter's signed handoff.
    pub give: Signed<'a, HandoffGive<'a>>,
}

impl<'a, T: Signable<'a>> Signed<'a, T> {
    /// Signs `value`.
    pub fn sign<C: Codec>(key: &SecretKey, value: T) -> Result<Self, Error> {
        let mut encoded = Vec::new();
        value.write(&mut C::writer(&mut encoded))?;
        let signature = key.sign(&encoded);
        Ok(Self {
            value,
            encoded: Cow::Owned(encoded),
            signature,
        })
    }

    /// The value, if `key` signed it.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](super::ErrorKind::InvalidKey), [`InvalidSignature`](super::ErrorKind::InvalidSignature).
    pub fn verify(&self, key: &PublicKey) -> Result<&T, Error> {
        key.verify(&self.encoded, &self.signature)?;
        Ok(&self.value)
    }

    /// The value without checking the signature, for finding out which key to verify with.
    pub const fn unverified(&self) -> &T {
        &self.value
    }

    /// Reads an envelope. Keeps the signed bytes, so nothing is encoded again.
    pub fn read<R: Read<'a>>(reader: &mut R) -> Result<Self, Error> {
        label(reader, "desc:sig-envelope")?;
        let mut inside = *reader;
        let value = T::read(&mut inside)?;
        // The value is canonical, so these are the bytes that were signed.
        let encoded = Cow::Borrowed(reader.raw()?);
        let signature = Signature::read(reader)?;
        reader.end_record()?;
        Ok(Self {
            value,
            encoded,
            signature,
        })
    }

    /// Appends the envelope.
    pub fn write<W: Write>(&self, writer: &mut W) {
        writer.begin_record("desc:sig-envelope");
        writer.raw(&self.encoded);
        self.signature.write(writer);
        writer.end_record();
    }

    /// Decodes `input`, which must be exactly one envelope.
    pub fn decode<C: Codec>(input: &'a [u8]) -> Result<Self, Error> {
        let mut reader = C::reader(input);
        let envelope = Self::read(&mut reader)?;
        reader.finish()?;
        Ok(envelope)
    }
}

impl<'a> Signed<'a, HandoffReceive<'a>> {
    /// The exporter's check of both signatures: the give was signed by the gifter, and this by the receiver whose key
    /// is in the give. `gifter` is the gifter's key in the session named in the give, which the exporter knows.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`](super::ErrorKind::InvalidKey), [`InvalidSignature`](super::ErrorKind::InvalidSignature).
    pub fn verify_handoff(&self, gifter: &PublicKey) -> Result<&HandoffGive<'a>, Error> {
        let give = self.value.give.verify(gifter)?;
        self.verify(&give.receiver_key)?;
        Ok(give)
    }
}

impl<'a> Signable<'a> for HandoffGive<'a> {
    fn read<R: Read<'a>>(reader: &mut R) -> Result<Self, Error> {
        label(reader, "desc:handoff-give")?;
        let give = Self {
            receiver_key: PublicKey::read(reader)?,
            exporter: Peer::read(reader)?,
            session: *array(reader)?,
            gifter_side: *array(reader)?,
            gift: reader.bytes()?,
        };
        reader.end_record()?;
        Ok(give)
    }

    fn write<W: Write>(&self, writer: &mut W) -> Result<(), Error> {
        writer.begin_record("desc:handoff-give");
        self.receiver_key.write(writer);
        self.exporter.write(writer)?;
        writer.bytes(&self.session);
        writer.bytes(&self.gifter_side);
        writer.bytes(self.gift);
        writer.end_record();
        Ok(())
    }
}

impl<'a> Signable<'a> for HandoffReceive<'a> {
    fn read<R: Read<'a>>(reader: &mut R) -> Result<Self, Error> {
        label(reader, "desc:handoff-receive")?;
        let receive = Self {
            session: *array(reader)?,
            receiver_side: *array(reader)?,
            count: reader.integer()?,
            give: Signed::read(reader)?,
        };
        reader.end_record()?;
        Ok(receive)
    }

    fn write<W: Write>(&self, writer: &mut W) -> Result<(), Error> {
        writer.begin_record("desc:handoff-receive");
        writer.bytes(&self.session);
        writer.bytes(&self.receiver_side);
        writer.integer(self.count);
        self.give.write(writer);
        writer.end_record();
        Ok(())
    }
}
