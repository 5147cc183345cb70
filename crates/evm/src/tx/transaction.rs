//! The struct of each transaction type, the enum of all signed ones, and how both relate to requests.
use alloc::vec::Vec;

use lydite_bytes::{Address, B256, Bytes, U256};
use lydite_curve::secp256k1::{SecretKey, Signature};

use super::{
    AccessListItem, Authorization, Error, Field, Signable, Signed, TransactionRef,
    TransactionRequest, TransactionType,
};
use crate::rlp::{self, Buffer, Encode, Payload, Reader, rlp_struct};

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
            /// Whether the type has this field.
            #[must_use]
            pub fn has(self, field: Field) -> bool {
                self.fields().contains(&field)
            }

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
            fn missing(&self) -> Option<Field> {
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

/// An owned signed transaction of any type.
///
/// ```
/// use lydite_evm::tx::Transaction;
///
/// assert_eq!(Transaction::decode(&[0x05, 0xc0]).unwrap_err().to_string(), "byte 0: unknown transaction type 0x05");
/// assert_eq!(Transaction::decode(&[0x02, 0xc0]).unwrap_err().to_string(), "byte 2: item extends past the end of the input or of its list");
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transaction {
    /// Has no type byte.
    Legacy(Signed<TxLegacy>),
    /// Type 1.
    Eip2930(Signed<TxEip2930>),
    /// Type 2.
    Eip1559(Signed<TxEip1559>),
    /// Type 3.
    Eip4844(Signed<TxEip4844>),
    /// Type 4.
    Eip7702(Signed<TxEip7702>),
}

/// Evaluates the same expression for the [`Signed`] of each type.
macro_rules! each {
    ($transaction:expr, $signed:ident => $value:expr) => {
        match $transaction {
            Transaction::Legacy($signed) => $value,
            Transaction::Eip2930($signed) => $value,
            Transaction::Eip1559($signed) => $value,
            Transaction::Eip4844($signed) => $value,
            Transaction::Eip7702($signed) => $value,
        }
    };
}

impl Transaction {
    /// Returns the type of the envelope.
    pub fn kind(&self) -> TransactionType {
        each!(self, signed => signed.transaction.kind())
    }

    /// Returns the sender's signature.
    pub fn signature(&self) -> &Signature {
        each!(self, signed => &signed.signature)
    }

    fn set_signature(&mut self, signature: Signature) {
        each!(self, signed => signed.signature = signature);
    }

    /// Returns the length of the envelope in bytes.
    pub fn encoded_len(&self) -> usize {
        each!(self, signed => signed.encoded_len())
    }

    /// Encodes the envelope.
    pub fn encode(&self) -> Vec<u8> {
        each!(self, signed => signed.encode())
    }

    /// Writes the envelope to the start of `out` and returns its length. The bytes of `out` after it may be
    /// overwritten.
    ///
    /// # Errors
    /// [`rlp::ErrorKind::BufferTooSmall`] with the required length.
    pub fn encode_into(&self, out: &mut [u8]) -> Result<usize, rlp::Error> {
        each!(self, signed => signed.encode_into(out))
    }

    /// Computes the transaction's hash: Keccak-256 of the envelope.
    pub fn hash(&self) -> B256 {
        each!(self, signed => signed.hash())
    }

    /// Computes the hash that was signed.
    pub fn signing_hash(&self) -> B256 {
        each!(self, signed => signed.transaction.signing_hash())
    }

    /// Returns the v of the envelope.
    #[cfg(feature = "serde")]
    pub(super) fn v(&self) -> u128 {
        each!(self, signed => signed.v())
    }

    /// Recovers the account that signed.
    ///
    /// # Errors
    /// [`Error::Signature`] if there is no sender or s is above n / 2 (EIP-2).
    pub fn sender(&self) -> Result<Address, Error> {
        each!(self, signed => signed.sender())
    }
}

/// Drops the signature.
impl From<Transaction> for TransactionRequest {
    fn from(transaction: Transaction) -> Self {
        each!(transaction, signed => signed.transaction.into())
    }
}

impl TransactionRequest {
    /// Signs with the sender's key.
    ///
    /// # Errors
    /// [`Error::ForeignField`] or [`Error::MissingField`] if the request does not match its type.
    pub fn sign(self, key: &SecretKey) -> Result<Transaction, Error> {
        let mut transaction = self.with_signature(Signature::default())?;
        let signature = key.sign_prehash(&transaction.signing_hash());
        transaction.set_signature(signature);
        Ok(transaction)
    }

    /// Checks that the request has all required fields of its type and no others.
    fn check(&self) -> Result<(), Error> {
        let foreign = |field: &&Field| !self.kind.has(**field) && self.is_given(**field);
        if let Some(&field) = Field::ALL.iter().find(foreign) {
            return Err(Error::ForeignField(field, self.kind));
        }
        self.missing()
            .map_or(Ok(()), |field| Err(Error::MissingField(field)))
    }
}
