//! A type compiled to a flat list of instructions.
//!
//! The plan holds the type's nodes in preorder; a node knows its head size, the head size of the frame it opens, where
//! its subtree ends and whether its words need any check, so that nothing is computed twice.

use alloc::vec::Vec;

use super::{ErrorKind, MAX_DEPTH, Type, Value, word};
use lydite_bytes::I256;

/// One type of the tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) dynamic: bool,
    /// No word of it can be wrong: `uint256`, `int256`, `bytes32`, and static arrays and tuples of these.
    pub(super) free: bool,
    /// Bytes in the head of the frame around it.
    pub(super) head: usize,
    /// Bytes of the head of its own frame (for an array: of one element).
    pub(super) inner: usize,
    /// Index of the node behind its subtree.
    pub(super) next: usize,
}

impl Node {
    /// What it holds are elements of one node, not members of several.
    #[inline(always)]
    pub(super) fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array | Kind::FixedArray(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Uint(u16),
    Int(u16),
    Address,
    FixedBytes(u8),
    Function,
    Bytes,
    String,
    Array,
    FixedArray(usize),
    /// with the number of members
    Tuple(usize),
}

impl Kind {
    /// A value type: one word.
    #[inline(always)]
    pub(super) fn is_word(self) -> bool {
        !matches!(
            self,
            Kind::Bytes | Kind::String | Kind::Array | Kind::FixedArray(_) | Kind::Tuple(_)
        )
    }

    /// Is the word one of this value type?
    #[inline(always)]
    pub(super) fn check(self, word: &[u8; 32]) -> Result<(), ErrorKind> {
        let (fits, kind) = match self {
            Kind::Uint(bits) => (word::fits_uint(word, usize::from(bits)), ErrorKind::Range),
            Kind::Int(bits) => (word::fits_int(word, usize::from(bits)), ErrorKind::Range),
            Kind::Bool => (word::to_bool(word).is_some(), ErrorKind::Bool),
            Kind::Address => (word::fits_uint(word, 160), ErrorKind::Padding),
            Kind::Function => (word::is_padded(word, 8), ErrorKind::Padding),
            Kind::FixedBytes(len) => (
                len == 32 || word::is_padded(word, 32 - usize::from(len)),
                ErrorKind::Padding,
            ),
            _ => (true, ErrorKind::Mismatch),
        };
        if fits { Ok(()) } else { Err(kind) }
    }

    /// The word without the bits that this value type has no use for.
    pub(super) fn mask(self, word: &[u8; 32]) -> [u8; 32] {
        match self {
            Kind::Uint(bits) => word::keep_right(word, usize::from(bits) / 8),
            Kind::Int(bits) => word::sign_extend(word, usize::from(bits) / 8),
            Kind::Bool => word::from_u64(u64::from(*word != [0; 32])),
            Kind::Address => word::keep_right(word, 20),
            Kind::Function => word::keep_left(word, 24),
            Kind::FixedBytes(len) => word::keep_left(word, usize::from(len)),
            _ => *word,
        }
    }

    /// Writes a value of this value type.
    #[inline(always)]
    pub(super) fn put(self, value: &Value, slot: &mut [u8; 32]) -> Result<(), ErrorKind> {
        let fits = match (self, value) {
            (Kind::Uint(bits), Value::Uint(value, _)) => {
                word::put_u256(slot, value);
                bits == 256 || value.bit_len() <= u32::from(bits)
            }
            (Kind::Int(bits), Value::Int(value, _)) => {
                word::put_u256(slot, value);
                bits == 256 || I256(*value).fits(u32::from(bits))
            }
            (Kind::Bool, Value::Bool(value)) => {
                *slot = word::from_u64(u64::from(*value));
                true
            }
            (Kind::Address, Value::Address(address)) => {
                word::put_right(slot, &address.0);
                true
            }
            (Kind::FixedBytes(len), Value::FixedBytes(bytes, _)) => {
                *slot = *bytes;
                len == 32 || word::is_padded(bytes, 32 - usize::from(len))
            }
            (Kind::Function, Value::Function(bytes)) => {
                word::put_left(slot, bytes);
                true
            }
            _ => return Err(ErrorKind::Mismatch),
        };
        if fits { Ok(()) } else { Err(ErrorKind::Range) }
    }
}

/// The nodes of a list of arguments: of the tuple, or of the one argument of another type.
pub(super) fn compile(ty: &Type) -> Result<Vec<Node>, ErrorKind> {
    let mut nodes = Vec::new();
    match ty {
        Type::Tuple(_) => build(&mut nodes, ty, 0)?,
        other => build_tuple(&mut nodes, core::slice::from_ref(other), 0)?,
    }
    Ok(nodes)
}

/// Appends the nodes of a type that stands `depth` levels deep.
fn build(nodes: &mut Vec<Node>, ty: &Type, depth: usize) -> Result<(), ErrorKind> {
    // The list of arguments is a level of its own.
    if depth > MAX_DEPTH + 1 {
        return Err(ErrorKind::TooDeep);
    }
    let width = |bits: u16| {
        let known = (8..=256).contains(&bits) && bits.is_multiple_of(8);
        if known {
            Ok(bits)
        } else {
            Err(ErrorKind::Syntax)
        }
    };
    let kind = match ty {
        Type::Bool => Kind::Bool,
        Type::Uint(bits) => Kind::Uint(width(*bits)?),
        Type::Int(bits) => Kind::Int(width(*bits)?),
        Type::Address => Kind::Address,
        Type::FixedBytes(len) if (1..=32).contains(len) => Kind::FixedBytes(*len),
        Type::FixedBytes(_) => return Err(ErrorKind::Syntax),
        Type::Function => Kind::Function,
        Type::Bytes => Kind::Bytes,
        Type::String => Kind::String,
        Type::Array(element) => return build_array(nodes, element, None, depth),
        Type::FixedArray(element, len) => return build_array(nodes, element, Some(*len), depth),
        Type::Tuple(members) => return build_tuple(nodes, members, depth),
    };
    let next = nodes.len() + 1;
    nodes.push(Node {
        kind,
        dynamic: !kind.is_word(),
        free: matches!(
            kind,
            Kind::Uint(256) | Kind::Int(256) | Kind::FixedBytes(32)
        ),
        head: 32,
        inner: 0,
        next,
    });
    Ok(())
}

fn build_array(
    nodes: &mut Vec<Node>,
    element: &Type,
    len: Option<usize>,
    depth: usize,
) -> Result<(), ErrorKind> {
    let at = nodes.len();
    nodes.push(Node {
        kind: len.map_or(Kind::Array, Kind::FixedArray),
        dynamic: true,
        free: false,
        head: 32,
        inner: 0,
        next: 0,
    });
    build(nodes, element, depth + 1)?;
    let next = nodes.len();
    let element = &nodes[at + 1];
    let (dynamic, free, size) = (element.dynamic, element.free, element.head);
    // Otherwise a length alone could ask for any amount of memory.
    if size == 0 && len != Some(0) {
        return Err(ErrorKind::Size);
    }
    let node = &mut nodes[at];
    node.next = next;
    node.inner = size;
    if let Some(len) = len {
        node.inner = fitting(size.checked_mul(len))?;
        node.dynamic = dynamic;
        node.free = free;
        node.head = if dynamic { 32 } else { node.inner };
    }
    Ok(())
}

fn build_tuple(nodes: &mut Vec<Node>, members: &[Type], depth: usize) -> Result<(), ErrorKind> {
    let at = nodes.len();
    nodes.push(Node {
        kind: Kind::Tuple(members.len()),
        dynamic: false,
        free: true,
        head: 0,
        inner: 0,
        next: 0,
    });
    for member in members {
        let start = nodes.len();
        build(nodes, member, depth + 1)?;
        let Node {
            dynamic,
            free,
            head,
            ..
        } = nodes[start];
        let node = &mut nodes[at];
        node.dynamic |= dynamic;
        node.free &= free;
        node.inner = fitting(node.inner.checked_add(head))?;
    }
    let next = nodes.len();
    let node = &mut nodes[at];
    node.next = next;
    node.head = if node.dynamic { 32 } else { node.inner };
    Ok(())
}

/// A head's size, if data of that size can exist.
fn fitting(size: Option<usize>) -> Result<usize, ErrorKind> {
    size.filter(|size| *size <= isize::MAX as usize / 2)
        .ok_or(ErrorKind::Size)
}
