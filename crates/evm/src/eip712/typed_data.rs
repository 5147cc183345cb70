//! What reads and hashes JSON: whole `eth_signTypedData_v4` documents, and messages of a compiled schema.

use alloc::{string::String, vec::Vec};

use lydite_bytes::B256;
use lydite_hash::keccak256;

use super::domain::FIELDS;
use super::error::{Reason, Step, TypedDataError};
use super::json::{Reader, Result};
use super::message::Hasher;
use super::schema::{Builder, DOMAIN, TypedSchema};
use super::signing_preimage;

/// An EIP-712 document in the format of `eth_signTypedData_v4`, checked and hashed:
/// `{"types": …, "primaryType": …, "domain": …, "message": …}`.
///
/// # What is accepted
/// A signature must cover exactly what was shown to the signer, so parsing is strict:
///
/// - every member of every struct occurs exactly once, and there are no other keys; keys may be in any order;
/// - `bool` is `true` or `false`; integers are JSON numbers of any size without fraction or exponent, read without
///   loss, or strings of decimal or `0x` hexadecimal digits, and must be in the range of their type; `address`, `bytes`
///   and `bytesN` are strings of `0x` and hexadecimal digits of exactly the right length (no EIP-55 check); `string` is
///   a string;
/// - arrays of any depth; `T[n]` contains n elements, and n must not be 0;
/// - a member or array element of a struct type may be `null`, which is encoded as the word 0, as in MetaMask and
///   eth-account. This ends recursive types. No other value may be `null`, and none may be omitted;
/// - `types` contains only structs, including all to which members refer; `uint` and `int` without a width are not
///   EIP-712 types. Names are Solidity identifiers; that of a struct may also contain `:` after its first character
///   (`HyperliquidTransaction:UsdSend`);
/// - `EIP712Domain` is used as declared. If it is not declared, it consists of those of `name`, `version`, `chainId`,
///   `verifyingContract` and `salt` that `domain` contains, in this order;
/// - if the primary type is `EIP712Domain`, only the domain is hashed, as in MetaMask, viem and alloy (ethers also
///   hashes the message). The message may then be missing or `{}`; if it has members, it must equal the domain.
///
/// # Limits
/// 127 levels of nesting, [`TypedSchema::MAX_STRUCTS`] struct types, and [`TypedSchema::MAX_TYPE_TEXT`] bytes of type
/// strings on which the message and the domain depend. Memory is at most 8 times the document plus 2 MiB.
///
/// ```
/// use lydite_evm::eip712::TypedData;
///
/// let data = TypedData::from_json(r#"{
///     "types": {
///         "Person": [{"name": "name", "type": "string"}, {"name": "wallet", "type": "address"}],
///         "Mail": [
///             {"name": "from", "type": "Person"}, {"name": "to", "type": "Person"}, {"name": "contents", "type": "string"}
///         ]
///     },
///     "primaryType": "Mail",
///     "domain": {
///         "name": "Ether Mail", "version": "1", "chainId": 1,
///         "verifyingContract": "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"
///     },
///     "message": {
///         "from": {"name": "Cow", "wallet": "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},
///         "to": {"name": "Bob", "wallet": "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},
///         "contents": "Hello, Bob!"
///     }
/// }"#)?;
/// assert_eq!(data.encode_type(), "Mail(Person from,Person to,string contents)Person(string name,address wallet)");
/// assert_eq!(
///     data.signing_hash().to_string(),
///     "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2",
/// );
/// # Ok::<(), lydite_evm::eip712::TypedDataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct TypedData {
    schema: TypedSchema,
    primary_type: String,
    domain_separator: B256,
    struct_hash: B256,
}

impl TypedData {
    /// Parses, checks and hashes a document.
    ///
    /// # Errors
    /// Any violation of [the rules](TypedData#what-is-accepted), with its path and position.
    pub fn from_json(json: &str) -> core::result::Result<Self, TypedDataError> {
        Document::read(json).map_err(|error| *error)
    }

    /// Returns the hash to sign: `keccak256(0x19 0x01 || domainSeparator || hashStruct(message))`, or
    /// `keccak256(0x19 0x01 || domainSeparator)` if the primary type is `EIP712Domain`.
    #[must_use]
    pub fn signing_hash(&self) -> B256 {
        signing_hash(
            &self.primary_type,
            &self.domain_separator,
            &self.struct_hash,
        )
    }

    /// Returns `domainSeparator`.
    #[must_use]
    pub fn domain_separator(&self) -> B256 {
        self.domain_separator
    }

    /// Returns `hashStruct(message)`; the domain separator if the primary type is `EIP712Domain`.
    #[must_use]
    pub fn hash_struct(&self) -> B256 {
        self.struct_hash
    }

    /// Returns `encodeType` of the primary type.
    #[must_use]
    pub fn encode_type(&self) -> String {
        self.schema
            .encode_type(&self.primary_type)
            .unwrap_or_default()
    }

    /// Returns the type hash of the primary type.
    #[must_use]
    pub fn type_hash(&self) -> B256 {
        self.schema
            .type_hash(&self.primary_type)
            .unwrap_or_default()
    }

    /// Returns the name of the message's type.
    #[must_use]
    pub fn primary_type(&self) -> &str {
        &self.primary_type
    }

    /// Returns the document's types, which can be used to hash further messages.
    #[must_use]
    pub fn schema(&self) -> &TypedSchema {
        &self.schema
    }
}

impl TypedSchema {
    /// Compiles the `types` object of a document: `{"Person": [{"name": "wallet", "type": "address"}, …], …}`.
    ///
    /// # Errors
    /// Invalid names, unknown types, duplicates, more than [`MAX_STRUCTS`](Self::MAX_STRUCTS) structs
    /// or [`MAX_TYPE_TEXT`](Self::MAX_TYPE_TEXT) bytes of type strings. `uint`, `int` and arrays of length 0 are
    /// unknown types.
    pub fn from_json(types: &str) -> core::result::Result<Self, TypedDataError> {
        let mut reader = Reader::new(types);
        let mut schema = Builder::read(&mut reader)
            .and_then(|builder| reader.end().and_then(|()| builder.build()))
            .map_err(|error| error.inside(Step::Key("types")))
            .map_err(|error| *error)?;
        let all: Vec<usize> = (0..schema.len()).collect();
        let hashes = Hasher::new(&schema, &all).map_err(|error| *error)?.finish();
        schema.set_type_hashes(&hashes.types, &hashes.words);
        Ok(schema)
    }

    /// Computes `hashStruct` of a message given as a JSON object.
    ///
    /// # Errors
    /// [`Reason::Type`] if the struct is not defined; otherwise the value that does not fit its type, with its path from
    /// `message`.
    pub fn hash_struct(
        &self,
        name: &str,
        message: &str,
    ) -> core::result::Result<B256, TypedDataError> {
        let Some(index) = self.find(name) else {
            return Err(*TypedDataError::at(
                "primaryType",
                Reason::Type(name.into()),
            ));
        };
        let mut hasher = Hasher::new(self, &[index]).map_err(|error| *error)?;
        let mut reader = Reader::new(message);
        let hash = hasher.root(index, &mut reader);
        match hash.and_then(|hash| reader.end().map(|()| hash)) {
            Ok(hash) => Ok(hasher.finish().words[hash].into()),
            Err(error) => Err(*error.inside(Step::Key("message"))),
        }
    }

    /// Computes the hash to sign for a message given as a JSON object, in the domain with this separator. For a message
    /// of type `EIP712Domain`, it is that of [`TypedData::signing_hash`].
    ///
    /// # Errors
    /// Those of [`hash_struct`](TypedSchema::hash_struct), and [`Reason::NotDomain`].
    pub fn signing_hash(
        &self,
        domain_separator: &B256,
        name: &str,
        message: &str,
    ) -> core::result::Result<B256, TypedDataError> {
        let struct_hash = self.hash_struct(name, message)?;
        check_domain(name, domain_separator, &struct_hash).map_err(|error| *error)?;
        Ok(signing_hash(name, domain_separator, &struct_hash))
    }
}

/// Computes the hash to sign for a message of this type.
fn signing_hash(name: &str, domain_separator: &B256, struct_hash: &B256) -> B256 {
    let preimage = signing_preimage(domain_separator, &struct_hash.0);
    let length = if name == DOMAIN { 34 } else { 66 };
    B256::from(keccak256(&preimage[..length]))
}

/// Checks that a message of the domain's type, which is not hashed, equals the domain.
fn check_domain(name: &str, domain_separator: &B256, struct_hash: &B256) -> Result<()> {
    if name == DOMAIN && struct_hash != domain_separator {
        return Err(TypedDataError::at("message", Reason::NotDomain));
    }
    Ok(())
}

/// The four parts of a document found so far. All except the types are parsed once the types are known.
#[derive(Default)]
struct Document<'a> {
    types: Option<Builder>,
    primary_type: Option<String>,
    domain: Option<Reader<'a>>,
    message: Option<Reader<'a>>,
}

impl<'a> Document<'a> {
    fn read(json: &'a str) -> Result<TypedData> {
        let mut reader = Reader::new(json);
        if reader.peek() != Some(b'{') {
            return Err(reader.unexpected("an object with types, primaryType, domain and message"));
        }
        reader.open()?;
        let mut document = Self::default();
        let mut first = true;
        while let Some(key) = reader.key(first)? {
            document
                .part(&key, &mut reader)
                .map_err(|error| error.inside(Step::Key(&key)))?;
            first = false;
        }
        reader.end()?;
        let missing = |key| reader.fail(Reason::Missing).inside(Step::Key(key));
        let types = document.types.ok_or_else(|| missing("types"))?;
        let primary_type = document
            .primary_type
            .ok_or_else(|| missing("primaryType"))?;
        let domain = document.domain.ok_or_else(|| missing("domain"))?;
        let message = match document.message {
            Some(message) if primary_type != DOMAIN || !is_empty(message.clone()) => message,
            None if primary_type != DOMAIN => return Err(missing("message")),
            _ => domain.clone(),
        };
        hash(types, primary_type, domain, message)
    }

    fn part(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        let twice = match key {
            "types" if self.types.is_none() => {
                self.types = Some(Builder::read(reader)?);
                false
            }
            "primaryType" if self.primary_type.is_none() => {
                self.primary_type = Some(reader.text()?.into_owned());
                false
            }
            "domain" => self.domain.replace(reader.skip()?).is_some(),
            "message" => self.message.replace(reader.skip()?).is_some(),
            "types" | "primaryType" => true,
            _ => return Err(reader.fail(Reason::Unknown)),
        };
        if twice {
            return Err(reader.fail(Reason::Duplicate));
        }
        Ok(())
    }
}

fn hash(
    mut types: Builder,
    primary_type: String,
    mut domain: Reader<'_>,
    mut message: Reader<'_>,
) -> Result<TypedData> {
    if !types.has_domain() {
        let fields = standard_fields(domain.clone());
        types
            .add_domain(fields.map_err(|error| error.inside(Step::Key("domain")))?)
            .map_err(|error| error.inside(Step::Key("types")))?;
    }
    let mut schema = types
        .build()
        .map_err(|error| error.inside(Step::Key("types")))?;
    let unknown = |path, name: &str| TypedDataError::at(path, Reason::Type(name.into()));
    let domain_type = schema
        .find(DOMAIN)
        .ok_or_else(|| unknown("types", DOMAIN))?;
    let message_type = schema
        .find(&primary_type)
        .ok_or_else(|| unknown("primaryType", &primary_type))?;

    let mut hasher = Hasher::new(&schema, &[domain_type, message_type])?;
    let separator = hasher
        .root(domain_type, &mut domain)
        .map_err(|error| error.inside(Step::Key("domain")))?;
    let struct_hash = hasher
        .root(message_type, &mut message)
        .map_err(|error| error.inside(Step::Key("message")))?;
    let hashes = hasher.finish();
    schema.set_type_hashes(&hashes.types, &hashes.words);
    let domain_separator = hashes.words[separator].into();
    let struct_hash = hashes.words[struct_hash].into();
    check_domain(&primary_type, &domain_separator, &struct_hash)?;
    Ok(TypedData {
        schema,
        primary_type,
        domain_separator,
        struct_hash,
    })
}

/// Whether the value is an object without members.
fn is_empty(mut reader: Reader<'_>) -> bool {
    reader.peek() == Some(b'{') && reader.open().is_ok() && matches!(reader.key(true), Ok(None))
}

/// Returns which standard fields are in a domain whose type is not declared.
fn standard_fields(mut reader: Reader<'_>) -> Result<[bool; 5]> {
    if reader.peek() != Some(b'{') {
        return Err(reader.unexpected("a domain (an object)"));
    }
    reader.open()?;
    let mut present = [false; 5];
    let mut first = true;
    while let Some(key) = reader.key(first)? {
        first = false;
        let Some(at) = FIELDS.iter().position(|field| field.name == key) else {
            return Err(reader.fail(Reason::Unknown).inside(Step::Key(&key)));
        };
        present[at] = true;
        reader.skip()?;
    }
    Ok(present)
}
