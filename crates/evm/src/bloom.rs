//! Bloom filters of logs.
//!
//! A log's entries are its address (20 bytes) and its topics (32 bytes each). An entry sets three of 2,048 bits, named by
//! the first six bytes of its Keccak-256 hash. Entries are hashed in the lanes of [`keccak256_batch`], across logs and
//! receipts.
//!
//! Source: Ethereum Yellow Paper, section 4.3.1. Constant time: no, the data is public.
//!
//! ```
//! use lydite_evm::bloom;
//!
//! let (address, topic) = ([0x11; 20], [0x22; 32]);
//! let bloom = bloom::bloom([&address[..], &topic[..]]);
//! assert!(bloom::contains(&bloom, &address) && !bloom::contains(&bloom, &[0x33; 20]));
//! ```

use alloc::vec::Vec;
use core::iter;

use lydite_bytes::FixedBytes;
use lydite_hash::{keccak256, keccak256_batch};

/// A filter of 2,048 bits. Bit 0 is the lowest bit of the last byte.
pub type Bloom = FixedBytes<256>;

/// Entries hashed in one batch: a multiple of the lanes of every backend.
const BATCH: usize = 64;

/// Computes the filter of the entries of one receipt or of a whole block.
pub fn bloom<'a>(entries: impl IntoIterator<Item = &'a [u8]>) -> Bloom {
    let mut blooms = blooms(iter::once(entries));
    blooms.pop().unwrap_or(FixedBytes([0; 256]))
}

/// Computes the filter of each receipt from its entries. The block's filter is the OR of these.
pub fn blooms<'a, R: IntoIterator<Item = &'a [u8]>>(
    receipts: impl IntoIterator<Item = R>,
) -> Vec<Bloom> {
    let mut blooms = Vec::new();
    let mut entries = [&[][..]; BATCH];
    let mut receipt_of = [0; BATCH];
    let mut waiting = 0;
    for (receipt, receipt_entries) in receipts.into_iter().enumerate() {
        blooms.push(FixedBytes([0; 256]));
        for entry in receipt_entries {
            entries[waiting] = entry;
            receipt_of[waiting] = receipt;
            waiting += 1;
            if waiting == BATCH {
                add(&entries, &receipt_of, &mut blooms);
                waiting = 0;
            }
        }
    }
    add(&entries[..waiting], &receipt_of[..waiting], &mut blooms);
    blooms
}

/// Returns whether the filter may contain an entry. There are false positives, but no false negatives.
pub fn contains(bloom: &Bloom, entry: &[u8]) -> bool {
    bits(&keccak256(entry)).all(|bit| bloom.0[255 - bit / 8] >> (bit % 8) & 1 == 1)
}

fn add(entries: &[&[u8]], receipt_of: &[usize], blooms: &mut [Bloom]) {
    let mut hashes = [[0; 32]; BATCH];
    let hashes = &mut hashes[..entries.len()];
    // Fails only if the lengths differ.
    let _ = keccak256_batch(entries, hashes);
    for (hash, &receipt) in hashes.iter().zip(receipt_of) {
        for bit in bits(hash) {
            blooms[receipt].0[255 - bit / 8] |= 1 << (bit % 8);
        }
    }
}

/// The three bits of an entry: 11 bits of each of the first three big-endian 16-bit words of its hash.
fn bits(hash: &[u8; 32]) -> impl Iterator<Item = usize> {
    let words = [[hash[0], hash[1]], [hash[2], hash[3]], [hash[4], hash[5]]];
    words
        .into_iter()
        .map(|word| usize::from(u16::from_be_bytes(word) & 2047))
}
