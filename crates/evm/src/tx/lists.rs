//! The items of access lists and authorization lists.
use alloc::vec::Vec;

use lydite_bytes::{Address, B256, U256};

use crate::rlp::{List, rlp_struct};

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
