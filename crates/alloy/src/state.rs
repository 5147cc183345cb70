//! Roots of the state and of an account's storage, with the signatures of alloy-trie's functions, and blooms of
//! logs and receipts.

use alloy_consensus::{ReceiptWithBloom, TrieAccount, TxReceipt};
use alloy_primitives::{Address, B256, Bloom, Log, U256};
use alloy_rlp::Encodable;
use lydite::{
    evm::{bloom, trie},
    hash::keccak256_batch,
};

/// Computes the root of an account's storage. Hashes all slots in one batch.
///
/// # Panics
///
/// If two slots are equal.
pub fn storage_root_unhashed(storage: impl IntoIterator<Item = (B256, U256)>) -> B256 {
    storage_root_unsorted(hash_keys(storage))
}

/// Computes the root of an account's storage from hashed slots in any order.
///
/// # Panics
///
/// If two slots are equal.
pub fn storage_root_unsorted(storage: impl IntoIterator<Item = (B256, U256)>) -> B256 {
    storage_root(sort(storage))
}

/// Computes the root of an account's storage from sorted hashed slots. Values of 0 are stored, like in alloy-trie.
///
/// # Panics
///
/// If a slot is not above the previous one.
pub fn storage_root(storage: impl IntoIterator<Item = (B256, U256)>) -> B256 {
    root(storage, |value, out| value.encode(out))
}

/// Computes the state root from references to accounts. Hashes all addresses in one batch.
///
/// # Panics
///
/// If two addresses are equal.
pub fn state_root_ref_unhashed<'a, A: Into<TrieAccount> + Clone + 'a>(
    state: impl IntoIterator<Item = (&'a Address, &'a A)>,
) -> B256 {
    state_root_unsorted(hash_keys(
        state
            .into_iter()
            .map(|(address, account)| (*address, account.clone())),
    ))
}

/// Computes the state root. Hashes all addresses in one batch.
///
/// # Panics
///
/// If two addresses are equal.
pub fn state_root_unhashed<A: Into<TrieAccount>>(
    state: impl IntoIterator<Item = (Address, A)>,
) -> B256 {
    state_root_unsorted(hash_keys(state))
}

/// Computes the state root from hashed addresses in any order.
///
/// # Panics
///
/// If two addresses are equal.
pub fn state_root_unsorted<A: Into<TrieAccount>>(
    state: impl IntoIterator<Item = (B256, A)>,
) -> B256 {
    state_root(sort(state))
}

/// Computes the state root from sorted hashed addresses.
///
/// # Panics
///
/// If an address is not above the previous one.
pub fn state_root<A: Into<TrieAccount>>(state: impl IntoIterator<Item = (B256, A)>) -> B256 {
    root(state, |account, out| account.into().encode(out))
}

/// Computes the bloom filter of logs, like `alloy_primitives::logs_bloom`.
pub fn logs_bloom<'a>(logs: impl IntoIterator<Item = &'a Log>) -> Bloom {
    Bloom::new(bloom::bloom(entries(logs)).0)
}

/// Computes the bloom filter of each receipt from its logs, in batches across receipts.
pub fn logs_blooms<'a, L: IntoIterator<Item = &'a Log>>(
    receipts: impl IntoIterator<Item = L>,
) -> Vec<Bloom> {
    let blooms = bloom::blooms(receipts.into_iter().map(entries));
    blooms
        .into_iter()
        .map(|bloom| Bloom::new(bloom.0))
        .collect()
}

/// Computes the bloom filters of a block's receipts in batches, as `calculate_receipt_root` needs them. Replaces
/// `with_bloom_ref` for each receipt.
pub fn receipts_with_bloom<R: TxReceipt<Log = Log>>(receipts: &[R]) -> Vec<ReceiptWithBloom<&R>> {
    let blooms = logs_blooms(receipts.iter().map(TxReceipt::logs));
    let receipts = receipts.iter().zip(blooms);
    receipts
        .map(|(receipt, bloom)| ReceiptWithBloom::new(receipt, bloom))
        .collect()
}

fn entries<'a>(logs: impl IntoIterator<Item = &'a Log>) -> impl Iterator<Item = &'a [u8]> {
    logs.into_iter().flat_map(|log| {
        let topics = log.topics().iter().map(|topic| topic.as_slice());
        std::iter::once(log.address.as_slice()).chain(topics)
    })
}

fn hash_keys<K: AsRef<[u8]>, V>(entries: impl IntoIterator<Item = (K, V)>) -> Vec<(B256, V)> {
    let (keys, values): (Vec<K>, Vec<V>) = entries.into_iter().unzip();
    let inputs: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
    let mut hashes = vec![[0; 32]; inputs.len()];
    // Fails only if the lengths differ.
    let _ = keccak256_batch(&inputs, &mut hashes);
    hashes.into_iter().map(B256::new).zip(values).collect()
}

fn sort<V>(entries: impl IntoIterator<Item = (B256, V)>) -> Vec<(B256, V)> {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

#[allow(clippy::panic)] // the contract of alloy-trie's functions
fn root<V>(entries: impl IntoIterator<Item = (B256, V)>, encode: impl Fn(V, &mut Vec<u8>)) -> B256 {
    let mut encoded = Vec::new();
    let mut spans = Vec::new();
    for (key, value) in entries {
        let start = encoded.len();
        encode(value, &mut encoded);
        spans.push((key, start..encoded.len()));
    }
    let entries: Vec<(&[u8], &[u8])> = spans
        .iter()
        .map(|(key, span)| (key.as_slice(), &encoded[span.clone()]))
        .collect();
    match trie::sorted_root(&entries) {
        Ok(root) => B256::new(root.0),
        Err(error) => panic!("{error}"),
    }
}
