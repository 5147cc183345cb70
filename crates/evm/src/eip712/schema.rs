//! The struct types of a JSON document, compiled once.
//!
//! All names and type strings lie in one text, written as `encodeType` wants them: the part of a struct `Person(string name)` is
//! at the same time its name, its members' names and its share of every type that depends on it.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::{fmt, ops::Range};

use lydite_bytes::B256;
use lydite_hash::{Keccak256, keccak256};
use serde_core::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::describe::is_identifier;
use super::domain::{self, FIELDS};
use super::error::{Reason, Trace, TypedDataError};
use super::{message, signing_hash_of};

/// The domain's type, which a document may leave out.
pub(super) const DOMAIN: &str = "EIP712Domain";

/// The most struct types. Every type string may hold all others, so the work is bounded by this times the length of the types.
const MAX_STRUCTS: usize = 256;

/// The struct types of EIP-712 documents, checked and compiled: type strings, type hashes, and what each member is.
///
/// For many messages of the same types: compile once, then [`hash_struct`](TypedSchema::hash_struct) or
/// [`signing_hash`](TypedSchema::signing_hash) of each message's JSON. For one whole document see [`TypedData`](super::TypedData),
/// which also says what is accepted.
///
/// ```
/// use lydite_evm::eip712::TypedSchema;
///
/// let schema = TypedSchema::from_json(r#"{"Transfer": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}]}"#)?;
/// assert_eq!(schema.encode_type("Transfer").as_deref(), Some("Transfer(address to,uint256 amount)"));
///
/// let error = schema.hash_struct("Transfer", r#"{"to": "0x00zz", "amount": 1}"#).unwrap_err();
/// assert_eq!(error.to_string(), "message.to: not an address: expected 40 hexadecimal digits, got 4 (near byte 15)");
/// # Ok::<(), lydite_evm::eip712::TypedDataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypedSchema {
    text: String,
    /// By name.
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
    type_hash: [u8; 32],
}

#[derive(Clone, Debug)]
struct Member {
    name: Span,
    type_text: Span,
    ty: Type,
}

/// A piece of the schema's text.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

/// A member's type: what is inside all brackets, and the brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub(super) base: Base,
    dimensions_start: u32,
    dimensions_count: u32,
}

/// A type that is no array.
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
    /// Compiles the `types` object of a document: `{"Person": [{"name": "wallet", "type": "address"}, …], …}`.
    ///
    /// # Errors
    /// Names that are no identifiers, unknown types, anything given twice, more than 256 structs. `uint`, `int` and arrays of
    /// length 0 are unknown types.
    pub fn from_json(types: &str) -> Result<Self, TypedDataError> {
        Builder::read(types, 0)?.build()
    }

    /// `encodeType` of a struct; `None` if there is no such struct.
    #[must_use]
    pub fn encode_type(&self, name: &str) -> Option<String> {
        let mut text = String::new();
        self.each_own_type(self.find(name)?, |own| text.push_str(own));
        Some(text)
    }

    /// `keccak256(encodeType)` of a struct; `None` if there is no such struct.
    #[must_use]
    pub fn type_hash(&self, name: &str) -> Option<B256> {
        Some(B256::from(self.structs[self.find(name)?].type_hash))
    }

    /// `hashStruct` of a message given as a JSON object.
    ///
    /// # Errors
    /// [`Reason::Type`] if there is no such struct, or what does not fit its type, with the path from `message`.
    pub fn hash_struct(&self, name: &str, message: &str) -> Result<B256, TypedDataError> {
        let Some(index) = self.find(name) else {
            return Err(Trace::at("primaryType").without_place(Reason::Type(name.into())));
        };
        message::hash_struct(self, index, "message", message, 0)
    }

    /// The hash to sign for a message given as a JSON object, in the domain with this separator.
    ///
    /// # Errors
    /// As [`hash_struct`](TypedSchema::hash_struct).
    pub fn signing_hash(
        &self,
        domain_separator: &B256,
        name: &str,
        message: &str,
    ) -> Result<B256, TypedDataError> {
        Ok(signing_hash_of(
            domain_separator,
            &self.hash_struct(name, message)?,
        ))
    }

    /// The index of a struct.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.structs
            .binary_search_by(|known| self.str(known.name).cmp(name))
            .ok()
    }

    pub(super) fn struct_name(&self, index: usize) -> &str {
        self.str(self.structs[index].name)
    }

    pub(super) fn struct_type_hash(&self, index: usize) -> &[u8; 32] {
        &self.structs[index].type_hash
    }

    pub(super) fn member_count(&self, index: usize) -> usize {
        self.structs[index].members.len()
    }

    pub(super) fn member(&self, index: usize, position: usize) -> (&str, Type) {
        let member = &self.members[self.structs[index].members.start + position];
        (self.str(member.name), member.ty)
    }

    /// The position of a member in its struct; `guess` is where it is if the document keeps to the type's order.
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

    /// The outermost length of an array type (0 for any) and the type of its elements.
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

    /// Calls `f` with the struct's own type, then with those it depends on, sorted by name.
    fn each_own_type<'s>(&'s self, index: usize, mut f: impl FnMut(&'s str)) {
        let mut met = [false; MAX_STRUCTS];
        let mut open = Vec::from([index]);
        met[index] = true;
        while let Some(next) = open.pop() {
            for member in &self.members[self.structs[next].members.clone()] {
                if let Base::Struct(inner) = member.ty.base
                    && !met[inner]
                {
                    met[inner] = true;
                    open.push(inner);
                }
            }
        }
        met[index] = false;
        f(self.str(self.structs[index].own_type));
        for (known, _) in self.structs.iter().zip(met).filter(|(_, met)| *met) {
            f(self.str(known.own_type));
        }
    }

    fn hash_type(&self, index: usize) -> [u8; 32] {
        let own_type = self.str(self.structs[index].own_type);
        if self.struct_name(index) == DOMAIN
            && let Some(hash) = domain::standard_type_hash(own_type)
        {
            return hash;
        }
        let is_alone = |member: &Member| !matches!(member.ty.base, Base::Struct(_));
        if self.members[self.structs[index].members.clone()]
            .iter()
            .all(is_alone)
        {
            return keccak256(own_type.as_bytes());
        }
        let mut keccak = Keccak256::new();
        self.each_own_type(index, |own| keccak.update(own.as_bytes()));
        keccak.finalize()
    }
}

fn str(text: &str, span: Span) -> &str {
    &text[span.start as usize..span.end as usize]
}

/// Types as read, before their names are looked up.
pub(super) struct Builder {
    schema: TypedSchema,
}

impl Builder {
    /// Reads the `types` object, which starts at byte `start` of the document.
    pub(super) fn read(json: &str, start: usize) -> Result<Self, TypedDataError> {
        let mut builder = Self {
            schema: TypedSchema {
                text: String::with_capacity(json.len() / 2),
                structs: Vec::with_capacity(4),
                members: Vec::with_capacity(16),
                by_name: Vec::new(),
                dimensions: Vec::new(),
            },
        };
        let mut trace = Trace::at("types");
        if json.len() > u32::MAX as usize {
            return Err(trace.without_place(Reason::TooManyTypes));
        }
        let mut reader = serde_json::Deserializer::from_str(json);
        let read = reader.deserialize_map(TypesVisitor {
            builder: &mut builder,
            trace: &mut trace,
        });
        match read.and_then(|()| reader.end()) {
            Ok(()) => Ok(builder),
            Err(error) => Err(trace.error(&error, json, start)),
        }
    }

    /// Whether the document declares its domain's type.
    pub(super) fn has_domain(&self) -> bool {
        self.schema
            .structs
            .iter()
            .any(|known| self.schema.str(known.name) == DOMAIN)
    }

    /// Declares the domain's type with these of the five standard fields.
    pub(super) fn add_domain(&mut self, present: [bool; 5]) {
        let members = self.open_struct(DOMAIN);
        for (field, _) in FIELDS.iter().zip(present).filter(|(_, present)| *present) {
            let mut ty = super::describe::Text::<7> {
                bytes: [0; 7],
                length: 0,
            };
            ty.push_type(field.ty);
            self.add_member(
                field.name,
                core::str::from_utf8(&ty.bytes[..ty.length]).unwrap_or_default(),
            );
        }
        self.close_struct(members);
    }

    fn push(&mut self, text: &str) -> Span {
        let start = self.schema.text.len() as u32;
        self.schema.text.push_str(text);
        // Fits: a type is shorter here than in JSON, of which there are less than 4 GiB.
        Span {
            start,
            end: self.schema.text.len() as u32,
        }
    }

    fn open_struct(&mut self, name: &str) -> (Span, usize) {
        let name = self.push(name);
        self.push("(");
        (name, self.schema.members.len())
    }

    fn add_member(&mut self, name: &str, ty: &str) {
        if !self.schema.text.ends_with('(') {
            self.push(",");
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
            type_hash: [0; 32],
        });
    }

    /// Looks names up, refuses what is given twice, and hashes the types.
    pub(super) fn build(self) -> Result<TypedSchema, TypedDataError> {
        let mut schema = self.schema;
        let text = &schema.text;
        schema
            .structs
            .sort_unstable_by(|a, b| str(text, a.name).cmp(str(text, b.name)));
        schema.by_name = Vec::with_capacity(schema.members.len());
        schema.by_name.resize(schema.members.len(), 0);

        let refuse = |names: &[&str], reason| {
            let mut trace = Trace::at("types");
            names
                .iter()
                .for_each(|name| trace.enter_key(String::from(*name)));
            Err(trace.without_place(reason))
        };
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
        for index in 0..schema.structs.len() {
            schema.structs[index].type_hash = schema.hash_type(index);
        }
        Ok(schema)
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
            number(length)?
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

fn atomic(name: &str) -> Option<Base> {
    let bits = |digits| {
        number(digits)
            .filter(|bits| bits % 8 == 0 && *bits <= 256)
            .map(|bits| bits as u16)
    };
    Some(match name {
        "bool" => Base::Bool,
        "address" => Base::Address,
        "bytes" => Base::Bytes,
        "string" => Base::String,
        _ => {
            if let Some(digits) = name.strip_prefix("uint") {
                Base::Uint(bits(digits)?)
            } else if let Some(digits) = name.strip_prefix("int") {
                Base::Int(bits(digits)?)
            } else {
                Base::FixedBytes(
                    number(name.strip_prefix("bytes")?).filter(|length| *length <= 32)? as u8,
                )
            }
        }
    })
}

/// A decimal number without leading zeros, so at least 1.
fn number(digits: &str) -> Option<usize> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

/// `{"Person": [member, …], …}`
struct TypesVisitor<'b, 'de> {
    builder: &'b mut Builder,
    trace: &'b mut Trace<'de>,
}

impl<'de> Visitor<'de> for TypesVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of struct types")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(Text)? {
            self.trace.enter_key(name.clone());
            if !is_identifier(&name) || atomic(&name).is_some() {
                return Err(self.trace.fail(Reason::Name));
            }
            if self.builder.schema.structs.len() == MAX_STRUCTS {
                return Err(self.trace.fail(Reason::TooManyTypes));
            }
            let opened = self.builder.open_struct(&name);
            map.next_value_seed(MembersSeed {
                builder: self.builder,
                trace: self.trace,
            })?;
            self.builder.close_struct(opened);
            self.trace.leave();
        }
        Ok(())
    }
}

/// `[{"name": …, "type": …}, …]`
struct MembersSeed<'b, 't> {
    builder: &'b mut Builder,
    trace: &'b mut Trace<'t>,
}

impl<'de> DeserializeSeed<'de> for MembersSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for MembersSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of members")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for index in 0.. {
            self.trace.enter_index(index);
            let Some((name, ty)) = list.next_element_seed(MemberSeed { trace: self.trace })? else {
                self.trace.leave();
                break;
            };
            if !is_identifier(&name) {
                self.trace.enter_key("name");
                return Err(self.trace.fail(Reason::Name));
            }
            self.builder.add_member(&name, &ty);
            self.trace.leave();
        }
        Ok(())
    }
}

/// `{"name": "wallet", "type": "address"}`
struct MemberSeed<'b, 't> {
    trace: &'b mut Trace<'t>,
}

impl<'de> DeserializeSeed<'de> for MemberSeed<'_, '_> {
    type Value = (Cow<'de, str>, Cow<'de, str>);

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MemberSeed<'_, '_> {
    type Value = (Cow<'de, str>, Cow<'de, str>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member with name and type")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let [mut name, mut ty] = [None, None];
        while let Some(key) = map.next_key_seed(Text)? {
            let slot = match &*key {
                "name" => &mut name,
                "type" => &mut ty,
                _ => {
                    self.trace.enter_key(key.into_owned());
                    return Err(self.trace.fail(Reason::Unknown));
                }
            };
            if slot.replace(map.next_value_seed(Text)?).is_some() {
                self.trace.enter_key(key.into_owned());
                return Err(self.trace.fail(Reason::Duplicate));
            }
        }
        match (name, ty) {
            (Some(name), Some(ty)) => Ok((name, ty)),
            (name, _) => {
                self.trace
                    .enter_key(if name.is_none() { "name" } else { "type" });
                Err(self.trace.fail(Reason::Missing))
            }
        }
    }
}

/// A string, borrowed from the document where it has no escapes.
pub(super) struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Cow<'de, str>, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Text {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.into()))
    }
}
