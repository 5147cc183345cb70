//! Solidity types as data, and the parser of type texts and human-readable signatures.
//!
//! Source: Solidity ABI specification, "Types" and "Function Selector"; human-readable ABI in the format of ethers.js.
//! The parser recurses at most [`MAX_DEPTH`] levels, and every node takes at least one byte of text.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

use super::cursor::Cursor;
use super::{Error, ErrorKind, word};

/// Maximum nesting of arrays and tuples in a type.
pub const MAX_DEPTH: usize = 64;

/// Maximum number of types in the text of a type or signature, including members of tuples and elements of arrays.
///
/// A type takes up to 240 bytes of memory during parsing and as little as 3 bytes of text (`(),`). So a text takes at
/// most 80 times its length, and at most 15 MiB.
pub const MAX_TYPES: usize = 1 << 16;

/// A Solidity type as seen by the ABI. `Display` writes the canonical name (`uint256`, `(address,bytes)[2][]`).
///
/// ```
/// use lydite_evm::abi::Type;
/// let t = Type::parse("tuple(address to, uint amount)[]")?;
/// assert_eq!(t.to_string(), "(address,uint256)[]");
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `bool`
    Bool,
    /// `uint8` to `uint256`: width in bits, a multiple of 8
    Uint(u16),
    /// `int8` to `int256`: width in bits, a multiple of 8
    Int(u16),
    /// `address`
    Address,
    /// `bytes1` to `bytes32`: length in bytes
    FixedBytes(u8),
    /// `function`: an address and a selector, 24 bytes
    Function,
    /// `bytes`
    Bytes,
    /// `string`
    String,
    /// `T[]`
    Array(Box<Type>),
    /// `T[n]`
    FixedArray(Box<Type>, usize),
    /// `(T1,T2,…)`, a Solidity struct
    Tuple(Vec<Type>),
}

impl Type {
    /// Parses a type: canonical names, the aliases `uint` and `int`, `address payable`, and tuples as `(…)` or
    /// `tuple(…)`, whose members may have names. Spaces are allowed around names. [`MAX_DEPTH`] and [`MAX_TYPES`] bound
    /// memory.
    ///
    /// # Errors
    /// `Syntax`, `TooDeep` or `TooManyTypes`, with the byte of the text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut parser = parser_of(text);
        let (ty, _) = parser.ty(0)?;
        parser.end()?;
        Ok(ty)
    }

    /// Whether the encoding has a tail: `bytes`, `string`, `T[]`, and all types that contain one of them.
    pub fn is_dynamic(&self) -> bool {
        match self {
            Type::Bytes | Type::String | Type::Array(_) => true,
            Type::FixedArray(element, _) => element.is_dynamic(),
            Type::Tuple(members) => members.iter().any(Type::is_dynamic),
            _ => false,
        }
    }

    /// Whether the type fits in a word, so that an event topic contains the value itself and not its hash.
    pub fn is_value(&self) -> bool {
        !matches!(
            self,
            Type::Bytes | Type::String | Type::Array(_) | Type::FixedArray(..) | Type::Tuple(_)
        )
    }
}

impl Type {
    /// Whether a word is the valid encoding of a value of this type: in range, and with zeros as padding. False for
    /// types that take more than a word.
    ///
    /// ```
    /// use lydite_evm::abi::Type;
    /// let mut word = [0; 32];
    /// word[31] = 2;
    /// assert!(Type::Uint(8).is_valid_word(&word));
    /// assert!(!Type::Bool.is_valid_word(&word));
    /// ```
    #[inline(always)]
    pub fn is_valid_word(&self, word: &[u8; 32]) -> bool {
        match *self {
            Type::Bool => word::to_bool(word).is_some(),
            Type::Uint(bits) => word::fits_uint(word, usize::from(bits)),
            Type::Int(bits) => word::fits_int(word, usize::from(bits)),
            Type::Address => word::fits_uint(word, 160),
            Type::FixedBytes(len) => len == 32 || word::is_padded(word, 32 - usize::from(len)),
            Type::Function => word::is_padded(word, 8),
            _ => false,
        }
    }
}

impl core::str::FromStr for Type {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Uint(bits) => write!(f, "uint{bits}"),
            Type::Int(bits) => write!(f, "int{bits}"),
            Type::Address => f.write_str("address"),
            Type::FixedBytes(len) => write!(f, "bytes{len}"),
            Type::Function => f.write_str("function"),
            Type::Bytes => f.write_str("bytes"),
            Type::String => f.write_str("string"),
            Type::Array(element) => write!(f, "{element}[]"),
            Type::FixedArray(element, len) => write!(f, "{element}[{len}]"),
            Type::Tuple(members) => {
                f.write_str("(")?;
                for (i, member) in members.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    member.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A parameter of a [`Signature`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "ParameterText"))]
pub struct Parameter {
    /// The type.
    pub ty: Type,
    /// The name; empty if there is none.
    pub name: String,
    /// Whether it is marked `indexed` (events).
    pub indexed: bool,
    /// The members of a tuple, or of the tuples in an array, with their names; empty for other types.
    pub components: Vec<Parameter>,
}

impl Parameter {
    /// Parses a parameter: a type like [`Type::parse`], and a name if there is one.
    ///
    /// ```
    /// use lydite_evm::abi::Parameter;
    /// let orders = Parameter::parse("(address to, uint amount)[] orders")?;
    /// assert_eq!((orders.ty.to_string().as_str(), orders.name.as_str()), ("(address,uint256)[]", "orders"));
    /// assert_eq!(orders.components[1].name, "amount");
    /// # Ok::<(), lydite_evm::abi::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Syntax`, `TooDeep` or `TooManyTypes`, with the byte of the text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut parser = parser_of(text);
        let parameter = parser.parameter(0)?;
        parser.end()?;
        Ok(parameter)
    }

    /// Combines the text of a type and the members of `tuple`, as in JSON.
    #[cfg(feature = "serde")]
    fn with_components(
        text: &str,
        name: String,
        indexed: bool,
        components: Vec<Self>,
    ) -> Result<Self, Error> {
        let mut parser = parser_of(text);
        let (ty, components) = if parser.word() == "tuple" && parser.peek() != Some(b'(') {
            let members = components.iter().map(|member| member.ty.clone());
            let tuple = Type::Tuple(members.collect());
            if height(&tuple) > MAX_DEPTH {
                return Err(Error::new(ErrorKind::TooDeep, 0));
            }
            (parser.arrays(tuple, 0)?, components)
        } else {
            parser = parser_of(text);
            parser.ty(0)?
        };
        parser.end()?;
        Ok(Self {
            ty,
            name,
            indexed,
            components,
        })
    }
}

/// A parameter as written in JSON. `components` are the members of a tuple.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct ParameterText {
    #[serde(default)]
    name: String,
    #[serde(rename = "type")]
    ty: String,
    #[serde(default)]
    components: Vec<Parameter>,
    #[serde(default)]
    indexed: bool,
}

#[cfg(feature = "serde")]
impl TryFrom<ParameterText> for Parameter {
    type Error = Error;

    fn try_from(parameter: ParameterText) -> Result<Self, Error> {
        let ParameterText {
            name,
            ty,
            components,
            indexed,
        } = parameter;
        Self::with_components(&ty, name, indexed, components)
    }
}

/// The signature of a function, event or error. `Display` writes the canonical form, whose Keccak-256 hash gives
/// [`selector`](super::selector) and [`event_topic`](super::event_topic).
///
/// ```
/// use lydite_evm::abi::Signature;
/// let s = Signature::parse("function transfer(address to, uint amount) external returns (bool)")?;
/// assert_eq!(s.to_string(), "transfer(address,uint256)");
/// assert_eq!((s.inputs[1].name.as_str(), s.outputs.len()), ("amount", 1));
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name before the parameters.
    pub name: String,
    /// The parameters.
    pub inputs: Vec<Parameter>,
    /// The parameters after `returns`; empty if there are none.
    pub outputs: Vec<Parameter>,
}

impl Signature {
    /// Parses `name(types)`, or a human-readable `function …`, `event …` or `error …` line with names, modifiers,
    /// `returns (…)` and a final semicolon. The only modifier of an event is `anonymous`. [`MAX_DEPTH`] and
    /// [`MAX_TYPES`] bound memory.
    ///
    /// # Errors
    /// `Syntax`, `TooDeep` or `TooManyTypes`, with the byte of the text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (signature, _) = Self::parse_modifiers(text, false)?;
        Ok(signature)
    }

    /// Like [`parse`](Self::parse); also returns whether there is the modifier `anonymous`. With `event`, the text is
    /// that of an event even without this word.
    pub(super) fn parse_modifiers(text: &str, mut event: bool) -> Result<(Self, bool), Error> {
        let mut parser = parser_of(text);
        let mut name = parser.word();
        if matches!(name, "function" | "event" | "error") && parser.peek() != Some(b'(') {
            event |= name == "event";
            name = parser.word();
        }
        if !is_identifier(name) {
            return Err(parser.error());
        }
        let inputs = parser.parameters(0)?;
        let mut outputs = Vec::new();
        let mut anonymous = false;
        loop {
            match parser.word() {
                "" => break,
                "anonymous" => anonymous = true,
                word if event => {
                    return Err(Error::new(ErrorKind::Syntax, parser.at - word.len()));
                }
                "returns" => {
                    outputs = parser.parameters(0)?;
                    break;
                }
                _ => {}
            }
        }
        parser.eat(b';');
        parser.end()?;
        let signature = Self {
            name: name.into(),
            inputs,
            outputs,
        };
        Ok((signature, anonymous))
    }
}

#[cfg(feature = "serde")]
impl Signature {
    /// Checks that the name is an identifier.
    ///
    /// # Errors
    /// `Syntax`, with the byte of the name.
    pub(super) fn new(
        name: String,
        inputs: Vec<Parameter>,
        outputs: Vec<Parameter>,
    ) -> Result<Self, Error> {
        let mut parser = parser_of(&name);
        let word = parser.word();
        if word.len() != name.len() || !is_identifier(word) {
            return Err(parser.error());
        }
        Ok(Self {
            name,
            inputs,
            outputs,
        })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        for (i, input) in self.inputs.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            input.ty.fmt(f)?;
        }
        f.write_str(")")
    }
}

fn parser_of(text: &str) -> Cursor<'_> {
    Cursor::new(text, ErrorKind::Syntax, MAX_TYPES)
}

impl<'a> Cursor<'a> {
    /// Takes the identifier at the cursor; "" if there is none.
    fn word(&mut self) -> &'a str {
        self.peek();
        let start = self.at;
        self.at += self.text.as_bytes()[start..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
            .count();
        &self.text[start..self.at]
    }

    /// Parses a type. Also returns its components, see [`Parameter`].
    fn ty(&mut self, depth: usize) -> Result<(Type, Vec<Parameter>), Error> {
        if depth > MAX_DEPTH {
            return Err(Error::new(ErrorKind::TooDeep, self.at));
        }
        self.count(ErrorKind::TooManyTypes)?;
        let word = self.word();
        let start = self.at - word.len();
        let mut components = Vec::new();
        let ty = if self.peek() == Some(b'(') && (word.is_empty() || word == "tuple") {
            components = self.parameters(depth + 1)?;
            Type::Tuple(components.iter().map(|member| member.ty.clone()).collect())
        } else {
            elementary(word).ok_or(Error::new(ErrorKind::Syntax, start))?
        };
        let after = self.at;
        if ty != Type::Address || self.word() != "payable" {
            self.at = after;
        }
        Ok((self.arrays(ty, depth)?, components))
    }

    /// Parses the suffixes `[]` and `[n]` of a type.
    fn arrays(&mut self, mut ty: Type, depth: usize) -> Result<Type, Error> {
        // `depth` counts the enclosing levels; those of the suffixes are added to the levels inside `ty`.
        let mut height = depth + self::height(&ty);
        while self.eat(b'[') {
            height += 1;
            if height > MAX_DEPTH {
                return Err(Error::new(ErrorKind::TooDeep, self.at));
            }
            self.count(ErrorKind::TooManyTypes)?;
            let digits = self.word();
            ty = if digits.is_empty() {
                Type::Array(Box::new(ty))
            } else {
                let len = decimal(digits).ok_or(self.error())?;
                Type::FixedArray(Box::new(ty), len)
            };
            self.expect(b']')?;
        }
        Ok(ty)
    }

    fn parameters(&mut self, depth: usize) -> Result<Vec<Parameter>, Error> {
        self.expect(b'(')?;
        let mut list = Vec::new();
        if self.eat(b')') {
            return Ok(list);
        }
        loop {
            list.push(self.parameter(depth)?);
            if self.eat(b')') {
                return Ok(list);
            }
            self.expect(b',')?;
        }
    }

    fn parameter(&mut self, depth: usize) -> Result<Parameter, Error> {
        let (ty, components) = self.ty(depth)?;
        let (mut name, mut indexed) = ("", false);
        loop {
            match self.word() {
                "" => break,
                "indexed" => indexed = true,
                "memory" | "calldata" | "storage" => {}
                word if name.is_empty() => name = word,
                _ => return Err(self.error()),
            }
        }
        Ok(Parameter {
            ty,
            name: name.into(),
            indexed,
            components,
        })
    }
}

/// Whether the name is a Solidity identifier: a letter, `_` or `$`, followed by letters, digits, `_` or `$`.
pub(crate) const fn is_identifier(name: &str) -> bool {
    is_name(name, false)
}

/// Whether the name is valid for an EIP-712 struct: an identifier, which may also contain `:` after its first character
/// (`HyperliquidTransaction:UsdSend`). Solidity has no such names, but wallets sign them.
pub(crate) const fn is_struct_name(name: &str) -> bool {
    is_name(name, true)
}

const fn is_name(name: &str, colons: bool) -> bool {
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let letter = bytes[i].is_ascii_alphabetic() || bytes[i] == b'_' || bytes[i] == b'$';
        let inner = bytes[i].is_ascii_digit() || (colons && bytes[i] == b':');
        if !letter && (i == 0 || !inner) {
            return false;
        }
        i += 1;
    }
    !bytes.is_empty()
}

/// Returns the number of nested arrays and tuples in a type.
pub(crate) fn height(ty: &Type) -> usize {
    match ty {
        Type::Array(element) | Type::FixedArray(element, _) => 1 + height(element),
        Type::Tuple(members) => 1 + members.iter().map(height).max().unwrap_or(0),
        _ => 0,
    }
}

/// Parses a decimal number without sign or leading zeros.
pub(crate) fn decimal(digits: &str) -> Option<usize> {
    let plain =
        digits.bytes().all(|b| b.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

/// Returns a type that is written as one word.
pub(crate) fn elementary(word: &str) -> Option<Type> {
    let bits = |digits: &str| match decimal(digits) {
        Some(bits) if word::is_width(bits) => Some(bits as u16),
        _ => None,
    };
    Some(match word {
        "bool" => Type::Bool,
        "address" => Type::Address,
        "uint" => Type::Uint(256),
        "int" => Type::Int(256),
        "bytes" => Type::Bytes,
        "string" => Type::String,
        "function" => Type::Function,
        _ => {
            if let Some(digits) = word.strip_prefix("uint") {
                Type::Uint(bits(digits)?)
            } else if let Some(digits) = word.strip_prefix("int") {
                Type::Int(bits(digits)?)
            } else {
                let len = decimal(word.strip_prefix("bytes")?)?;
                if len == 0 || len > 32 {
                    return None;
                }
                Type::FixedBytes(len as u8)
            }
        }
    })
}
