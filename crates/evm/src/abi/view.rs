//! Decoded arguments as views into the data.
//!
//! A [`Values`] is a position in data that has been checked against a plan. Accessing a member reads only its head, so
//! a view costs no more than the check.

use alloc::{string::String, vec::Vec};
use core::fmt;

use lydite_bytes::{Address, U256, utf8};

use super::{
    Value,
    plan::{self, Kind, Node},
    read::small,
    word,
};

/// A borrowed value of a Solidity type, left in its encoding: the counterpart of [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRef<'a> {
    /// `bool`
    Bool(bool),
    /// `uintN`: value and width in bits
    Uint(U256, u16),
    /// `intN`: two's complement of 256 bits, and width in bits
    Int(U256, u16),
    /// `address`
    Address(Address),
    /// `bytesN`
    FixedBytes(&'a [u8]),
    /// `function`
    Function(&'a [u8; 24]),
    /// `bytes`
    Bytes(&'a [u8]),
    /// `string`
    String(&'a str),
    /// `T[]`
    Array(Values<'a>),
    /// `T[n]`
    FixedArray(Values<'a>),
    /// `(T1,T2,…)`
    Tuple(Values<'a>),
}

/// Arguments, members of a tuple or elements of an array, left in their encoding.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    nodes: &'a [Node],
    data: &'a [u8],
    /// Number of remaining values.
    len: usize,
    /// Node of the next value.
    node: usize,
    /// Whether all values have that node.
    array: bool,
    /// Position from which offsets are measured.
    base: usize,
    /// Position of the next value's head.
    head: usize,
}

impl<'a> Values<'a> {
    /// Returns the arguments in data that has been checked against the plan.
    pub(super) fn arguments(nodes: &'a [Node], data: &'a [u8]) -> Self {
        Self {
            nodes,
            data,
            len: plan::arguments(nodes),
            node: nodes[0].child,
            array: false,
            base: 0,
            head: 0,
        }
    }

    /// Returns the number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no values.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the value at `index`, if there is one. In an array this takes constant time, otherwise time linear in
    /// the index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<ValueRef<'a>> {
        if index >= self.len {
            return None;
        }
        if self.array {
            let head = self.head + index * self.nodes[self.node].head;
            return self.value(self.node, head);
        }
        let node = self.node + index;
        let before = self.nodes[self.node..node].iter().map(|node| node.head);
        self.value(node, self.head + before.sum::<usize>())
    }

    /// Returns the words of the values one after the other, if none of their types is dynamic. Those of a tuple or fixed
    /// array are the words of its members.
    ///
    /// ```
    /// use lydite_evm::abi::{self, Codec, ValueRef};
    /// let data = abi::encode(&(vec![(1u8, true), (2, false)], "text"));
    /// let codec = Codec::parse("((uint8,bool)[],string)")?;
    /// let values = codec.view(&data)?;
    /// let Some(ValueRef::Array(pairs)) = values.get(0) else { unreachable!() };
    /// let last_bytes = pairs.words().map(|words| words.iter().map(|word| word[31]).collect::<Vec<_>>());
    /// assert_eq!(last_bytes.as_deref(), Some(&[1, 1, 2, 0][..]));
    /// assert_eq!(values.words(), None);
    /// # Ok::<(), abi::Error>(())
    /// ```
    #[inline]
    pub fn words(&self) -> Option<&'a [[u8; 32]]> {
        let len = if self.array {
            let node = &self.nodes[self.node];
            (!node.dynamic).then_some(self.len * node.head)
        } else {
            let mut nodes = self.nodes[self.node..].iter().take(self.len);
            nodes.try_fold(0, |len, node| (!node.dynamic).then_some(len + node.head))
        }?;
        let data = self.data.get(self.head..)?.get(..len)?;
        Some(data.as_chunks().0)
    }

    /// Returns the values in order.
    #[inline]
    pub fn iter(&self) -> ValuesIter<'a> {
        ValuesIter(*self)
    }

    /// Returns the value of a node whose head is at `head`. Never `None`, because the data has been checked.
    #[inline(always)]
    fn value(&self, node: usize, head: usize) -> Option<ValueRef<'a>> {
        let Node { kind, dynamic, .. } = self.nodes[node];
        let word = || self.word(head);
        Some(match kind {
            Kind::Uint(bits) => ValueRef::Uint(word::to_u256(word()?), bits),
            Kind::Int(bits) => ValueRef::Int(word::to_u256(word()?), bits),
            Kind::Bool => ValueRef::Bool(word()?[31] != 0),
            Kind::Address => ValueRef::Address(Address(word::get_right(word()?))),
            Kind::FixedBytes(len) => ValueRef::FixedBytes(word()?.get(..usize::from(len))?),
            Kind::Function => ValueRef::Function(word()?.first_chunk()?),
            Kind::Bytes => ValueRef::Bytes(self.bytes(head)?),
            // The bytes have been checked before; creating a `str` without `unsafe` requires a second check.
            Kind::String => ValueRef::String(utf8(self.bytes(head)?).ok()?),
            Kind::Array => {
                let (len, start) = self.length(head)?;
                ValueRef::Array(self.list(node, len, start, start))
            }
            Kind::FixedArray(len) => ValueRef::FixedArray(self.fixed(node, len, dynamic, head)?),
            Kind::Tuple(len) => ValueRef::Tuple(self.fixed(node, len, dynamic, head)?),
        })
    }

    #[inline(always)]
    fn fixed(&self, node: usize, len: usize, dynamic: bool, head: usize) -> Option<Self> {
        let (base, head) = if dynamic {
            let start = self.follow(head)?;
            (start, start)
        } else {
            (self.base, head)
        };
        Some(self.list(node, len, base, head))
    }

    #[inline(always)]
    fn list(&self, node: usize, len: usize, base: usize, head: usize) -> Self {
        Self {
            len,
            node: self.nodes[node].child,
            array: self.nodes[node].is_array(),
            base,
            head,
            ..*self
        }
    }

    /// Returns node and position of the next value's head, and advances past it.
    #[inline(always)]
    fn step(&mut self) -> (usize, usize) {
        let (node, head) = (self.node, self.head);
        self.head += self.nodes[node].head;
        self.node += usize::from(!self.array);
        (node, head)
    }

    #[inline(always)]
    fn word(&self, head: usize) -> Option<&'a [u8; 32]> {
        self.data.get(head..)?.first_chunk()
    }

    /// Returns the target of the offset at `head`.
    #[inline(always)]
    fn follow(&self, head: usize) -> Option<usize> {
        Some(self.base + small(self.word(head)?)?)
    }

    /// Returns the length at the target of the offset at `head`, and the position after it.
    #[inline(always)]
    fn length(&self, head: usize) -> Option<(usize, usize)> {
        let at = self.follow(head)?;
        Some((small(self.word(at)?)?, at + 32))
    }

    #[inline(always)]
    fn bytes(&self, head: usize) -> Option<&'a [u8]> {
        let (len, start) = self.length(head)?;
        self.data.get(start..)?.get(..len)
    }
}

impl fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

impl PartialEq for Values<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Values<'_> {}

impl<'a> IntoIterator for Values<'a> {
    type Item = ValueRef<'a>;
    type IntoIter = ValuesIter<'a>;

    #[inline]
    fn into_iter(self) -> ValuesIter<'a> {
        ValuesIter(self)
    }
}

/// Iterator over [`Values`].
#[derive(Clone, Debug)]
pub struct ValuesIter<'a>(Values<'a>);

impl<'a> Iterator for ValuesIter<'a> {
    type Item = ValueRef<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<ValueRef<'a>> {
        let Self(values) = self;
        values.len = values.len.checked_sub(1)?;
        let (node, head) = values.step();
        values.value(node, head)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len, Some(self.0.len))
    }
}

impl ExactSizeIterator for ValuesIter<'_> {}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        let list = |values: Values<'_>| values.iter().map(Value::from).collect();
        match value {
            ValueRef::Bool(value) => Value::Bool(value),
            ValueRef::Uint(value, bits) => Value::Uint(value, bits),
            ValueRef::Int(value, bits) => Value::Int(value, bits),
            ValueRef::Address(address) => Value::Address(address),
            ValueRef::FixedBytes(bytes) => Value::FixedBytes(word::left(bytes), bytes.len() as u8),
            ValueRef::Function(bytes) => Value::Function(*bytes),
            ValueRef::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            ValueRef::String(text) => Value::String(String::from(text)),
            ValueRef::Array(values) => Value::Array(list(values)),
            ValueRef::FixedArray(values) => Value::FixedArray(list(values)),
            ValueRef::Tuple(values) => Value::Tuple(list(values)),
        }
    }
}

/// Owned arguments with their data: the result of [`Codec::decode_flat`](super::Codec::decode_flat).
#[derive(Clone)]
pub struct Decoded<'c> {
    nodes: &'c [Node],
    data: Vec<u8>,
}

impl<'c> Decoded<'c> {
    pub(super) fn new(nodes: &'c [Node], data: &[u8]) -> Self {
        Self {
            nodes,
            data: data.to_vec(),
        }
    }

    /// Returns the arguments.
    #[inline]
    pub fn values(&self) -> Values<'_> {
        Values::arguments(self.nodes, &self.data)
    }

    /// Returns the data, unchanged.
    #[inline]
    pub fn into_data(self) -> Vec<u8> {
        self.data
    }
}

impl fmt::Debug for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values().fmt(f)
    }
}
