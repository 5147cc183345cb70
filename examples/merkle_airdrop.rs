//! Build an airdrop's Merkle tree for OpenZeppelin's `MerkleProof`: leaves are hashed twice, pairs are sorted.

use std::error::Error;

use lydite::bytes::{Address, U256, hex};
use lydite::evm::abi;
use lydite::hash::{keccak256, keccak256_batch};

/// The preimage of a parent: two nodes, the smaller one first.
fn sorted(a: [u8; 32], b: [u8; 32]) -> [u8; 64] {
    let (low, high) = (a.min(b), a.max(b));
    std::array::from_fn(|i| if i < 32 { low[i] } else { high[i - 32] })
}

fn parents(level: &[[u8; 32]]) -> Result<Vec<[u8; 32]>, Box<dyn Error>> {
    let (pairs, _) = level.as_chunks::<2>();
    let pairs: Vec<[u8; 64]> = pairs.iter().map(|[a, b]| sorted(*a, *b)).collect();
    let inputs: Vec<&[u8]> = pairs.iter().map(<[u8; 64]>::as_slice).collect();
    let mut hashes = vec![[0; 32]; inputs.len()];
    keccak256_batch(&inputs, &mut hashes)?;
    Ok(hashes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let leaf = |i: u8| abi::encode(&(Address::from([i; 20]), U256::from(1000 + u64::from(i))));
    let leaves = (0..128).map(|i| keccak256(&keccak256(&leaf(i))));
    let mut level: Vec<[u8; 32]> = leaves.collect();
    // Receiver 5 proves its share: the contract hashes its leaf with one sibling per level.
    let (mut index, mut node) = (5, level[5]);
    while level.len() > 1 {
        node = keccak256(&sorted(node, level[index ^ 1]));
        (level, index) = (parents(&level)?, index / 2);
    }
    assert_eq!(node, level[0]);
    println!("root {}", hex::encode_prefixed(level[0]));
    Ok(())
}
