//! A type compiled to a flat list of instructions.
//!
//! The plan contains the nodes of the type, with the members of a tuple stored consecutively. A node stores its head
//! size, the head size of the frame it opens, the position of its members and whether its words need checks, so that
//! nothing is computed twice.

use alloc::vec::Vec;

use super::{ErrorKind, MAX_DEPTH, Type, Value, word};
use lydite_bytes::I256;

/// One type in the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) dynamic: bool,
    /// Every word is a valid value: `uint256`, `int256`, `bytes32`, and static arrays and tuples of these.
    pub(super) free: bool,
    /// Bytes that it takes in the head of the enclosing frame.
    pub(super) head: usize,
    /// Size in bytes of the head of its own frame (`T[]`: of one element).
    pub(super) inner: usize,
    /// Index of the node of its first member, or of its elements.
    pub(super) child: usize,
}

impl Node {
    /// Whether it contains elements of one node instead of members of several.
    #[inline(always)]
    pub(super) fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array | Kind::FixedArray(_))
    }

    /// Returns the members or elements if the value is an array or tuple of this type.
    #[inline(always)]
    pub(super) fn list<'v>(&self, value: &'v Value) -> Option<&'v [Value]> {
        match (self.kind, value) {
            (Kind::Array, Value::Array(values)) => Some(values),
            (Kind::FixedArray(len), Value::FixedArray(values))
            | (Kind::Tuple(len), Value::Tuple(values))
                if len == values.len() =>
            {
                Some(values)
            }
            _ => None,
        }
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
    /// Holds the number of members.
    Tuple(usize),
}

impl Kind {
    /// Whether this is a value type, which takes one word.
    #[inline(always)]
    pub(super) fn is_word(self) -> bool {
        !matches!(
            self,
            Kind::Bytes | Kind::String | Kind::Array | Kind::FixedArray(_) | Kind::Tuple(_)
        )
    }

    /// Clears the bits of the word that this value type does not use.
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

/// Compiles a list of arguments: the members of a tuple, or one argument of any other type. The first node is that of
/// the tuple.
pub(super) fn compile(ty: &Type) -> Result<Vec<Node>, ErrorKind> {
    let mut nodes = Vec::from([EMPTY]);
    nodes[0] = match ty {
        Type::Tuple(members) => tuple(&mut nodes, members, 0)?,
        other => tuple(&mut nodes, core::slice::from_ref(other), 0)?,
    };
    Ok(nodes)
}

/// Returns the number of arguments. The first node must be their tuple.
pub(super) fn arguments(nodes: &[Node]) -> usize {
    match nodes[0].kind {
        Kind::Tuple(len) => len,
        // Not reached: `compile` starts with a tuple.
        _ => 0,
    }
}

/// A tuple without members.
const EMPTY: Node = Node {
    kind: Kind::Tuple(0),
    dynamic: false,
    free: true,
    head: 0,
    inner: 0,
    child: 0,
};

/// Returns the node of a type at nesting level `depth`, and appends the nodes of its members or elements.
fn node(nodes: &mut Vec<Node>, ty: &Type, depth: usize) -> Result<Node, ErrorKind> {
    // The list of arguments counts as a level.
    if depth > MAX_DEPTH + 1 {
        return Err(ErrorKind::TooDeep);
    }
    let kind = match ty {
        Type::Bool => Kind::Bool,
        Type::Uint(bits) if word::is_width(usize::from(*bits)) => Kind::Uint(*bits),
        Type::Int(bits) if word::is_width(usize::from(*bits)) => Kind::Int(*bits),
        Type::Address => Kind::Address,
        Type::FixedBytes(len) if (1..=32).contains(len) => Kind::FixedBytes(*len),
        Type::Uint(_) | Type::Int(_) | Type::FixedBytes(_) => return Err(ErrorKind::Syntax),
        Type::Function => Kind::Function,
        Type::Bytes => Kind::Bytes,
        Type::String => Kind::String,
        Type::Array(element) => return array(nodes, element, None, depth),
        Type::FixedArray(element, len) => return array(nodes, element, Some(*len), depth),
        Type::Tuple(members) => return tuple(nodes, members, depth),
    };
    Ok(Node {
        kind,
        dynamic: !kind.is_word(),
        free: matches!(
            kind,
            Kind::Uint(256) | Kind::Int(256) | Kind::FixedBytes(32)
        ),
        head: 32,
        ..EMPTY
    })
}

fn array(
    nodes: &mut Vec<Node>,
    element: &Type,
    len: Option<usize>,
    depth: usize,
) -> Result<Node, ErrorKind> {
    let child = nodes.len();
    nodes.push(EMPTY);
    let element = node(nodes, element, depth + 1)?;
    nodes[child] = element;
    // Otherwise a short input with a large length could require any amount of memory.
    if element.head == 0 && len != Some(0) {
        return Err(ErrorKind::Size);
    }
    let mut node = Node {
        kind: Kind::Array,
        dynamic: true,
        free: false,
        head: 32,
        inner: element.head,
        child,
    };
    if let Some(len) = len {
        node.kind = Kind::FixedArray(len);
        node.inner = fitting(element.head.checked_mul(len))?;
        node.dynamic = element.dynamic;
        node.free = element.free;
        node.head = if node.dynamic { 32 } else { node.inner };
    }
    Ok(node)
}

fn tuple(nodes: &mut Vec<Node>, members: &[Type], depth: usize) -> Result<Node, ErrorKind> {
    let child = nodes.len();
    nodes.resize(child + members.len(), EMPTY);
    let mut tuple = Node {
        kind: Kind::Tuple(members.len()),
        child,
        ..EMPTY
    };
    for (i, member) in members.iter().enumerate() {
        let member = node(nodes, member, depth + 1)?;
        nodes[child + i] = member;
        tuple.dynamic |= member.dynamic;
        tuple.free &= member.free;
        tuple.inner = fitting(tuple.inner.checked_add(member.head))?;
    }
    tuple.head = if tuple.dynamic { 32 } else { tuple.inner };
    Ok(tuple)
}

/// Returns a head's size if data of that size can exist.
fn fitting(size: Option<usize>) -> Result<usize, ErrorKind> {
    size.filter(|size| *size <= isize::MAX as usize / 2)
        .ok_or(ErrorKind::Size)
}
