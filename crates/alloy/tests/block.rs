//! Compares roots with alloy-trie, and senders of a list with alloy's one by one.
#![allow(clippy::unwrap_used, clippy::panic)]

use alloy_consensus::{
    EthereumReceipt, Signed, TrieAccount, TxEip4844Variant, TxEip4844WithSidecar, TxEnvelope,
    TxReceipt, TxType, proofs,
    transaction::{Recovered, SignerRecoverable},
};
use alloy_eips::{
    eip2718::{Decodable2718, Encodable2718},
    eip4895::Withdrawal,
    eip7594::BlobTransactionSidecarVariant,
};
use alloy_primitives::{Address, B256, Bytes, Log, LogData, U256, logs_bloom};
use alloy_trie::{
    HashBuilder, Nibbles,
    proof::{ProofRetainer, verify_proof},
};
use lydite::{bytes::hex, evm::trie};
use lydite_alloy as ours;
use proptest::prelude::*;

/// The root by alloy-trie, which has no code in common with ours except Keccak-256.
fn reference(entries: &[(&[u8], &[u8])]) -> [u8; 32] {
    let mut builder = HashBuilder::default();
    for (key, value) in entries {
        builder.add_leaf(Nibbles::unpack(key), value);
    }
    builder.root().0
}

#[test]
fn lists_of_every_length() {
    let values: Vec<Vec<u8>> = (0..1_100usize)
        .map(|i| vec![i as u8; 1 + i * 7 % 90])
        .collect();
    let lengths = (0..300).chain([511, 512, 513, 1_000, 1_100]);
    for len in lengths {
        let values = &values[..len];
        assert_eq!(
            ours::ordered_trie_root_encoded(values),
            proofs::ordered_trie_root_encoded(values),
            "{len} items"
        );
    }
    let values: [&[u8]; 3] = [b"", b"a", b""];
    assert_eq!(
        ours::ordered_trie_root_encoded(&values),
        proofs::ordered_trie_root_encoded(&values)
    );
}

/// Indices of three bytes, and more than one chunk of hashes.
#[test]
fn long_list() {
    let values: Vec<[u8; 40]> = (0..70_000u32)
        .map(|i| {
            let mut value = [1; 40];
            value[..4].copy_from_slice(&i.to_be_bytes());
            value
        })
        .collect();
    assert_eq!(
        ours::ordered_trie_root_encoded(&values),
        proofs::ordered_trie_root_encoded(&values)
    );
}

#[test]
fn large_values() {
    let values: Vec<Vec<u8>> = (1..20).map(|i| vec![i as u8; i * 17_000]).collect();
    assert_eq!(
        ours::ordered_trie_root_encoded(&values),
        proofs::ordered_trie_root_encoded(&values)
    );
}

/// The envelopes of generated transactions, and those of some blocks.
fn envelopes() -> [Vec<Vec<u8>>; 2] {
    let read = |name: &str| -> serde_json::Value {
        let path = format!("{}/vectors/tx/{name}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let raw = |vector: &serde_json::Value| hex::decode(vector["raw"].as_str().unwrap()).unwrap();
    [
        &read("generated")["transactions"],
        &read("hoodi_772457_772461"),
    ]
    .map(|vectors| vectors.as_array().unwrap().iter().map(raw).collect())
}

/// Hash and sender of each envelope by alloy.
fn by_alloy(raw: &[Vec<u8>]) -> Option<Vec<(B256, Address)>> {
    let all = raw.iter().map(|raw| {
        let transaction = TxEnvelope::decode_2718_exact(raw).ok()?;
        Some((*transaction.tx_hash(), transaction.recover_signer().ok()?))
    });
    all.collect()
}

fn by_ours(raw: &[Vec<u8>]) -> Option<Vec<(B256, Address)>> {
    let decoded: Vec<Recovered<TxEnvelope>> = ours::decode_transactions(raw).ok()?;
    for (transaction, raw) in decoded.iter().zip(raw) {
        assert_eq!(
            transaction.inner(),
            &TxEnvelope::decode_2718_exact(raw).unwrap()
        );
    }
    let all = decoded
        .into_iter()
        .map(|transaction| (*transaction.tx_hash(), transaction.signer()));
    Some(all.collect())
}

#[test]
fn decoded_transactions() {
    for raw in envelopes() {
        let valid = |raw: &Vec<u8>| by_alloy(std::slice::from_ref(raw)).is_some();
        let (valid, invalid): (Vec<_>, Vec<_>) = raw.into_iter().partition(valid);
        assert!(valid.len() > 16);
        assert_eq!(by_ours(&valid), by_alloy(&valid));
        for raw in invalid {
            let error =
                ours::decode_transactions::<TxEip4844Variant, _>(&[&valid[0], &raw]).unwrap_err();
            assert_eq!(error.to_string(), "transaction 1: invalid signature");
        }
        let error = ours::decode_transactions::<TxEip4844Variant, _>(&[&valid[0][..], &[2, 0x80]])
            .unwrap_err();
        assert_eq!(error.to_string(), "transaction 1: unexpected string");
    }
}

/// Encodings that alloy accepts although they are not those of a block.
#[test]
fn decoded_pooled_transactions() {
    let [raw, _] = envelopes();
    let blob = raw.iter().find(|raw| raw[0] == 3).unwrap();
    let transaction = TxEnvelope::decode_2718_exact(blob).unwrap();
    let TxEnvelope::Eip4844(signed) = transaction else {
        panic!("type 3")
    };
    let with_sidecar = TxEip4844WithSidecar::from_tx_and_sidecar(
        signed.tx().tx().clone(),
        BlobTransactionSidecarVariant::default(),
    );
    let pooled = TxEnvelope::from(Signed::new_unhashed(
        TxEip4844Variant::from(with_sidecar),
        *signed.signature(),
    ))
    .encoded_2718();
    assert_ne!(&pooled, blob);
    let envelope = TxEnvelope::decode_2718_exact(&pooled).unwrap();
    assert!(lydite_alloy::to_transaction(&envelope).is_err());
    let both = [pooled, blob.clone()];
    assert_eq!(by_ours(&both), by_alloy(&both));
    let [first, second] = by_ours(&both).unwrap()[..] else {
        panic!("two transactions")
    };
    assert_eq!(first, second);
}

#[test]
fn blocks() {
    for raw in envelopes() {
        let decode = |raw: &Vec<u8>| TxEnvelope::decode_2718_exact(raw).unwrap();
        let all: Vec<TxEnvelope> = raw.iter().map(decode).collect();
        assert!(all.len() > 16);
        assert_eq!(
            ours::calculate_transaction_root(&all),
            proofs::calculate_transaction_root(&all)
        );
        assert_eq!(
            ours::calculate_receipt_root(&all),
            proofs::calculate_receipt_root(&all)
        );
        let (valid, invalid): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|tx| tx.recover_signer().is_ok());
        let senders: Vec<Address> = valid
            .iter()
            .map(|tx| tx.recover_signer().unwrap())
            .collect();
        assert_eq!(ours::recover_signers(&valid).unwrap(), senders);
        for tx in invalid {
            assert!(ours::recover_signers(&[valid[0].clone(), tx]).is_err());
        }
    }
}

#[test]
fn withdrawals() {
    let withdrawals: Vec<Withdrawal> = (0..16)
        .map(|index| Withdrawal {
            index,
            validator_index: index * 31,
            address: Address::repeat_byte(index as u8),
            amount: 1 << (2 * index),
        })
        .collect();
    assert_eq!(
        ours::calculate_withdrawals_root(&withdrawals),
        proofs::calculate_withdrawals_root(&withdrawals)
    );
}

/// Neighbouring keys share one nibble more at a time: a branch at every depth.
#[test]
fn deepest_trie() {
    let mut keys: Vec<[u8; 32]> = (0..64)
        .map(|depth| {
            let mut key = [0; 32];
            key[depth / 2] = if depth % 2 == 0 { 0x10 } else { 0x01 };
            key
        })
        .collect();
    keys.sort_unstable();
    let entries: Vec<(&[u8], &[u8])> = keys.iter().map(|key| (&key[..], &b"value"[..])).collect();
    assert_eq!(trie::sorted_root(&entries).unwrap().0, reference(&entries));
}

/// Keys of one length that share long prefixes: few distinct bytes make extensions and deep branches likely.
fn keys() -> impl Strategy<Value = std::collections::BTreeMap<Vec<u8>, Vec<u8>>> {
    let byte = prop_oneof![Just(0u8), Just(1), Just(0x10), any::<u8>()];
    (1usize..33).prop_flat_map(move |len| {
        prop::collection::btree_map(
            prop::collection::vec(byte.clone(), len),
            prop::collection::vec(any::<u8>(), 1..120),
            0..200,
        )
    })
}

proptest! {
    #[test]
    fn sorted_maps(map in keys()) {
        let entries: Vec<(&[u8], &[u8])> = map.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        prop_assert_eq!(trie::sorted_root(&entries).unwrap().0, reference(&entries));
    }

    /// Proofs of hashed keys, as in EIP-1186: those of alloy-trie.
    #[test]
    fn proofs(map in prop::collection::btree_map(any::<[u8; 32]>(), prop::collection::vec(any::<u8>(), 1..60), 1..100), other: [u8; 32]) {
        let entries: Vec<(&[u8], &[u8])> = map.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        let keys: Vec<&[u8]> = map.keys().chain([&other]).map(|key| &key[..]).collect();
        let (root, proofs) = trie::sorted_proofs(&entries, &keys).unwrap();
        for (key, proof) in keys.into_iter().zip(proofs) {
            let path = Nibbles::unpack(key);
            let retainer = ProofRetainer::new(vec![path]);
            let mut builder = HashBuilder::default().with_proof_retainer(retainer);
            for (key, value) in &entries {
                builder.add_leaf(Nibbles::unpack(key), value);
            }
            prop_assert_eq!(builder.root().0, root.0);
            let nodes = builder.take_proof_nodes().into_nodes_sorted();
            let expected: Vec<Vec<u8>> = nodes.into_iter().map(|(_, node)| node.to_vec()).collect();
            prop_assert_eq!(&proof, &expected);
            let proof: Vec<Bytes> = proof.into_iter().map(Bytes::from).collect();
            let value = entries.iter().find(|entry| entry.0 == key).map(|entry| entry.1.to_vec());
            prop_assert!(verify_proof(B256::new(root.0), path, value, &proof).is_ok());
        }
    }

    /// Branches in place of the entries below them, as stored tries are read by reth.
    #[test]
    fn branches(map in keys(), replaced in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let parts: Vec<trie::Part<'_>> = map.iter().map(|(key, value)| trie::Part::Entry(key, value)).collect();
        let (root, branches) = trie::incremental_root(&parts).unwrap();
        let mut stored: Vec<&trie::Branch> = Vec::new();
        if !branches.is_empty() {
            for branch in replaced.iter().map(|index| index.get(&branches)) {
                stored.retain(|other| !other.path.starts_with(&branch.path));
                if !stored.iter().any(|other| branch.path.starts_with(&other.path)) {
                    stored.push(branch);
                }
            }
        }
        let mut parts: Vec<(Nibbles, trie::Part<'_>)> = stored
            .iter()
            .map(|branch| (Nibbles::from_nibbles(&branch.path), trie::Part::Branch(&branch.path, &branch.hash)))
            .collect();
        for (key, value) in &map {
            let path = Nibbles::unpack(key);
            if !parts.iter().any(|(branch, _)| path.starts_with(branch)) {
                parts.push((path, trie::Part::Entry(key, value)));
            }
        }
        parts.sort_by_key(|(path, _)| *path);
        let mut builder = HashBuilder::default();
        for (path, part) in &parts {
            match part {
                trie::Part::Entry(_, value) => builder.add_leaf(*path, value),
                trie::Part::Branch(_, hash) => builder.add_branch(*path, B256::new(hash.0), false),
            }
        }
        let parts: Vec<trie::Part<'_>> = parts.into_iter().map(|(_, part)| part).collect();
        prop_assert_eq!(trie::incremental_root(&parts).unwrap().0, root);
        prop_assert_eq!(builder.root().0, root.0);
    }

    /// Values of 1 to 4 bytes: nodes that are part of their parents at several levels.
    #[test]
    fn short_values(map in prop::collection::btree_map(any::<[u8; 2]>(), prop::collection::vec(any::<u8>(), 1..5), 0..60)) {
        let entries: Vec<(&[u8], &[u8])> = map.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        prop_assert_eq!(trie::sorted_root(&entries).unwrap().0, reference(&entries));
    }
}

fn logs() -> impl Strategy<Value = Vec<Log>> {
    let log = (
        any::<[u8; 20]>(),
        prop::collection::vec(any::<[u8; 32]>(), 0..5),
    );
    prop::collection::vec(log, 0..20).prop_map(|logs| {
        let log = |(address, topics): ([u8; 20], Vec<[u8; 32]>)| Log {
            address: Address::new(address),
            data: LogData::new_unchecked(topics.into_iter().map(B256::new).collect(), Bytes::new()),
        };
        logs.into_iter().map(log).collect()
    })
}

proptest! {
    /// A changed byte: the same transaction, or an error, as in alloy.
    #[test]
    fn changed_transactions(index: prop::sample::Index, position: prop::sample::Index, byte: u8) {
        let [mut raw, _] = envelopes();
        raw.truncate(40);
        let raw = &mut raw[index.index(40)..][..1];
        let at = position.index(raw[0].len());
        raw[0][at] = byte;
        prop_assert_eq!(by_ours(raw), by_alloy(raw));
    }

    #[test]
    fn storage_roots(storage in prop::collection::btree_map(any::<[u8; 32]>(), any::<[u8; 32]>(), 0..100), shift in 0..256usize) {
        let storage: Vec<(B256, U256)> = storage
            .into_iter()
            .map(|(slot, value)| (B256::new(slot), U256::from_be_bytes(value) >> shift))
            .collect();
        let expected = alloy_trie::root::storage_root_unhashed(storage.iter().copied());
        prop_assert_eq!(ours::storage_root_unhashed(storage.iter().copied()), expected);
        let unsorted = storage.iter().rev().copied();
        prop_assert_eq!(ours::storage_root_unsorted(unsorted), proofs::storage_root(storage.iter().copied()));
    }

    #[test]
    fn state_roots(state in prop::collection::btree_map(any::<[u8; 20]>(), (any::<u64>(), any::<u128>(), any::<[u8; 32]>()), 0..100)) {
        let state: Vec<(Address, TrieAccount)> = state
            .into_iter()
            .map(|(address, (nonce, balance, hash))| {
                let account = TrieAccount {
                    nonce,
                    balance: U256::from(balance),
                    storage_root: B256::new(hash),
                    code_hash: B256::new(hash),
                };
                (Address::new(address), account)
            })
            .collect();
        let expected = proofs::state_root_unhashed(state.iter().copied());
        prop_assert_eq!(ours::state_root_unhashed(state.iter().copied()), expected);
        let references = || state.iter().map(|(address, account)| (address, account));
        prop_assert_eq!(ours::state_root_ref_unhashed(references()), expected);
    }

    /// Compares with alloy receipt by receipt, so no filter depends on the rest of its batch.
    #[test]
    fn blooms(receipts in prop::collection::vec(logs(), 0..20)) {
        let expected: Vec<_> = receipts.iter().map(logs_bloom).collect();
        prop_assert_eq!(ours::logs_blooms(&receipts), expected);
        let all = || receipts.iter().flatten();
        prop_assert_eq!(ours::logs_bloom(all()), logs_bloom(all()));

        let receipt = |logs: &Vec<Log>| EthereumReceipt::<TxType> { logs: logs.clone(), ..Default::default() };
        let receipts: Vec<_> = receipts.iter().map(receipt).collect();
        let expected: Vec<_> = receipts.iter().map(TxReceipt::with_bloom_ref).collect();
        prop_assert_eq!(ours::receipts_with_bloom(&receipts), expected);
    }

    /// One long value among short ones, at every position of a batch.
    #[test]
    fn long_value(len in 1..200usize, position: prop::sample::Index, long in 500..20_000usize) {
        let mut values: Vec<Vec<u8>> = (0..len).map(|i| vec![i as u8; 1 + i % 130]).collect();
        values[position.index(len)] = vec![7; long];
        prop_assert_eq!(ours::ordered_trie_root_encoded(&values), proofs::ordered_trie_root_encoded(&values));
    }
}
