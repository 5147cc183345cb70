//! Roots of a block's lists, with the signatures of alloy-consensus' functions.

use alloy_eips::{eip2718::Encodable2718, eip4895::Withdrawal};
use alloy_primitives::B256;
use alloy_rlp::Encodable;
use lydite::evm::trie;

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
