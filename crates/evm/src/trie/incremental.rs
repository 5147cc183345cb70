//! Roots of tries of which most subtrees are unchanged.

use alloc::vec::Vec;

use lydite_bytes::B256;

use super::{Content, Error, Leaf, Reference, Watch, check, nibble, root};

/// A part of a trie, for [`incremental_root`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A key and its value.
    Entry(&'a [u8], &'a [u8]),
    /// A subtree of which only the root is known: a branch's path, one nibble per byte, and its hash.
    Branch(&'a [u8], &'a B256),
}

/// A branch of a trie.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Branch {
    /// The path from the root, one nibble per byte.
    pub path: Vec<u8>,
    /// The hash of the node.
    pub hash: B256,
}

/// Computes the root of a trie from its parts, sorted by key or path, and returns it with the branches that were
/// computed, sorted by path.
///
/// After a change, pass a branch of the last computation for each subtree without changed keys, and all entries outside
/// of these. Of the branches of the last computation, those on the path of a changed key are void; the returned ones take
/// their place. Branches shorter than 32 bytes have no hash and are not returned.
///
/// # Errors
///
/// [`Error`] with the index of the first part whose key or path is not above the previous one or extends it, whose value
/// is empty, or whose path is not made of nibbles.
///
/// ```
/// use lydite_evm::trie::{self, Part};
///
/// let value: &[u8] = &[7; 40];
/// let entries = [Part::Entry(&[0x11], value), Part::Entry(&[0x12], value), Part::Entry(&[0x21], value)];
/// let (_, branches) = trie::incremental_root(&entries)?;
/// assert_eq!(branches[1].path, [1]);
///
/// // The key 0x21 gets another value.
/// let changed = Part::Entry(&[0x21], b"value");
/// let (root, _) = trie::incremental_root(&[Part::Branch(&[1], &branches[1].hash), changed])?;
/// assert_eq!(root, trie::incremental_root(&[entries[0], entries[1], changed])?.0);
/// # Ok::<(), trie::Error>(())
/// ```
pub fn incremental_root(parts: &[Part<'_>]) -> Result<(B256, Vec<Branch>), Error> {
    let mut paths = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        if let Part::Branch(path, _) = part {
            if path.iter().any(|nibble| *nibble > 15) {
                return Err(Error::Nibble { index });
            }
            let pairs = path.chunks(2);
            paths.extend(pairs.map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0)));
        }
    }
    let mut rest = &paths[..];
    let mut packed = |path: &[u8]| {
        let (path, after) = rest.split_at(path.len().div_ceil(2));
        rest = after;
        path
    };
    let leaves: Vec<Packed<'_>> = parts
        .iter()
        .map(|part| match *part {
            Part::Entry(key, value) => Packed {
                key,
                content: Content::Value(value),
            },
            Part::Branch(path, hash) => Packed {
                key: packed(path),
                content: Content::Branch(path.len(), hash),
            },
        })
        .collect();
    check(&leaves)?;
    let mut branches = Vec::new();
    let root = root(&leaves, &mut branches);
    branches.sort_unstable();
    Ok((root, branches))
}

/// A part with its path in whole bytes.
struct Packed<'a> {
    key: &'a [u8],
    content: Content<'a>,
}

impl Leaf for Packed<'_> {
    fn key(&self) -> &[u8] {
        self.key
    }

    fn content(&self) -> Content<'_> {
        self.content
    }
}

impl Watch for Vec<Branch> {
    fn branch(&mut self, key: &[u8], depth: usize, reference: &Reference) {
        if reference.len == 33 {
            self.push(Branch {
                path: (0..depth).map(|at| nibble(key, at)).collect(),
                hash: reference.hash(),
            });
        }
    }
}
