//! Roots of a block's lists and the senders of its transactions, with the signatures of alloy-consensus' functions.

use alloy_consensus::{TxEnvelope, crypto::RecoveryError};
use alloy_eips::{eip2718::Encodable2718, eip4895::Withdrawal};
use alloy_primitives::{Address, B256};
use alloy_rlp::Encodable;
use lydite::{
    curve::secp256k1::{self, Signature},
    evm::trie,
};

/// Computes the root of a list of RLP-encodable items, like `alloy_trie::root::ordered_trie_root`.
pub fn ordered_trie_root<T: Encodable>(items: &[T]) -> B256 {
    ordered_trie_root_with_encoder(items, |item, out| item.encode(out))
}

/// Computes the root of a list, with a function that appends the encoding of an item to its second argument.
pub fn ordered_trie_root_with_encoder<T>(
    items: &[T],
    mut encode: impl FnMut(&T, &mut Vec<u8>),
) -> B256 {
    let mut encoded = Vec::new();
    let mut spans = Vec::with_capacity(items.len());
    for item in items {
        let start = encoded.len();
        encode(item, &mut encoded);
        spans.push(start..encoded.len());
    }
    let values: Vec<&[u8]> = spans.into_iter().map(|span| &encoded[span]).collect();
    ordered_trie_root_encoded(&values)
}

/// Computes the root of a list of encoded items.
pub fn ordered_trie_root_encoded<T: AsRef<[u8]>>(items: &[T]) -> B256 {
    B256::new(trie::ordered_root(items).0)
}

/// Computes a block's transactions root.
pub fn calculate_transaction_root<T: Encodable2718>(transactions: &[T]) -> B256 {
    ordered_trie_root_with_encoder(transactions, |transaction, out| {
        transaction.encode_2718(out);
    })
}

/// Computes a block's receipts root.
pub fn calculate_receipt_root<T: Encodable2718>(receipts: &[T]) -> B256 {
    ordered_trie_root_with_encoder(receipts, |receipt, out| receipt.encode_2718(out))
}

/// Computes a block's withdrawals root.
pub fn calculate_withdrawals_root(withdrawals: &[Withdrawal]) -> B256 {
    ordered_trie_root(withdrawals)
}

/// Recovers the senders of transactions in one batch, in their order. Rejects high s (EIP-2), like `recover_signer`.
///
/// # Errors
///
/// [`RecoveryError`] if a signature has no valid public key or a high s. To find the transaction, recover one by one.
pub fn recover_signers(transactions: &[TxEnvelope]) -> Result<Vec<Address>, RecoveryError> {
    let mut hashes = Vec::with_capacity(transactions.len());
    let mut signatures = Vec::with_capacity(transactions.len());
    for transaction in transactions {
        hashes.push(transaction.signature_hash().0);
        let signature = Signature::from_bytes65_v27(&transaction.signature().as_bytes())
            .map_err(|_| RecoveryError::new())?;
        signatures.push(signature);
    }
    let mut senders = vec![Err(secp256k1::Error::Length); transactions.len()];
    secp256k1::recover_address_low_s_batch(&hashes, &signatures, &mut senders)
        .map_err(|_| RecoveryError::new())?;
    senders
        .into_iter()
        .map(|sender| sender.map(|address| Address::new(address.0)))
        .collect::<Result<_, _>>()
        .map_err(|_| RecoveryError::new())
}
