//! The signed fields of each transaction type.
use alloc::{vec, vec::Vec};

use lydite_bytes::{Address, B256, Bytes, U256};
use lydite_curve::secp256k1::{self, SecretKey, Signature};
use lydite_hash::keccak256;

#[cfg(feature = "serde")]
use super::quantity::Quantity;
use super::{Error, Field, Signed, Transaction, TransactionRef, TransactionRequest};
use crate::rlp::{self, Buffer, Encode, Header, List, Payload, Reader, rlp_struct};

/// Type of an EIP-2718 envelope.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(into = "Quantity<u8>", try_from = "Quantity<u8>")
)]
#[repr(u8)]
pub enum TransactionType {
    /// The type before EIP-2718, without a type byte.
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

/// Converts a type number from 0 (legacy) to 4.
impl TryFrom<u8> for TransactionType {
    type Error = Error;

    fn try_from(number: u8) -> Result<Self, Error> {
        match number {
            0 => Ok(Self::Legacy),
            1 => Ok(Self::Eip2930),
            2 => Ok(Self::Eip1559),
            3 => Ok(Self::Eip4844),
            4 => Ok(Self::Eip7702),
            _ => Err(Error::UnknownType(number)),
        }
    }
}

impl TransactionType {
    /// Whether the type has this field.
    #[must_use]
    pub fn has(self, field: Field) -> bool {
        self.fields().contains(&field)
    }

    /// Appends the type byte, if there is one.
    #[inline]
    pub(super) fn put<B: Buffer>(self, out: &mut B) {
        out.put(&[self as u8], self.prefix_len());
    }

    /// Returns the number of bytes before the list.
    #[inline]
    pub(super) const fn prefix_len(self) -> usize {
        match self {
            Self::Legacy => 0,
            _ => 1,
        }
    }
}

/// Operations that traverse all fields of a type.
pub(super) trait Fields: Signable {
    /// Type of the envelope.
    const KIND: TransactionType;
    /// The fields in order.
    const FIELDS: &'static [Field];

    /// Reads the signed fields, except the chain id of EIP-155.
    fn read<'a>(list: &mut Reader<'a>, view: &mut TransactionRef<'a>) -> Result<(), rlp::Error>;
}

/// A field in the struct of a type, converted from its value in a request.
trait Own<T>: Sized {
    /// Converts the value; 0 if it is [missing](Self::is_missing).
    fn own(from: T) -> Self;

    /// Whether the value is missing although the type requires it.
    fn is_missing(_: &T) -> bool {
        false
    }
}

impl<T> Own<T> for T {
    #[inline(always)]
    fn own(from: T) -> Self {
        from
    }
}

macro_rules! required {
    ($($type:ty),*) => {$(
        impl Own<Option<$type>> for $type {
            #[inline(always)]
            fn own(from: Option<$type>) -> Self {
                from.unwrap_or_default()
            }

            fn is_missing(from: &Option<$type>) -> bool {
                from.is_none()
            }
        }
    )*};
}
required!(u64, Address);

/// Reads a field of a type into a view, which has the fields of all types.
macro_rules! read {
    ($list:ident, $view:ident.gas_price: $type:ty) => {
        $view.max_priority_fee_per_gas = $list.read()?;
        $view.max_fee_per_gas = $view.max_priority_fee_per_gas;
    };
    ($list:ident, $view:ident.to: $type:ty) => {
        $view.to = $list.read::<$type>()?.into();
    };
    ($list:ident, $view:ident.chain_id: $type:ty) => {
        $view.chain_id = Some($list.read()?);
    };
    ($list:ident, $view:ident.$field:ident: $type:ty) => {
        $view.$field = $list.read()?;
    };
}

/// Defines the struct of each type, and derives all operations from its fields.
macro_rules! transactions {
    ($(
        $(#[$attribute:meta])*
        pub struct $name:ident: $kind:ident {
            $($(#[$field_attribute:meta])* pub $field:ident: $type:ty,)*
        }
    )*) => {
        $(
            transactions! { @struct $kind
                $(#[$attribute])*
                pub struct $name {
                    $($(#[$field_attribute])* pub $field: $type,)*
                }
            }

            impl Fields for $name {
                const KIND: TransactionType = TransactionType::$kind;
                const FIELDS: &'static [Field] = &[$(Field::$field),*];

                #[inline(always)]
                fn read<'a>(
                    list: &mut Reader<'a>,
                    view: &mut TransactionRef<'a>,
                ) -> Result<(), rlp::Error> {
                    transactions! { @read $kind list view $($field: $type,)* }
                    Ok(())
                }
            }

            impl From<$name> for TransactionRequest {
                fn from(transaction: $name) -> Self {
                    Self {
                        kind: TransactionType::$kind,
                        $($field: transaction.$field.into(),)*
                        ..Self::default()
                    }
                }
            }

            impl From<Signed<$name>> for Transaction {
                fn from(signed: Signed<$name>) -> Self {
                    Self::$kind(signed)
                }
            }
        )*

        impl TransactionType {
            /// Returns the fields of the type, in the order of its list.
            #[must_use]
            pub const fn fields(self) -> &'static [Field] {
                match self {
                    $(Self::$kind => $name::FIELDS,)*
                }
            }
        }

        impl TransactionRequest {
            /// Adds a signature made elsewhere, which is not checked.
            ///
            /// # Errors
            /// [`Error::ForeignField`] or [`Error::MissingField`] if the request does not match its type.
            pub fn with_signature(self, signature: Signature) -> Result<Transaction, Error> {
                self.check()?;
                Ok(match self.kind {
                    $(TransactionType::$kind => {
                        let transaction = $name {
                            $($field: Own::own(self.$field),)*
                        };
                        Signed { transaction, signature }.into()
                    })*
                })
            }

            /// Returns the first field that the type requires and the request lacks.
            pub(super) fn missing(&self) -> Option<Field> {
                match self.kind {
                    $(TransactionType::$kind => {
                        $(if <$type as Own<_>>::is_missing(&self.$field) {
                            return Some(Field::$field);
                        })*
                    })*
                }
                None
            }
        }
    };

    // The chain id of a legacy transaction is not in its list; under EIP-155 it is in the signature.
    (@struct Legacy
        $(#[$attribute:meta])*
        pub struct $name:ident {
            $(#[$chain_id_attribute:meta])* pub chain_id: $chain_id:ty,
            $($(#[$field_attribute:meta])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $(#[$chain_id_attribute])* pub chain_id: $chain_id,
            $($(#[$field_attribute])* pub $field: $type,)*
        }

        impl Payload for $name {
            #[inline(always)]
            fn payload_len(&self) -> usize {
                0 $(+ self.$field.encoded_len())*
            }

            #[inline(always)]
            fn encode_payload<B: Buffer>(&self, out: &mut B) {
                $(self.$field.encode(out);)*
            }
        }

        impl Signable for $name {
            #[inline]
            fn kind(&self) -> TransactionType {
                Self::KIND
            }

            #[inline]
            fn eip155_chain_id(&self) -> Option<u64> {
                self.chain_id
            }
        }
    };
    (@struct $kind:ident
        $(#[$attribute:meta])*
        pub struct $name:ident { $($fields:tt)* }
    ) => {
        rlp_struct! {
            $(#[$attribute])*
            pub struct $name { $($fields)* }
        }

        impl Signable for $name {
            #[inline]
            fn kind(&self) -> TransactionType {
                Self::KIND
            }
        }
    };
    (@read Legacy $list:ident $view:ident chain_id: $chain_id:ty, $($field:ident: $type:ty,)*) => {
        $(read!($list, $view.$field: $type);)*
    };
    (@read $kind:ident $list:ident $view:ident $($field:ident: $type:ty,)*) => {
        $(read!($list, $view.$field: $type);)*
    };
}

transactions! {
    /// Legacy transaction.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxLegacy: Legacy {
        /// Chain id (EIP-155). Without it, the signature is valid on every chain.
        pub chain_id: Option<u64>,
        /// Number of transactions that the sender has sent before.
        pub nonce: u64,
        /// Wei per gas.
        pub gas_price: u128,
        /// Maximum gas.
        pub gas_limit: u64,
        /// Recipient; `None` creates a contract.
        pub to: Option<Address>,
        /// Wei sent.
        pub value: U256,
        /// Call data, or the code that creates the contract.
        pub data: Bytes,
    }

    /// Transaction with an access list (EIP-2930).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxEip2930: Eip2930 {
        /// Chain id of the transaction.
        pub chain_id: u64,
        /// Number of transactions that the sender has sent before.
        pub nonce: u64,
        /// Wei per gas.
        pub gas_price: u128,
        /// Maximum gas.
        pub gas_limit: u64,
        /// Recipient; `None` creates a contract.
        pub to: Option<Address>,
        /// Wei sent.
        pub value: U256,
        /// Call data, or the code that creates the contract.
        pub data: Bytes,
        /// Accounts and storage slots to prewarm.
        pub access_list: Vec<AccessListItem>,
    }

    /// Transaction with a priority fee (EIP-1559).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxEip1559: Eip1559 {
        /// Chain id of the transaction.
        pub chain_id: u64,
        /// Number of transactions that the sender has sent before.
        pub nonce: u64,
        /// Maximum wei per gas above the base fee.
        pub max_priority_fee_per_gas: u128,
        /// Maximum wei per gas.
        pub max_fee_per_gas: u128,
        /// Maximum gas.
        pub gas_limit: u64,
        /// Recipient; `None` creates a contract.
        pub to: Option<Address>,
        /// Wei sent.
        pub value: U256,
        /// Call data, or the code that creates the contract.
        pub data: Bytes,
        /// Accounts and storage slots to prewarm.
        pub access_list: Vec<AccessListItem>,
    }

    /// Transaction with blobs (EIP-4844), without the blobs themselves.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxEip4844: Eip4844 {
        /// Chain id of the transaction.
        pub chain_id: u64,
        /// Number of transactions that the sender has sent before.
        pub nonce: u64,
        /// Maximum wei per gas above the base fee.
        pub max_priority_fee_per_gas: u128,
        /// Maximum wei per gas.
        pub max_fee_per_gas: u128,
        /// Maximum gas.
        pub gas_limit: u64,
        /// Recipient.
        pub to: Address,
        /// Wei sent.
        pub value: U256,
        /// Call data.
        pub data: Bytes,
        /// Accounts and storage slots to prewarm.
        pub access_list: Vec<AccessListItem>,
        /// Maximum wei per blob gas.
        pub max_fee_per_blob_gas: u128,
        /// Versioned hash of each blob's commitment.
        pub blob_versioned_hashes: Vec<B256>,
    }

    /// Transaction that sets the code of external accounts (EIP-7702).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct TxEip7702: Eip7702 {
        /// Chain id of the transaction.
        pub chain_id: u64,
        /// Number of transactions that the sender has sent before.
        pub nonce: u64,
        /// Maximum wei per gas above the base fee.
        pub max_priority_fee_per_gas: u128,
        /// Maximum wei per gas.
        pub max_fee_per_gas: u128,
        /// Maximum gas.
        pub gas_limit: u64,
        /// Recipient.
        pub to: Address,
        /// Wei sent.
        pub value: U256,
        /// Call data.
        pub data: Bytes,
        /// Accounts and storage slots to prewarm.
        pub access_list: Vec<AccessListItem>,
        /// Authorizations that set the code of accounts.
        pub authorization_list: Vec<Authorization>,
    }
}

rlp_struct! {
    /// An account, and those of its storage slots that a transaction declares.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
    pub struct AccessListItem {
        /// The account.
        pub address: Address,
        /// The storage slots.
        pub storage_keys: Vec<B256>,
    }

    /// An [`AccessListItem`] left in the input.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AccessListItemRef<'a> {
        /// The account.
        pub address: Address,
        /// The storage slots.
        pub storage_keys: List<'a, B256>,
    }

    /// An account's signed authorization to run the code of another account (EIP-7702).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
    pub struct Authorization {
        /// Chain id; 0 means any chain.
        pub chain_id: U256,
        /// Account whose code will run.
        pub address: Address,
        /// Nonce of the authorizing account.
        #[cfg_attr(feature = "serde", serde(serialize_with = "super::quantity::quantity"))]
        pub nonce: u64,
        /// Parity of y of the signature's point. Values other than 0 and 1 are well-formed but have no valid authority.
        #[cfg_attr(feature = "serde", serde(serialize_with = "super::quantity::quantity"))]
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
    pub fn signing_hash(&self) -> [u8; 32] {
        let fields = (self.chain_id, self.address, self.nonce);
        let mut preimage = vec![0x05];
        rlp::encode_append(&fields, &mut preimage);
        keccak256(&preimage)
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

/// Computes the Keccak-256 hash of an encoding. A short one, such as that of a transfer, is written to the stack.
pub(super) fn hash_encoded<T: Encode>(value: &T) -> [u8; 32] {
    let mut short = [0; 256];
    match rlp::encode_into(value, &mut short) {
        Ok(length) => keccak256(&short[..length]),
        Err(_) => keccak256(&rlp::encode(value)),
    }
}
