//! Declarative macros for structs with an ABI. All delegate to the tuple of the fields (at most 20).

/// Defines a Rust struct that corresponds to a Solidity struct.
///
/// ```
/// use lydite_bytes::{Address, U256};
/// use lydite_evm::abi;
///
/// lydite_evm::abi_struct! {
///     /// A payment with a note.
///     #[derive(Debug, PartialEq)]
///     pub struct Payment<'a> {
///         /// Who gets it.
///         pub to: Address,
///         /// How much.
///         pub amount: U256,
///         /// What for.
///         pub note: &'a str,
///     }
/// }
///
/// let payments = vec![Payment { to: Address::ZERO, amount: U256::ONE, note: "rent" }];
/// let data = abi::encode(&payments);
/// assert_eq!(abi::decode::<Vec<Payment>>(&data)?, payments);
/// assert_eq!(<Payment as abi::AbiType>::NAME.as_str(), "(address,uint256,string)");
/// # Ok::<(), abi::Error>(())
/// ```
#[macro_export]
macro_rules! abi_struct {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$lt:lifetime>)? {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name $(<$lt>)? {
            $($(#[$field_meta])* $field_vis $field: $ty,)*
        }

        impl $(<$lt>)? $crate::abi::AbiType for $name $(<$lt>)? {
            const NAME: $crate::abi::TypeName = <($($ty,)*) as $crate::abi::AbiType>::NAME;
            const DYNAMIC: bool = <($($ty,)*) as $crate::abi::AbiType>::DYNAMIC;
            const HEAD: usize = <($($ty,)*) as $crate::abi::AbiType>::HEAD;
        }

        impl $(<$lt>)? $crate::abi::AbiEncode for $name $(<$lt>)? {
            #[inline(always)]
            fn tail_size(&self) -> usize {
                $crate::abi::AbiEncode::tail_size(&($(&self.$field,)*))
            }

            #[inline(always)]
            fn write(&self, frame: &mut $crate::abi::Frame<'_>) -> ::core::option::Option<()> {
                $crate::abi::AbiEncode::write(&($(&self.$field,)*), frame)
            }
        }

        impl<'de $(: $lt, $lt)?> $crate::abi::AbiDecode<'de> for $name $(<$lt>)? {
            #[inline(always)]
            fn read(
                decoder: &mut $crate::abi::Decoder<'de>,
                head: &mut $crate::abi::Head<'de>,
            ) -> ::core::result::Result<Self, $crate::abi::Error> {
                let ($($field,)*) = <($($ty,)*) as $crate::abi::AbiDecode<'de>>::read(decoder, head)?;
                ::core::result::Result::Ok(Self { $($field),* })
            }
        }
    };
}

/// Defines a Rust struct for a call of a Solidity function (or for a Solidity error): a selector, followed by the
/// arguments. The Solidity name follows `=`; by default it is the struct's name.
///
/// ```
/// use lydite_bytes::{Address, U256};
///
/// lydite_evm::abi_call! {
///     #[derive(Debug, PartialEq)]
///     struct Transfer = "transfer" { to: Address, amount: U256 }
/// }
///
/// let call = Transfer { to: Address::ZERO, amount: U256::ONE };
/// assert_eq!(Transfer::SIGNATURE.as_str(), "transfer(address,uint256)");
/// assert_eq!(Transfer::SELECTOR, [0xa9, 0x05, 0x9c, 0xbb]);
/// assert_eq!(Transfer::decode_call(&call.encode_call())?, call);
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[macro_export]
macro_rules! abi_call {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$lt:lifetime>)? {$($fields:tt)*}) => {
        $crate::abi_call! { @ stringify!($name), $(#[$meta])* $vis struct $name $(<$lt>)? {$($fields)*} }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$lt:lifetime>)? = $sol:literal {$($fields:tt)*}) => {
        $crate::abi_call! { @ $sol, $(#[$meta])* $vis struct $name $(<$lt>)? {$($fields)*} }
    };
    (@ $sol:expr, $(#[$meta:meta])* $vis:vis struct $name:ident $(<$lt:lifetime>)? {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident : $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name $(<$lt>)? {
            $($(#[$field_meta])* $field_vis $field: $ty,)*
        }

        #[allow(dead_code, clippy::needless_lifetimes)]
        impl $(<$lt>)? $name $(<$lt>)? {
            /// The canonical signature.
            pub const SIGNATURE: $crate::abi::TypeName =
                $crate::abi::TypeName::new($sol).then(<($($ty,)*) as $crate::abi::AbiType>::NAME.as_str());
            /// The selector: the first four bytes of the Keccak-256 hash of the signature.
            pub const SELECTOR: [u8; 4] = $crate::abi::selector_const(Self::SIGNATURE.as_str());

            /// Returns the calldata: selector and arguments.
            #[inline]
            pub fn encode_call(&self) -> $crate::abi::__private::Vec<u8> {
                $crate::abi::encode_call(Self::SELECTOR, &($(&self.$field,)*))
            }

            /// Writes the calldata into the caller's buffer. Returns its length.
            #[inline]
            pub fn encode_call_into(
                &self,
                buffer: &mut [u8],
            ) -> ::core::result::Result<usize, $crate::abi::Error> {
                $crate::abi::encode_call_into(Self::SELECTOR, &($(&self.$field,)*), buffer)
            }

            /// Decodes calldata. Offsets in errors start after the selector.
            #[inline]
            pub fn decode_call<'de $(: $lt)?>(
                calldata: &'de [u8],
            ) -> ::core::result::Result<Self, $crate::abi::Error> {
                let arguments = $crate::abi::__private::arguments(Self::SELECTOR, calldata)?;
                let ($($field,)*) = $crate::abi::decode::<($($ty,)*)>(arguments)?;
                ::core::result::Result::Ok(Self { $($field),* })
            }
        }
    };
}

/// Defines a Rust struct that corresponds to a Solidity event. For an indexed parameter whose type does not fit in a
/// topic, use [`Hashed`](crate::abi::Hashed).
///
/// ```
/// use lydite_bytes::{Address, FixedBytes, U256};
///
/// lydite_evm::abi_event! {
///     #[derive(Debug, PartialEq)]
///     struct Transfer { #[indexed] from: Address, #[indexed] to: Address, amount: U256 }
/// }
///
/// assert_eq!(Transfer::SIGNATURE.as_str(), "Transfer(address,address,uint256)");
/// let zero = FixedBytes([0; 32]);
/// let log = Transfer::decode_log(&[Transfer::TOPIC, zero, zero], &[0; 32])?;
/// assert_eq!(log, Transfer { from: Address::ZERO, to: Address::ZERO, amount: U256::ZERO });
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[macro_export]
macro_rules! abi_event {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(<$lt:lifetime>)? {
        $($(#[$indexed:ident])? $field:ident : $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name $(<$lt>)? {
            $(
                #[doc = concat!("The parameter `", stringify!($field), "`.")]
                pub $field: $ty,
            )*
        }

        #[allow(dead_code, clippy::needless_lifetimes)]
        impl $(<$lt>)? $name $(<$lt>)? {
            /// The canonical signature.
            pub const SIGNATURE: $crate::abi::TypeName = $crate::abi::TypeName::new(stringify!($name))
                .then(<($($ty,)*) as $crate::abi::AbiType>::NAME.as_str());
            /// The first topic: the Keccak-256 hash of the signature.
            pub const TOPIC: $crate::abi::__private::B256 =
                $crate::abi::event_topic_const(Self::SIGNATURE.as_str());

            /// Decodes a log. An error in a topic has the offset of its word in the concatenation of all topics.
            pub fn decode_log<'de $(: $lt)?>(
                topics: &'de [$crate::abi::__private::B256],
                data: &'de [u8],
            ) -> ::core::result::Result<Self, $crate::abi::Error> {
                const INDEXED: usize = 0 $($(+ $crate::abi_event!(@one $indexed))?)*;
                $($($crate::abi_event!(@check $indexed $ty);)?)*
                let mut topics = $crate::abi::__private::Topics::new(topics, &Self::TOPIC, INDEXED)?;
                let head = 0 $(+ $crate::abi_event!(@head $($indexed)? , $ty))*;
                let (mut decoder, mut head) =
                    $crate::abi::Decoder::new(data, $crate::abi::Mode::Strict, head)?;
                $(let $field = $crate::abi_event!(@read $($indexed)? , $ty, topics, decoder, head);)*
                ::core::result::Result::Ok(Self { $($field),* })
            }
        }
    };
    (@one indexed) => { 1 };
    (@check indexed $ty:ty) => {
        const { assert!(<$ty as $crate::abi::AbiType>::TOPIC, "an indexed parameter of this type must be a `Hashed`") }
    };
    (@head indexed, $ty:ty) => { 0 };
    (@head , $ty:ty) => { <$ty as $crate::abi::AbiType>::HEAD };
    (@read indexed, $ty:ty, $topics:ident, $decoder:ident, $head:ident) => { $topics.read::<$ty>()? };
    (@read , $ty:ty, $topics:ident, $decoder:ident, $head:ident) => {
        <$ty as $crate::abi::AbiDecode<'de>>::read(&mut $decoder, &mut $head)?
    };
}

/// Items that the expansions of the macros use.
#[doc(hidden)]
pub mod private {
    pub use alloc::vec::Vec;
    pub use lydite_bytes::B256;

    use crate::abi::{AbiDecode, Decoder, Error, ErrorKind, Mode};

    /// Returns the bytes after the selector.
    #[inline]
    pub fn arguments(selector: [u8; 4], calldata: &[u8]) -> Result<&[u8], Error> {
        match calldata.split_first_chunk() {
            Some((found, arguments)) if *found == selector => Ok(arguments),
            _ => Err(Error::new(ErrorKind::Selector, 0)),
        }
    }

    /// The topics of a log after the first.
    #[derive(Debug)]
    pub struct Topics<'a> {
        topics: core::slice::Iter<'a, B256>,
        position: usize,
    }

    impl<'a> Topics<'a> {
        /// Checks the number of topics and the first topic.
        pub fn new(topics: &'a [B256], first: &B256, indexed: usize) -> Result<Self, Error> {
            match topics.split_first() {
                Some((found, rest)) if found == first && rest.len() == indexed => Ok(Self {
                    topics: rest.iter(),
                    position: 0,
                }),
                _ => Err(Error::new(ErrorKind::Selector, 0)),
            }
        }

        /// Decodes the next topic.
        pub fn read<T: AbiDecode<'a>>(&mut self) -> Result<T, Error> {
            self.position += 32;
            let topic = self.topics.next().map_or(&[][..], |topic| &topic.0);
            let (mut decoder, mut head) = Decoder::new(topic, Mode::Strict, 32)?;
            T::read(&mut decoder, &mut head).map_err(|e| Error::new(e.kind, self.position))
        }
    }
}
