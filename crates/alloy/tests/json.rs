//! Transactions as JSON-RPC's objects, compared with alloy-consensus.

#![allow(clippy::unwrap_used, clippy::panic)]

use alloy_consensus::TxEnvelope;
use alloy_eips::eip2718::{Decodable2718, Encodable2718};
use lydite::{bytes::hex, evm::tx::Transaction};
// Defines the symbol for Keccak-256.
use lydite_alloy as _;
use serde_json::Value;

/// The raw transactions of vectors/tx, which have all types.
fn raw_transactions() -> Vec<Vec<u8>> {
    let read = |name: &str| -> Value {
        let path = format!("{}/vectors/tx/{name}", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    };
    let (blocks, generated) = (read("hoodi_772457_772461.json"), read("generated.json"));
    let generated = generated["transactions"].as_array().unwrap();
    let all = blocks.as_array().unwrap().iter().chain(generated);
    all.map(|transaction| hex::decode(transaction["raw"].as_str().unwrap()).unwrap())
        .collect()
}

#[test]
fn objects_equal_those_of_alloy() {
    let mut types = [0; 5];
    for raw in raw_transactions() {
        let ours = Transaction::decode(&raw).unwrap();
        let theirs = TxEnvelope::decode_2718_exact(&raw).unwrap();
        let object = serde_json::to_value(&ours).unwrap();
        assert_eq!(object, serde_json::to_value(&theirs).unwrap());

        let read: Transaction = serde_json::from_value(object.clone()).unwrap();
        assert_eq!(read, ours);
        let read: TxEnvelope = serde_json::from_value(object).unwrap();
        assert_eq!(read.encoded_2718(), raw);
        types[ours.kind() as usize] += 1;
    }
    assert!(types.iter().all(|count| *count > 0), "{types:?}");
}
