//! What is signed: the fields of each type.
use alloc::{vec, vec::Vec};

use lydite_bytes::{Address, B256, Bytes, U256};
use lydite_curve::secp256k1::{self, SecretKey, Signature};
use lydite_hash::keccak256;

use super::{Error, Signed};
use crate::rlp::{self, Buffer, Encode, Header, List, Payload, rlp_struct};

/// Type of an EIP-2718 envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum TransactionType {
    /// Before EIP-2718: no type byte.
    #[default]
    Legacy = 0,
    /// With an access list.
    Eip2930 = 1,
    /// With a priority fee.
    Eip1559 = 2,
    /// With blobs.
    Eip4844 = 3,
    /// With authorizations.
    Eip7702 = 4,
}

impl TransactionType {
    /// Appends the type byte, if there is one.
    #[inline]
    pub(super) fn put<B: Buffer>(self, out: &mut B) {
        out.put(&[self as u8], self.prefix_len());
    }

    /// Bytes before the list.
    #[inline]
    pub(super) const fn prefix_len(self) -> usize {
        match self {
            Self::Legacy => 0,
            _ => 1,
        }
    }
}

/// Legacy transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TxLegacy {
    /// Chain id of EIP-155; without one the signature holds on every chain.
    pub chain_id: Option<u64>,
    /// Transactions that the sender sent before.
    pub nonce: u64,
    /// Wei per gas.
    pub gas_price: u128,
    /// Gas at most.
    pub gas_limit: u64,
    /// Recipient; none creates a contract.
    pub to: Option<Address>,
    /// Wei sent.
    pub value: U256,
    /// Call data, or the code that creates the contract.
    pub data: Bytes,
}

impl Payload for TxLegacy {
    #[inline(always)]
    fn payload_len(&self) -> usize {
        let Self {
            chain_id: _,
            nonce,
            gas_price,
            gas_limit,
            to,
            value,
            data,
        } = self;
        (nonce, gas_price, gas_limit, to, value, data).payload_len()
    }

    #[inline(always)]
    fn encode_payload<B: Buffer>(&self, out: &mut B) {
        let Self {
            chain_id: _,
            nonce,
            gas_price,
            gas_limit,
            to,
            value,
            data,
        } = self;
        (nonce, gas_price, gas_limit, to, value, data).encode_payload(out);
    }
}

rlp_struct! {
    /// Transaction with an access list (EIP-2930).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxEip2930 {
        /// Chain that the transaction is for.
        pub chain_id: u64,
        /// Transactions that the sender sent before.
        pub nonce: u64,
        /// Wei per gas.
        pub gas_price: u128,
        /// Gas at most.
        pub gas_limit: u64,
        /// Recipient; none creates a contract.
        pub to: Option<Address>,
        /// Wei sent.
        pub value: U256,
        /// Call data, or the code that creates the contract.
        pub data: Bytes,
        /// State to be warm.
        pub access_list: Vec<AccessListItem>,
    }

    /// Transaction with a priority fee (EIP-1559).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxEip1559 {
        /// Chain that the transaction is for.
        pub chain_id: u64,
        /// Transactions that the sender sent before.
        pub nonce: u64,
        /// Wei per gas above the base fee, at most.
        pub max_priority_fee_per_gas: u128,
        /// Wei per gas, at most.
        pub max_fee_per_gas: u128,
        /// Gas at most.
        pub gas_limit: u64,
        /// Recipient; none creates a contract.
        pub to: Option<Address>,
        /// Wei sent.
        pub value: U256,
        /// Call data, or the code that creates the contract.
        pub data: Bytes,
        /// State to be warm.
        pub access_list: Vec<AccessListItem>,
    }

    /// Transaction with blobs (EIP-4844), without the blobs themselves.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxEip4844 {
        /// Chain that the transaction is for.
        pub chain_id: u64,
        /// Transactions that the sender sent before.
        pub nonce: u64,
        /// Wei per gas above the base fee, at most.
        pub max_priority_fee_per_gas: u128,
        /// Wei per gas, at most.
        pub max_fee_per_gas: u128,
        /// Gas at most.
        pub gas_limit: u64,
        /// Recipient.
        pub to: Address,
        /// Wei sent.
        pub value: U256,
        /// Call data.
        pub data: Bytes,
        /// State to be warm.
        pub access_list: Vec<AccessListItem>,
        /// Wei per blob gas, at most.
        pub max_fee_per_blob_gas: u128,
        /// Versioned hash of each blob's commitment.
        pub blob_versioned_hashes: Vec<B256>,
    }

    /// Transaction that sets the code of external accounts (EIP-7702).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxEip7702 {
        /// Chain that the transaction is for.
        pub chain_id: u64,
        /// Transactions that the sender sent before.
        pub nonce: u64,
        /// Wei per gas above the base fee, at most.
        pub max_priority_fee_per_gas: u128,
        /// Wei per gas, at most.
        pub max_fee_per_gas: u128,
        /// Gas at most.
        pub gas_limit: u64,
        /// Recipient.
        pub to: Address,
        /// Wei sent.
        pub value: U256,
        /// Call data.
        pub data: Bytes,
        /// State to be warm.
        pub access_list: Vec<AccessListItem>,
        /// Accounts that take on code.
        pub authorization_list: Vec<Authorization>,
    }

    /// An account and the storage slots of it that a transaction announces.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct AccessListItem {
        /// The account.
        pub address: Address,
        /// Its slots.
        pub storage_keys: Vec<B256>,
    }

    /// [`AccessListItem`] left in the input.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AccessListItemRef<'a> {
        /// The account.
        pub address: Address,
        /// Its slots.
        pub storage_keys: List<'a, B256>,
    }

    /// An account's signed consent to run the code of another (EIP-7702).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Authorization {
        /// Chain that it holds on; 0 is every chain.
        pub chain_id: U256,
        /// Account whose code is to be run.
        pub address: Address,
        /// Nonce of the consenting account.
        pub nonce: u64,
        /// Parity of y of the signature's point; other than 0 and 1 is well-formed but has no authority.
        pub y_parity: u8,
        /// r of the signature.
        pub r: U256,
        /// s of the signature.
        pub s: U256,
    }
}

impl From<AccessListItemRef<'_>> for AccessListItem {
    fn from(item: AccessListItemRef<'_>) -> Self {
        Self {
            address: item.address,
            storage_keys: item.storage_keys.to_vec(),
        }
    }
}

impl Authorization {
    /// Consents, with the key of the account, to run the code of `address`.
    pub fn sign(chain_id: U256, address: Address, nonce: u64, key: &SecretKey) -> Self {
        let unsigned = Self {
            chain_id,
            address,
            nonce,
            ..Self::default()
        };
        let Signature { r, s, recovery_id } = key.sign_prehash(&unsigned.signing_hash());
        Self {
            y_parity: recovery_id,
            r: U256::from_be_bytes(r),
            s: U256::from_be_bytes(s),
            ..unsigned
        }
    }

    /// What the account signs: Keccak-256 of `05 || rlp([chain_id, address, nonce])`.
    pub fn signing_hash(&self) -> [u8; 32] {
        let fields = (self.chain_id, self.address, self.nonce);
        let mut preimage = vec![0x05];
        rlp::encode_append(&fields, &mut preimage);
        keccak256(&preimage)
    }

    /// The account that signed.
    ///
    /// # Errors
    /// [`Error::Signature`]: such an authorization does not make its transaction invalid, it is skipped.
    pub fn authority(&self) -> Result<Address, Error> {
        if self.y_parity > 1 {
            return Err(Error::Signature(secp256k1::Error::RecoveryId));
        }
        let (r, s) = (self.r.to_be_bytes(), self.s.to_be_bytes());
        let signature = Signature {
            r,
            s,
            recovery_id: self.y_parity,
        };
        Ok(secp256k1::recover_address_low_s(
            &self.signing_hash(),
            &signature,
        )?)
    }
}

/// The fields of a transaction of any type, ready to be signed.
pub trait Signable: Payload + Sized {
    /// Type of the envelope.
    fn kind(&self) -> TransactionType;

    /// Chain id that a legacy transaction mixes into its signature (EIP-155). Types 1 and up: none, theirs is a field.
    #[inline]
    fn eip155_chain_id(&self) -> Option<u64> {
        None
    }

    /// The bytes whose Keccak-256 is signed.
    fn encode_for_signing(&self) -> Vec<u8> {
        rlp::encode(&Preimage(self))
    }

    /// [`encode_for_signing`](Self::encode_for_signing) to the start of `out`; returns the length. The bytes of `out`
    /// behind it may be overwritten.
    ///
    /// # Errors
    /// [`rlp::ErrorKind::BufferTooSmall`] with the length needed.
    fn encode_for_signing_into(&self, out: &mut [u8]) -> Result<usize, rlp::Error> {
        rlp::encode_into(&Preimage(self), out)
    }

    /// The hash that is signed.
    fn signing_hash(&self) -> [u8; 32] {
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

impl Signable for TxLegacy {
    #[inline]
    fn kind(&self) -> TransactionType {
        TransactionType::Legacy
    }

    #[inline]
    fn eip155_chain_id(&self) -> Option<u64> {
        self.chain_id
    }
}

macro_rules! typed {
    ($($name:ident $kind:ident)*) => {$(
        impl Signable for $name {
            #[inline]
            fn kind(&self) -> TransactionType {
                TransactionType::$kind
            }
        }
    )*};
}
typed!(TxEip2930 Eip2930 TxEip1559 Eip1559 TxEip4844 Eip4844 TxEip7702 Eip7702);

/// Writes the bytes that are signed: type, header and fields, and `chain_id, 0, 0` after them under EIP-155.
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

/// Keccak-256 of an encoding. A short one, such as a transfer's, is written to the stack.
pub(super) fn hash_encoded<T: Encode>(value: &T) -> [u8; 32] {
    let mut short = [0; 256];
    match rlp::encode_into(value, &mut short) {
        Ok(length) => keccak256(&short[..length]),
        Err(_) => keccak256(&rlp::encode(value)),
    }
}
