//! Roots and proofs of Merkle Patricia tries.
//!
//! A root is computed from the leaves up. The nodes of a level are hashed in batches, so their hashes run in the lanes of
//! [`keccak256_batch`]. No tree is kept: only the reference (hash or short encoding) of each finished subtree.
//! [`incremental_root`] returns the branches, so that only the entries near changed keys are needed after a change.
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
//! assert_eq!(trie::ordered_root(&transactions), trie::EMPTY_ROOT);
//! ```

use alloc::vec::Vec;
use core::{
    cmp::{Ordering, Reverse},
    fmt, mem,
    ops::Range,
};

use lydite_bytes::{B256, FixedBytes};
use lydite_hash::{keccak256, keccak256_batch};

use crate::rlp::{Encode, Header};

mod incremental;
mod proof;
#[cfg(test)]
mod tests;

pub use incremental::{Branch, Part, incremental_root};
pub use proof::{Proof, ProofError, ordered_proofs, sorted_proofs, verify_proof};

/// Root of a trie without entries: the hash of the empty string's RLP encoding.
pub const EMPTY_ROOT: B256 = FixedBytes(lydite_hash::keccak256_const(&[0x80]));

/// Leaves are hashed once their encodings have this many bytes, so values are never all copied at once.
const CHUNK: usize = 128 << 10;

/// The reason why [`sorted_root`] rejects its entries, or [`incremental_root`] its parts.
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
    /// A branch's path has a byte above 15.
    Nibble {
        /// Index of the path.
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
            Self::Nibble { index } => write!(f, "path {index}: expected nibbles, at most 15"),
        }
    }
}

impl core::error::Error for Error {}

/// Computes the root of a list: the trie from the RLP encoding of each index to the value at that index, as in the
/// roots of a block's transactions, receipts and withdrawals. Values are stored as given, so transactions and receipts
/// are passed in their EIP-2718 encoding. An empty value is stored as an empty string, like in alloy-trie.
pub fn ordered_root<V: AsRef<[u8]>>(values: &[V]) -> B256 {
    ordered_entries(values, |entries| root(entries, &mut ()))
}

/// Calls a function with the sorted entries of a list.
fn ordered_entries<V: AsRef<[u8]>, R>(
    values: &[V],
    call: impl FnOnce(&[(&[u8], &[u8])]) -> R,
) -> R {
    // Index 0 is encoded as 0x80, which sorts between 0x7f and the two bytes of 128.
    let after_zero = values.len().min(128);
    let order = (1..after_zero)
        .chain(0..values.len().min(1))
        .chain(after_zero..values.len());
    let mut keys = Vec::new();
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
    call(&entries)
}

/// Computes the root of a trie from its entries `(key, value)`, sorted by key. Keys are stored as given: those of the
/// state and of an account's storage are hashes.
///
/// # Errors
///
/// [`Error`] with the index of the first entry whose key is not above the previous key or extends it, or whose value is
/// empty.
pub fn sorted_root(entries: &[(&[u8], &[u8])]) -> Result<B256, Error> {
    check(entries)?;
    Ok(root(entries, &mut ()))
}

/// Checks what [`sorted_root`] and [`incremental_root`] require of leaves.
fn check<L: Leaf>(leaves: &[L]) -> Result<(), Error> {
    for (index, leaf) in leaves.iter().enumerate() {
        if let Content::Value([]) = leaf.content() {
            return Err(Error::EmptyValue { index });
        }
        let Some(previous) = index.checked_sub(1).map(|before| &leaves[before]) else {
            continue;
        };
        let common = previous.nibbles().min(leaf.nibbles());
        match compare(previous.key(), leaf.key(), common) {
            Ordering::Less => {}
            Ordering::Equal if previous.nibbles() < leaf.nibbles() => {
                return Err(Error::Prefix { index });
            }
            _ => return Err(Error::Unsorted { index }),
        }
    }
    Ok(())
}

/// Compares the first nibbles of two keys, which both have.
fn compare(left: &[u8], right: &[u8], nibbles: usize) -> Ordering {
    let bytes = nibbles / 2;
    let last = |key| (nibbles % 2 == 1).then(|| nibble(key, nibbles - 1));
    let whole = left[..bytes].cmp(&right[..bytes]);
    whole.then_with(|| last(left).cmp(&last(right)))
}

/// A part from which a trie is computed: an entry, or a branch with a known hash.
trait Leaf {
    /// The key, or the path of a branch, filled up to whole bytes.
    fn key(&self) -> &[u8];

    fn content(&self) -> Content<'_>;

    /// Length of the key or path in nibbles.
    fn nibbles(&self) -> usize {
        match self.content() {
            Content::Value(_) => 2 * self.key().len(),
            Content::Branch(depth, _) => depth,
        }
    }
}

#[derive(Clone, Copy)]
enum Content<'a> {
    Value(&'a [u8]),
    /// A branch at this depth.
    Branch(usize, &'a B256),
}

impl Leaf for (&[u8], &[u8]) {
    fn key(&self) -> &[u8] {
        self.0
    }

    fn content(&self) -> Content<'_> {
        Content::Value(self.1)
    }
}

/// Receives the nodes of a trie while its root is computed, from the leaves up.
trait Watch {
    /// A node's encoding, before it is hashed. It has these leaves, the first of which has the key `first`. Its path
    /// starts at the nibble `start`.
    fn node(&mut self, _leaves: Range<usize>, _first: &[u8], _start: usize, _node: &[u8]) {}

    /// A branch, whose path is the first `depth` nibbles of the key.
    fn branch(&mut self, _key: &[u8], _depth: usize, _reference: &Reference) {}
}

impl Watch for () {}

/// The root of sorted leaves, none of whose keys is a prefix of another.
fn root<L: Leaf>(leaves: &[L], watch: &mut impl Watch) -> B256 {
    if leaves.is_empty() {
        return EMPTY_ROOT;
    }
    let mut level = Level::default();
    let mut subtrees = begin(leaves, &mut level, watch);
    while let Some(deepest) = subtrees[1..].iter().map(|subtree| subtree.left).max() {
        join(&mut subtrees, deepest, leaves, &mut level, watch);
    }
    subtrees[0].reference.hash()
}

/// A finished subtree.
#[derive(Clone, Copy)]
struct Subtree {
    /// Index of its first leaf.
    first: usize,
    /// One more than the number of nibbles that its keys share with the subtree to the left; 0 for the first subtree. The
    /// path of a child of the branch between the two starts at this nibble.
    left: usize,
    reference: Reference,
}

/// Start of a subtree's path: below the deeper of the two branches that separate it from its neighbours.
fn path_start(subtrees: &[Subtree], index: usize) -> usize {
    let right = subtrees.get(index + 1).map_or(0, |next| next.left);
    subtrees[index].left.max(right)
}

/// Makes a subtree of each leaf and hashes the leaves.
fn begin<L: Leaf>(leaves: &[L], level: &mut Level, watch: &mut impl Watch) -> Vec<Subtree> {
    let mut previous: Option<&[u8]> = None;
    let mut subtrees: Vec<Subtree> = leaves
        .iter()
        .enumerate()
        .map(|(first, leaf)| Subtree {
            first,
            left: previous
                .replace(leaf.key())
                .map_or(0, |previous| 1 + shared_nibbles(previous, leaf.key())),
            reference: Reference::EMPTY,
        })
        .collect();
    for (index, leaf) in leaves.iter().enumerate() {
        let start = path_start(&subtrees, index);
        match leaf.content() {
            Content::Value(value) => level.leaf(index, leaf.key(), start, value),
            Content::Branch(depth, hash) => {
                let reference = Reference::to(&hash.0);
                subtrees[index].reference = reference;
                if start == depth {
                    continue;
                }
                level.extension(index, leaf.key(), start..depth, &reference);
            }
        }
        watch.node(index..index + 1, leaf.key(), start, level.last());
        if level.encoded.len() >= CHUNK {
            level.hash(&mut subtrees);
        }
    }
    level.hash(&mut subtrees);
    subtrees
}

/// Joins the neighbours that are separated by branches at the deepest level, `left - 1`.
fn join<L: Leaf>(
    subtrees: &mut Vec<Subtree>,
    left: usize,
    leaves: &[L],
    level: &mut Level,
    watch: &mut impl Watch,
) {
    // The leaves of the subtrees `start..end`.
    let span = |subtrees: &[Subtree], start: usize, end: usize| {
        let next = subtrees.get(end).map_or(leaves.len(), |next| next.first);
        subtrees[start].first..next
    };
    let depth = left - 1;
    let mut branches = Vec::new();
    // Subtrees move to the front: `joined` are done, and the next one starts at `start`.
    let mut joined = 0;
    let mut start = 0;
    while start < subtrees.len() {
        let others = subtrees[start + 1..].iter();
        let end = start + 1 + others.take_while(|next| next.left == left).count();
        if end > start + 1 {
            let mut children = [Reference::EMPTY; 16];
            for child in &subtrees[start..end] {
                let key = leaves[child.first].key();
                children[usize::from(nibble(key, depth))] = child.reference;
            }
            level.branch(joined, &children);
            branches.push(joined);
            let span = span(subtrees, start, end);
            watch.node(span.clone(), leaves[span.start].key(), depth, level.last());
        }
        subtrees[joined] = subtrees[start];
        joined += 1;
        start = end;
    }
    subtrees.truncate(joined);
    level.hash(subtrees);

    for index in branches {
        let Subtree {
            first, reference, ..
        } = subtrees[index];
        let key = leaves[first].key();
        watch.branch(key, depth, &reference);
        let start = path_start(subtrees, index);
        if start < depth {
            level.extension(index, key, start..depth, &reference);
            watch.node(span(subtrees, index, index + 1), key, start, level.last());
        }
    }
    level.hash(subtrees);
}

/// Counts the nibbles that two keys share, neither of which is a prefix of the other.
fn shared_nibbles(left: &[u8], right: &[u8]) -> usize {
    let shared = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    2 * shared + usize::from(nibble(left, 2 * shared) == nibble(right, 2 * shared))
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

    fn to(hash: &[u8; 32]) -> Self {
        let mut bytes = [0xa0; 33];
        bytes[1..].copy_from_slice(hash);
        Self { bytes, len: 33 }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The hash of the node, as a root is always hashed.
    fn hash(&self) -> B256 {
        let mut hash = [0; 32];
        match self.len {
            33 => hash.copy_from_slice(&self.bytes[1..]),
            _ => hash = keccak256(self.as_bytes()),
        }
        FixedBytes(hash)
    }
}

/// Encodings of nodes that are hashed together. The buffers are reused from level to level.
#[derive(Default)]
struct Level {
    encoded: Vec<u8>,
    /// End of each encoding, and the index of its subtree.
    nodes: Vec<(usize, usize)>,
    /// The last path.
    path: Vec<u8>,
    /// The nodes of at least 32 bytes, as spans of `encoded`, in the order of hashing.
    long: Vec<(Range<usize>, usize)>,
    hashes: Vec<[u8; 32]>,
}

impl Level {
    fn leaf(&mut self, subtree: usize, key: &[u8], start: usize, value: &[u8]) {
        self.set_path(key, start..2 * key.len(), 0x20);
        self.list(self.path[..].encoded_len() + value.encoded_len());
        self.path[..].encode(&mut self.encoded);
        value.encode(&mut self.encoded);
        self.nodes.push((self.encoded.len(), subtree));
    }

    fn extension(&mut self, subtree: usize, key: &[u8], nibbles: Range<usize>, child: &Reference) {
        self.set_path(key, nibbles, 0);
        self.list(self.path[..].encoded_len() + child.as_bytes().len());
        self.path[..].encode(&mut self.encoded);
        self.encoded.extend_from_slice(child.as_bytes());
        self.nodes.push((self.encoded.len(), subtree));
    }

    fn branch(&mut self, subtree: usize, children: &[Reference; 16]) {
        let len: usize = children.iter().map(|child| child.as_bytes().len()).sum();
        self.list(len + 1);
        for child in children {
            self.encoded.extend_from_slice(child.as_bytes());
        }
        self.encoded.push(0x80);
        self.nodes.push((self.encoded.len(), subtree));
    }

    /// The encoding of the node added last.
    fn last(&self) -> &[u8] {
        let start = match self.nodes[..] {
            [.., (start, _), _] => start,
            _ => 0,
        };
        &self.encoded[start..]
    }

    fn list(&mut self, payload_len: usize) {
        let header = Header {
            list: true,
            payload_len,
        };
        header.encode(&mut self.encoded);
    }

    /// Encodes part of a key as a hex-prefix path (Yellow Paper, appendix C). `flags` is 0x20 for a leaf.
    fn set_path(&mut self, key: &[u8], nibbles: Range<usize>, flags: u8) {
        self.path.clear();
        let odd = nibbles.len() % 2;
        self.path.push(match odd {
            1 => flags | 0x10 | nibble(key, nibbles.start),
            _ => flags,
        });
        let pairs = (nibbles.start + odd..nibbles.end).step_by(2);
        self.path
            .extend(pairs.map(|index| nibble(key, index) << 4 | nibble(key, index + 1)));
    }

    /// Hashes the nodes, writes the references of their subtrees and starts again without nodes.
    fn hash(&mut self, subtrees: &mut [Subtree]) {
        let mut start = 0;
        for &(end, subtree) in &self.nodes {
            let span = mem::replace(&mut start, end)..end;
            if span.len() < 32 {
                let reference = &mut subtrees[subtree].reference;
                reference.bytes[..span.len()].copy_from_slice(&self.encoded[span.clone()]);
                reference.len = span.len() as u8;
            } else {
                self.long.push((span, subtree));
            }
        }
        self.long_first();
        let inputs: Vec<&[u8]> = self
            .long
            .iter()
            .map(|(span, _)| &self.encoded[span.clone()])
            .collect();
        self.hashes.resize(inputs.len(), [0; 32]);
        // Fails only if the lengths differ.
        let _ = keccak256_batch(&inputs, &mut self.hashes);
        for (hash, &(_, subtree)) in self.hashes.iter().zip(&self.long) {
            subtrees[subtree].reference = Reference::to(hash);
        }
        self.encoded.clear();
        self.nodes.clear();
        self.long.clear();
    }

    /// Moves the nodes far above the mean length to the front, the longest first. A long node that is hashed last runs
    /// with all other lanes idle.
    fn long_first(&mut self) {
        let limit = 4 * self.encoded.len() / self.nodes.len().max(1);
        let mut moved = 0;
        for index in 0..self.long.len() {
            if self.long[index].0.len() > limit {
                self.long.swap(moved, index);
                moved += 1;
            }
        }
        self.long[..moved].sort_unstable_by_key(|(span, _)| Reverse(span.len()));
    }
}
