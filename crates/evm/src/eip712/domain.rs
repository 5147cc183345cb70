//! The EIP-712 domain and its separator.
//!
//! Each of the five fields may be present or absent, which gives 32 domain types. Their type strings and type hashes
//! are constants.

use lydite_bytes::{Address, B256, U256};
use lydite_hash::{keccak256, keccak256_const};

use super::describe::{Member, MemberType};
use super::{TypedStruct, hash_independent, signing_hash_of};
use crate::const_text::ConstText;

/// The possible fields of a domain, in the order that the specification defines.
pub(super) const FIELDS: [Member; 5] = [
    Member {
        name: "name",
        ty: &MemberType::String,
    },
    Member {
        name: "version",
        ty: &MemberType::String,
    },
    Member {
        name: "chainId",
        ty: &MemberType::Uint(256),
    },
    Member {
        name: "verifyingContract",
        ty: &MemberType::Address,
    },
    Member {
        name: "salt",
        ty: &MemberType::FixedBytes(32),
    },
];

/// One of the 32 domain types.
struct DomainType {
    /// `EIP712Domain(…)`
    text: ConstText<MAX_TEXT>,
    hash: [u8; 32],
}

/// The length of the type string with all five fields.
const MAX_TEXT: usize = 95;

/// Bit i of the index is set if field i is present.
static DOMAIN_TYPES: [DomainType; 32] = {
    let mut types = [const {
        DomainType {
            text: ConstText::new(),
            hash: [0; 32],
        }
    }; 32];
    let mut present = 0;
    while present < types.len() {
        types[present] = domain_type(present);
        present += 1;
    }
    types
};

const fn domain_type(present: usize) -> DomainType {
    let mut text = ConstText::new();
    text.push_str("EIP712Domain(");
    let mut empty = true;
    let mut i = 0;
    while i < FIELDS.len() {
        if present >> i & 1 == 1 {
            if !empty {
                text.push(b',');
            }
            text.push_type(FIELDS[i].ty);
            text.push(b' ');
            text.push_str(FIELDS[i].name);
            empty = false;
        }
        i += 1;
    }
    text.push(b')');
    let hash = keccak256_const(text.as_bytes());
    DomainType { text, hash }
}

/// Returns the type hash of a domain with the declared type `text`, if its fields are standard ones in the standard
/// order.
#[cfg(feature = "json")]
pub(super) fn standard_type_hash(text: &str) -> Option<[u8; 32]> {
    let known = DOMAIN_TYPES
        .iter()
        .find(|known| known.text.as_bytes() == text.as_bytes())?;
    Some(known.hash)
}

/// The context to which a signature is bound: the application, its version, the chain and the contract.
///
/// A field that is `None` is not part of the domain's type. The standard requires at least one field. A contract's
/// `eip712Domain()` (ERC-5267) reports which fields it uses.
///
/// ```
/// use lydite_bytes::{Address, U256};
/// use lydite_evm::eip712::Domain;
///
/// let domain = Domain {
///     name: Some("Ether Mail"),
///     version: Some("1"),
///     chain_id: Some(U256::from(1u64)),
///     verifying_contract: Some("0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC".parse::<Address>()?),
///     salt: None,
/// };
/// assert_eq!(
///     domain.separator().to_string(),
///     "0xf2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f",
/// );
/// # Ok::<(), lydite_bytes::address::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Domain<'a> {
    /// `name`: the user-readable name of the application or protocol.
    pub name: Option<&'a str>,
    /// `version`: the current major version of the signing domain.
    pub version: Option<&'a str>,
    /// `chainId`: the EIP-155 chain id.
    pub chain_id: Option<U256>,
    /// `verifyingContract`: the contract that verifies the signature.
    pub verifying_contract: Option<Address>,
    /// `salt`: a separator of last resort.
    pub salt: Option<B256>,
}

impl Domain<'_> {
    fn domain_type(&self) -> &'static DomainType {
        let present = [
            self.name.is_some(),
            self.version.is_some(),
            self.chain_id.is_some(),
            self.verifying_contract.is_some(),
            self.salt.is_some(),
        ];
        let index = present
            .iter()
            .enumerate()
            .fold(0, |index, (i, present)| index | usize::from(*present) << i);
        &DOMAIN_TYPES[index]
    }

    /// Returns the domain's type string, e.g. `EIP712Domain(string name,uint256 chainId)`. A constant.
    #[must_use]
    pub fn encode_type(&self) -> &'static str {
        self.domain_type().text.as_str()
    }

    /// Returns the `keccak256` hash of [`Domain::encode_type`]. A constant.
    #[must_use]
    pub fn type_hash(&self) -> B256 {
        B256::from(self.domain_type().hash)
    }

    /// Computes `domainSeparator = hashStruct(eip712Domain)`. If the domain does not change, compute it once.
    #[must_use]
    pub fn separator(&self) -> B256 {
        let mut hashes = [[0; 32]; 2];
        hash_independent(
            &[
                self.name.unwrap_or_default().as_bytes(),
                self.version.unwrap_or_default().as_bytes(),
            ],
            &mut hashes,
        );
        self.separator_of(&hashes[0], &hashes[1])
    }

    /// Computes the separator from the hashes of name and version, which are ignored if the field is absent.
    fn separator_of(&self, name: &[u8; 32], version: &[u8; 32]) -> B256 {
        let mut words = [[0; 32]; 1 + FIELDS.len()];
        words[0] = self.domain_type().hash;
        let fields = [
            self.name.map(|_| *name),
            self.version.map(|_| *version),
            self.chain_id.map(|id| id.to_be_bytes()),
            self.verifying_contract.map(|address| address.into_word().0),
            self.salt.map(|salt| salt.0),
        ];
        let mut count = 1;
        for word in fields.into_iter().flatten() {
            words[count] = word;
            count += 1;
        }
        B256::from(keccak256(words[..count].as_flattened()))
    }

    /// Computes the hash to sign, including the domain separator.
    ///
    /// Name, version and message are independent and are hashed in parallel. If the domain does not change, keep its
    /// [`separator`](Domain::separator) and call [`signing_hash`](super::signing_hash): a small message then takes two
    /// permutations.
    #[must_use]
    pub fn signing_hash<T: TypedStruct>(&self, message: &T) -> B256 {
        message.with_encoded_data(|data| {
            let mut hashes = [[0; 32]; 3];
            hash_independent(
                &[
                    self.name.unwrap_or_default().as_bytes(),
                    self.version.unwrap_or_default().as_bytes(),
                    data,
                ],
                &mut hashes,
            );
            signing_hash_of(
                &self.separator_of(&hashes[0], &hashes[1]),
                &B256::from(hashes[2]),
            )
        })
    }
}
