//! The bytes that are signed, their hash, and the envelope with the signature.
use alloc::{vec, vec::Vec};

use lydite_bytes::{Address, B256, U256};
use lydite_curve::secp256k1::{self, SecretKey, Signature};
use lydite_hash::keccak256;

use super::{Authorization, Error, TransactionType};
use crate::rlp::{self, Buffer, Encode, Header, Payload, integer_bytes_len, put_integer_bytes};

/// The fields of a transaction of any type, ready to be signed.
pub trait Signable: Payload + Sized {
    /// Type of the envelope.
    fn kind(&self) -> TransactionType;

    /// Returns the chain id that a legacy transaction includes in its signature (EIP-155). `None` for types 1 and up,
    /// which have a field for it.
    #[inline]
    fn eip155_chain_id(&self) -> Option<u64> {
        None
    }

    /// Returns the bytes whose Keccak-256 hash is signed.
    fn encode_for_signing(&self) -> Vec<u8> {
        rlp::encode(&Preimage(self))
    }

    /// Like [`encode_for_signing`](Self::encode_for_signing), to the start of `out`. Returns the length. The bytes of
    /// `out` after it may be overwritten.
    ///
    /// # Errors
    /// [`rlp::ErrorKind::BufferTooSmall`] with the required length.
    fn encode_for_signing_into(&self, out: &mut [u8]) -> Result<usize, rlp::Error> {
        rlp::encode_into(&Preimage(self), out)
    }

    /// Returns the hash that is signed.
    fn signing_hash(&self) -> B256 {
        hash_encoded(&Preimage(self))
    }

    /// Signs with the sender's key.
    fn sign(self, key: &SecretKey) -> Signed<Self> {
        let signature = key.sign_prehash(&self.signing_hash());
        Signed {
            transaction: self,
            signature,
        }
    }
}

/// Encodes the signed bytes: type, header and fields, followed under EIP-155 by `chain_id, 0, 0`.
pub(super) struct Preimage<'a, T>(pub(super) &'a T);

impl<T: Signable> Preimage<'_, T> {
    #[inline]
    fn header(&self) -> Header {
        let tail_len = self
            .0
            .eip155_chain_id()
            .map_or(0, |chain_id| chain_id.encoded_len() + 2);
        Header {
            list: true,
            payload_len: self.0.payload_len() + tail_len,
        }
    }
}

impl<T: Signable> Encode for Preimage<'_, T> {
    #[inline]
    fn encoded_len(&self) -> usize {
        let header = self.header();
        self.0.kind().prefix_len() + header.encoded_len() + header.payload_len
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        self.0.kind().put(out);
        self.header().encode(out);
        self.0.encode_payload(out);
        if let Some(chain_id) = self.0.eip155_chain_id() {
            (chain_id, 0u8, 0u8).encode_payload(out);
        }
    }
}

/// A transaction and the signature of its sender. The recovery id is 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed<T> {
    /// The signed fields.
    pub transaction: T,
    /// The sender's signature.
    pub signature: Signature,
}

/// Encodes the EIP-2718 envelope.
struct Envelope<'a, T>(&'a Signed<T>);

impl<T: Signable> Envelope<'_, T> {
    #[inline]
    fn header(&self) -> Header {
        let Signed {
            transaction,
            signature,
        } = self.0;
        let signature_len = self.0.v().encoded_len()
            + integer_bytes_len(signature.r())
            + integer_bytes_len(signature.s());
        Header {
            list: true,
            payload_len: transaction.payload_len() + signature_len,
        }
    }
}

impl<T: Signable> Encode for Envelope<'_, T> {
    #[inline]
    fn encoded_len(&self) -> usize {
        let header = self.header();
        self.0.transaction.kind().prefix_len() + header.encoded_len() + header.payload_len
    }

    #[inline(always)]
    fn encode<B: Buffer>(&self, out: &mut B) {
        let Signed {
            transaction,
            signature,
        } = self.0;
        transaction.kind().put(out);
        self.header().encode(out);
        transaction.encode_payload(out);
        self.0.v().encode(out);
        put_integer_bytes(signature.r(), out);
        put_integer_bytes(signature.s(), out);
    }
}

impl<T: Signable> Signed<T> {
    /// Returns the parity of y; in legacy transactions plus an offset, which under EIP-155 depends on the chain.
    #[inline]
    pub(super) fn v(&self) -> u128 {
        let base = match (self.transaction.kind(), self.transaction.eip155_chain_id()) {
            (TransactionType::Legacy, None) => 27,
            (TransactionType::Legacy, Some(chain_id)) => 35 + 2 * u128::from(chain_id),
            _ => 0,
        };
        base + u128::from(self.signature.recovery_id())
    }

    /// Returns the length of the envelope in bytes.
    pub fn encoded_len(&self) -> usize {
        Envelope(self).encoded_len()
    }

    /// Encodes the envelope.
    pub fn encode(&self) -> Vec<u8> {
        rlp::encode(&Envelope(self))
    }

    /// Writes the envelope to the start of `out` and returns its length. The bytes of `out` after it may be
    /// overwritten.
    ///
    /// # Errors
    /// [`rlp::ErrorKind::BufferTooSmall`] with the required length.
    pub fn encode_into(&self, out: &mut [u8]) -> Result<usize, rlp::Error> {
        rlp::encode_into(&Envelope(self), out)
    }

    /// Computes the transaction's hash: Keccak-256 of the envelope.
    pub fn hash(&self) -> B256 {
        hash_encoded(&Envelope(self))
    }

    /// Recovers the account that signed.
    ///
    /// # Errors
    /// [`Error::Signature`] if there is no sender or s is above n / 2 (EIP-2).
    pub fn sender(&self) -> Result<Address, Error> {
        Ok(secp256k1::recover_address_low_s(
            &self.transaction.signing_hash(),
            &self.signature,
        )?)
    }
}

impl Authorization {
    /// Authorizes running the code of `address`, signed with the key of the account.
    pub fn sign(chain_id: U256, address: Address, nonce: u64, key: &SecretKey) -> Self {
        let unsigned = Self {
            chain_id,
            address,
            nonce,
            ..Self::default()
        };
        let signature = key.sign_prehash(&unsigned.signing_hash());
        Self {
            y_parity: signature.recovery_id(),
            r: U256::from_be_bytes(*signature.r()),
            s: U256::from_be_bytes(*signature.s()),
            ..unsigned
        }
    }

    /// Returns the hash that the account signs: Keccak-256 of `05 || rlp([chain_id, address, nonce])`.
    pub fn signing_hash(&self) -> B256 {
        let fields = (self.chain_id, self.address, self.nonce);
        let mut preimage = vec![0x05];
        rlp::encode_append(&fields, &mut preimage);
        keccak256(&preimage).into()
    }

    /// Recovers the account that signed.
    ///
    /// # Errors
    /// [`Error::Signature`]. Such an authorization does not invalidate its transaction; it is skipped.
    pub fn authority(&self) -> Result<Address, Error> {
        if self.y_parity > 1 {
            return Err(Error::Signature(secp256k1::Error::RecoveryId));
        }
        let signature = Signature::new(self.r.to_be_bytes(), self.s.to_be_bytes(), self.y_parity);
        Ok(secp256k1::recover_address_low_s(
            &self.signing_hash(),
            &signature,
        )?)
    }
}

/// Computes the Keccak-256 hash of an encoding. A short one, such as that of a transfer, is written to the stack.
pub(super) fn hash_encoded<T: Encode>(value: &T) -> B256 {
    let mut short = [0; 256];
    let hash = match rlp::encode_into(value, &mut short) {
        Ok(length) => keccak256(&short[..length]),
        Err(_) => keccak256(&rlp::encode(value)),
    };
    hash.into()
}
