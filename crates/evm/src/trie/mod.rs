//! Roots of Merkle Patricia tries.
//!
//! A root is computed from the leaves up. All nodes of a level are hashed in one batch, so their hashes run in the lanes
//! of [`keccak256_batch`]. No tree is kept: only the reference (hash or short encoding) of each finished subtree.
//!
//! Keys are counted in nibbles, values are the bytes stored at a leaf. Branches never have values, since no key is a
//! prefix of another.
//!
//! Source: Ethereum Yellow Paper, appendix D. Constant time: no, the data is public.
//!
//! ```
//! use lydite_evm::trie;
//!
//! let transactions: [&[u8]; 0] = [];
//! assert_eq!(trie::ordered_root(&transactions)?, trie::EMPTY_ROOT);
//! # Ok::<(), trie::Error>(())
//! ```

use alloc::vec::Vec;
use core::fmt;

use lydite_bytes::{B256, FixedBytes};
use lydite_hash::keccak256_batch;

use crate::rlp::{Encode, Header};

#[cfg(test)]
mod tests;

/// Root of a trie without entries: the hash of the empty string's RLP encoding.
pub const EMPTY_ROOT: B256 = FixedBytes(lydite_hash::keccak256_const(&[0x80]));

/// Encodings are hashed once this many bytes have accumulated, which bounds memory and stays in the L2 cache.
const CHUNK: usize = 128 << 10;

/// The reason why entries do not form a trie.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A key is not above the previous one.
    Unsorted {
        /// Index of the key.
        index: usize,
    },
    /// The previous key is a prefix of a key.
    Prefix {
        /// Index of the longer key.
        index: usize,
    },
    /// A value is empty, which means that its key is absent from the trie.
    EmptyValue {
        /// Index of the value.
        index: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsorted { index } => {
                write!(f, "key {index}: expected a key above the previous one")
            }
            Self::Prefix { index } => write!(f, "key {index}: the previous key is its prefix"),
            Self::EmptyValue { index } => {
                write!(f, "value {index}: expected at least 1 byte, found 0")
            }
        }
    }
}

impl core::error::Error for Error {}

/// Computes the root of a list: the trie from the RLP encoding of each index to the value at that index, as in the
/// roots of a block's transactions, receipts and withdrawals. Values are stored as given, so transactions and receipts
/// are passed in their EIP-2718 encoding.
///
/// # Errors
///
/// [`Error::EmptyValue`] if a value is empty.
pub fn ordered_root<V: AsRef<[u8]>>(values: &[V]) -> Result<B256, Error> {
    if let Some(index) = values.iter().position(|value| value.as_ref().is_empty()) {
        return Err(Error::EmptyValue { index });
    }
    // Index 0 is encoded as 0x80, which sorts between 0x7f and the two bytes of 128.
    let after_zero = values.len().min(128);
    let order = (1..after_zero)
        .chain(0..values.len().min(1))
        .chain(after_zero..values.len());
    // Up to 9 bytes: the length of an integer and its 8 bytes.
    let mut keys = Vec::with_capacity(2 * values.len() + 9);
    let mut spans = Vec::with_capacity(values.len());
    for index in order {
        let start = keys.len();
        (index as u64).encode(&mut keys);
        spans.push((start..keys.len(), index));
    }
    let entries: Vec<(&[u8], &[u8])> = spans
        .into_iter()
        .map(|(span, index)| (&keys[span], values[index].as_ref()))
        .collect();
    sorted_root(&entries)
}

/// Computes the root of a trie from its entries `(key, value)`, sorted by key. Keys are stored as given: those of the
/// state and of an account's storage are hashes.
///
/// # Errors
///
/// [`Error`] with the index of the first entry whose key is not above the previous key or extends it, or whose value is
/// empty.
pub fn sorted_root(entries: &[(&[u8], &[u8])]) -> Result<B256, Error> {
    if entries.is_empty() {
        return Ok(EMPTY_ROOT);
    }
    let mut subtrees = leaves(entries)?;
    while let Some(deepest) = subtrees[1..].iter().map(|subtree| subtree.left).max() {
        join(&mut subtrees, deepest, entries);
    }
    Ok(subtrees[0].reference.hash())
}

/// A subtree whose node is hashed.
#[derive(Clone, Copy)]
struct Subtree {
    /// Index of its first entry.
    first: usize,
    /// One more than the number of nibbles that its keys share with the subtree to the left, 0 if there is none. This is
    /// also where the path of a child starts below the branch that separates the two.
    left: usize,
    reference: Reference,
}

/// Start of a subtree's path: below the deeper of the two branches that separate it from its neighbours.
fn path_start(subtrees: &[Subtree], index: usize) -> usize {
    let right = subtrees.get(index + 1).map_or(0, |next| next.left);
    subtrees[index].left.max(right)
}

/// Validates the entries and hashes all leaves.
fn leaves(entries: &[(&[u8], &[u8])]) -> Result<Vec<Subtree>, Error> {
    let mut subtrees = Vec::with_capacity(entries.len());
    for (index, (key, value)) in entries.iter().enumerate() {
        if value.is_empty() {
            return Err(Error::EmptyValue { index });
        }
        let left = match index.checked_sub(1) {
            Some(previous) => 1 + shared_nibbles(entries[previous].0, key, index)?,
            None => 0,
        };
        subtrees.push(Subtree {
            first: index,
            left,
            reference: Reference::EMPTY,
        });
    }
    let mut level = Level::new(entries.len() == 1);
    for (index, (key, value)) in entries.iter().enumerate() {
        let start = path_start(&subtrees, index);
        level.leaf(index, key, start, value, &mut subtrees);
    }
    level.flush(&mut subtrees);
    Ok(subtrees)
}

/// Joins the neighbours that are separated by branches at the deepest level, `left - 1`.
fn join(subtrees: &mut Vec<Subtree>, left: usize, entries: &[(&[u8], &[u8])]) {
    let depth = left - 1;
    let mut branches = Vec::new();
    let mut joined = 0;
    let mut start = 0;
    // The branches are encoded before their references are written, since `level` writes to finished positions only.
    let mut level = Level::new(false);
    while start < subtrees.len() {
        let children = 1 + subtrees[start + 1..]
            .iter()
            .take_while(|next| next.left == left)
            .count();
        let first = subtrees[start];
        if children > 1 {
            level.root = children == subtrees.len() && depth == 0;
            let mut slots = [Reference::EMPTY; 16];
            for child in &subtrees[start..start + children] {
                slots[usize::from(nibble(entries[child.first].0, depth))] = child.reference;
            }
            subtrees[joined] = first;
            level.branch(joined, &slots, subtrees);
            branches.push(joined);
        } else {
            subtrees[joined] = first;
        }
        joined += 1;
        start += children;
    }
    level.flush(subtrees);
    subtrees.truncate(joined);

    let mut level = Level::new(joined == 1);
    for index in branches {
        let start = path_start(subtrees, index);
        if start < depth {
            let Subtree {
                first, reference, ..
            } = subtrees[index];
            level.extension(index, entries[first].0, start..depth, &reference, subtrees);
        }
    }
    level.flush(subtrees);
}

/// Counts the nibbles that two neighbouring keys share.
fn shared_nibbles(previous: &[u8], key: &[u8], index: usize) -> Result<usize, Error> {
    let shared = previous
        .iter()
        .zip(key)
        .take_while(|(left, right)| left == right)
        .count();
    match (previous.get(shared), key.get(shared)) {
        (Some(left), Some(right)) if left < right => {
            Ok(2 * shared + usize::from(left >> 4 == right >> 4))
        }
        (None, Some(_)) => Err(Error::Prefix { index }),
        _ => Err(Error::Unsorted { index }),
    }
}

fn nibble(key: &[u8], index: usize) -> u8 {
    let byte = key[index / 2];
    if index.is_multiple_of(2) {
        byte >> 4
    } else {
        byte & 15
    }
}

/// How a parent refers to a node: its encoding if that is shorter than 32 bytes, else the RLP string of its hash.
#[derive(Clone, Copy)]
struct Reference {
    bytes: [u8; 33],
    len: u8,
}

impl Reference {
    /// A branch's missing child: the empty string.
    const EMPTY: Self = {
        let mut bytes = [0; 33];
        bytes[0] = 0x80;
        Self { bytes, len: 1 }
    };

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The hash of a node that is referred to by hash, as a root always is.
    fn hash(&self) -> B256 {
        let mut hash = [0; 32];
        hash.copy_from_slice(&self.bytes[1..]);
        FixedBytes(hash)
    }
}

/// Encodings of nodes that wait to be hashed together.
struct Level {
    encoded: Vec<u8>,
    /// End of each encoding, and the index of its subtree.
    nodes: Vec<(usize, usize)>,
    /// Whether the node is the root, which is referred to by hash even if short.
    root: bool,
}

impl Level {
    fn new(root: bool) -> Self {
        Self {
            encoded: Vec::new(),
            nodes: Vec::new(),
            root,
        }
    }

    fn leaf(
        &mut self,
        subtree: usize,
        key: &[u8],
        start: usize,
        value: &[u8],
        subtrees: &mut [Subtree],
    ) {
        let path = Path {
            key,
            nibbles: start..2 * key.len(),
            leaf: true,
        };
        self.list(path.encoded_len() + value.encoded_len());
        path.encode(&mut self.encoded);
        value.encode(&mut self.encoded);
        self.finish(subtree, subtrees);
    }

    fn extension(
        &mut self,
        subtree: usize,
        key: &[u8],
        nibbles: core::ops::Range<usize>,
        child: &Reference,
        subtrees: &mut [Subtree],
    ) {
        let path = Path {
            key,
            nibbles,
            leaf: false,
        };
        self.list(path.encoded_len() + child.as_bytes().len());
        path.encode(&mut self.encoded);
        self.encoded.extend_from_slice(child.as_bytes());
        self.finish(subtree, subtrees);
    }

    fn branch(&mut self, subtree: usize, children: &[Reference; 16], subtrees: &mut [Subtree]) {
        let len: usize = children.iter().map(|child| child.as_bytes().len()).sum();
        self.list(len + 1);
        for child in children {
            self.encoded.extend_from_slice(child.as_bytes());
        }
        self.encoded.push(0x80);
        self.finish(subtree, subtrees);
    }

    fn list(&mut self, payload_len: usize) {
        let header = Header {
            list: true,
            payload_len,
        };
        header.encode(&mut self.encoded);
    }

    fn finish(&mut self, subtree: usize, subtrees: &mut [Subtree]) {
        self.nodes.push((self.encoded.len(), subtree));
        if self.encoded.len() >= CHUNK {
            self.flush(subtrees);
        }
    }

    /// Hashes the nodes and writes the references of their subtrees.
    fn flush(&mut self, subtrees: &mut [Subtree]) {
        let mut start = 0;
        let inputs: Vec<&[u8]> = self
            .nodes
            .iter()
            .map(|&(end, _)| &self.encoded[core::mem::replace(&mut start, end)..end])
            .collect();
        let mut hashes = alloc::vec![[0; 32]; inputs.len()];
        // Both have the same length.
        let _ = keccak256_batch(&inputs, &mut hashes);
        for ((encoded, hash), &(_, subtree)) in inputs.iter().zip(&hashes).zip(&self.nodes) {
            let reference = &mut subtrees[subtree].reference;
            if encoded.len() < 32 && !self.root {
                reference.bytes[..encoded.len()].copy_from_slice(encoded);
                reference.len = encoded.len() as u8;
            } else {
                reference.bytes[0] = 0xa0;
                reference.bytes[1..].copy_from_slice(hash);
                reference.len = 33;
            }
        }
        self.encoded.clear();
        self.nodes.clear();
    }
}

/// Part of a key in hex-prefix encoding (Yellow Paper, appendix C), as an RLP string.
struct Path<'a> {
    key: &'a [u8],
    nibbles: core::ops::Range<usize>,
    leaf: bool,
}

impl Path<'_> {
    fn len(&self) -> usize {
        1 + self.nibbles.len() / 2
    }

    fn encoded_len(&self) -> usize {
        match self.len() {
            // The flags are below 0x80.
            1 => 1,
            payload_len => self.header(payload_len).encoded_len() + payload_len,
        }
    }

    fn header(&self, payload_len: usize) -> Header {
        Header {
            list: false,
            payload_len,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let len = self.len();
        if len > 1 {
            self.header(len).encode(out);
        }
        let odd = self.nibbles.len() % 2;
        let mut flags = 0x20 * u8::from(self.leaf);
        if odd == 1 {
            flags |= 0x10 | nibble(self.key, self.nibbles.start);
        }
        out.push(flags);
        let mut index = self.nibbles.start + odd;
        while index < self.nibbles.end {
            out.push(nibble(self.key, index) << 4 | nibble(self.key, index + 1));
            index += 2;
        }
    }
}
