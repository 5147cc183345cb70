//! A whole `eth_signTypedData_v4` document.

use alloc::string::String;
use core::fmt;

use lydite_bytes::B256;
use serde_core::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::domain::FIELDS;
use super::error::{Reason, Trace, TypedDataError};
use super::schema::{Builder, DOMAIN, Text, TypedSchema};
use super::{message, signing_hash_of};

/// An EIP-712 document as `eth_signTypedData_v4` takes it, checked and hashed:
/// `{"types": …, "primaryType": …, "domain": …, "message": …}`.
///
/// # What is accepted
/// A signature must cover exactly what the signer was shown, so the reading is strict:
///
/// - every member of every struct is there once, and no other key is; keys may come in any order;
/// - `bool` is `true` or `false`; integers are JSON numbers without fraction or exponent, of any size and without loss, or strings
///   of decimal or `0x` hexadecimal digits, and lie in the range of their type; `address`, `bytes` and `bytesN` are strings of
///   `0x` and hexadecimal digits of exactly the right length (no EIP-55 check); `string` is a string;
/// - arrays of any depth; `T[n]` holds n elements, and n is not 0;
/// - a member or array element of a struct type may be `null`, which is the word 0, as in MetaMask and eth-account: so recursive
///   types end. Nothing else may be `null`, and nothing may be left out;
/// - `types` names only structs, and all that its members name; `uint` and `int` without a width are not types of EIP-712;
/// - `EIP712Domain` is taken as declared. Where it is not declared, it is made of those of `name`, `version`, `chainId`,
///   `verifyingContract` and `salt` that `domain` has, in this order.
///
/// Limits: 256 struct types, 127 levels of nesting.
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
    /// Reads, checks and hashes a document.
    ///
    /// # Errors
    /// Whatever [the rules](TypedData#what-is-accepted) refuse, with its path and place.
    pub fn from_json(json: &str) -> Result<Self, TypedDataError> {
        let parts = Parts::read(json)?;
        // The parts are pieces of the document.
        let start = |part: &RawValue| part.get().as_ptr() as usize - json.as_ptr() as usize;

        let mut builder = Builder::read(parts.types.get(), start(parts.types))?;
        if !builder.has_domain() {
            builder.add_domain(standard_fields(parts.domain.get(), start(parts.domain))?);
        }
        let schema = builder.build()?;
        let refuse = |path, name: &str| Trace::at(path).without_place(Reason::Type(name.into()));
        let domain = schema.find(DOMAIN).ok_or_else(|| refuse("types", DOMAIN))?;
        let primary = schema
            .find(&parts.primary_type)
            .ok_or_else(|| refuse("primaryType", &parts.primary_type))?;
        let domain_separator = message::hash_struct(
            &schema,
            domain,
            "domain",
            parts.domain.get(),
            start(parts.domain),
        )?;
        let struct_hash = message::hash_struct(
            &schema,
            primary,
            "message",
            parts.message.get(),
            start(parts.message),
        )?;
        Ok(Self {
            schema,
            primary_type: parts.primary_type,
            domain_separator,
            struct_hash,
        })
    }

    /// The hash to sign.
    #[must_use]
    pub fn signing_hash(&self) -> B256 {
        signing_hash_of(&self.domain_separator, &self.struct_hash)
    }

    /// `domainSeparator`.
    #[must_use]
    pub fn domain_separator(&self) -> B256 {
        self.domain_separator
    }

    /// `hashStruct(message)`.
    #[must_use]
    pub fn hash_struct(&self) -> B256 {
        self.struct_hash
    }

    /// `encodeType` of the primary type.
    #[must_use]
    pub fn encode_type(&self) -> String {
        self.schema
            .encode_type(&self.primary_type)
            .unwrap_or_default()
    }

    /// The type hash of the primary type.
    #[must_use]
    pub fn type_hash(&self) -> B256 {
        self.schema
            .type_hash(&self.primary_type)
            .unwrap_or_default()
    }

    /// The name of the message's type.
    #[must_use]
    pub fn primary_type(&self) -> &str {
        &self.primary_type
    }

    /// The document's types, with which further messages can be hashed.
    #[must_use]
    pub fn schema(&self) -> &TypedSchema {
        &self.schema
    }
}

/// The four keys of a document; three are read when the types are known.
struct Parts<'a> {
    types: &'a RawValue,
    primary_type: String,
    domain: &'a RawValue,
    message: &'a RawValue,
}

impl<'a> Parts<'a> {
    fn read(json: &'a str) -> Result<Self, TypedDataError> {
        let mut trace = Trace::default();
        let mut reader = serde_json::Deserializer::from_str(json);
        let parts = reader.deserialize_map(PartsVisitor { trace: &mut trace });
        match parts.and_then(|parts| reader.end().map(|()| parts)) {
            Ok(parts) => Ok(parts),
            Err(error) => Err(trace.error(&error, json, 0)),
        }
    }
}

struct PartsVisitor<'t> {
    trace: &'t mut Trace<'static>,
}

impl<'de> Visitor<'de> for PartsVisitor<'_> {
    type Value = Parts<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with types, primaryType, domain and message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<'de>, A::Error> {
        const KEYS: [&str; 4] = ["types", "primaryType", "domain", "message"];
        let mut values: [Option<&RawValue>; 4] = [None; 4];
        while let Some(key) = map.next_key_seed(Text)? {
            let Some(at) = KEYS.iter().position(|known| *known == key) else {
                self.trace.enter_key(key.into_owned());
                return Err(self.trace.fail(Reason::Unknown));
            };
            self.trace.enter_key(KEYS[at]);
            if values[at].replace(map.next_value()?).is_some() {
                return Err(self.trace.fail(Reason::Duplicate));
            }
            self.trace.leave();
        }
        if let Some(missing) = values.iter().position(Option::is_none) {
            self.trace.enter_key(KEYS[missing]);
            return Err(self.trace.fail(Reason::Missing));
        }
        let [Some(types), Some(primary_type), Some(domain), Some(message)] = values else {
            return Err(self.trace.fail(Reason::Missing));
        };
        self.trace.enter_key(KEYS[1]);
        let primary_type =
            String::deserialize(primary_type).map_err(serde_core::de::Error::custom)?;
        self.trace.leave();
        Ok(Parts {
            types,
            primary_type,
            domain,
            message,
        })
    }
}

/// Which of the standard fields a domain has whose type is not declared.
fn standard_fields(json: &str, start: usize) -> Result<[bool; 5], TypedDataError> {
    let mut trace = Trace::at("domain");
    let mut reader = serde_json::Deserializer::from_str(json);
    let fields = reader.deserialize_map(FieldsVisitor { trace: &mut trace });
    fields.map_err(|error| trace.error(&error, json, start))
}

struct FieldsVisitor<'t> {
    trace: &'t mut Trace<'static>,
}

impl<'de> Visitor<'de> for FieldsVisitor<'_> {
    type Value = [bool; 5];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a domain (an object)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<[bool; 5], A::Error> {
        let mut present = [false; 5];
        while let Some(key) = map.next_key_seed(Text)? {
            let Some(at) = FIELDS.iter().position(|field| field.name == key) else {
                self.trace.enter_key(key.into_owned());
                return Err(self.trace.fail(Reason::Unknown));
            };
            present[at] = true;
            map.next_value::<IgnoredAny>()?;
        }
        Ok(present)
    }
}
