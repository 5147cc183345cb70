//! Documents of `eth_signTypedData_v4`, written from Rust types.

use alloc::string::String;
use core::fmt::{Display, Write as _};

use super::{Domain, TypedStruct, TypedValue};

/// Digits of an integer up to which JavaScript reads a JSON number without loss.
const EXACT: usize = 15;

/// Appends an integer: a number, or text if JSON readers could round it.
pub(super) fn put_integer(out: &mut String, value: &impl Display) {
    let start = out.len();
    put_text(out, value);
    if out[start + 1..out.len() - 1].trim_start_matches('-').len() <= EXACT {
        out.pop();
        out.remove(start);
    }
}

/// Appends text that needs no escapes, in quotes.
pub(super) fn put_text(out: &mut String, text: &impl Display) {
    // Writing to a `String` never fails.
    let _ = write!(out, "\"{text}\"");
}

/// Appends a string in quotes, with escapes.
pub(super) fn put_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

/// Appends an array.
pub(super) fn put_array<T: TypedValue>(out: &mut String, items: &[T]) {
    out.push('[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        item.write_json(out);
    }
    out.push(']');
}

/// Appends an object, one member after the other.
#[derive(Debug)]
pub struct Object<'a> {
    out: &'a mut String,
    start: usize,
}

impl<'a> Object<'a> {
    /// Opens the object.
    pub fn begin(out: &'a mut String) -> Self {
        out.push('{');
        let start = out.len();
        Self { out, start }
    }

    /// Appends the name of a member, whose value the caller appends to the result.
    fn name(&mut self, name: &str) -> &mut String {
        if self.out.len() > self.start {
            self.out.push(',');
        }
        put_string(self.out, name);
        self.out.push(':');
        self.out
    }

    /// Appends a member.
    pub fn member<T: TypedValue + ?Sized>(&mut self, name: &str, value: &T) {
        value.write_json(self.name(name));
    }

    /// Closes the object.
    pub fn end(self) {
        self.out.push('}');
    }
}

/// Appends the types that an `encodeType` describes, each as a member of `types`.
fn put_types(types: &mut Object<'_>, encode_type: &str) {
    for part in encode_type.split_terminator(')') {
        let (name, members) = part.split_once('(').unwrap_or((part, ""));
        let out = types.name(name);
        out.push('[');
        for (i, member) in members.split_terminator(',').enumerate() {
            if i > 0 {
                out.push(',');
            }
            let (ty, name) = member.split_once(' ').unwrap_or_default();
            let _ = write!(out, "{{\"name\":\"{name}\",\"type\":\"{ty}\"}}");
        }
        out.push(']');
    }
}

impl Domain<'_> {
    /// Returns the document that asks a wallet to sign `message` in this domain: the second parameter of
    /// `eth_signTypedData_v4`. Integers of more than 15 digits are text, so that JavaScript does not round them.
    ///
    /// ```
    /// use lydite_bytes::U256;
    /// use lydite_evm::eip712::Domain;
    ///
    /// lydite_evm::typed_struct! {
    ///     /// A vote.
    ///     pub struct Vote {
    ///         /// Its number
    ///         pub proposal: U256,
    ///     }
    /// }
    ///
    /// let domain = Domain { name: Some("DAO"), chain_id: Some(U256::from(1u64)), ..Domain::default() };
    /// assert_eq!(
    ///     domain.to_json(&Vote { proposal: U256::from(7u64) }),
    ///     r#"{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"chainId","type":"uint256"}],"#
    ///         .to_owned()
    ///         + r#""Vote":[{"name":"proposal","type":"uint256"}]},"primaryType":"Vote","#
    ///         + r#""domain":{"name":"DAO","chainId":1},"message":{"proposal":7}}"#,
    /// );
    /// ```
    #[must_use]
    pub fn to_json<T: TypedStruct>(&self, message: &T) -> String {
        let mut json = String::new();
        let mut document = Object::begin(&mut json);
        let mut types = Object::begin(document.name("types"));
        put_types(&mut types, self.encode_type());
        put_types(&mut types, T::ENCODE_TYPE);
        types.end();
        let (primary, _) = T::ENCODE_TYPE.split_once('(').unwrap_or_default();
        put_text(document.name("primaryType"), &primary);
        let mut domain = Object::begin(document.name("domain"));
        if let Some(name) = &self.name {
            domain.member("name", name);
        }
        if let Some(version) = &self.version {
            domain.member("version", version);
        }
        if let Some(chain_id) = &self.chain_id {
            domain.member("chainId", chain_id);
        }
        if let Some(contract) = &self.verifying_contract {
            domain.member("verifyingContract", contract);
        }
        if let Some(salt) = &self.salt {
            domain.member("salt", salt);
        }
        domain.end();
        document.member("message", message);
        document.end();
        json
    }
}
