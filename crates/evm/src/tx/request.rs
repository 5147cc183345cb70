//! Transaction requests, whose type is known only at run time.
use alloc::vec::Vec;

use lydite_bytes::{Address, B256, Bytes, U256};

use super::{AccessListItem, Authorization, TransactionType};

/// Defines the fields of all types: their names, and the request that contains them.
macro_rules! fields {
    ($($(#[$attribute:meta])* $variant:ident $name:ident: $type:ty,)*) => {
        /// A field of a transaction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Field {
            $($(#[$attribute])* $variant,)*
        }

        impl Field {
            pub(super) const ALL: &'static [Self] = &[$(Self::$variant),*];

            // Aliases of the variants with the names of the fields, for macros.
            $(
                #[allow(non_upper_case_globals)]
                pub(super) const $name: Self = Self::$variant;
            )*

            /// Returns the field's name in [`TransactionRequest`].
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($name),)*
                }
            }
        }

        /// A transaction whose type is known only at run time, ready to be [signed](Self::sign). Fields that the type
        /// does not have must be empty or 0.
        ///
        /// ```
        /// use lydite_bytes::Address;
        /// use lydite_curve::secp256k1::SecretKey;
        /// use lydite_evm::tx::{TransactionRequest, TransactionType};
        ///
        /// let key = SecretKey::from_bytes(&[0x46; 32])?;
        /// let request = TransactionRequest {
        ///     kind: TransactionType::Eip1559,
        ///     chain_id: Some(1),
        ///     max_fee_per_gas: 20_000_000_000,
        ///     gas_limit: 21_000,
        ///     to: Some(Address([0x35; 20])),
        ///     ..TransactionRequest::default()
        /// };
        /// let signed = request.clone().sign(&key)?;
        /// assert_eq!(signed.sender()?, key.public_key().to_address());
        ///
        /// let request = TransactionRequest { gas_price: 1, ..request };
        /// let error = request.sign(&key).unwrap_err();
        /// assert_eq!(error.to_string(), "gas_price: not a field of transaction type 2");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct TransactionRequest {
            /// Type of the envelope.
            pub kind: TransactionType,
            $($(#[$attribute])* pub $name: $type,)*
        }

        impl TransactionRequest {
            /// Whether the field is neither empty nor 0.
            pub(super) fn is_given(&self, field: Field) -> bool {
                match field {
                    $(Field::$variant => self.$name != <$type>::default(),)*
                }
            }
        }
    };
}

fields! {
    /// Chain id; `None` for a legacy transaction that is valid on every chain.
    ChainId chain_id: Option<u64>,
    /// Number of transactions that the sender has sent before.
    Nonce nonce: u64,
    /// Wei per gas (types 0 and 1).
    GasPrice gas_price: u128,
    /// Maximum wei per gas above the base fee (types 2 and up).
    MaxPriorityFeePerGas max_priority_fee_per_gas: u128,
    /// Maximum wei per gas (types 2 and up).
    MaxFeePerGas max_fee_per_gas: u128,
    /// Maximum gas.
    GasLimit gas_limit: u64,
    /// Recipient; in types 0 to 2, `None` creates a contract.
    To to: Option<Address>,
    /// Wei sent.
    Value value: U256,
    /// Call data, or the code that creates the contract.
    Data data: Bytes,
    /// Accounts and storage slots to prewarm (types 1 and up).
    AccessList access_list: Vec<AccessListItem>,
    /// Maximum wei per blob gas (type 3).
    MaxFeePerBlobGas max_fee_per_blob_gas: u128,
    /// Versioned hash of each blob's commitment (type 3).
    BlobVersionedHashes blob_versioned_hashes: Vec<B256>,
    /// Authorizations that set the code of accounts (type 4).
    AuthorizationList authorization_list: Vec<Authorization>,
}
