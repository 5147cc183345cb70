//! Proofs that a key has a value in a trie, or none.

use alloc::{vec, vec::Vec};
use core::{fmt, ops::Range};

use lydite_bytes::B256;
use lydite_hash::keccak256;

use super::{EMPTY_ROOT, Error, Watch, check, nibble, ordered_entries, root};
use crate::rlp::{self, Reader};

/// The encodings of the nodes on the path of a key, from the root down, as in EIP-1186. A node shorter than 32 bytes is
/// part of its parent and is not listed. The proof of an empty trie has no nodes.
pub type Proof = Vec<Vec<u8>>;

/// Computes the root of a trie like [`sorted_root`](super::sorted_root), and the proof of each key, in the order of
/// `keys`. For a key that is not in the trie, the proof shows its absence.
///
/// # Errors
///
/// [`Error`], like `sorted_root`.
///
/// ```
/// use lydite_evm::trie;
///
/// let entries: [(&[u8], &[u8]); 2] = [(b"cat", b"meow"), (b"dog", b"woof")];
/// let (root, proofs) = trie::sorted_proofs(&entries, &[b"dog", b"cow"])?;
/// assert_eq!(trie::verify_proof(&root, b"dog", &proofs[0]), Ok(Some(&b"woof"[..])));
/// assert_eq!(trie::verify_proof(&root, b"cow", &proofs[1]), Ok(None));
/// # Ok::<(), trie::Error>(())
/// ```
pub fn sorted_proofs(
    entries: &[(&[u8], &[u8])],
    keys: &[&[u8]],
) -> Result<(B256, Vec<Proof>), Error> {
    check(entries)?;
    Ok(prove(entries, keys))
}

/// Computes the root of a list like [`ordered_root`](super::ordered_root), and the proof of each index, in the order of
/// `indices`. The key of an index is its RLP encoding.
pub fn ordered_proofs<V: AsRef<[u8]>>(values: &[V], indices: &[usize]) -> (B256, Vec<Proof>) {
    let keys: Vec<Vec<u8>> = indices
        .iter()
        .map(|index| rlp::encode(&(*index as u64)))
        .collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    ordered_entries(values, |entries| prove(entries, &keys))
}

fn prove(entries: &[(&[u8], &[u8])], keys: &[&[u8]]) -> (B256, Vec<Proof>) {
    let mut paths = Paths::new(entries, keys);
    let root = root(entries, &mut paths);
    for proof in &mut paths.proofs {
        proof.reverse();
    }
    (root, paths.proofs)
}

/// Collects the nodes on the paths of keys while a root is computed.
struct Paths<'a> {
    /// Each key with the number of entries below it and its index in the result, in ascending order.
    keys: Vec<(usize, &'a [u8], usize)>,
    /// The nodes of each key, from the leaves up.
    proofs: Vec<Proof>,
}

impl<'a> Paths<'a> {
    fn new(entries: &[(&[u8], &[u8])], keys: &[&'a [u8]]) -> Self {
        let mut sorted: Vec<_> = keys
            .iter()
            .enumerate()
            .map(|(index, key)| {
                let below = entries.partition_point(|(entry, _)| entry < key);
                (below, *key, index)
            })
            .collect();
        sorted.sort_unstable();
        Self {
            keys: sorted,
            proofs: vec![Proof::new(); keys.len()],
        }
    }
}

impl Watch for Paths<'_> {
    fn node(&mut self, leaves: Range<usize>, first: &[u8], start: usize, node: &[u8]) {
        if node.len() < 32 && start > 0 {
            return;
        }
        // A key with the prefix of these leaves is equal to one of them or next to one.
        let from = self
            .keys
            .partition_point(|(below, ..)| *below < leaves.start);
        for (below, key, index) in &self.keys[from..] {
            if *below > leaves.end {
                break;
            }
            if starts_equally(key, first, start) {
                self.proofs[*index].push(node.to_vec());
            }
        }
    }
}

/// Whether the first `nibbles` nibbles of two keys are equal.
fn starts_equally(left: &[u8], right: &[u8], nibbles: usize) -> bool {
    let bytes = nibbles / 2;
    let equal = left
        .get(..bytes)
        .is_some_and(|left| left == &right[..bytes]);
    equal
        && (nibbles.is_multiple_of(2)
            || (left.len() > bytes && nibble(left, 2 * bytes) == nibble(right, 2 * bytes)))
}

/// Why a proof does not show what the value of a key is.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// The next node on the path is missing.
    Missing {
        /// Number of nodes given.
        index: usize,
    },
    /// A node does not have the hash that its parent, or the root, requires.
    Hash {
        /// Index of the node.
        index: usize,
    },
    /// A node is not on the path.
    Unexpected {
        /// Index of the node.
        index: usize,
    },
    /// A node is not canonical RLP.
    Rlp {
        /// Index of the node.
        index: usize,
        /// The error and its position in the node.
        error: rlp::Error,
    },
    /// A node is not a leaf, an extension or a branch.
    Node {
        /// Index of the node.
        index: usize,
        /// Position in the node of the item that is wrong.
        offset: usize,
    },
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { index } => write!(f, "node {index}: missing"),
            Self::Hash { index } => write!(f, "node {index}: unexpected hash"),
            Self::Unexpected { index } => write!(f, "node {index}: not on the path of the key"),
            Self::Rlp { index, error } => write!(f, "node {index}, {error}"),
            Self::Node { index, offset } => {
                write!(f, "node {index}, byte {offset}: not a node of a trie")
            }
        }
    }
}

impl core::error::Error for ProofError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Rlp { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Verifies the proof of a key against a root. Returns the key's value, or `None` if the proof shows that the key is not
/// in the trie.
///
/// The state and the storage of accounts have hashed keys: pass the hash. The proof must contain the nodes of the path and
/// no others.
///
/// # Errors
///
/// [`ProofError`] with the index of the node.
pub fn verify_proof<'a, N: AsRef<[u8]>>(
    root: &B256,
    key: &[u8],
    proof: &'a [N],
) -> Result<Option<&'a [u8]>, ProofError> {
    let mut path = Path { proof, used: 0 };
    // EIP-1186 leaves open whether the proof of an empty trie contains its only node, the empty string.
    let value = if *root == EMPTY_ROOT {
        path.used = usize::from(proof.first().is_some_and(|node| node.as_ref() == [0x80]));
        None
    } else {
        path.value(root, key)?
    };
    if path.used < proof.len() {
        return Err(ProofError::Unexpected { index: path.used });
    }
    Ok(value)
}

/// The nodes of a proof, and the number of those that have been read.
struct Path<'a, N> {
    proof: &'a [N],
    used: usize,
}

impl<'a, N: AsRef<[u8]>> Path<'a, N> {
    /// Reads the next node, which must have this hash.
    fn node(&mut self, hash: &[u8]) -> Result<Reader<'a>, ProofError> {
        let index = self.used;
        let node = self.proof.get(index).ok_or(ProofError::Missing { index })?;
        let node = node.as_ref();
        if keccak256(node) != *hash {
            return Err(ProofError::Hash { index });
        }
        self.used += 1;
        let rlp = |error| ProofError::Rlp { index, error };
        let mut reader = Reader::new(node);
        let list = reader.list().map_err(rlp)?;
        reader.finish().map_err(rlp)?;
        Ok(list)
    }

    fn value(&mut self, root: &B256, key: &[u8]) -> Result<Option<&'a [u8]>, ProofError> {
        let mut node = self.node(&root.0)?;
        // The nibbles of the key above the node.
        let mut walked = 0;
        loop {
            let index = self.used - 1;
            let rlp = |error| ProofError::Rlp { index, error };
            let invalid = |at: Reader<'_>| ProofError::Node {
                index,
                offset: at.offset(),
            };
            let start = node;
            let child = match node.count().map_err(rlp)? {
                17 if walked == 2 * key.len() => {
                    for _ in 0..16 {
                        node.item().map_err(rlp)?;
                    }
                    let value = node.string().map_err(rlp)?;
                    return Ok(Some(value).filter(|value| !value.is_empty()));
                }
                17 => {
                    for _ in 0..nibble(key, walked) {
                        node.item().map_err(rlp)?;
                    }
                    walked += 1;
                    node
                }
                2 => {
                    let (is_leaf, nibbles) =
                        path(node.string().map_err(rlp)?).ok_or_else(|| invalid(start))?;
                    let rest = 2 * key.len() - walked;
                    let is_prefix = nibbles.len() <= rest
                        && (0..nibbles.len()).all(|at| nibbles.get(at) == nibble(key, walked + at));
                    if is_leaf {
                        let value = node.string().map_err(rlp)?;
                        if value.is_empty() {
                            return Err(invalid(start));
                        }
                        return Ok((is_prefix && nibbles.len() == rest).then_some(value));
                    }
                    if !is_prefix {
                        return Ok(None);
                    }
                    if nibbles.len() == 0 || node.rest().first() == Some(&0x80) {
                        return Err(invalid(start));
                    }
                    walked += nibbles.len();
                    node
                }
                _ => return Err(invalid(start)),
            };
            node = match child.rest().first() {
                // An absent child of a branch.
                Some(0x80) => return Ok(None),
                Some(0xc0..) => {
                    let mut after = child;
                    let list = after.list().map_err(rlp)?;
                    // A node of 32 bytes or more is referred to by its hash.
                    if after.offset() - child.offset() >= 32 {
                        return Err(invalid(child));
                    }
                    list
                }
                _ => {
                    let mut after = child;
                    match after.string().map_err(rlp)? {
                        hash if hash.len() == 32 => self.node(hash)?,
                        _ => return Err(invalid(child)),
                    }
                }
            };
        }
    }
}

/// The nibbles of a hex-prefix path.
struct Nibbles<'a> {
    bytes: &'a [u8],
    /// 1 if the first nibble is in the first byte, else 2.
    skip: usize,
}

impl Nibbles<'_> {
    fn len(&self) -> usize {
        2 * self.bytes.len() - self.skip
    }

    fn get(&self, index: usize) -> u8 {
        nibble(self.bytes, self.skip + index)
    }
}

/// Decodes a hex-prefix path (Yellow Paper, appendix C): whether it is that of a leaf, and its nibbles.
fn path(bytes: &[u8]) -> Option<(bool, Nibbles<'_>)> {
    let first = *bytes.first()?;
    let skip = match first >> 4 {
        1 | 3 => 1,
        0 | 2 if first & 15 == 0 => 2,
        _ => return None,
    };
    Some((first >= 0x20, Nibbles { bytes, skip }))
}
