//! Descriptions of EIP-712 types as constants, and the computation of `encodeType` at compile time.
//!
//! A description is a constant: a struct points to its members' types, so there are no cycles. All functions are
//! `const`: type strings and type hashes of Rust types cost nothing at run time. A description that EIP-712 does not
//! allow (an invalid name, two different structs with the same name) fails the build.
//!
//! Source: [EIP-712](https://eips.ethereum.org/EIPS/eip-712), "Definition of encodeType". Types are public: not
//! constant time.

use crate::abi::{is_identifier, is_struct_name};
use crate::const_text::ConstText;

/// Maximum number of struct types on which one type may depend, including itself.
const MAX_DEPENDENCIES: usize = 64;

/// The type of a member in EIP-712.
#[derive(Clone, Copy, Debug)]
pub enum MemberType {
    /// `bool`
    Bool,
    /// `address`
    Address,
    /// `uint<N>`, N in bits
    Uint(u16),
    /// `int<N>`, N in bits
    Int(u16),
    /// `bytes<N>`, N in bytes
    FixedBytes(u8),
    /// `bytes`
    Bytes,
    /// `string`
    String,
    /// `T[]`
    Array(&'static MemberType),
    /// `T[n]`
    FixedArray(&'static MemberType, usize),
    /// A struct, referred to by its name
    Struct(&'static StructType),
}

/// One member of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The member's EIP-712 name, which may differ from the name of the Rust field.
    pub name: &'static str,
    /// The type.
    pub ty: &'static MemberType,
}

/// A struct type: its EIP-712 name and its members in order.
#[derive(Clone, Copy, Debug)]
pub struct StructType {
    /// The EIP-712 name, which may differ from the name of the Rust type.
    pub name: &'static str,
    /// The members in the order in which they are hashed.
    pub members: &'static [Member],
}

impl StructType {
    /// Returns the length of [`StructType::encode_type`] in bytes.
    #[must_use]
    pub const fn encode_type_len(&'static self) -> usize {
        self.write::<0>().len()
    }

    /// Computes `encodeType`: this struct, then every struct it refers to, sorted by name. `N` must be
    /// [`encode_type_len`](StructType::encode_type_len).
    #[must_use]
    pub const fn encode_type<const N: usize>(&'static self) -> [u8; N] {
        let text = self.write::<N>();
        assert!(text.len() == N, "N is not the length of encodeType");
        text.into_array()
    }

    const fn write<const N: usize>(&'static self) -> ConstText<N> {
        let mut text = ConstText::new();
        let mut dependencies = Dependencies {
            sorted: [self; MAX_DEPENDENCIES],
            count: 0,
        };
        dependencies.add(self);
        text.push_struct(self);
        let mut i = 0;
        while i < dependencies.count {
            if !equal(dependencies.sorted[i].name, self.name) {
                text.push_struct(dependencies.sorted[i]);
            }
            i += 1;
        }
        text
    }
}

/// The structs found so far, sorted by name in byte order.
struct Dependencies {
    sorted: [&'static StructType; MAX_DEPENDENCIES],
    count: usize,
}

impl Dependencies {
    const fn add(&mut self, struct_type: &'static StructType) {
        let mut at = 0;
        while at < self.count {
            let known = self.sorted[at];
            if equal(known.name, struct_type.name) {
                assert!(
                    same(known, struct_type),
                    "two different EIP-712 structs have one name"
                );
                return;
            }
            if less(struct_type.name, known.name) {
                break;
            }
            at += 1;
        }
        assert!(
            self.count < MAX_DEPENDENCIES,
            "an EIP-712 struct depends on more than 64 structs"
        );
        let mut i = self.count;
        while i > at {
            self.sorted[i] = self.sorted[i - 1];
            i -= 1;
        }
        self.sorted[at] = struct_type;
        self.count += 1;

        let mut i = 0;
        while i < struct_type.members.len() {
            if let Some(inner) = core_struct(struct_type.members[i].ty) {
                self.add(inner);
            }
            i += 1;
        }
    }
}

/// Returns the struct inside any number of array brackets.
const fn core_struct(mut ty: &'static MemberType) -> Option<&'static StructType> {
    loop {
        match ty {
            MemberType::Struct(inner) => return Some(inner),
            MemberType::Array(inner) | MemberType::FixedArray(inner, _) => ty = inner,
            _ => return None,
        }
    }
}

impl<const N: usize> ConstText<N> {
    const fn push_struct(&mut self, struct_type: &StructType) {
        assert!(
            is_struct_name(struct_type.name),
            "an EIP-712 struct name must be an identifier, which may contain `:` after its first character"
        );
        self.push_str(struct_type.name);
        self.push(b'(');
        let mut i = 0;
        while i < struct_type.members.len() {
            let member = &struct_type.members[i];
            assert!(
                is_identifier(member.name),
                "an EIP-712 member name must be an identifier"
            );
            if i > 0 {
                self.push(b',');
            }
            self.push_type(member.ty);
            self.push(b' ');
            self.push_str(member.name);
            i += 1;
        }
        self.push(b')');
    }

    pub(super) const fn push_type(&mut self, ty: &MemberType) {
        match ty {
            MemberType::Bool => self.push_str("bool"),
            MemberType::Address => self.push_str("address"),
            MemberType::Bytes => self.push_str("bytes"),
            MemberType::String => self.push_str("string"),
            MemberType::Uint(bits) => {
                self.push_str("uint");
                self.push_number(*bits as usize);
            }
            MemberType::Int(bits) => {
                self.push_str("int");
                self.push_number(*bits as usize);
            }
            MemberType::FixedBytes(length) => {
                self.push_str("bytes");
                self.push_number(*length as usize);
            }
            MemberType::Struct(inner) => self.push_str(inner.name),
            MemberType::Array(inner) => {
                self.push_type(inner);
                self.push_str("[]");
            }
            MemberType::FixedArray(inner, length) => {
                self.push_type(inner);
                self.push(b'[');
                self.push_number(*length);
                self.push(b']');
            }
        }
    }
}

/// Whether the members are equal in name and type. Structs inside are compared by name; their definitions are compared
/// when they are visited.
const fn same(a: &StructType, b: &StructType) -> bool {
    let mut i = 0;
    while i < a.members.len() && i < b.members.len() {
        if !equal(a.members[i].name, b.members[i].name)
            || !same_type(a.members[i].ty, b.members[i].ty)
        {
            return false;
        }
        i += 1;
    }
    a.members.len() == b.members.len()
}

const fn same_type(a: &MemberType, b: &MemberType) -> bool {
    match (a, b) {
        (MemberType::Bool, MemberType::Bool)
        | (MemberType::Address, MemberType::Address)
        | (MemberType::Bytes, MemberType::Bytes)
        | (MemberType::String, MemberType::String) => true,
        (MemberType::Uint(a), MemberType::Uint(b)) | (MemberType::Int(a), MemberType::Int(b)) => {
            *a == *b
        }
        (MemberType::FixedBytes(a), MemberType::FixedBytes(b)) => *a == *b,
        (MemberType::Array(a), MemberType::Array(b)) => same_type(a, b),
        (MemberType::FixedArray(a, n), MemberType::FixedArray(b, m)) => *n == *m && same_type(a, b),
        (MemberType::Struct(a), MemberType::Struct(b)) => equal(a.name, b.name),
        _ => false,
    }
}

const fn equal(a: &str, b: &str) -> bool {
    !less(a, b) && !less(b, a)
}

const fn less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}
