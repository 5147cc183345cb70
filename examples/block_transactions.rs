//! Decode a block's transactions into alloy's types, and prove that the last one is part of the block.
//!
//! `cargo run -p lydite-examples --bin block_transactions < FILE`, with a raw transaction on each line

use std::error::Error;
use std::io;

use alloy_consensus::TxEip4844;
use lydite::bytes::hex;
use lydite::evm::{rlp, trie};

fn main() -> Result<(), Box<dyn Error>> {
    let mut raw = Vec::new();
    for line in io::stdin().lines() {
        raw.push(hex::decode(line?)?);
    }

    // Hashes and senders are computed in batches.
    for transaction in lydite_alloy::decode_transactions::<TxEip4844, _>(&raw)? {
        println!("{} from {}", transaction.tx_hash(), transaction.signer());
    }

    let last = raw.len().saturating_sub(1);
    let (root, proofs) = trie::ordered_proofs(&raw, &[last]);
    let key = rlp::encode(&(last as u64));
    let proven = trie::verify_proof(&root, &key, &proofs[0])?;
    assert_eq!(proven, raw.last().map(Vec::as_slice));
    println!("transactions root {}", hex::encode_prefixed(root));
    println!("nodes of the proof: {}", proofs[0].len());
    Ok(())
}
