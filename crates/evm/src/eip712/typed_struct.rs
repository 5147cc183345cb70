//! [`TypedStruct`] and the macro that implements it.

use alloc::{string::String, vec, vec::Vec};

use lydite_bytes::B256;
use lydite_hash::keccak::Error;
use lydite_hash::keccak256;

use super::describe::MemberType;
use super::value::TypedValue;
use super::{hash_independent, signing_preimage};

/// Number of structs collected for one batch of hashes: enough to fill the lanes of every CPU, with a small buffer.
const GATHER: usize = 32;

/// A Rust struct that corresponds to an EIP-712 struct. Implemented by [`typed_struct!`](crate::typed_struct).
pub trait TypedStruct: TypedValue + Sized {
    /// `encodeType`: the struct's own type, then those it refers to, sorted by name.
    const ENCODE_TYPE: &'static str;

    /// `keccak256(encodeType)`.
    const TYPE_HASH: B256;

    /// Calls `f` with `typeHash || encodeData(self)`, whose hash is `hashStruct`: 32 bytes per member plus 32 for the
    /// type.
    fn with_encoded_data<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R;

    /// Returns `encodeType`, e.g. `Transfer(address to,uint256 amount)`.
    #[must_use]
    fn encode_type() -> &'static str {
        Self::ENCODE_TYPE
    }

    /// Returns `typeHash = keccak256(encodeType)`.
    #[must_use]
    fn type_hash() -> B256 {
        Self::TYPE_HASH
    }

    /// Computes `hashStruct = keccak256(typeHash || encodeData)`.
    #[must_use]
    fn hash_struct(&self) -> B256 {
        self.with_encoded_data(|data| B256::from(keccak256(data)))
    }

    /// Computes [`hash_struct`](TypedStruct::hash_struct) of many items, in parallel.
    ///
    /// # Errors
    /// Fails if `items` and `out` differ in length.
    fn hash_structs(items: &[Self], out: &mut [[u8; 32]]) -> Result<(), Error> {
        if items.len() != out.len() {
            return Err(Error::BatchLength {
                inputs: items.len(),
                outputs: out.len(),
            });
        }
        let mut data = Vec::new();
        for (items, out) in items.chunks(GATHER).zip(out.chunks_mut(GATHER)) {
            data.clear();
            for item in items {
                item.with_encoded_data(|encoded| data.extend_from_slice(encoded));
            }
            hash_equal_parts(&data, out);
        }
        Ok(())
    }
}

impl<T: TypedStruct> TypedValue for Option<T> {
    const TYPE: &'static MemberType = T::TYPE;

    fn word(&self) -> [u8; 32] {
        self.as_ref().map_or([0; 32], T::word)
    }

    fn write_json(&self, out: &mut String) {
        match self {
            Some(value) => value.write_json(out),
            None => out.push_str("null"),
        }
    }
}

/// Returns the word of an array of structs.
pub fn array_of_structs<T: TypedStruct>(items: &[T]) -> [u8; 32] {
    let mut hashes = vec![[0; 32]; items.len()];
    let done = T::hash_structs(items, &mut hashes);
    debug_assert!(done.is_ok(), "one place per item");
    keccak256(hashes.as_flattened())
}

/// Hashes `data`, split into `hashes.len()` equal parts (at most `GATHER`).
fn hash_equal_parts(data: &[u8], hashes: &mut [[u8; 32]]) {
    let mut parts: [&[u8]; GATHER] = [&[]; GATHER];
    let count = hashes.len();
    for (slot, part) in parts.iter_mut().zip(data.chunks_exact(data.len() / count)) {
        *slot = part;
    }
    hash_independent(&parts[..count], hashes);
}

/// Computes the hashes to sign for many messages in one domain, in parallel.
///
/// ```
/// use lydite_bytes::{Address, B256, U256};
/// use lydite_evm::eip712::{signing_hash, signing_hashes};
///
/// lydite_evm::typed_struct! {
///     /// A payment.
///     pub struct Transfer {
///         /// Receiver
///         pub to: Address,
///         /// In wei
///         pub amount: U256,
///     }
/// }
///
/// let separator = B256::from([7; 32]);
/// let messages: Vec<Transfer> =
///     (0..100u64).map(|i| Transfer { to: Address::ZERO, amount: U256::from(i) }).collect();
/// let mut hashes = [[0; 32]; 100];
/// signing_hashes(&separator, &messages, &mut hashes)?;
/// assert_eq!(hashes[42], signing_hash(&separator, &messages[42]).0);
/// # Ok::<(), lydite_hash::keccak::Error>(())
/// ```
///
/// # Errors
/// Fails if `messages` and `out` differ in length.
pub fn signing_hashes<T: TypedStruct>(
    domain_separator: &B256,
    messages: &[T],
    out: &mut [[u8; 32]],
) -> Result<(), Error> {
    T::hash_structs(messages, out)?;
    let mut preimages = [[0; 66]; GATHER];
    for out in out.chunks_mut(GATHER) {
        for (preimage, hash) in preimages.iter_mut().zip(out.iter()) {
            *preimage = signing_preimage(domain_separator, hash);
        }
        hash_equal_parts(preimages[..out.len()].as_flattened(), out);
    }
    Ok(())
}

/// Defines Rust structs that correspond to EIP-712 structs.
///
/// The Rust type of a member determines its EIP-712 type (see [`TypedValue`](crate::eip712::TypedValue)). `as "name"`
/// gives a struct or a member a different EIP-712 name. The type string, with all types on which it depends, and its
/// hash are constants. So a type cannot contain itself; recursive types require
/// [`TypedSchema`](crate::eip712::TypedSchema).
///
/// ```
/// use lydite_bytes::{Address, U256};
/// use lydite_evm::eip712::{Domain, TypedStruct};
///
/// lydite_evm::typed_struct! {
///     /// A person with a wallet.
///     #[derive(Clone, Debug)]
///     pub struct Person {
///         /// Display name
///         pub name: String,
///         /// Account
///         pub wallet: Address,
///     }
///
///     /// The example of EIP-712.
///     #[derive(Clone, Debug)]
///     pub struct Letter as "Mail" {
///         /// Sender
///         pub sender as "from": Person,
///         /// Receiver
///         pub to: Person,
///         /// Text
///         pub contents: String,
///     }
/// }
///
/// assert_eq!(
///     Letter::encode_type(),
///     "Mail(Person from,Person to,string contents)Person(string name,address wallet)",
/// );
///
/// let letter = Letter {
///     sender: Person { name: "Cow".into(), wallet: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826".parse()? },
///     to: Person { name: "Bob".into(), wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB".parse()? },
///     contents: "Hello, Bob!".into(),
/// };
/// let domain = Domain {
///     name: Some("Ether Mail"),
///     version: Some("1"),
///     chain_id: Some(U256::from(1u64)),
///     verifying_contract: Some("0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC".parse()?),
///     salt: None,
/// };
/// assert_eq!(
///     domain.signing_hash(&letter).to_string(),
///     "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2",
/// );
/// # Ok::<(), lydite_bytes::address::Error>(())
/// ```
#[macro_export]
macro_rules! typed_struct {
    ($(
        $(#[$struct_meta:meta])*
        $struct_vis:vis struct $Struct:ident $(as $struct_name:literal)? {
            $(
                $(#[$member_meta:meta])*
                $member_vis:vis $member:ident $(as $member_name:literal)? : $Member:ty
            ),* $(,)?
        }
    )+) => {$(
        $(#[$struct_meta])*
        $struct_vis struct $Struct {
            $($(#[$member_meta])* $member_vis $member: $Member,)*
        }

        const _: () = {
            const DESCRIPTION: &$crate::eip712::StructType = &$crate::eip712::StructType {
                name: $crate::typed_struct!(@name $Struct $($struct_name)?),
                members: &[$($crate::eip712::Member {
                    name: $crate::typed_struct!(@name $member $($member_name)?),
                    ty: <$Member as $crate::eip712::TypedValue>::TYPE,
                },)*],
            };
            const ENCODE_TYPE: [u8; DESCRIPTION.encode_type_len()] = DESCRIPTION.encode_type();

            impl $crate::eip712::TypedValue for $Struct {
                const TYPE: &'static $crate::eip712::MemberType = &$crate::eip712::MemberType::Struct(DESCRIPTION);

                fn word(&self) -> [u8; 32] {
                    $crate::eip712::TypedStruct::hash_struct(self).0
                }

                fn array_word(items: &[Self]) -> [u8; 32] {
                    $crate::eip712::private::array_of_structs(items)
                }

                fn write_json(&self, out: &mut $crate::eip712::private::String) {
                    let mut object = $crate::eip712::private::Object::begin(out);
                    $(object.member($crate::typed_struct!(@name $member $($member_name)?), &self.$member);)*
                    object.end();
                }
            }

            impl $crate::eip712::TypedStruct for $Struct {
                const ENCODE_TYPE: &'static str = match ::core::str::from_utf8(&ENCODE_TYPE) {
                    Ok(text) => text,
                    Err(_) => "",
                };
                const TYPE_HASH: $crate::eip712::private::B256 =
                    $crate::eip712::private::FixedBytes($crate::eip712::private::keccak256_const(&ENCODE_TYPE));

                fn with_encoded_data<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                    let words = [
                        <Self as $crate::eip712::TypedStruct>::TYPE_HASH.0,
                        $($crate::eip712::TypedValue::word(&self.$member),)*
                    ];
                    f(words.as_flattened())
                }
            }
        };
    )+};
    (@name $default:ident) => { ::core::stringify!($default) };
    (@name $default:ident $name:literal) => { $name };
}
