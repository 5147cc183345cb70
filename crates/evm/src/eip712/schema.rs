//! The struct types of a JSON document, compiled once.
//!
//! All names and type strings are stored in one text, in the format of `encodeType`. The part of a struct,
//! `Person(string name)`, provides its name, its members' names and its part of every type that depends on it.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::ops::Range;

use lydite_bytes::B256;
use lydite_hash::Keccak256;

use super::domain::{self, FIELDS};
use super::error::{self, Reason, Step, TypedDataError};
use super::json::{Reader, Result};
use crate::abi::{self, decimal, elementary, is_identifier, is_struct_name};
use crate::const_text::ConstText;

/// The name of the domain's type, which a document may omit.
pub(super) const DOMAIN: &str = "EIP712Domain";

/// The struct types of EIP-712 documents, checked and compiled: type strings, type hashes, and the types of all
/// members.
///
/// For many messages of the same types: compile once, then call [`hash_struct`](TypedSchema::hash_struct) or
/// [`signing_hash`](TypedSchema::signing_hash) with the JSON of each message. For a whole document, use
/// [`TypedData`](super::TypedData), which also documents the accepted input.
///
/// ```
/// use lydite_evm::eip712::TypedSchema;
///
/// let schema = TypedSchema::from_json(r#"{"Transfer": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}]}"#)?;
/// assert_eq!(schema.encode_type("Transfer").as_deref(), Some("Transfer(address to,uint256 amount)"));
///
/// let error = schema.hash_struct("Transfer", r#"{"to": "0x00zz", "amount": 1}"#).unwrap_err();
/// assert_eq!(error.to_string(), "message.to: not an address: expected 40 hexadecimal digits, found 4 (near byte 15)");
/// # Ok::<(), lydite_evm::eip712::TypedDataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypedSchema {
    text: String,
    /// Sorted by name.
    structs: Vec<Struct>,
    members: Vec<Member>,
    /// For each struct, in the same range as its members: their positions, sorted by name.
    by_name: Vec<u32>,
    /// Array lengths of all members' types, innermost first; 0 for `[]`.
    dimensions: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Struct {
    name: Span,
    /// `Name(type member,…)`
    own_type: Span,
    members: Range<usize>,
    /// `None` in a document's schema if neither its message nor its domain depends on this struct. A struct with a hash
    /// depends only on structs with a hash.
    type_hash: Option<[u8; 32]>,
}

#[derive(Clone, Debug)]
struct Member {
    name: Span,
    type_text: Span,
    ty: Type,
}

/// A range of the schema's text.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

/// A member's type: the base type inside all brackets, and the brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub(super) base: Base,
    dimensions_start: u32,
    dimensions_count: u32,
}

/// A type that is not an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Bool,
    Address,
    Uint(u16),
    Int(u16),
    FixedBytes(u8),
    Bytes,
    String,
    /// Index into the schema's structs.
    Struct(usize),
}

impl Type {
    pub(super) fn of_struct(index: usize) -> Self {
        Self {
            base: Base::Struct(index),
            dimensions_start: 0,
            dimensions_count: 0,
        }
    }

    pub(super) fn is_array(self) -> bool {
        self.dimensions_count > 0
    }
}

impl TypedSchema {
    /// The maximum number of struct types, including `EIP712Domain` whether it is declared or not.
    pub const MAX_STRUCTS: usize = error::MAX_STRUCTS;

    /// The maximum total length, in bytes, of the type strings (`encodeType`) hashed for one schema or document.
    ///
    /// A type string contains every struct on which it depends, so 256 types that depend on each other have 256 times
    /// the text of their declarations. For a document, only the types on which the message and the domain depend are
    /// hashed.
    pub const MAX_TYPE_TEXT: usize = error::MAX_TYPE_TEXT;

    /// Returns `encodeType` of a struct; `None` if there is no such struct.
    #[must_use]
    pub fn encode_type(&self, name: &str) -> Option<String> {
        let mut parts = Vec::new();
        self.type_parts(self.find(name)?, &mut parts);
        Some(parts.iter().map(|&part| self.own_type(part)).collect())
    }

    /// Returns `keccak256(encodeType)` of a struct; `None` if there is no such struct.
    #[must_use]
    pub fn type_hash(&self, name: &str) -> Option<B256> {
        let index = self.find(name)?;
        let hash = self.structs[index].type_hash.unwrap_or_else(|| {
            let mut parts = Vec::new();
            self.type_parts(index, &mut parts);
            self.hash_parts(&parts)
        });
        Some(B256::from(hash))
    }

    /// Returns the index of a struct.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.structs
            .binary_search_by(|known| self.str(known.name).cmp(name))
            .ok()
    }

    pub(super) fn struct_name(&self, index: usize) -> &str {
        self.str(self.structs[index].name)
    }

    pub(super) fn struct_type_hash(&self, index: usize) -> Option<&[u8; 32]> {
        self.structs[index].type_hash.as_ref()
    }

    pub(super) fn member_count(&self, index: usize) -> usize {
        self.structs[index].members.len()
    }

    pub(super) fn member(&self, index: usize, position: usize) -> (&str, Type) {
        let member = &self.members[self.structs[index].members.start + position];
        (self.str(member.name), member.ty)
    }

    /// Returns the position of a member in its struct. `guess` is its position if the document follows the order of the
    /// type.
    pub(super) fn find_member(&self, index: usize, name: &str, guess: usize) -> Option<usize> {
        let range = self.structs[index].members.clone();
        let members = &self.members[range.clone()];
        if members
            .get(guess)
            .is_some_and(|member| self.str(member.name) == name)
        {
            return Some(guess);
        }
        let by_name = &self.by_name[range];
        let found = by_name
            .binary_search_by(|&position| self.str(members[position as usize].name).cmp(name))
            .ok()?;
        Some(by_name[found] as usize)
    }

    /// Returns the outermost length of an array type (0 for any length) and the type of its elements.
    pub(super) fn array(&self, ty: Type) -> (usize, Type) {
        let count = ty.dimensions_count - 1;
        (
            self.dimensions[(ty.dimensions_start + count) as usize],
            Type {
                dimensions_count: count,
                ..ty
            },
        )
    }

    fn str(&self, span: Span) -> &str {
        str(&self.text, span)
    }

    /// Returns the struct's part of every type string that contains it: `Name(type member,…)`.
    pub(super) fn own_type(&self, index: usize) -> &str {
        self.str(self.structs[index].own_type)
    }

    /// Adds the structs on which those in `structs` depend, each once.
    pub(super) fn add_dependencies(&self, structs: &mut Vec<usize>) {
        // `Builder::open_struct` does not allow more.
        let mut met = [false; Self::MAX_STRUCTS];
        for &index in &*structs {
            met[index] = true;
        }
        let mut next = 0;
        while let Some(&index) = structs.get(next) {
            for member in &self.members[self.structs[index].members.clone()] {
                if let Base::Struct(inner) = member.ty.base
                    && !met[inner]
                {
                    met[inner] = true;
                    structs.push(inner);
                }
            }
            next += 1;
        }
    }

    /// Sets `parts` to the structs whose own types make up a struct's type string: the struct, then its dependencies by
    /// name.
    pub(super) fn type_parts(&self, index: usize, parts: &mut Vec<usize>) {
        parts.clear();
        parts.push(index);
        let is_struct = |member: &Member| matches!(member.ty.base, Base::Struct(_));
        if self.members[self.structs[index].members.clone()]
            .iter()
            .any(is_struct)
        {
            self.add_dependencies(parts);
            parts[1..].sort_unstable();
        }
    }

    /// Computes the hash of the type string that consists of these parts.
    pub(super) fn hash_parts(&self, parts: &[usize]) -> [u8; 32] {
        let mut hasher = Keccak256::new();
        for &part in parts {
            hasher.update(self.own_type(part).as_bytes());
        }
        hasher.finalize()
    }

    /// Returns the type hash of a struct if it is a standard domain.
    pub(super) fn standard_type_hash(&self, index: usize) -> Option<[u8; 32]> {
        if self.struct_name(index) != DOMAIN {
            return None;
        }
        domain::standard_type_hash(self.own_type(index))
    }

    /// Returns the number of structs.
    pub(super) fn len(&self) -> usize {
        self.structs.len()
    }

    /// Stores the type hashes of these structs, which are the words with the same index.
    pub(super) fn set_type_hashes(&mut self, types: &[usize], words: &[[u8; 32]]) {
        for &index in types {
            self.structs[index].type_hash = Some(words[index]);
        }
    }
}

fn str(text: &str, span: Span) -> &str {
    &text[span.start as usize..span.end as usize]
}

/// Types as read, before names are resolved.
pub(super) struct Builder {
    schema: TypedSchema,
    /// Upper bound on the dimensions of all types. The vector does not grow by doubling: a dimension takes 8 bytes, and
    /// as few as 2 in the document.
    dimensions: usize,
}

impl Builder {
    /// Reads the `types` object: `{"Person": [member, …], …}`.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut builder = Self {
            schema: TypedSchema {
                text: String::with_capacity((reader.left() / 2).min(1 << 16)),
                structs: Vec::with_capacity(4),
                members: Vec::with_capacity(16),
                by_name: Vec::new(),
                dimensions: Vec::new(),
            },
            dimensions: 0,
        };
        if reader.left() > u32::MAX as usize {
            return Err(reader.fail(Reason::TooLong));
        }
        if reader.peek() != Some(b'{') {
            return Err(reader.unexpected("an object of struct types"));
        }
        reader.open()?;
        let mut first = true;
        while let Some(name) = reader.key(first)? {
            builder
                .read_struct(&name, reader)
                .map_err(|error| error.inside(Step::Key(&name)))?;
            first = false;
        }
        Ok(builder)
    }

    /// Reads the members of a struct: `[{"name": …, "type": …}, …]`.
    fn read_struct(&mut self, name: &str, reader: &mut Reader<'_>) -> Result<()> {
        if !is_struct_name(name) || atomic(name).is_some() {
            return Err(reader.fail(Reason::Name));
        }
        let opened = self
            .open_struct(name)
            .map_err(|reason| reader.fail(reason))?;
        if reader.peek() != Some(b'[') {
            return Err(reader.unexpected("a list of members"));
        }
        reader.open()?;
        let mut index = 0;
        while reader.more(b']', index == 0)? {
            let (name, ty) =
                read_member(reader).map_err(|error| error.inside(Step::Index(index)))?;
            if !is_identifier(&name) {
                let error = reader.fail(Reason::Name).inside(Step::Key("name"));
                return Err(error.inside(Step::Index(index)));
            }
            self.add_member(&name, &ty);
            index += 1;
        }
        self.close_struct(opened);
        Ok(())
    }

    /// Whether the document declares its domain's type.
    pub(super) fn has_domain(&self) -> bool {
        self.schema
            .structs
            .iter()
            .any(|known| self.schema.str(known.name) == DOMAIN)
    }

    /// Declares the domain's type with the given subset of the five standard fields.
    pub(super) fn add_domain(&mut self, present: [bool; 5]) -> Result<()> {
        let opened = self
            .open_struct(DOMAIN)
            .map_err(|reason| TypedDataError::at(DOMAIN, reason))?;
        for (field, _) in FIELDS.iter().zip(present).filter(|(_, present)| *present) {
            let mut ty = ConstText::<7>::new();
            ty.push_type(field.ty);
            self.add_member(field.name, ty.as_str());
        }
        self.close_struct(opened);
        Ok(())
    }

    fn push(&mut self, text: &str) -> Span {
        let start = self.schema.text.len() as u32;
        self.schema.text.push_str(text);
        // This fits: a type is shorter here than in the JSON text, which is below 4 GiB.
        Span {
            start,
            end: self.schema.text.len() as u32,
        }
    }

    fn open_struct(&mut self, name: &str) -> core::result::Result<(Span, usize), Reason> {
        if self.schema.structs.len() == TypedSchema::MAX_STRUCTS {
            return Err(Reason::TooManyTypes);
        }
        let name = self.push(name);
        self.push("(");
        Ok((name, self.schema.members.len()))
    }

    fn add_member(&mut self, name: &str, ty: &str) {
        if !self.schema.text.ends_with('(') {
            self.push(",");
        }
        if ty.ends_with(']') {
            self.dimensions += ty.bytes().filter(|byte| *byte == b'[').count();
        }
        let type_text = self.push(ty);
        self.push(" ");
        let name = self.push(name);
        self.schema.members.push(Member {
            name,
            type_text,
            ty: Type::of_struct(0),
        });
    }

    fn close_struct(&mut self, (name, first_member): (Span, usize)) {
        let end = self.push(")").end;
        self.schema.structs.push(Struct {
            name,
            own_type: Span {
                start: name.start,
                end,
            },
            members: first_member..self.schema.members.len(),
            type_hash: None,
        });
    }

    /// Resolves names and rejects duplicates. The types are not hashed yet.
    pub(super) fn build(self) -> Result<TypedSchema> {
        let mut schema = self.schema;
        let text = &schema.text;
        schema
            .structs
            .sort_unstable_by(|a, b| str(text, a.name).cmp(str(text, b.name)));
        schema.by_name = Vec::with_capacity(schema.members.len());
        schema.by_name.resize(schema.members.len(), 0);
        schema.dimensions.reserve_exact(self.dimensions);

        let refuse = |path: &[&str], reason| Err(TypedDataError::at(&path.join("."), reason));
        for pair in schema.structs.windows(2) {
            if str(text, pair[0].name) == str(text, pair[1].name) {
                return refuse(&[str(text, pair[0].name)], Reason::Duplicate);
            }
        }
        for known in &schema.structs {
            let members = &mut schema.members[known.members.clone()];
            for member in &mut *members {
                let type_text = str(text, member.type_text);
                match parse_type(type_text, text, &schema.structs, &mut schema.dimensions) {
                    Some(ty) => member.ty = ty,
                    None => {
                        let path = [str(text, known.name), str(text, member.name)];
                        return refuse(&path, Reason::Type(type_text.into()));
                    }
                }
            }
            let by_name = &mut schema.by_name[known.members.clone()];
            by_name
                .iter_mut()
                .zip(0..)
                .for_each(|(slot, position)| *slot = position);
            let name = |position: u32| str(text, members[position as usize].name);
            by_name.sort_unstable_by(|a, b| name(*a).cmp(name(*b)));
            for pair in by_name.windows(2) {
                if name(pair[0]) == name(pair[1]) {
                    return refuse(&[str(text, known.name), name(pair[0])], Reason::Duplicate);
                }
            }
        }
        Ok(schema)
    }
}

/// Reads a member: `{"name": "wallet", "type": "address"}`.
fn read_member<'a>(reader: &mut Reader<'a>) -> Result<(Cow<'a, str>, Cow<'a, str>)> {
    if reader.peek() != Some(b'{') {
        return Err(reader.unexpected("a member with name and type"));
    }
    reader.open()?;
    let [mut name, mut ty] = [None, None];
    let mut first = true;
    while let Some(key) = reader.key(first)? {
        first = false;
        let inside = |error: alloc::boxed::Box<TypedDataError>| error.inside(Step::Key(&key));
        let slot = match &*key {
            "name" => &mut name,
            "type" => &mut ty,
            _ => return Err(inside(reader.fail(Reason::Unknown))),
        };
        if slot.replace(reader.text().map_err(inside)?).is_some() {
            return Err(inside(reader.fail(Reason::Duplicate)));
        }
    }
    match (name, ty) {
        (Some(name), Some(ty)) => Ok((name, ty)),
        (name, _) => {
            let missing = if name.is_none() { "name" } else { "type" };
            Err(reader.fail(Reason::Missing).inside(Step::Key(missing)))
        }
    }
}

/// Reads a type such as `Person[3][]`. `structs` are sorted by name.
fn parse_type(
    ty: &str,
    text: &str,
    structs: &[Struct],
    dimensions: &mut Vec<usize>,
) -> Option<Type> {
    let (name, mut brackets) = ty.split_at(ty.find('[').unwrap_or(ty.len()));
    let base = match atomic(name) {
        Some(base) => base,
        None => Base::Struct(
            structs
                .binary_search_by(|known| str(text, known.name).cmp(name))
                .ok()?,
        ),
    };
    let dimensions_start = dimensions.len();
    while let Some(rest) = brackets.strip_prefix('[') {
        let (length, rest) = rest.split_once(']')?;
        dimensions.push(if length.is_empty() {
            0
        } else {
            decimal(length).filter(|length| *length > 0)?
        });
        brackets = rest;
    }
    let dimensions_count = (dimensions.len() - dimensions_start) as u32;
    brackets.is_empty().then_some(Type {
        base,
        dimensions_start: dimensions_start as u32,
        dimensions_count,
    })
}

/// Returns an atomic or dynamic type: those of the ABI, except its aliases and `function`.
fn atomic(name: &str) -> Option<Base> {
    Some(match elementary(name)? {
        abi::Type::Bool => Base::Bool,
        abi::Type::Address => Base::Address,
        abi::Type::Bytes => Base::Bytes,
        abi::Type::String => Base::String,
        abi::Type::FixedBytes(length) => Base::FixedBytes(length),
        abi::Type::Uint(bits) if name != "uint" => Base::Uint(bits),
        abi::Type::Int(bits) if name != "int" => Base::Int(bits),
        _ => return None,
    })
}
