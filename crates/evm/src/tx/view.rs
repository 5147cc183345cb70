//! Transactions left in the input. Both hashes are computed from the input bytes: the signed fields are contiguous in
//! the list, so no field is encoded again.
use lydite_bytes::{Address, B256, U256};
use lydite_curve::secp256k1::{self, Signature};
use lydite_hash::{Keccak256, keccak256};

use super::{AccessListItemRef, Authorization, Error, Signable, TransactionType};
use crate::rlp::{Buffer, List, Payload};

/// A signed transaction of any type, borrowed from its envelope. Fields that the type does not have are empty or 0.
#[derive(Clone, Copy, Debug)]
pub struct TransactionRef<'a> {
    /// Type of the envelope.
    pub kind: TransactionType,
    /// Chain id; `None` for a legacy transaction without EIP-155.
    pub chain_id: Option<u64>,
    /// Number of transactions that the sender has sent before.
    pub nonce: u64,
    /// Maximum wei per gas above the base fee. For types 0 and 1: the gas price.
    pub max_priority_fee_per_gas: u128,
    /// Maximum wei per gas. For types 0 and 1: the gas price.
    pub max_fee_per_gas: u128,
    /// Maximum gas.
    pub gas_limit: u64,
    /// Recipient; `None` creates a contract. Types 3 and 4 always have a recipient.
    pub to: Option<Address>,
    /// Wei sent.
    pub value: U256,
    /// Call data, or the code that creates the contract.
    pub data: &'a [u8],
    /// Accounts and storage slots to prewarm (types 1 and up).
    pub access_list: List<'a, AccessListItemRef<'a>>,
    /// Maximum wei per blob gas (type 3).
    pub max_fee_per_blob_gas: u128,
    /// Versioned hash of each blob's commitment (type 3).
    pub blob_versioned_hashes: List<'a, B256>,
    /// Authorizations that set the code of accounts (type 4).
    pub authorization_list: List<'a, Authorization>,
    /// The sender's signature. The recovery id is 0 or 1.
    pub signature: Signature,
    /// The encodings of the fields before the signature.
    pub(super) fields: &'a [u8],
    /// The whole list, preceded by the type byte unless `detached`.
    pub(super) envelope: &'a [u8],
    /// The type byte is not directly before the list, as in the network form of a blob transaction.
    pub(super) detached: bool,
}

impl TransactionRef<'_> {
    /// Computes the transaction's hash from the decoded bytes.
    pub fn hash(&self) -> B256 {
        if !self.detached {
            return keccak256(self.envelope).into();
        }
        let mut keccak = Keccak256::new();
        keccak.update(&[self.kind as u8]);
        keccak.update(self.envelope);
        keccak.finalize().into()
    }

    /// Recovers the account that signed.
    ///
    /// # Errors
    /// [`Error::Signature`] if there is no sender or s is above n / 2 (EIP-2).
    pub fn sender(&self) -> Result<Address, Error> {
        Ok(secp256k1::recover_address_low_s(
            &self.signing_hash(),
            &self.signature,
        )?)
    }
}

/// The signed fields, copied from the input.
impl Payload for TransactionRef<'_> {
    #[inline]
    fn payload_len(&self) -> usize {
        self.fields.len()
    }

    #[inline(always)]
    fn encode_payload<B: Buffer>(&self, out: &mut B) {
        out.put_slice(self.fields);
    }
}

impl Signable for TransactionRef<'_> {
    #[inline]
    fn kind(&self) -> TransactionType {
        self.kind
    }

    #[inline]
    fn eip155_chain_id(&self) -> Option<u64> {
        if self.kind == TransactionType::Legacy {
            self.chain_id
        } else {
            None
        }
    }
}
